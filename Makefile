# Two commands for a fresh machine: `make demo` and `make test`. Both make .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SETTINGS := setup.cfg pyproject.toml constraints.txt

.PHONY: help demo test check bench docs fuzz chaos laws test-min test-mpi clean

help:
	@echo "make demo   set up and run the main job on embedded data (no download)"
	@echo "make test   set up, then linters, types, layers, tests and doctests"
	@echo "make check  the same without the tests"
	@echo "make docs   build the documentation into docs/_build/html"
	@echo "make laws   every law on 20 000 examples, and in threads (hours)"
	@echo "make fuzz   coverage-guided fuzzing of every reader (two processor hours)"
	@echo "make chaos  a thousand kill -9 while saving, training and searching"
	@echo "make test-min  the core on the oldest supported versions"
	@echo "make test-mpi  several processes: PETSc and SLEPc from Debian if they are missing, laws on 1, 2 and 4 ranks"
	@echo "make bench  measure against the peer libraries, write benchmarks/RESULTS.md"
	@echo "make clean  remove .venv and caches"

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/pyvenv.cfg $(SETTINGS)
	$(PIP) -e '.[all]'
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(PIP) -e '.[test]'
	touch $@

demo: $(VENV)/.demo
	$(BIN)/gsp-fb demo --report demo-report.html

check: $(VENV)/.test
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check
	$(BIN)/pytest -q -n auto --dist worksteal -m "not slow" --mpl

$(VENV)/.docs: $(VENV)/.demo
	$(PIP) -e '.[docs]'
	touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -n -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt atheris
	$(BIN)/python -m fuzz --seconds 230 --jobs 2

chaos: $(VENV)/.test
	$(BIN)/python -m chaos --kills 1000

laws: $(VENV)/.test
	$(BIN)/pytest -q -n auto --hypothesis-profile=long tests/laws
	$(BIN)/pytest -q -m slow tests/test_stress.py

test-min:
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python -m pip install --quiet -c constraints-min.txt -e '.[all]' pytest hypothesis mpmath
	.venv-min/bin/python -m pytest -q -m "not slow" tests/test_graph.py tests/test_operators.py tests/test_spectrum.py tests/laws

test-mpi: $(VENV)/.test
	tests/mpi/run.sh
	$(BIN)/pytest -q -n 0 tests/mpi/test_mpirun.py

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-min build dist demo-report.html docs/_build docs/auto_gallery docs/api/generated *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
