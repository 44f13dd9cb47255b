# The same few targets for people and for CI. Each sets up what it needs, from nothing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := $(VENV)/.bench

.DEFAULT_GOAL := help
.PHONY: help setup demo test coverage check format bench fuzz docs clean

help: ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

setup: $(READY) ## make .venv with everything that the other targets need

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## make a synthetic data set, describe it, see who four facts point to, and how many are found
	@rm -rf demo && mkdir demo
	$(BIN)/standout synthesize --records 20000 --items 5000 --entries 2000000 --seed 2008 -o demo/ratings.csv
	$(BIN)/standout index demo/ratings.csv -o demo/ratings.index
	$(BIN)/standout verify demo/ratings.index
	$(BIN)/standout describe demo/ratings.index
	$(BIN)/standout lineup demo/ratings.index --knows 4741=5@2005-04-16 --knows 3786=5@2005-05-03 \
	    --knows 2522=5@2002-01-03 --knows 1115=5@2005-07-23 --top 5
	$(BIN)/standout simulate demo/ratings.index --knows 8 --wrong 2 --facts 4,8 --targets 300 --seed 2008

test: $(READY) ## the tests, compiled; then once more on small data with the compiler off
	$(BIN)/python -m pytest -q -n auto --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "not large"

coverage: $(READY) ## which lines the tests reach, with the compiler off so that kernels are seen into
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "not large" --cov --cov-report=term

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
	$(BIN)/python -m benchmarks.making --entries $(or $(ENTRIES),10000000)

fuzz: $(READY) ## mutate the input of every reader (ROUNDS=10000 SEED=1)
	$(BIN)/python -m tests.fuzz --rounds $(or $(ROUNDS),2000) --seed $(or $(SEED),1)

docs: $(READY) ## write docs/cli.md from the commands
	$(BIN)/python -m tools.cli_reference

clean: ## remove what the targets made
	rm -rf $(VENV) build demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
