"""The platforms that a release is made for, and what each package format calls them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One platform: Rust's name for it, and what npm, wheels and Debian call it."""

    triple: str
    npm_os: str
    npm_cpu: str
    wheel: str
    debian: str | None = None
    # Linked against the oldest C library that people still run, where Rust's own target needs a newer one.
    glibc: str | None = None

    @property
    def windows(self) -> bool:
        return "windows" in self.triple

    @property
    def static(self) -> bool:
        return self.triple.endswith("-musl")

    @property
    def program(self) -> str:
        return "sinew.exe" if self.windows else "sinew"

    @property
    def platform(self) -> str:
        """What npm, Homebrew and the install scripts distinguish: system and processor."""
        return f"{self.npm_os}-{self.npm_cpu}"


# In order of preference for a platform: a static program runs beside any C library or none.
TARGETS = (
    Target("x86_64-unknown-linux-musl", "linux", "x64", "manylinux_2_17_x86_64.musllinux_1_1_x86_64", "amd64"),
    Target("aarch64-unknown-linux-musl", "linux", "arm64", "manylinux_2_17_aarch64.musllinux_1_1_aarch64", "arm64"),
    Target("x86_64-unknown-linux-gnu", "linux", "x64", "manylinux_{glibc}_x86_64", "amd64", glibc="2.17"),
    Target("aarch64-unknown-linux-gnu", "linux", "arm64", "manylinux_{glibc}_aarch64", "arm64", glibc="2.17"),
    Target("x86_64-pc-windows-gnu", "win32", "x64", "win_amd64"),
    Target("x86_64-apple-darwin", "darwin", "x64", "macosx_10_12_x86_64"),
    Target("aarch64-apple-darwin", "darwin", "arm64", "macosx_11_0_arm64"),
)


def find(triple: str) -> Target:
    """The target of this name."""
    for target in TARGETS:
        if target.triple == triple:
            return target
    known = ", ".join(target.triple for target in TARGETS)
    raise SystemExit(f"dist: {triple} is not one of the targets: {known}")
