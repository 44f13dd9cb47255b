# The same few targets for people and for CI. Each sets up what it needs on a fresh machine.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := $(VENV)/.bench
DOCS := $(VENV)/.docs
KERNELS := $(VENV)/.kernels
# The check of accessibility in tests/explore/browser is for this version.
AXE := 4.14.0
# Numba's cache and bytecode are shared by all test workers, so each kernel is compiled once.
unexport PYTHONDONTWRITEBYTECODE
CHROMIUM := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --no-install-recommends chromium

.DEFAULT_GOAL := help
PYTEST := $(BIN)/python -m pytest -q -n auto --dist worksteal
# Tests of kernels on data small enough for the interpreter.
WITHOUT_COMPILER := NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not large and not once and not browser and not slow"

.PHONY: help setup browser demo test test-slow dist coverage check format bench fuzz crash faults reliability \
    hashes sbom docs notebooks clean

help: ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(READY) ## create .venv with everything the other targets need (HASHED=1: check the hashes of all files)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(if $(HASHED),$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r hashes.txt)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## audit built-in synthetic data and write a report
	$(BIN)/standout demo -o demo

browser: ## install Chromium, a system package, and axe-core for tests of pages; without them these are skipped
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	    && { $(CHROMIUM) || { apt-get update && $(CHROMIUM); } } >/dev/null 2>&1; } \
	    || echo "Chromium is missing and cannot be installed: browser tests will be skipped"
	@npm install --silent --no-save --prefix build axe-core@$(AXE) >/dev/null 2>&1 || echo "axe-core cannot be fetched: its test will be skipped"

# Numba compiles a kernel again if its own file changed, but not if a kernel that it calls in another file did.
$(KERNELS): $(READY) $(shell grep -rl --include=*.py standout.core.jit src)
	find src -name '*.nb[ci]' -delete
	@touch $(KERNELS)

test: $(KERNELS) ## run the tests that every commit must pass (minutes)
	@# First the goldens: two processes compile most kernels, so that no test worker does it a second time.
	$(BIN)/python -m tools.goldens check --jobs 2
	$(PYTEST) -m "not slow"

test-slow: $(KERNELS) dist ## run the rest: limits of size, slow tests, the compiler switched off, the built package
	$(BIN)/python -m tools.size --check
	STANDOUT_EXAMPLES=200 $(PYTEST) -m slow
	$(WITHOUT_COMPILER) tests

dist: $(READY) ## build the package, install it into an empty environment, run its demo
	rm -rf dist build/install
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv build/install
	PIP_CONSTRAINT=constraints.txt build/install/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/install && bin/standout demo --quick -o demo

coverage: $(READY) ## measure line coverage, with the compiler off so that kernels count
	$(WITHOUT_COMPILER) --cov --cov-report=term

check: $(READY) ## lint, check formatting, docstrings and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## format the code and apply safe lint fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BENCH): $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $(BENCH)

bench: $(BENCH) ## compare speed and memory with other tools (ENTRIES=100480507 for Netflix's size)
	$(BIN)/python -m benchmarks.ingest --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.open_index --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.attack --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.simulate --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.sparsity --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.linking --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.tables
	$(BIN)/python -m benchmarks.synthesize --entries $(or $(ENTRIES),10000000)
	$(BIN)/python -m benchmarks.advising build/bench/release-$(or $(ENTRIES),10000000).index --parts

fuzz: $(READY) ## feed mutated input to everything that reads input (ROUNDS=1000000 SEED=1 ONLY="csv ladder" JOBS=2)
	$(BIN)/python -m tests.fuzz --rounds $(or $(ROUNDS),20000) --seed $(or $(SEED),1) --jobs $(or $(JOBS),2) \
	    $(if $(ONLY),--only $(ONLY)) $(if $(RECORD),--record $(RECORD)/fuzz.jsonl)

crash: $(READY) ## kill commands at every file-system call, and run them again (KILLS=1000 SEED=1)
	$(BIN)/python -m tools.crash --kills $(or $(KILLS),200) --seed $(or $(SEED),1) \
	    $(if $(RECORD),--record $(RECORD)/crash.jsonl)

faults: $(READY) ## run commands on full, read-only and unreadable places
	$(BIN)/python -m tools.faults $(if $(RECORD),--record $(RECORD)/faults.jsonl)

reliability: $(READY) ## write the tables of docs/lab/reliability.md from docs/lab/campaign (made with RECORD=docs/lab/campaign)
	$(BIN)/python -m tools.reliability

notebooks: $(READY) ## run the notebooks and write them with their outputs
	$(BIN)/python -m tools.notebooks

hashes: $(READY) ## write hashes.txt: the files that constraints.txt means on this machine
	$(BIN)/python -m tools.hashes

sbom: $(READY) ## write build/sbom.json: what is installed with Standout (CycloneDX)
	@mkdir -p build
	$(BIN)/python -m tools.sbom build/sbom.json

$(DOCS): $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $(DOCS)

docs: $(DOCS) ## write docs/cli.md from the commands, the JSON schemas from the types, and the site to build/site
	$(BIN)/python -m tools.cli_reference
	$(BIN)/python -m standout.findings.json_types docs
	$(BIN)/python -m tools.docs_site

clean: ## remove everything that the targets created
	rm -rf $(VENV) build demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
