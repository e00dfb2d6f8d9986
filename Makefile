# Two commands for a fresh machine: `make demo` and `make test`. Both make .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SETTINGS := setup.cfg pyproject.toml constraints.txt

.PHONY: help demo test check bench docs clean

help:
	@echo "make demo   set up and run the main job on embedded data (no download)"
	@echo "make test   set up, then linters, types, layers, tests and doctests"
	@echo "make check  the same without the tests"
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
	$(BIN)/gsp-fb demo

check: $(VENV)/.test
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check
	$(BIN)/pytest -q -n auto -m "not slow"

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
