"""Packages for npm: one with the program for each platform, one that picks among them, and the plugin
for OpenClaw."""

import json

from build import needed_glibc
from release import LICENCE, SUMMARY, Release, tar_gz
from targets import TARGETS, Target

# `sinew` belongs to another project there.
NAME = "sinew-cli"


def platform_name(target: Target) -> str:
    """The package that holds the program for a platform."""
    return f"{NAME}-{target.platform}"


def packages(release: Release) -> list[str]:
    """The names of the files that were written."""
    written = []
    for target in release.preferred().values():
        program = release.programs[target]
        manifest = common(release, platform_name(target)) | {
            "description": f"sinew for {target.platform}; install {NAME}, which picks the right one",
            "os": [target.npm_os],
            "cpu": [target.npm_cpu],
        }
        if target.npm_os == "linux" and needed_glibc(program):
            manifest["libc"] = ["glibc"]
        files = licences(release) | {f"bin/{target.program}": (program.read_bytes(), 0o755)}
        written.append(write(release, manifest, files))
    names = sorted({platform_name(target) for target in TARGETS})
    manifest = common(release, NAME) | {
        "description": SUMMARY,
        "keywords": ["agents", "skills", "mcp", "claude-code", "codex", "openclaw"],
        "bin": {"sinew": "bin/sinew.js", NAME: "bin/sinew.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: release.version for name in names},
    }
    folder = release.root / "packaging" / "npm"
    files = licences(release) | {
        "bin/sinew.js": ((folder / "sinew.js").read_bytes(), 0o755),
        "README.md": ((folder / "README.md").read_bytes(), 0o644),
    }
    return [*written, write(release, manifest, files), openclaw_plugin(release)]


def openclaw_plugin(release: Release) -> str:
    """The plugin for OpenClaw, as `openclaw plugins install` takes it."""
    folder = release.root / "integrations" / "openclaw"
    manifest = json.loads((folder / "package.json").read_text()) | {"version": release.version}
    files = {name: ((folder / name).read_bytes(), 0o644) for name in manifest["files"]}
    return write(release, manifest, licences(release) | files)


def common(release: Release, name: str) -> dict:
    return {"name": name, "version": release.version, "license": LICENCE, "preferUnplugged": True}


def licences(release: Release) -> dict[str, tuple[bytes, int]]:
    return {name: (text, 0o644) for name, text in release.papers().items() if name.startswith("LICENSE")}


def write(release: Release, manifest: dict, files: dict[str, tuple[bytes, int]]) -> str:
    files["package.json"] = (json.dumps(manifest, indent=2).encode() + b"\n", 0o644)
    packed = {f"package/{path}": content for path, content in files.items()}
    name = manifest["name"].removeprefix("@").replace("/", "-")
    name = f"{name}-{manifest['version']}.tgz"
    (release.out / name).write_bytes(tar_gz(packed, release.time, release.compression))
    return name
