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


def drawn():
    """The modules in the order in which docs/architecture.md draws them."""
    folder = ""
    for line in (ROOT / "docs" / "architecture.md").read_text().splitlines():
        if found := re.match(r"      (  )?(\w+)(/|\.py) ", line):
            inside, name, ending = found.groups()
            folder = folder if inside else ""
            if ending == "/":
                folder = f"{name}."
            else:
                yield folder + name


ORDER = list(drawn())
"""A module may import what stands above it here."""

LATE = {("release.model", "release.columns"), ("release.model", "release.export")}
"""Exempt: a release offers its fingerprint and its frame, and loads what makes them when it is asked."""

FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__init__.py"
}


def imports(path):
    """(module of ours, is it imported inside a function) for each import of a file."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    late = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if (ours := name.removeprefix("standout.")) in FILES and name.startswith("standout."):
                yield ours, id(node) in late


def test_every_module_is_drawn_once():
    assert sorted(ORDER) == sorted(FILES)


@pytest.mark.parametrize("module", FILES)
def test_a_module_imports_only_what_stands_above_it(module):
    for other, late in imports(FILES[module]):
        if (module, other) in LATE:
            assert late
        else:
            assert ORDER.index(other) < ORDER.index(module), f"{module} imports {other}"


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
    errors = import_module("standout.errors")
    assert set(errors.__all__) <= set(so.__all__)
    assert all(issubclass(getattr(errors, name), so.StandoutError) for name in errors.__all__)


@pytest.mark.parametrize("module", [module for module in FILES if module != "_version"])
def test_a_module_tells_its_public_names_and_has_them(module):
    loaded = import_module(f"standout.{module}")
    assert loaded.__doc__
    assert len(loaded.__all__) == len(set(loaded.__all__))
    assert all(hasattr(loaded, name) for name in loaded.__all__)


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
