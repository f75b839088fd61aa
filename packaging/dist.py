"""Makes everything that a release publishes, in one folder, with its checksums.

    scripts/dist                            all targets that this machine can build
    scripts/dist --target aarch64-unknown-linux-musl
    scripts/dist --binary target/release/sinew   packages of a program that is there already
"""

import argparse
import sys
from pathlib import Path

import archives
import npm
import templates
import wheel
from build import CannotBuild, build, host_triple, needed_glibc
from release import Release, sha256, shell_files
from targets import TARGETS, find

# A placeholder that is never fetched from: a release is made with the address that it will have.
BASE_URL = "https://sinew.invalid/releases"


def main() -> int:
    options = arguments()
    root = Path(__file__).resolve().parent.parent
    options.out.mkdir(parents=True, exist_ok=True)
    release = Release(root, options.out.resolve(), options.base_url.rstrip("/"), options.compression)
    left_out = collect(release, options)
    if not release.programs:
        tell_left_out(left_out)
        print("dist: no target could be built", file=sys.stderr)
        return 4
    native = options.binary or runnable(release)
    extras = shell_files(native)
    files = []
    for target in release.programs:
        files += archives.archive(release, target, extras)
    for target in release.preferred().values():
        files.append(wheel.wheel(release, target))
        if target.debian:
            files.append(archives.debian(release, target, extras))
    files += npm.packages(release)
    files += templates.write(release)
    sums = "".join(f"{sha256(release.out / name)}  {name}\n" for name in sorted(files))
    (release.out / "SHA256SUMS").write_text(sums)
    report(release, files, left_out)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/dist", description="Make the packages of a release.")
    parser.add_argument("--target", action="append", default=[], help="only this target; may be repeated")
    parser.add_argument("--binary", type=Path, help="pack this program for this machine, instead of building")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder to write to [dist]")
    parser.add_argument("--base-url", default=BASE_URL, help="where the files will be fetched from")
    parser.add_argument("--compression", type=int, default=9, choices=range(1, 10), help="1 fast, 9 small [9]")
    return parser.parse_args()


def collect(release: Release, options: argparse.Namespace) -> list[str]:
    """Finds or builds the programs; what cannot be built is told, not silent."""
    if options.binary:
        release.programs[find(host_triple())] = options.binary.resolve()
        return []
    left_out = []
    for target in [find(name) for name in options.target] or TARGETS:
        try:
            release.programs[target] = build(release.root, target)
        except CannotBuild as cause:
            left_out.append(f"{target.triple}: {cause}")
    return left_out


def runnable(release: Release) -> Path:
    """A program that starts here: completions and manual pages are the same for every target."""
    host = find(host_triple())
    for target, program in release.programs.items():
        if target.platform == host.platform:
            return program
    raise SystemExit("dist: completions need a program for this machine; add its target, or --binary")


def report(release: Release, files: list[str], left_out: list[str]) -> None:
    for target, program in release.programs.items():
        glibc = needed_glibc(program)
        needs = f"needs glibc {glibc[0]}.{glibc[1]}" if glibc else "needs no C library of the system"
        print(f"{target.triple}: {needs}")
    for name in sorted([*files, "SHA256SUMS"]):
        print(f"{(release.out / name).stat().st_size:>11,}  {name}")
    tell_left_out(left_out)


def tell_left_out(left_out: list[str]) -> None:
    for line in left_out:
        print(f"SKIPPED {line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
