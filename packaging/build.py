"""Builds the program for a target, or says why it cannot be built on this machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

from targets import Target

# The linker and C compiler for other targets, from PyPI: nothing is installed outside target/.
TOOLS = ("ziglang==0.15.2", "cargo-zigbuild==0.20.1")


class CannotBuild(Exception):
    """The machine lacks what the target needs; the text says what, and how to get it."""


def host_triple() -> str:
    """The target that this machine's compiler makes by default."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return re.search(r"^host: (\S+)$", told, re.M).group(1)


def build(root: Path, target: Target) -> Path:
    """The path of the program, built with optimisation."""
    ready = has_standard_library(target)
    wanted = least_compiler(root)
    sources = None if ready else compiler_with_sources(wanted)
    if not ready and not (target.static and sources):
        hint = f"`rustup target add {target.triple}` fetches it"
        if target.static:
            hint += f", or it is made from Debian's rustc-web, cargo-web and rust-web-src, from {wanted} on"
        raise CannotBuild(f"its standard library is not here; {hint}")
    zig = zigbuild(root)
    wanted = f"{target.triple}.{target.glibc}" if target.glibc else target.triple
    command = ["cargo", "zigbuild", "--release", "--locked", "-p", "sinew-cli", "--target", wanted]
    environment = {**os.environ, "PATH": f"{zig}{os.pathsep}{os.environ['PATH']}"}
    if sources:
        command[0] = str(sources / "cargo")
        command.append("-Zbuild-std=std,panic_unwind")
        environment |= standard_library_from_source(sources, zig, target)
    if subprocess.run(command, cwd=root, env=environment, check=False).returncode != 0:
        raise CannotBuild("the build failed; its messages are above")
    program = root / "target" / target.triple / "release" / target.program
    check_needs(program, target)
    return program


def check_needs(program: Path, target: Target) -> None:
    """A program that asks for a newer C library than it was linked against is not what was promised."""
    needed = needed_glibc(program)
    promised = tuple(int(part) for part in target.glibc.split(".")) if target.glibc else None
    if needed and (target.static or promised and needed > promised):
        asked = ".".join(str(part) for part in needed)
        raise CannotBuild(f"it asks for glibc {asked}, which it must not")


def least_compiler(root: Path) -> str:
    """The oldest compiler that builds the program."""
    manifest = (root / "Cargo.toml").read_text()
    return re.search(r'^rust-version = "([\d.]+)"', manifest, re.M).group(1)


def is_at_least(told: str, wanted: str) -> bool:
    """Whether what a compiler says of its version is that or a newer one."""
    numbers = re.search(r"\b(\d+)\.(\d+)", told)
    return bool(numbers) and tuple(map(int, numbers.groups())) >= tuple(map(int, wanted.split(".")[:2]))


def has_standard_library(target: Target) -> bool:
    """Whether the compiler can make programs for the target."""
    command = ["rustc", "--print", "target-libdir", "--target", target.triple]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.returncode == 0 and any(Path(told.stdout.strip()).glob("libstd-*"))


def compiler_with_sources(wanted: str) -> Path | None:
    """The folder of a compiler of the system that is new enough and comes with the sources of its
    standard library, as Debian's may: the library is then built like everything else."""
    folder = Path("/usr/bin")
    if not all((folder / program).exists() for program in ("cargo", "rustc")):
        return None
    told = subprocess.run([folder / "rustc", "--version"], capture_output=True, text=True, check=False)
    if not is_at_least(told.stdout, wanted):
        return None
    command = [folder / "rustc", "--print", "sysroot"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    sources = Path(told) / "lib" / "rustlib" / "src" / "rust" / "library" / "std"
    return folder if sources.exists() else None


def standard_library_from_source(compiler: Path, zig: Path, target: Target) -> dict[str, str]:
    """What the build is told: this compiler, and the start files and C library of zig."""
    flags = ["-Clink-self-contained=no", "-Ctarget-feature=+crt-static", "-Crelocation-model=static"]
    rustflags = f"CARGO_TARGET_{target.triple.upper().replace('-', '_')}_RUSTFLAGS"
    return {
        "PATH": os.pathsep.join([str(zig), str(compiler), "/bin"]),
        "RUSTC": str(compiler / "rustc"),
        # Debian's is the stable compiler; building the library needs an option that is not stable yet.
        "RUSTC_BOOTSTRAP": "1",
        rustflags: " ".join(flags),
    }


def zigbuild(root: Path) -> Path:
    """The folder of `cargo-zigbuild` and its compiler, fetched on first use."""
    tools = root / "target" / "dist-tools"
    programs = tools / ("Scripts" if sys.platform == "win32" else "bin")
    if not (programs / "cargo-zigbuild").exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        install = [programs / "python", "-m", "pip", "install", "--quiet", *TOOLS]
        subprocess.run(install, check=True)
    return programs


def needed_glibc(program: Path) -> tuple[int, int] | None:
    """The newest version of the GNU C library that the program asks for; none for a static one."""
    versions = re.findall(rb"\x00GLIBC_2\.(\d+)(?=\.|\x00)", program.read_bytes())
    return (2, max(int(minor) for minor in versions)) if versions else None
