"""What other programs run: the action, the hook, the workflow, the image. They say what the project says."""

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pre_commit.clientlib import load_manifest
from tools.sbom import dependency_graph

import standout as so
from standout.cli import gate as gate_module
from standout.core.errors import EXTRAS

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ODD = """a b'"$(touch injected)`touch injected`;touch injected #*.csv"""


def content(name):
    return yaml.safe_load((ROOT / name).read_text())


def commands(steps):
    return [step["run"] for step in steps if "run" in step]


def test_every_yaml_file_for_github_can_be_read():
    for path in [ROOT / "action.yml", *(ROOT / ".github").rglob("*.yml")]:
        assert isinstance(yaml.safe_load(path.read_text()), dict), path.name


def test_no_expression_of_github_is_part_of_a_shell_command():
    jobs = content(".github/workflows/ci.yml")["jobs"].values()
    steps = [*content("action.yml")["runs"]["steps"], *(step for job in jobs for step in job["steps"])]
    assert commands(steps) and not any("${{" in command for command in commands(steps))


def test_the_action_passes_every_input_on_and_every_output_has_a_source():
    action = content("action.yml")
    used = str(action["runs"]["steps"])
    assert all(f"inputs.{name} }}}}" in used for name in action["inputs"])
    script = (ROOT / "tools" / "run_gate.sh").read_text()
    assert all(f'echo "{name}=' in script for name in action["outputs"])
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"] if "run" in step)


@pytest.fixture
def gate(tmp_path):
    """gate(code, **settings) runs the script with a stand-in for `standout` and returns what it was given."""
    stand_in = tmp_path / "bin" / "standout"
    stand_in.parent.mkdir()
    stand_in.write_text(
        f"#!{sys.executable}\nimport os, sys\nfrom pathlib import Path\n"
        "Path(os.environ['SEEN']).write_text('\\0'.join(sys.argv[1:]))\n"
        "summary = [a.removeprefix('--gate=') for a in sys.argv if a.endswith('.md')][0]\n"
        "if os.environ['CODE'] != '2': Path(summary).write_text('the summary\\n')\n"
        "sys.exit(int(os.environ['CODE']))\n"
    )
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    files = {name: str(tmp_path / name) for name in ("SEEN", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    path = f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"

    def gate(code, **settings):
        environment = {"PATH": path, "CODE": str(code), **files, **settings}
        script = ["bash", str(ROOT / "tools" / "run_gate.sh")]
        ended = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, check=False)
        seen = Path(files["SEEN"])
        return ended.returncode, seen.read_text().split("\0") if seen.exists() else None

    return gate


def test_the_script_hands_every_text_on_as_it_is_and_runs_none_of_it(gate, tmp_path):
    options = f"--quick\r\n\n--record={ODD}\n"
    code, seen = gate(4, GATE_DATA=ODD, GATE_LIMIT=ODD, GATE_OPTIONS=options, GATE_OUTPUT="out put")
    assert code == 4 and not list(tmp_path.rglob("injected"))
    assert seen[:3] == ["audit", f"--fail-above={ODD}", "--output=out put"]
    assert seen[-4:] == ["--quick", f"--record={ODD}", "--", ODD]


@pytest.mark.parametrize("code", [0, 1, 3, 4, 5])
def test_the_script_ends_with_the_code_of_the_audit_and_appends_the_summary(gate, tmp_path, code):
    (tmp_path / "GITHUB_STEP_SUMMARY").write_text("before\n")
    assert gate(code, GATE_DATA="-ratings.csv")[0] == code
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == "before\nthe summary\n"
    outputs = dict(line.split("=") for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines())
    assert outputs["exit-code"] == str(code) and outputs["sarif"] == "standout-audit/gate.sarif"


def test_an_older_summary_is_never_shown(gate, tmp_path):
    (tmp_path / "standout-audit").mkdir()
    (tmp_path / "standout-audit" / "gate.md").write_text("passed, a week ago")
    assert gate(2, GATE_DATA="ratings.csv")[0] == 2
    assert "exit code 2 and without a summary" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


def test_settings_that_make_no_sense_are_refused(gate):
    assert gate(0)[0] != 0
    for folder in ("a\nsarif=b", "-x"):
        assert gate(0, GATE_DATA="ratings.csv", GATE_OUTPUT=folder) == (2, None)


def test_the_workflow_runs_what_ci_runs_on_all_supported_versions():
    job = content(".github/workflows/ci.yml")["jobs"]["test"]
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert commands(job["steps"]) == [line for line in script if line.startswith("make ")]
    matrix, supported = job["strategy"]["matrix"], SpecifierSet(PROJECT["requires-python"])
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"] and "3.10" not in supported
    assert all(version in supported for version in matrix["python"])
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


def test_the_built_package_is_tested_in_an_empty_environment_by_every_ci_run():
    makefile = (ROOT / "Makefile").read_text()
    assert "make test-slow" in (ROOT / ".ci" / "run").read_text()
    assert "dist" in re.search(r"^test-slow:([^#\n]*)", makefile, re.M)[1].split()
    recipe = re.search(r"^dist:.*\n((?:\t.*\n)+)", makefile, re.M)[1]
    assert all(part in recipe for part in ("-m build", "-m venv", "dist/*.whl", "standout demo"))


def test_the_hook_is_a_manifest_that_pre_commit_accepts():
    (hook,) = load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    assert hook["entry"] == f"python -m {gate_module.__name__}" and hook["require_serial"]
    wanted = re.compile(hook["files"])
    assert all(wanted.search(name) for name in ("a/ratings.csv", "x.tsv.gz", "x.parquet"))
    assert not any(wanted.search(name) for name in ("csv.py", "x.csv.md", "README.md"))


@pytest.fixture
def audits(monkeypatch):
    """The commands that the hook runs; bad.csv does not pass, a signal ends the audit of killed.csv."""
    seen, codes = [], {"good.csv": 0, "bad.csv": 4, "killed.csv": -9}

    def run(command, **_):
        seen.append(command)
        return subprocess.CompletedProcess(command, codes[command[-1]], b"the answer\nReport: gone\n")

    monkeypatch.setattr(gate_module.subprocess, "run", run)
    return seen


def test_the_hook_passes_only_if_every_file_does(audits, capfd):
    assert gate_module.hook(["--quick", "good.csv"]) == 0
    assert capfd.readouterr().out == "good.csv\nthe answer\n"
    assert gate_module.hook(["good.csv", "bad.csv", "good.csv"]) == 4
    assert gate_module.hook(["killed.csv"]) == 1
    assert [command[-1] for command in audits] == ["good.csv", "good.csv", "bad.csv", "good.csv", "killed.csv"]


def test_the_hook_always_has_a_limit_and_takes_no_value_for_a_file(audits):
    gate_module.hook(["--quick", "good.csv"])
    gate_module.hook(["--fail-above=0.2", "good.csv"])
    assert ["--fail-above=0.05" in command for command in audits] == [True, False]
    assert gate_module.hook(["--fail-above", "0.2", "good.csv"]) == 2 and len(audits) == 2


def test_the_citation_names_this_version_and_the_paper():
    citation = content("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == so.__version__ and citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Narayanan", "Shmatikov"]
    assert paper["doi"] == "10.1109/SP.2008.33" and paper["year"] == 2008


def dockerfile():
    """The instructions of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]


def test_the_image_has_exactly_what_standout_needs_with_hashes():
    lists = {name: text for word, each in dockerfile() if word == "ARG" for name, _, text in [each.partition("=")]}
    needed, build = ({*lists[name].strip('"').split()} for name in ("NEEDED", "BUILD"))
    assert set(map(canonicalize_name, needed)) == set(dependency_graph()) - {"standout"} | {"backports-zstd"}
    for name in needed | build:
        for file in ("hashes.txt", "constraints.txt"):
            lines = re.findall(rf"^{name}==.*$", (ROOT / file).read_text(), re.M | re.I)
            assert len(lines) == 1, (name, file)


def test_the_image_does_not_run_as_root_and_copies_only_what_is_sent_to_docker():
    instructions = dockerfile()
    users = [text for word, text in instructions if word == "USER"]
    last = max(position for position, (word, _) in enumerate(instructions) if word == "FROM")
    assert users == ["10001:10001"] and ["USER", users[0]] in instructions[last:]
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied = [text.split()[:-1] for word, text in instructions if word == "COPY" and "--from" not in text]
    assert {name for names in copied for name in names} == admitted
    assert all((ROOT / name).exists() for name in admitted)
    assert instructions[-2] == ["ENTRYPOINT", '["standout"]']


def test_messages_name_the_packages_of_every_extra():
    extras = PROJECT["optional-dependencies"]
    for name in extras.keys() - {"bench", "dev", "docs"}:
        assert sorted(EXTRAS[name]) == sorted(extras[name]), name
        assert set(extras[name]) <= set(extras["dev"]), name


def test_no_text_tells_anybody_to_install_a_package_that_is_not_published():
    wrong = re.compile(r"install[^\n]{0,40}[ '\"]standout(?:\[|['\"`]|\s|$)")
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    for path in [*files, *(ROOT / "src").rglob("*.py")]:
        found = [line for line in path.read_text().splitlines() if "pip" in line and wrong.search(line)]
        assert not found, f"{path.name}: {found}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_completion(shell):
    environment = {**os.environ, "_STANDOUT_COMPLETE": f"{shell}_source"}
    ended = subprocess.run(
        [sys.executable, "-c", "from standout.cli import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_standout_completion" in ended.stdout


def test_shells_complete_commands_options_and_names_of_files():
    for words, expected in {
        "standout aud": "plain,audit",
        "standout audit --fail": "plain,--fail-above",
        "standout audit rat": "file,rat",
    }.items():
        position = str(words.count(" "))
        environment = {"_STANDOUT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position}
        ended = subprocess.run(
            [sys.executable, "-c", "from standout.cli import main; main()"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.stdout.split() == [expected]
