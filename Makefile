# All tasks of development and CI. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up

# Tests start many brokers: without bytecode files each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run demo demo-clean test test-ci retest test-times test-long chaos check format generate oracles bench fuzz simulation cluster-faults faults mutants wheel clean

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

demo: setup  ## run the demo: a cluster, pipelines, a lake, two kills, an audit; SABOTAGE= REPAIR=1 BROKERS=1
	@$(BIN)/python -m demo $(if $(SABOTAGE),--sabotage $(SABOTAGE)) $(if $(BROKERS),--brokers $(BROKERS)) $(if $(REPAIR),--repair) $(DEMO)

demo-clean:  ## remove the files of the demo
	@rm -rf .demo

# Tests mostly wait for other processes: on two processors six workers need 7.6 minutes, four 8.6.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 4 )))

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup
# `make retest` reads the status.
KEEP_STATUS = status=$$?; mkdir -p .pytest_cache; echo $$status > .pytest_cache/status; exit $$status

test: setup  ## set up and run the tests
	@$(PYTEST) -m 'not java and not ci'; $(KEEP_STATUS)

test-ci: setup  ## what CI runs besides: comparisons with Apache Kafka (Maven), chaos, the whole demo
	@$(PYTEST) -m 'java or ci'; $(KEEP_STATUS)

retest: setup  ## run the failed tests of the last run again, each by itself, if there are only a few
	$(BIN)/python -m tools.retest

test-times: setup  ## the tests once more, with a table of where their time goes
	@$(PYTEST) -q -m 'not java and not ci' -p tests.support.recorded_times || true
	@$(BIN)/python -m tools.test_times

test-long: setup  ## run all tests, including slow ones
	OTTLA_LONG=1 OTTLA_SPARK=all $(PYTEST)

check: setup  ## lint, types, architecture, generated files up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/generate.py --check
	$(BIN)/python -m pytest -q tests/architecture

format: setup  ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: setup  ## regenerate messages and reference tables
	$(BIN)/python tools/generate.py

oracles: setup  ## compare our codec with other implementations and regenerate the table of agreement
	$(BIN)/python -m tools.oracles

BENCH ?= micro

bench: setup  ## run benchmarks and print their tables; BENCH=end_to_end, spark, or some by name
	$(BIN)/python -m benchmarks $(BENCH)

FUZZ_RUNS ?= 200000

fuzz: setup  ## fuzz the decoders; FUZZ_RUNS=10000000 for a long run
	@$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	$(BIN)/python fuzz/messages.py -runs=$(FUZZ_RUNS)
	$(BIN)/python fuzz/batches.py -runs=$(FUZZ_RUNS)

SEEDS ?= 2000
CLUSTER_SEEDS ?= 50
DISK_SEEDS ?= 12
SCRIPT_SEEDS ?= 10

FIRST_SEED = $(if $(FIRST),--first $(FIRST))

simulation: setup  ## elections, partitions, whole clusters, scripts; SEEDS= CLUSTER_SEEDS= DISK_SEEDS= SCRIPT_SEEDS=
	$(BIN)/python -m tests.unit.controller.election_world --seeds $(SEEDS) $(FIRST_SEED)
	$(BIN)/python -m tests.simulation.partitions.run --seeds $(SEEDS) $(FIRST_SEED)
	$(BIN)/python -m tests.simulation.cluster.run --seeds $(CLUSTER_SEEDS) $(FIRST_SEED)
	$(BIN)/python -m tests.simulation.cluster.run --seeds $(DISK_SEEDS) $(FIRST_SEED) --world flushed
	$(BIN)/python -m tests.simulation.cluster.run --seeds $(DISK_SEEDS) $(FIRST_SEED) --world damaged
	$(BIN)/python -m tests.scenarios.play tests/scenarios/*.scenario --seeds $(SCRIPT_SEEDS)

CLUSTER_FAULTS_S ?= 60

cluster-faults: setup  ## faults in a cluster with three ZooKeeper servers; CLUSTER_FAULTS_S=600
	$(BIN)/python -m tests.integration.cluster.chaos --seconds $(CLUSTER_FAULTS_S)

CHAOS_S ?= 480

chaos: setup  ## about ten minutes of every kind of fault in a cluster, then a check; CHAOS_S=240
	$(BIN)/python -m tests.chaos --campaign all --seconds $(CHAOS_S) --retry

CAMPAIGNS := kills pauses cuts copies answers groups rolls strands

CRASHES := $(BIN)/python -m tests.integration.spark.sink.crashes
DEATHS := $(BIN)/python -m tests.integration.spark.sink.random_deaths

faults: setup  ## long runs, over an hour: expensive requests; a cluster; kill -9 at every point of a Spark write
	$(BIN)/python -m tests.integration.faults.expensive_requests
	$(MAKE) simulation SEEDS=10000 CLUSTER_SEEDS=300 DISK_SEEDS=150 SCRIPT_SEEDS=200
	$(BIN)/python -m tests.integration.cluster.chaos --seconds 600
	set -e; for campaign in $(CAMPAIGNS); do $(BIN)/python -m tests.chaos --campaign $$campaign; done
	$(CRASHES) --node ottla
	$(CRASHES) --node kafka
	$(DEATHS) --node ottla
	$(DEATHS) --node kafka
	$(BIN)/python -m tests.integration.pipelines.crashes --node ottla
	$(BIN)/python -m tests.integration.pipelines.crashes --node kafka --victim driver
	$(BIN)/python -m tests.integration.pipelines.many_hours

PART ?=
SAMPLE ?= 60
SEED ?= 1
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

mutants: setup  ## mutation tests; PART=storage/producers SAMPLE=100 SEED=2 JOBS=1
	$(BIN)/python -m tools.mutants --part $(PART) --sample $(SAMPLE) --seed $(SEED) --jobs $(JOBS) --goal 90

wheel: setup  ## build a wheel in dist/ and test it in an empty environment
	$(BIN)/python -m tools.wheel

clean:  ## remove the environment, caches and build files
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
