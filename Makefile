# Every command of the project. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo release up down status test test-airflow test-first-rules test-other-rules test-quick test-releases test-real test-all test-laws test-containers coverage lint docs format bench lock mutants sbom audit wheels
PYTHON ?= python3
UV := .venv/bin/uv
UV_LOCK := deploy/uv.txt
RUN := .venv/bin/python -m
# Packages of this repository: the lock has their dependencies; they are installed from their folders.
OURS := --no-emit-package s2orc-parse --no-emit-package pdf2tei --no-emit-package s2corpus-reader --no-emit-package s2corpus-datasets
QUICK := not slow and not long and not services and not airflow
# Tests of pure functions. The other tests write lakes, read PDFs or start programs.
PURE := $(addprefix tests/unit/s2corpus/, commands papers sources stages/assemble stages/clean stages/filter text titles web) \
  tests/unit/s2orc_parse/bibliography tests/unit/s2orc_parse/jats tests/unit/s2orc_parse/tei
# These folders need about half of the time of tests/unit.
FIRST_RULES := $(addprefix tests/unit/, house pdf2tei s2corpus_datasets s2orc_parse/jats s2orc_parse/latex) \
  $(addprefix tests/unit/s2corpus/, clustering commands deliveries evaluation extractors hostile)
export UV_PYTHON_DOWNLOADS = never
# This variable would make each process compile thousands of source files again, which takes half of a small release's time.
unexport PYTHONDONTWRITEBYTECODE

help: ## List the commands
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# The pip of $(PYTHON) installs uv. Without pip, ensurepip first installs it into the environment, which takes five seconds.
$(UV):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11 to 3.13 is needed, %s is %d.%d" % ((sys.executable,) + v))'
	@if $(PYTHON) -m pip --version >/dev/null 2>&1 && $(PYTHON) -m venv --without-pip .venv \
	  && $(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes -r $(UV_LOCK) --target .venv/uv; \
	then ln -sf ../uv/bin/uv .venv/bin/uv; \
	else rm -rf .venv; $(PYTHON) -m venv .venv || { echo "python3-venv is needed to make .venv: apt-get install python3-venv" >&2; exit 1; }; \
	  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(UV_LOCK); fi

.venv/.runtime: requirements.txt pyproject.toml $(wildcard include/*/pyproject.toml) | $(UV)
	@echo "installing into .venv"
	@$(UV) pip install --quiet --python .venv/bin/python --require-hashes -r requirements.txt
	@$(UV) pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e include/s2orc_parse -e include/pdf2tei -e include/s2corpus_reader -e include/s2corpus_datasets -e .
	@touch $@

.venv/.datasets: requirements-datasets.txt .venv/.runtime
	@$(UV) pip install --quiet --python .venv/bin/python --require-hashes -r requirements-datasets.txt
	@touch $@

.venv/.development: requirements-dev.txt requirements-fab.txt .venv/.runtime
	@$(UV) pip install --quiet --python .venv/bin/python --require-hashes -r requirements-dev.txt
	@$(UV) pip install --quiet --python .venv/bin/python --require-hashes -r requirements-fab.txt
	@touch $@

.venv/.kernels: .venv/.runtime
	@echo "compiling the kernels"
	@$(RUN) devtools.local.kernels >/dev/null
	@touch $@

setup: .venv/.kernels ## Make .venv with everything locked, and compile the kernels

demo: .venv/.runtime ## Build two releases of generated papers under the local Airflow and compare them with the truth
	@.venv/bin/python -m devtools demo

release: .venv/.runtime ## Add your own papers to a corpus and build it: make release PDFS=<folder> [CORPUS=own]
	@test -n "$(PDFS)" || { echo "PDFS is missing: make release PDFS=<folder>" >&2; exit 2; }
	@.venv/bin/python -m devtools release "$(PDFS)" $(CORPUS)

up: .venv/.runtime ## Start the local services
	@.venv/bin/python -m devtools up

down: ## Stop the local services; their data remain
	@if [ -x .venv/bin/corpus ]; then .venv/bin/python -m devtools down; else echo "no local services are set up here"; fi

status: .venv/.runtime ## Show the state and the logs of the local services
	@.venv/bin/python -m devtools status

# Two cores run four lists, because tests with Airflow often wait. The lists share samples and releases.
test: ## Run all tests except those marked `long`, which `make test-all` runs
	@$(MAKE) --no-print-directory -j2 .venv/.development .venv/.kernels
	@export S2CORPUS_TEST_SHARED=$$(mktemp -d); trap 'rm -rf "$$S2CORPUS_TEST_SHARED"' EXIT; \
	  code=0; $(MAKE) --no-print-directory --keep-going -j4 test-airflow test-releases test-first-rules test-other-rules || code=$$?; \
	  echo "skipped tests:"; cat "$$S2CORPUS_TEST_SHARED"/skipped-* 2>/dev/null | sort -u || true; exit $$code

# Each list has a separate temporary folder, because pytest would delete links of another run in it. The folder remains if a test fails.
LIST = folder=$$(mktemp -d -t tXXXX); PYTEST_DEBUG_TEMPROOT=$$folder $(RUN) pytest -q $(1); rm -rf "$$folder"

test-airflow: .venv/.development
	@$(call LIST,-m "airflow and not long" tests/faults tests/ui tests/dags)

test-releases: .venv/.development
	@$(call LIST,-m "not airflow and not long" tests/faults tests/e2e tests/ui)

test-first-rules: .venv/.development
	@$(call LIST,-m "not long" $(FIRST_RULES))

test-other-rules: .venv/.development
	@$(call LIST,-m "not long" $(FIRST_RULES:%=--ignore %) tests/unit tests/papers)

test-all: .venv/.development ## Run the tests marked `long`, all examples of the laws, and the containers: with `make test`, every test
	@export HYPOTHESIS_PROFILE=same S2CORPUS_TEST_SHARED=$$(mktemp -d); trap 'rm -rf "$$S2CORPUS_TEST_SHARED"' EXIT; \
	  $(RUN) pytest -q --durations=0 -m "long or hypothesis" --ignore tests/containers tests
	@$(MAKE) --no-print-directory test-containers

test-real: .venv/.development ## Test only the release of real papers (needs S2CORPUS_REAL_DATA; docs/quality.md)
	@$(RUN) pytest -q tests/real

test-containers: .venv/.development ## Test containers: a release by docker-compose.yaml, Spark, the commands of the Airflow chart (root, Debian)
	@$(RUN) pytest -q --durations=0 tests/containers

test-quick: .venv/.development ## Run the quick tests of rules that are pure functions, without lakes, PDFs and programs
	@$(RUN) pytest -q -n 2 --dist loadfile -m "$(QUICK)" $(PURE)

test-laws: .venv/.development ## Run all quick tests of rules with newly drawn examples
	@HYPOTHESIS_PROFILE=new $(RUN) pytest -q -n 2 --dist loadfile -m "$(QUICK)" tests/unit tests/papers

lint: .venv/.development ## Run ruff and mypy --strict
	@$(RUN) ruff check . && $(RUN) ruff format --check . && $(RUN) mypy

# Build from an sdist: a wheel of a folder could contain files of an earlier build.
wheels: .venv/.runtime ## Build the packages that can be installed alone into dist/
	@for package in s2orc_parse pdf2tei s2corpus_reader s2corpus_datasets; do \
	  $(UV) build --quiet --no-build-isolation --python .venv/bin/python --out-dir dist include/$$package; done

docs: .venv/.development ## Build the documentation site strictly into site/
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. .venv/bin/mkdocs build --strict --quiet

format: .venv/.development ## Format the code
	@$(RUN) ruff check --fix . && $(RUN) ruff format .

bench: .venv/.development ## Run all benchmarks that need no argument (long)
	@for script in $$(grep -l __main__ devtools/bench/*.py); do echo "== $$script"; $(RUN) devtools.bench.$$(basename $$script .py); done

lock: | $(UV) ## Resolve the dependencies of pyproject.toml again
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes pyproject.toml $(OURS) --extra airflow --extra local -o requirements.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes pyproject.toml $(OURS) --extra datasets -c requirements.txt -o requirements-datasets.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --group dev -c requirements.txt -o requirements-dev.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes pyproject.toml $(OURS) --extra airflow --extra local --extra datasets --extra fab --extra kubernetes --extra spark -c requirements.txt -o requirements-fab.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes pyproject.toml $(OURS) --extra airflow --extra datasets --extra fab --extra kubernetes --extra spark -c requirements-fab.txt -o requirements-image.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes pyproject.toml $(OURS) --extra spark -c requirements-fab.txt -o requirements-spark.txt
	@echo 'uv==$(shell $(UV) --version | cut -d" " -f2)' | $(UV) pip compile --quiet --universal --generate-hashes --no-header --no-annotate - -o $(UV_LOCK)
	@.venv/bin/python deploy/third_party.py

COVERED := papers titles clustering stages/link stages/cluster.py stages/clean stages/split stages/export deliveries
MEASURED := $(RUN) coverage run --branch --source=include/s2corpus
# Coverage sees the lines of a kernel only if it is not compiled.
KERNELS := $(addprefix tests/unit/s2corpus/, clustering stages/link titles)
coverage: .venv/.development ## Report the branches of the rules that the quick tests cover, with the uncovered lines
	@rm -rf build/coverage && mkdir -p build/coverage
	@COVERAGE_FILE=build/coverage/data $(MEASURED) -m pytest -q -m "$(QUICK)" tests/unit tests/papers
	@COVERAGE_FILE=build/coverage/data NUMBA_DISABLE_JIT=1 $(MEASURED) --append -m pytest -q -m "$(QUICK) and not compiled" $(KERNELS)
	@COVERAGE_FILE=build/coverage/data $(RUN) coverage report --show-missing --skip-covered \
	  --include="$$(printf 'include/s2corpus/%s/*,' $(COVERED))$$(printf 'include/s2corpus/%s.py,' $(COVERED))"

mutants: .venv/.development ## Make small faults in the code of an area, and count the faults that its quick tests find: make mutants AREA=titles [SAMPLE=20] [SEED=1] (docs/quality.md)
	@test -n "$(AREA)" || { echo "AREA is missing: devtools/mutants.toml lists the areas: make mutants AREA=titles" >&2; exit 2; }
	@$(RUN) devtools.mutants "$(AREA)" --sample $(or $(SAMPLE),20) --seed $(or $(SEED),1)

audit: .venv/.development ## Check licenses and known vulnerabilities of all locked packages (exceptions: deploy/audit.toml)
	@.venv/bin/python deploy/audit.py

sbom: .venv/.development ## Write the packages of Airflow's image as a CycloneDX bill of materials to build/sbom.json
	@mkdir -p build
	@.venv/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json requirements-image.txt
