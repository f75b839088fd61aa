"""Wheels that carry the program: `uvx sinew-cli`, `pipx install sinew-cli`."""

import base64
import hashlib
import io

from archives import zip_file
from build import needed_glibc
from release import LICENCE, SUMMARY, Release
from targets import Target

# `sinew` belongs to another project there.
NAME = "sinew_cli"

# `uvx sinew-cli` wants a program of the package's own name; a second copy of the program would double the wheel.
STARTER = '''"""Starts the sinew program that this package carries."""

import os
import subprocess
import sys
import sysconfig


def main():
    """Becomes the program; on Windows, waits for it."""
    program = os.path.join(sysconfig.get_path("scripts"), "sinew" + (".exe" if os.name == "nt" else ""))
    if not os.path.exists(program):
        program = os.path.join(os.path.dirname(sys.argv[0]), os.path.basename(program))
    if os.name == "nt":
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])
'''


def wheel(release: Release, target: Target) -> str:
    """The name of the file that was written."""
    program = release.programs[target]
    tag = target.wheel
    if "{glibc}" in tag:
        major, minor = needed_glibc(program) or (2, 17)
        tag = tag.format(glibc=f"{major}_{minor}")
    info = f"{NAME}-{release.version}.dist-info"
    papers = release.papers()
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    files = {
        f"{NAME}/__init__.py": (STARTER.encode(), 0o644),
        f"{NAME}/__main__.py": (b"from . import main\n\nmain()\n", 0o644),
        f"{NAME}-{release.version}.data/scripts/{target.program}": (program.read_bytes(), 0o755),
        f"{info}/METADATA": (metadata(release, papers["README.md"]), 0o644),
        f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: sinew dist\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        f"{info}/entry_points.txt": (f"[console_scripts]\nsinew-cli = {NAME}:main\n".encode(), 0o644),
    }
    for name in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{name}"] = (papers[name], 0o644)
    files[f"{info}/RECORD"] = (record(files, f"{info}/RECORD"), 0o644)
    name = f"{NAME}-{release.version}-py3-none-{tag}.whl"
    (release.out / name).write_bytes(zip_file(files, release))
    return name


def metadata(release: Release, readme: bytes) -> bytes:
    lines = [
        "Metadata-Version: 2.4",
        "Name: sinew-cli",
        f"Version: {release.version}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {LICENCE}",
        "License-File: LICENSE",
        "License-File: LICENSE-MIT",
        "License-File: LICENSE-APACHE",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        "",
    ]
    return "\n".join(lines).encode() + readme


def record(files: dict[str, tuple[bytes, int]], own: str) -> bytes:
    rows = io.StringIO()
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.write(f"{name},sha256={digest},{len(content)}\n")
    rows.write(f"{own},,\n")
    return rows.getvalue().encode()
