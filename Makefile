# The same few targets for people and for CI. Each sets up what it needs, from nothing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := $(VENV)/.bench
# what is compiled once need not be compiled by every worker
unexport PYTHONDONTWRITEBYTECODE
CHROMIUM := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --no-install-recommends chromium

.DEFAULT_GOAL := help
.PHONY: help setup browser demo test coverage check format bench fuzz docs clean

help: ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

setup: $(READY) ## make .venv with everything that the other targets need

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## the audit, on built-in data: a stand-in for the Netflix Prize data
	$(BIN)/standout demo -o demo

browser: ## Debian's Chromium, in which reports are tested; without it these tests are skipped
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	    && { $(CHROMIUM) || { apt-get update && $(CHROMIUM); } } >/dev/null 2>&1; } \
	    || echo "no Chromium here, and none can be installed: tests in a browser are skipped"

test: $(READY) browser ## the tests, compiled; then once more on small data with the compiler off
	$(BIN)/python -m pytest -q -n auto --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "not large and not once and not browser" tests

coverage: $(READY) ## which lines the tests reach, with the compiler off so that kernels are seen into
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "not large and not once and not browser" --cov --cov-report=term

check: $(READY) ## ruff, its formatting, mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## let ruff format and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BENCH): $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $(BENCH)

bench: $(BENCH) ## speed and memory beside other tools, in one run (ENTRIES=100480507 for Netflix's size)
	$(BIN)/python -m benchmarks.ingest --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.opening --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.attack --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.simulate --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.sparsity --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.linking --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.making --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.advising build/bench/release-$(or $(ENTRIES),10000000).index --parts

fuzz: $(READY) ## mutate the input of every reader (ROUNDS=10000 SEED=1)
	$(BIN)/python -m tests.fuzz --rounds $(or $(ROUNDS),2000) --seed $(or $(SEED),1)

docs: $(READY) ## write docs/cli.md from the commands
	$(BIN)/python -m tools.cli_reference

clean: ## remove what the targets made
	rm -rf $(VENV) build demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
