# Every verb sets up everything it needs: a machine with python3 (venv), git and make is enough.
# `make test PYTHON=python3.13` uses another interpreter; `ARGS='-k notebook'` goes to pytest.

PYTHON  ?= python3
ARGS    ?=
TORCH   ?= torch==2.13.0
PEERS   ?= jurigged[develoop]==0.6.1 ipython==9.18.1 pandas==3.1.1 tqdm==4.70.1 polars==2.1.0 pyperf==2.11.0 pyarrow==26.0.1 \
           matplotlib==3.11.2 scikit-learn==1.9.1 jax==0.10.2 duckdb==2.0.1 line_profiler==5.1.0
SYSTEM  ?= yes# `no`: never install Debian packages, not even as root
# The first other Python that really runs: a shim that pyenv puts on PATH may only print an error.
PYTHONS := $(foreach version,3.13 3.12,python$(version) $(wildcard $(HOME)/.pyenv/versions/$(version).*/bin/python$(version)))
OTHER   ?= $(shell for python in $(PYTHONS); do $$python -c 'import ensurepip, venv' 2>/dev/null && echo $$python && break; done)
# Tests wait for programs, and for the other processes of those: two workers for each core.
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores > 4 ? 8 : cores * 2)))

VENV    := .venv
VENV_ML := .venv-ml
VENV_PEERS := .venv-peers
VENV_OTHER = .venv-$(notdir $(OTHER))
BIN     := $(VENV)/bin
PIP     := -m pip --disable-pip-version-check -qq install --progress-bar off
PYTEST  := -m pytest -n $(WORKERS) --maxprocesses 8
TESTS_OTHER := $(addprefix tests/,agent core $(addprefix evidence/test_,comprehensions.py specimens.py \
               python_versions.py what_was_before.py) execution/warm/test_warm_programs.py)
LOCK    := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
           --custom-compile-command 'make lock' $(ARGS) pyproject.toml

# An outer environment must not leak into ours.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:

.PHONY: help
help: ## this list
	@echo 'make VERB, where VERB is one of'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	    | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

# ---- verbs ----

# `make clean` removes the state of the measured projects: it isn't in the user's own state folder.
bench bench-warm bench-evidence bench-shrink bench-bisect bench-starve bench-small bench-measure: export XDG_STATE_HOME := $(CURDIR)/build/state

.PHONY: demo
demo: $(VENV)/.ready-demo ## a real bug in a real library, from a big file to one line
	PATH="$(CURDIR)/$(BIN):$$PATH" demo/run

.PHONY: test
test: $(VENV)/.ready-dev system-if-root ## all tests except those that take minutes or need torch
	$(BIN)/python $(PYTEST) -m 'not long and not ml' $(ARGS)

.PHONY: test-other
test-other: ## the version-dependent tests on another Python, if installed; OTHER=python3.12
ifeq ($(OTHER),)
	@echo 'make test-other: skipped, as neither python3.13 nor python3.12 runs here'
else
	@$(MAKE) $(VENV_OTHER)/.ready PYTHON=$(OTHER)
	$(VENV_OTHER)/bin/python $(PYTEST) -m 'not long and not ml' $(TESTS_OTHER) $(ARGS)
endif

.PHONY: test-long
test-long: $(VENV)/.ready-dev system-if-root ## the tests that take minutes
	HYPOTHESIS_PROFILE=nightly $(BIN)/python $(PYTEST) -m 'long and not ml' $(ARGS)

.PHONY: test-ml
test-ml: $(VENV_ML)/.ready ## the tests that need torch and transformers, in their own environment
	$(VENV_ML)/bin/python -m pytest -m ml tests/ml tests/plugins $(ARGS)

.PHONY: check check-format check-types check-design check-docs
check: check-format check-types check-design check-docs ## format, lint, types, layers, dependencies, docs

check-format: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

check-types: $(VENV)/.ready-dev
	$(BIN)/mypy
	@# Not tests/ml/conftest.py: torch isn't installed here.
	for file in $$(ls tests/*/conftest.py | grep -v ^tests/ml/); do $(BIN)/mypy "$$file" || exit; done
	$(BIN)/basedpyright

check-design: $(VENV)/.ready-dev
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/vulture

check-docs: $(VENV)/.ready-dev
	$(BIN)/python docs/prose.py
	$(BIN)/python docs/generate.py --check
	$(BIN)/sphinx-build -n -W -q -b html docs docs/_build/html

.PHONY: bench
bench: $(VENV)/.ready-dev ## run the measurements in benchmarks/; prints tables with ratios
	for module in cycles.overhead histories.bisection histories.fewer_runs histories.second_look \
	    histories.two_cases shrink.decisions evidence.costs evidence.slips limits.starve limits.rooms; do \
	    $(BIN)/python -m benchmarks.$$module || exit; done

.PHONY: bench-warm
bench-warm: $(VENV)/.ready-dev $(VENV_PEERS)/.ready ## warm cycles of a torch program and of libraries, compared with cold ones and other tools
	$(BIN)/python -m benchmarks.cycles.warm --python $(VENV_PEERS)/bin/python \
	    --picture docs/warm-cycles.svg $(ARGS)
	$(BIN)/python -m benchmarks.cycles.searches --python $(CURDIR)/$(VENV_PEERS)/bin/python --only trials
	$(BIN)/python -m benchmarks.cycles.libraries --python $(VENV_PEERS)/bin/python

.PHONY: bench-evidence
bench-evidence: $(VENV)/.ready-dev ## how many causes whet names and reworded failures it bisects; the cost of stacks, variables, system calls, probes
	$(BIN)/python -m benchmarks.evidence.everyday
	$(BIN)/python -m benchmarks.evidence.published
	$(BIN)/python -m benchmarks.evidence.spectrum
	$(BIN)/python -m benchmarks.histories.reworded
	$(BIN)/python -m benchmarks.evidence.costs $(ARGS)
	$(BIN)/python -m benchmarks.evidence.hidden_causes $$(test -x $(VENV_ML)/bin/python && echo --torch $(CURDIR)/$(VENV_ML)/bin/python)
	$(BIN)/python -m benchmarks.evidence.hidden_causes --others
	$(BIN)/python -m benchmarks.evidence.slips

.PHONY: bench-shrink
bench-shrink: $(VENV)/.ready-dev ## whet shrink compared with other reducers; takes hours; resumes where you stopped it
	$(BIN)/python -m benchmarks.shrink.reducers $(ARGS)
	$(BIN)/python -m benchmarks.shrink.engine
	$(BIN)/python -m benchmarks.shrink.reducers $(ARGS) --summary

.PHONY: bench-bisect
bench-bisect: $(VENV)/.ready-dev ## whet bisect compared with git bisect run: lines, merges, releases of a real package, all culprits, flaky failures
	$(BIN)/python -m benchmarks.histories.bisection $(ARGS)
	$(BIN)/python -m benchmarks.histories.culprits
	$(BIN)/python -m benchmarks.histories.releases
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m benchmarks.histories.noisy
	$(BIN)/python -m benchmarks.histories.second_look

.PHONY: bench-starve
bench-starve: $(VENV)/.ready-dev ## the cost and accuracy of limits, and the cost of the resource record
	$(BIN)/python -m benchmarks.limits.starve $(ARGS)
	$(BIN)/python -m benchmarks.limits.rooms

.PHONY: bench-measure
bench-measure: $(VENV)/.ready-dev ## what sections, watching and profiling cost, compared with htop and watch; the hottest lines compared with a count; leaks, compared with tracemalloc and memray; the least time and the memory of six torch programs; how often whet compare is wrong, beside hyperfine and pyperf
	$(BIN)/python -m benchmarks.measure.watching $(ARGS)
	$(BIN)/python -m benchmarks.measure.profiles
	$(BIN)/python -m benchmarks.measure.sections $$(test -x $(VENV_PEERS)/bin/python && echo --python $(CURDIR)/$(VENV_PEERS)/bin/python)
	$(BIN)/python -m benchmarks.measure.leaks $$(test -x $(VENV_ML)/bin/python && echo --torch $(CURDIR)/$(VENV_ML)/bin/python)
	$(BIN)/python -m benchmarks.measure.leaks --unseen
	test ! -x $(VENV_ML)/bin/python || $(BIN)/python -m benchmarks.measure.estimates $(CURDIR)/$(VENV_ML)/bin/python
	$(BIN)/python -m benchmarks.measure.comparison --peers 10 $$(test -x $(VENV_PEERS)/bin/python && echo --pyperf $(CURDIR)/$(VENV_PEERS)/bin/python)

.PHONY: bench-small
bench-small: $(VENV)/.ready-dev $(VENV_ML)/.ready $(VENV_PEERS)/.ready ## models made tiny, the dimensions that failures need; the exponents that whet grow finds; whet sample compared with duckdb and pandas
	$(BIN)/python -m benchmarks.small.growth
	$(VENV_ML)/bin/python -m benchmarks.small.tiny $(ARGS)
	$(BIN)/python -m benchmarks.small.sample --python $(CURDIR)/$(VENV_PEERS)/bin/python

.PHONY: chaos
chaos: $(VENV)/.ready-dev ## kills, signals and failing system calls at random moments; results accumulate; ARGS='--rounds 1000'
	$(BIN)/python -m benchmarks.faults.chaos $(ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.ready-dev ## broken and odd files, records and texts for every parser; results accumulate; ARGS='--seconds 3600'
	$(BIN)/python -m benchmarks.faults.fuzz $(ARGS)

.PHONY: docs
docs: docs-generate ## build the documentation: docs/_build/html/index.html
	$(BIN)/sphinx-build -n -W -q -b html docs docs/_build/html
	@echo 'open docs/_build/html/index.html'

.PHONY: recordings
recordings: $(VENV)/.ready-dev ## record the pictures of the documentation again, on an idle machine; ARGS=loop for one
	$(BIN)/python docs/recordings.py $(ARGS)

.PHONY: docs-generate
docs-generate: $(VENV)/.ready-dev ## rewrite the pages that are generated from the code
	$(BIN)/python docs/generate.py

.PHONY: system
system: ## install the Debian packages that tests use (as root)
	@set -e; \
	command -v dpkg-query >/dev/null || { echo 'make system: not a Debian system; see packages.debian.txt'; exit 0; }; \
	missing=; \
	for package in $$(sed 's/#.*//' packages.debian.txt); do \
	    dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' \
	        || missing="$$missing $$package"; \
	done; \
	test -n "$$missing" || exit 0; \
	test "$$(id -u)" = 0 || { echo "make system: only root can install$$missing"; exit 1; }; \
	echo "installing$$missing"; \
	apt-get update -qq; \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$missing >/dev/null

.PHONY: system-if-root
system-if-root:
	@if [ "$(SYSTEM)" = yes ] && [ "$$(id -u)" = 0 ]; then $(MAKE) system; fi

.PHONY: lock
lock: $(VENV)/.ready-dev ## resolve the dependencies again; ARGS=--upgrade for the newest
	$(LOCK) --group dev --extra formats -o locks/dev.txt
	$(LOCK) --group build --group demo -c locks/dev.txt -o locks/demo.txt
	$(LOCK) --group ml --extra formats -c locks/dev.txt -o locks/ml.txt

.PHONY: clean
clean: ## remove the environments and everything that was built
	rm -rf $(VENV) $(VENV_ML) $(VENV_PEERS) .venv-python3.* docs/_build dist build .coverage .coverage.* \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# ---- environments; a stamp is newer than the files that it was made from ----

# A lock lists every package, so pip resolves nothing (--no-deps), and today's releases change nothing.

# $(call make-venv,FOLDER): a working virtual environment, made again if its Python is gone.
define make-venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
    echo 'whet needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3' >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
    echo 'this python3 has no venv; install it: apt-get install python3-venv' >&2; exit 1; }
@$(1)/bin/python -m pip --version >/dev/null 2>&1 || { \
    echo 'making $(1)'; $(PYTHON) -m venv --clear $(1); }
endef

$(VENV)/.ready-demo: locks/demo.txt pyproject.toml
	$(call make-venv,$(VENV))
	@$(BIN)/python $(PIP) --no-deps --require-hashes -r locks/demo.txt
	@$(BIN)/python $(PIP) --no-deps --no-build-isolation --editable .
	@# pip compiles the files that it copies, but not a checkout.
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready-demo locks/dev.txt
	@$(BIN)/python $(PIP) --no-deps --require-hashes -r locks/dev.txt
	@$(BIN)/python -m pip --disable-pip-version-check check
	@touch $@

$(VENV_OTHER)/.ready: locks/dev.txt pyproject.toml
	$(call make-venv,$(VENV_OTHER))
	@$(VENV_OTHER)/bin/python $(PIP) --no-deps --require-hashes -r locks/dev.txt
	@$(VENV_OTHER)/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# torch isn't in a lock: a plain name takes the build that this machine's pip is configured for.
$(VENV_ML)/.ready: locks/ml.txt pyproject.toml Makefile
	$(call make-venv,$(VENV_ML))
	@$(VENV_ML)/bin/python $(PIP) '$(TORCH)'
	@$(VENV_ML)/bin/python $(PIP) --no-deps --require-hashes -r locks/ml.txt
	@$(VENV_ML)/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# The tools that warm cycles are compared with, and everything in the torch environment.
$(VENV_PEERS)/.ready: $(VENV_ML)/.ready Makefile
	$(call make-venv,$(VENV_PEERS))
	@$(VENV_PEERS)/bin/python $(PIP) $(foreach peer,$(PEERS),'$(peer)')
	@ml=$$($(VENV_ML)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	    own=$$($(VENV_PEERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	    echo "import site; site.addsitedir('$$ml')" > "$$own/ml.pth"
	@touch $@
