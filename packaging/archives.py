"""Archives to unpack, and packages for Debian and its relatives."""

import gzip
import io
import time as clock
import zipfile

from build import needed_glibc
from release import LICENCE, SUMMARY, Release, tar_gz
from sbom import bill_of_materials
from targets import Target


def archive(release: Release, target: Target, extras: dict[str, bytes]) -> list[str]:
    """The program with completions, manual pages, licences and its bill of materials, which also lies beside it."""
    program = release.programs[target]
    top = release.archive_name(target).removesuffix(".zip").removesuffix(".tar.gz")
    files = {f"{top}/{target.program}": (program.read_bytes(), 0o755)}
    files |= {f"{top}/{name}": (content, 0o644) for name, content in {**release.papers(), **extras}.items()}
    bill = bill_of_materials(release.root, target, release.version)
    files[f"{top}/sinew.cdx.json"] = (bill, 0o644)
    beside = f"{top}.cdx.json"
    (release.out / beside).write_bytes(bill)
    name = release.archive_name(target)
    content = zip_file(files, release) if target.windows else tar_gz(files, release.time, release.compression)
    (release.out / name).write_bytes(content)
    return [name, beside]


def zip_file(files: dict[str, tuple[bytes, int]], release: Release) -> bytes:
    """The same as a zip archive."""
    raw = io.BytesIO()
    moment = clock.gmtime(release.time)[:6]
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=release.compression) as archive_file:
        for name in sorted(files):
            content, mode = files[name]
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive_file.writestr(entry, content)
    return raw.getvalue()


def debian(release: Release, target: Target, extras: dict[str, bytes]) -> str:
    """A `.deb`: an `ar` archive of three members, so no tool of Debian is needed to write it."""
    files = {"usr/bin/sinew": (release.programs[target].read_bytes(), 0o755)}
    for name, content in extras.items():
        if name.startswith("man/"):
            page = gzip.compress(content, 9, mtime=0)
            files[f"usr/share/man/man1/{name.removeprefix('man/')}.gz"] = (page, 0o644)
    files["usr/share/bash-completion/completions/sinew"] = (extras["completions/sinew.bash"], 0o644)
    files["usr/share/zsh/vendor-completions/_sinew"] = (extras["completions/_sinew"], 0o644)
    files["usr/share/fish/vendor_completions.d/sinew.fish"] = (extras["completions/sinew.fish"], 0o644)
    papers = release.papers()
    licences = b"\n\n".join(papers[name] for name in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"))
    files["usr/share/doc/sinew/copyright"] = (licences, 0o644)
    changes = gzip.compress(papers["CHANGELOG.md"], 9, mtime=0)
    files["usr/share/doc/sinew/changelog.gz"] = (changes, 0o644)
    glibc = needed_glibc(release.programs[target])
    size = sum(len(content) for content, _ in files.values()) // 1024 + 1
    control = [
        "Package: sinew",
        f"Version: {release.version}",
        f"Architecture: {target.debian}",
        "Section: utils",
        "Priority: optional",
        "Maintainer: The sinew developers <sinew@localhost>",
        f"Installed-Size: {size}",
        *([f"Depends: libc6 (>= {glibc[0]}.{glibc[1]}), libgcc-s1"] if glibc else []),
        "Recommends: git",
        f"Description: {SUMMARY}",
        f" One program between AI agents and their skills. Licence: {LICENCE}.",
        "",
    ]
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": tar_gz({"control": ("\n".join(control).encode(), 0o644)}, release.time, 9),
        "data.tar.gz": tar_gz(files, release.time, release.compression),
    }
    raw = b"!<arch>\n"
    for name, content in members.items():
        raw += f"{name:<16}{release.time:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        raw += content + b"\n" * (len(content) % 2)
    name = f"sinew_{release.version}_{target.debian}.deb"
    (release.out / name).write_bytes(raw)
    return name
