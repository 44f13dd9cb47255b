"""The shape of the code: imports point one way, public names are complete, and heavy modules load late."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from tools.cli_reference import reference

import standout as so
from standout.cli.main import cli

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "standout"
TIMEOUT = 120


LAYERS = [
    "core", "release", "ingest", "facts", "similarity", "adversary", "sanitized", "attack", "neighbours",
    "evaluate", "theory", "synthetic", "sanitizing", "data_utility", "findings", "report", "linking",
    "auditing", "advising", "paper", "cli",
]  # fmt: skip
"""Packages and top-level modules in the order of the data: each imports only from those before it."""

FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
}


def packages_imported_by(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in names if name.startswith("standout."))


def test_a_package_imports_only_from_packages_before_it():
    for module, path in FILES.items():
        if module != "_version":
            before = LAYERS[: LAYERS.index(module.split(".")[0]) + 1]
            later = set(packages_imported_by(path)) - {*before, "_version"}
            assert not later, f"{module} imports from {later}"


def test_public_names_are_sorted_complete_and_there():
    assert so.__all__ == sorted(so.__all__) == dir(so)
    assert set(so.__all__) == {*so._HOMES, "__version__"}
    for name in so.__all__:
        assert getattr(so, name) is not None
    assert so.open is import_module("standout.release.store").open_index
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        so.nothing  # noqa: B018


def test_public_names_are_known_to_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    found = [node for node in ast.walk(checked) if isinstance(node, ast.ImportFrom)]
    homes = {alias.asname or alias.name: node.module for node in found for alias in node.names}
    assert homes == {name: f"standout.{home}" for name, home in so._HOMES.items()}


def test_every_error_is_public_and_of_one_family():
    errors = import_module("standout.core.errors")
    assert set(errors.__all__) <= set(so.__all__)
    assert all(issubclass(getattr(errors, name), so.StandoutError) for name in errors.__all__)


def test_every_module_has_a_docstring_and_the_public_names_it_lists():
    for module in FILES.keys() - {"_version"}:
        loaded = import_module(f"standout.{module}")
        assert loaded.__doc__, module
        assert len(loaded.__all__) == len(set(loaded.__all__)), module
        assert all(hasattr(loaded, name) for name in loaded.__all__), module


def test_every_package_has_a_docstring():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path.relative_to(ROOT)


LOADED = "\nimport sys\nprint(sorted({'numba', 'polars', 'numpy', 'rich'} & set(sys.modules)))"
HELP = "import sys\nfrom standout.cli.main import cli\ncli(sys.argv[1:], standalone_mode=False)" + LOADED
OPEN = (
    """
import sys, standout as so
release = so.open(sys.argv[1])
assert len(release.record("7")) == len(release.record_at(6)) > 0
"""
    + LOADED
)


def loaded_by(code, *args):
    command = [sys.executable, "-W", "error", "-c", code, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    return set(ast.literal_eval(done.stdout.splitlines()[-1]))


def test_importing_standout_loads_nothing_heavy():
    assert loaded_by("import standout" + LOADED) == set()


@pytest.mark.parametrize("args", [["--help"], *([name, "--help"] for name in cli.commands)], ids=" ".join)
def test_help_loads_neither_numba_nor_polars(args):
    assert not loaded_by(HELP, *args) & {"numba", "polars"}


def test_opening_an_index_and_reading_a_record_loads_neither_numba_nor_polars(tmp_path):
    so.save(so.synthesize(records=9, items=5, entries=20, seed=1), tmp_path / "index")
    assert not loaded_by(OPEN, tmp_path / "index") & {"numba", "polars"}


@pytest.mark.parametrize("name", cli.commands)
def test_every_command_and_every_option_has_its_help(name):
    command = cli.commands[name]
    assert command.help
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, f"{name} {option.name}"


HOMES = re.compile(r"(?<![\w.])/({})/\w".format("|".join(["home", "root", "Users", "work"])))
SKIPPED = re.compile(r"__pycache__|build|dist|\.(?!ci|github|pre-commit|gitignore).*")


def project_files(folder):
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or SKIPPED.fullmatch(path.name):
            continue
        if path.is_dir():
            yield from project_files(path)
        else:
            yield path


def test_no_file_names_a_place_on_somebodys_machine():
    for path in project_files(ROOT):
        found = HOMES.search(path.read_bytes().decode("utf-8", "replace"))
        assert found is None, f"{path.relative_to(ROOT)}: {found[0]}…"


def test_the_command_line_is_documented_as_it_is():
    assert (ROOT / "docs" / "cli.md").read_text() == reference(), "run make docs"
