# Everything a person or CI does with the project. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up

# Tests start many brokers: without kept bytecode each would compile itself anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run demo demo-clean test retest test-times test-long check format generate oracles bench fuzz faults mutants wheel clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP)  ## create .venv with everything; quick when nothing changed

$(STAMP): pyproject.toml setup.py $(shell find src -name '*.pyx' -o -name '*.pxi')
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ottla needs Python 3.11 or newer: make setup PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25' 
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

run: setup  ## run a broker on localhost:9092
	@$(BIN)/ottla up

demo: setup  ## the main job in about two minutes: a stream, Spark, a lake, two kills; SABOTAGE=lake
	@$(BIN)/python -m demo $(if $(SABOTAGE),--sabotage $(SABOTAGE)) $(DEMO)

demo-clean:  ## remove what the demo left
	@rm -rf .demo

# Tests wait for other processes more than they compute.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 2 )))

test: setup  ## set up and run the tests
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup; \
	status=$$?; mkdir -p .pytest_cache; echo $$status > .pytest_cache/status; exit $$status

retest: setup  ## what failed in the last run once more, each by itself, if it was not more than a few
	$(BIN)/python -m tools.retest

test-times: setup  ## the tests once more, with a table of where their time goes
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -p tests.support.recorded_times || true
	@$(BIN)/python -m tools.test_times

test-long: setup  ## the same with everything that the ordinary run leaves out
	OTTLA_LONG=1 OTTLA_SPARK=all $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

check: setup  ## lint, types, imports, generated files fresh
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/generate.py --check
	$(BIN)/python -m pytest -q tests/architecture

format: setup  ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: setup  ## renew generated files: messages, reference tables
	$(BIN)/python tools/generate.py

oracles: setup  ## compare our codec with other people's and renew the table of agreement
	$(BIN)/python -m tools.oracles

BENCH ?= micro

bench: setup  ## run benchmarks and print their tables; BENCH=end_to_end, spark, or some by name
	$(BIN)/python -m benchmarks $(BENCH)

FUZZ_RUNS ?= 200000

fuzz: setup  ## fuzz the decoders; FUZZ_RUNS=10000000 for a long run
	@$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	$(BIN)/python fuzz/messages.py -runs=$(FUZZ_RUNS)
	$(BIN)/python fuzz/batches.py -runs=$(FUZZ_RUNS)

CRASHES := $(BIN)/python -m tests.integration.spark.sink.crashes
DEATHS := $(BIN)/python -m tests.integration.spark.sink.random_deaths

faults: setup  ## the long runs, about an hour: expensive requests; kill -9 at every point of a Spark write
	$(BIN)/python -m tests.integration.faults.expensive_requests
	$(CRASHES) --node ottla
	$(CRASHES) --node kafka
	$(DEATHS) --node ottla
	$(DEATHS) --node kafka

PART ?=
SAMPLE ?= 60
SEED ?= 1
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

mutants: setup  ## plant faults and see which the tests find; PART=storage/producers SAMPLE=100 SEED=2 JOBS=1
	$(BIN)/python -m tools.mutants --part $(PART) --sample $(SAMPLE) --seed $(SEED) --jobs $(JOBS) --goal 90

wheel: setup  ## build a wheel in dist/ and try it in an empty environment
	$(BIN)/python -m tools.wheel

clean:  ## remove what the targets above made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
