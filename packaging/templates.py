"""Files that tell a package manager or a shell where to fetch a release: filled from `templates/`."""

from release import Release, sha256

WINGET = ("version", "installer", "locale.en-US")


def write(release: Release) -> list[str]:
    """The names of the files that were written."""
    written = [plain(release, name) for name in ("install.sh", "install.ps1", "Containerfile")]
    archives = {platform: release.archive_name(target) for platform, target in release.preferred().items()}
    sums = {platform: sha256(release.out / name) for platform, name in archives.items()}
    formula = release.fill("sinew.rb", platforms=homebrew(release, archives, sums))
    # A formula without a platform would install nothing.
    if any(platform.startswith(("linux", "darwin")) for platform in archives):
        (release.out / "sinew.rb").write_text(formula)
        written.append("sinew.rb")
    if windows := archives.get("win32-x64"):
        for kind in WINGET:
            name = f"sinew.{kind}.yaml".replace("sinew.version.", "sinew.")
            text = release.fill(f"winget.{kind}.yaml", archive=windows, sha256=sums["win32-x64"].upper())
            (release.out / name).write_text(text)
            written.append(name)
    return written


def plain(release: Release, name: str) -> str:
    triples = {platform: target.triple for platform, target in release.preferred().items()}
    linux = next((triples[platform] for platform in ("linux-x64", "linux-arm64") if platform in triples), "")
    base = "scratch" if linux.endswith("-musl") else "gcr.io/distroless/cc-debian12"
    text = release.fill(name, platforms=" ".join(sorted(f"{p}={t}" for p, t in triples.items())), base_image=base)
    (release.out / name).write_text(text)
    return name


def homebrew(release: Release, archives: dict[str, str], sums: dict[str, str]) -> str:
    """A block of the formula for each platform that was built."""
    lines = []
    for system, block in (("darwin", "on_macos"), ("linux", "on_linux")):
        rows = []
        for cpu, inner in (("arm64", "on_arm"), ("x64", "on_intel")):
            if archive := archives.get(f"{system}-{cpu}"):
                url = f"{release.base_url}/{archive}"
                rows += [f"    {inner} do", f'      url "{url}"', f'      sha256 "{sums[f"{system}-{cpu}"]}"', "    end"]
        if rows:
            lines += [f"  {block} do", *rows, "  end"]
    return "\n".join(lines)
