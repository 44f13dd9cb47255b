"""Write a software bill of materials (CycloneDX 1.6, JSON) from the metadata of what is installed.

It lists Standout and everything that it needs to run, with the extras that are named.

    python -m tools.sbom sbom.json
    python -m tools.sbom sbom.json --extra remote --extra duckdb
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "standout"
Graph = dict[str, set[str]]


def main() -> None:
    """Write the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--extra", action="append", default=[], help="extra of Standout to include")
    options = parser.parse_args()
    text = json.dumps(bill_of_materials(options.extra), indent=1, ensure_ascii=False)
    options.output.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {options.output}")


def bill_of_materials(extras: Iterable[str] = ()) -> dict[str, Any]:
    """Standout and what it needs, as CycloneDX; the same installation gives the same content."""
    graph = dependency_graph(extras)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(PROJECT, "application")},
        "components": [_component(name, "library") for name in sorted(graph) if name != PROJECT],
        "dependencies": [
            {"ref": _reference(name), "dependsOn": sorted(map(_reference, needs))}
            for name, needs in sorted(graph.items())
        ],
    }


def dependency_graph(extras: Iterable[str] = ()) -> Graph:
    """The needs of each distribution, from Standout on; those that other systems need are left out."""
    graph: Graph = {}
    done: dict[str, set[str]] = {}
    todo = [(PROJECT, {*extras})]
    while todo:
        name, wanted = todo.pop()
        if name in done and wanted <= done[name]:
            continue
        done[name] = done.get(name, set()) | wanted
        needs = list(_requirements(distribution(name), done[name]))
        graph[name] = {canonicalize_name(need.name) for need in needs}
        todo += [(canonicalize_name(need.name), need.extras) for need in needs]
    return graph


def _requirements(installed: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """The requirements that apply on this system with these extras."""
    for text in installed.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *sorted(extras))):
            yield requirement


def _component(name: str, kind: str) -> dict[str, Any]:
    installed = distribution(name)
    component = {
        "type": kind,
        "bom-ref": _reference(name),
        "name": installed.metadata["Name"],
        "version": installed.version,
        "purl": _reference(name),
    }
    if licence := installed.metadata.get("License-Expression"):
        component["licenses"] = [{"expression": licence}]
    return component


def _reference(name: str) -> str:
    return f"pkg:pypi/{name}@{distribution(name).version}"


if __name__ == "__main__":
    main()
