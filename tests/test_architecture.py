"""The shape of the code: imports point one way, public names are complete, heavy modules load late."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from tools.cli_reference import reference

import standout as so
from standout.cli.command_group import cli

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "standout"
TIMEOUT = 120


LAYERS = [
    "core", "data", "cluster", "ingest", "know", "attack", "evaluate", "measure", "sanitizing", "findings", "report",
    "linking", "auditing", "advising", "paper", "explore", "cli",
]  # fmt: skip
"""Packages and top-level modules in the order of the data: each imports only from those before it."""

FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
}


def imported_modules(path):
    """Return the full names of all modules that a file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def packages_imported_by(path):
    return {name.split(".")[1] for name in imported_modules(path) if name.startswith("standout.")}


def test_a_package_imports_only_from_packages_before_it():
    for module, path in FILES.items():
        if module != "_version":
            before = LAYERS[: LAYERS.index(module.split(".")[0]) + 1]
            later = packages_imported_by(path) - {*before, "_version"}
            assert not later, f"{module} imports from {later}, which come after it"


def test_the_explorer_calls_the_public_library_only():
    for module, path in FILES.items():
        if module.startswith("explore."):
            allowed = packages_imported_by(path) - {"core", "data", "explore", "report"}
            assert not allowed, f"{module} imports from {allowed} instead of the public library"


def test_slow_twins_import_nothing_from_standout():
    for path in sorted((ROOT / "tests" / "naive").glob("*.py")):
        modules = imported_modules(path)
        assert not [name for name in modules if name.split(".")[0] == "standout"], path.name
        assert "import_module" not in path.read_text(), path.name


def test_public_names_are_sorted_complete_and_importable():
    assert so.__all__ == sorted(so.__all__) == dir(so)
    for name in so.__all__:
        assert getattr(so, name) is not None
    assert so.open is import_module("standout.data.store").open_index
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        so.nothing  # noqa: B018


def test_public_names_are_known_to_type_checkers():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert sorted(alias.asname or alias.name for node in imports for alias in node.names) == so.__all__
    assert ast.literal_eval(stub.body[-1].value) == so.__all__


def test_every_error_is_public_and_derives_from_one_class():
    errors = import_module("standout.core.errors")
    assert set(errors.__all__) <= set(so.__all__)
    bases = {name: UserWarning if name.endswith("Warning") else so.StandoutError for name in errors.__all__}
    assert all(issubclass(getattr(errors, name), base) for name, base in bases.items())


def test_every_module_has_a_docstring_and_the_public_names_it_lists():
    for module in FILES.keys() - {"_version"}:
        loaded = import_module(f"standout.{module}")
        assert loaded.__doc__, module
        listed = getattr(loaded, "__all__", [])
        assert len(listed) == len(set(listed)), module
        assert all(hasattr(loaded, name) for name in listed), module


def test_every_package_has_a_docstring():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path.relative_to(ROOT)


HEAVY = ("dask", "distributed", "numba", "numpy", "polars", "rich")
PRINT_LOADED = f"\nprint(sorted(set({HEAVY}) & set(sys.modules)))"
HELPS = f"""
import sys
from click.testing import CliRunner
from standout.cli.command_group import cli

for args in ([], *([name] for name in cli.commands)):
    assert CliRunner().invoke(cli, [*args, "--help"]).exit_code == 0, args
    loaded = set({HEAVY}) & set(sys.modules)
    assert not loaded, f"{{args}} --help loads {{loaded}}"
"""
OPEN = """
import sys, standout as so
release = so.open(sys.argv[1])
assert len(release.record("7")) == len(release.record_at(6)) > 0
"""


def loaded_by(code, *args):
    """Return which heavy modules are loaded after the code has run in its own process."""
    command = [sys.executable, "-W", "error", "-c", code + PRINT_LOADED, *map(str, args)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert process.returncode == 0, process.stderr
    return set(ast.literal_eval(process.stdout.splitlines()[-1]))


def test_importing_standout_and_showing_any_help_loads_no_heavy_module():
    assert loaded_by("import sys, standout") == set()
    assert loaded_by(HELPS) == set()


def test_opening_an_index_and_reading_a_record_loads_neither_numba_nor_polars(tmp_path):
    so.save(so.synthesize(records=9, items=5, entries=20, seed=1), tmp_path / "index")
    assert not loaded_by(OPEN, tmp_path / "index") & {"numba", "polars"}


def test_every_command_is_in_a_file_of_commands_and_every_option_has_help():
    files = {path.stem for path in (SOURCE / "cli" / "commands").glob("[a-z]*.py")}
    assert files == {command.callback.__module__.rpartition(".")[2] for command in cli.commands.values()}
    for name, command in cli.commands.items():
        assert command.help, name
        options = [option for option in command.params if isinstance(option, click.Option)]
        missing = [option.name for option in options if not option.help]
        assert not missing, f"{name}: {missing}"


def test_python_m_standout_runs_the_command_line():
    command = [sys.executable, "-m", "standout", "--version"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert process.stdout == f"standout, version {so.__version__}\n"


def section(docstring, name):
    """Return the lines of a NumPy-style section, or None if the section is missing."""
    match = re.search(rf"^{name}\n-{{{len(name)}}}\n(.*?)(?=^\w[\w ]*\n---|\Z)", docstring, re.M | re.S)
    return None if match is None else match[1].rstrip().splitlines()


def listed(docstring, name):
    """Return the names that a Parameters or Attributes section lists."""
    entries = [line for line in section(docstring, name) or () if line and not line[0].isspace()]
    return [part.strip(" *") for entry in entries for part in entry.partition(" : ")[0].split(",")]


def inherited_fields(thing):
    """Return the parameters of public base classes, which those classes document."""
    bases = inspect.getmro(thing)[1:] if inspect.isclass(thing) else ()
    public = [base for base in bases if base.__name__ in so.__all__]
    return {parameter for base in public for parameter in inspect.signature(base).parameters}


def docstring_gaps(name, thing, docstring, needs_example):
    """Yield what the docstring of a function, method or class lacks."""
    summary = docstring.partition("\n")[0]
    if not summary.endswith("."):
        yield f"{name}: no summary of one line that ends with a period"
    is_class = inspect.isclass(thing)
    if not (is_class and issubclass(thing, Exception)):
        signature = inspect.signature(thing)
        expected = [
            parameter for parameter in signature.parameters if parameter not in {"self", *inherited_fields(thing)}
        ]
        parameters = listed(docstring, "Parameters")
        if parameters != [parameter for parameter in expected if parameter in parameters]:
            yield f"{name}: Parameters are {parameters}, the signature has {expected}"
        if needs_example and ">>>" not in "".join(section(docstring, "Examples") or ()):
            yield f"{name}: no Examples"


def public_methods(cls):
    """Return the public methods that a class or one of its bases in Standout defines, by name."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("standout.")]
    members = {name: member for base in bases for name, member in vars(base).items()}
    functions = {name: getattr(member, "__func__", member) for name, member in members.items()}
    return {
        name: getattr(cls, name)
        for name, function in functions.items()
        if inspect.isfunction(function) and not name.startswith("_")
    }


def method_docstring(cls, name):
    """Return the docstring of a method; that of a base class if the override has only a summary."""
    overrides = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
    docstrings = [inspect.getdoc(override) or "" for override in overrides]
    return next((text for text in docstrings if section(text, "Parameters") or section(text, "Returns")), docstrings[0])


def classes_shown_by_functions():
    """Return the names of the classes that a public function with an example returns."""
    functions = [function for name in so.__all__ if inspect.isfunction(function := getattr(so, name))]
    shown = [function for function in functions if section(inspect.getdoc(function), "Examples")]
    annotations = [inspect.signature(function).return_annotation for function in shown]
    texts = [text if isinstance(text, str) else inspect.formatannotation(text) for text in annotations]
    return {name for text in texts for name in re.findall(r"\w+", text)}


def test_every_public_name_has_a_numpy_docstring_that_fits_its_signature():
    gaps, shown = [], classes_shown_by_functions()
    for name in so.__all__:
        thing = getattr(so, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            gaps += docstring_gaps(name, thing, inspect.getdoc(thing) or "", needs_example=name not in shown)
        if inspect.isclass(thing):
            for method, function in public_methods(thing).items():
                docstring = method_docstring(thing, method)
                gaps += docstring_gaps(f"{name}.{method}", function, docstring, needs_example=False)
    assert not gaps, f"{len(gaps)} gaps:\n" + "\n".join(gaps)


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


def test_no_file_contains_a_path_of_somebodys_machine():
    for path in project_files(ROOT):
        match = HOMES.search(path.read_bytes().decode("utf-8", "replace"))
        assert match is None, f"{path.relative_to(ROOT)}: {match[0]}…"


def test_the_reference_of_the_command_line_is_up_to_date():
    assert (ROOT / "docs" / "cli.md").read_text() == reference(), "run make docs"
