"""Pins, hashes and the bill of materials name the same packages; tests install nothing on the system."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.sbom import bill_of_materials, dependency_graph

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
LOCK = re.compile(r"(\S+)==(\S+)((?: --hash=sha256:[0-9a-f]{64})*)")


def pins(name):
    """Return the versions and hashes in a file of pins by name of the package."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    matches = [LOCK.fullmatch(line) for line in lines]
    assert all(matches), f"{name} has a line that is not a pin"
    return {canonicalize_name(found[1]): (found[2], found[3]) for found in matches}


def test_every_pin_has_a_hash_and_no_address():
    constraints, hashes = pins("constraints.txt"), pins("hashes.txt")
    assert {name: pin[0] for name, pin in hashes.items()} == {name: pin[0] for name, pin in constraints.items()}
    assert all(digest for _, digest in hashes.values())
    assert not any(digest for _, digest in constraints.values())
    assert "://" not in (ROOT / "hashes.txt").read_text() + (ROOT / "constraints.txt").read_text()


def test_everything_that_standout_needs_is_pinned():
    assert set(dependency_graph()) - {"standout"} <= set(pins("constraints.txt"))


def test_numba_and_polars_end_with_the_version_that_was_tested():
    text = (ROOT / "pyproject.toml").read_text()
    for name in ("numba", "polars"):
        bound = Requirement(re.search(rf'"({name}[^"]*)"', text)[1]).specifier
        tested = pins("constraints.txt")[name][0]
        major, minor = map(int, tested.split(".")[:2])
        assert tested in bound and f"{major}.{minor + 1}.0" not in bound, name


def test_the_bill_of_materials_lists_what_is_installed():
    bill = bill_of_materials()
    versions = {component["name"].lower(): component["version"] for component in bill["components"]}
    assert versions["polars"] == version("polars") and "numba" in versions and "pytest" not in versions
    references = [bill["metadata"]["component"]["bom-ref"], *(part["bom-ref"] for part in bill["components"])]
    assert sorted(references) == sorted(row["ref"] for row in bill["dependencies"])
    assert {need for row in bill["dependencies"] for need in row["dependsOn"]} <= set(references)
    assert bill == bill_of_materials()


def test_tests_install_no_system_package():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("test", "test-slow", "check"):
        assert "browser" not in re.search(rf"^{target}:([^#\n]*)", makefile, re.M)[1], target
