"""What all packages of a release share: names, texts, and files that come out the same every time."""

import gzip
import hashlib
import io
import re
import subprocess
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from targets import Target

SUMMARY = "The skills engine for AI agents: finds, gates, scans and learns SKILL.md skills"
LICENCE = "MIT OR Apache-2.0"
SHELLS = {"bash": "sinew.bash", "zsh": "_sinew", "fish": "sinew.fish", "powershell": "sinew.ps1", "elvish": "sinew.elv"}


@dataclass
class Release:
    """One version: where its files go, and where people will fetch them from."""

    root: Path
    out: Path
    base_url: str
    compression: int
    version: str = ""
    # Seconds since 1970 that every packed file carries: the same commit gives the same bytes.
    time: int = 0
    programs: dict[Target, Path] = field(default_factory=dict)

    def __post_init__(self):
        manifest = tomllib.loads((self.root / "Cargo.toml").read_text())
        self.version = manifest["workspace"]["package"]["version"]
        told = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=self.root, capture_output=True, text=True, check=False
        )
        self.time = int(told.stdout) if told.returncode == 0 and told.stdout.strip() else 315532800

    def preferred(self) -> dict[str, Target]:
        """The best target that was built, for each platform."""
        chosen: dict[str, Target] = {}
        for target in sorted(self.programs, key=lambda target: not target.static):
            chosen.setdefault(target.platform, target)
        return chosen

    def archive_name(self, target: Target) -> str:
        """The name of the archive for a target."""
        return f"sinew-{self.version}-{target.triple}.{'zip' if target.windows else 'tar.gz'}"

    def fill(self, template: str, **more: str) -> str:
        """A template with its `{{names}}` filled in; one without a value is an error."""
        values = {"version": self.version, "base_url": self.base_url, "summary": SUMMARY, "licence": LICENCE, **more}
        text = (self.root / "packaging" / "templates" / template).read_text()
        return re.sub(r"\{\{(\w+)\}\}", lambda name: values[name.group(1)], text)

    def papers(self) -> dict[str, bytes]:
        """The texts that every package carries."""
        names = ("README.md", "CHANGELOG.md", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE")
        return {name: (self.root / name).read_bytes() for name in names}


def shell_files(program: Path) -> dict[str, bytes]:
    """Completions and manual pages, as the program itself writes them."""
    files = {}
    for shell, name in SHELLS.items():
        told = subprocess.run([program, "completions", shell], capture_output=True, check=True)
        files[f"completions/{name}"] = told.stdout
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "man", "--out", folder], capture_output=True, check=True)
        for page in sorted(Path(folder).iterdir()):
            files[f"man/{page.name}"] = page.read_bytes()
    return files


def tar_gz(files: dict[str, tuple[bytes, int]], time: int, compression: int) -> bytes:
    """A compressed archive of contents and modes; folders are made, and everything belongs to root."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        made = set()
        for name in sorted(files):
            for parent in reversed(Path(name).parents):
                folder = parent.as_posix()
                if folder not in (".", *made):
                    made.add(folder)
                    entry = tarfile.TarInfo(folder)
                    entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, time
                    tar.addfile(entry)
            content, mode = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, time
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), compression, mtime=0)


def sha256(path: Path) -> str:
    """The digest of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
