"""A bill of materials (CycloneDX 1.5) of what is linked into the program for one target."""

import json
import subprocess
import tomllib
import uuid
from pathlib import Path

from targets import Target


def bill_of_materials(root: Path, target: Target, version: str) -> bytes:
    """The crates that the program is made of, with versions, licences, digests and who needs whom."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target.triple]
    told = json.loads(subprocess.run(command, cwd=root, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    first = next(package["id"] for package in told["packages"] if package["name"] == "sinew-cli")
    linked = reachable(nodes, first)
    lock = tomllib.loads((root / "Cargo.lock").read_text())
    digests = {(row["name"], row["version"]): row.get("checksum") for row in lock["package"]}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'sinew-{version}-{target.triple}')}",
        "version": 1,
        "metadata": {
            "component": component(packages[first], digests) | {"type": "application"},
            "properties": [{"name": "target", "value": target.triple}],
        },
        "components": [component(packages[id], digests) for id in sorted(linked - {first})],
        "dependencies": [
            {"ref": reference(packages[id]), "dependsOn": sorted(reference(packages[to]) for to in needs(nodes[id]))}
            for id in sorted(linked)
        ],
    }
    return json.dumps(bill, indent=1).encode()


def needs(node: dict) -> set[str]:
    """What ends up in the program: dependencies of tests and of build scripts do not."""
    return {to["pkg"] for to in node["deps"] if any(kind["kind"] is None for kind in to["dep_kinds"])}


def reachable(nodes: dict, first: str) -> set[str]:
    seen, todo = {first}, [first]
    while todo:
        for to in needs(nodes[todo.pop()]) - seen:
            seen.add(to)
            todo.append(to)
    return seen


def reference(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, digests: dict) -> dict:
    row = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("license"):
        # Some manifests still separate licences with a slash.
        row["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if digest := digests.get((package["name"], package["version"])):
        row["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return row
