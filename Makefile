# Three commands for a fresh machine: `make demo`, `make quick` and `make test`. Each makes its environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SETTINGS := setup.cfg pyproject.toml constraints.txt

.PHONY: help demo quick test coverage check package bench docs fuzz chaos laws mutation oracles reliability test-min test-new test-mpi test-gpu audit clean

help:
	@echo "make demo   set up and run the main job on embedded data (no download)"
	@echo "make quick  linters and the fast tests in an environment without torch (under two minutes)"
	@echo "make test   set up, then linters, types, layers, tests and doctests"
	@echo "make check  the same without the tests"
	@echo "make coverage  the tests with branch coverage and its floors (twice the time)"
	@echo "make package  build wheel and source distribution into dist/ and try both in empty environments"
	@echo "make docs   build the documentation into docs/_build/html"
	@echo "make laws   every law on 20 000 examples, and in threads (hours)"
	@echo "make fuzz   coverage-guided fuzzing of every reader (two processor hours)"
	@echo "make chaos  a thousand kill -9 while saving, training and searching"
	@echo "make mutation  change the core in thousands of places; the tests must notice (hours)"
	@echo "make oracles  every public number, 2 250 partial spectra and 20 000 kernels against independent oracles (an hour)"
	@echo "make reliability  write docs/reliability.md from the figures of these runs"
	@echo "make test-min  the core on the oldest supported versions; test-new: on the newest"
	@echo "make audit  compare the pinned versions with the public advisories (needs a connection)"
	@echo "make test-mpi  several processes: PETSc from Debian if it is missing, laws on 1, 2 and 4 ranks"
	@echo "make test-gpu  install CuPy, check our calls against its signatures, run the tests marked gpu"
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
	$(BIN)/python -m tools.docstrings

# Without torch, CuPy and a browser: what a contributor runs while writing.
QUICK_TESTS := tests/test_atomic.py tests/test_conventions.py tests/test_document.py tests/test_files.py \
	tests/test_filterbank.py tests/test_graph.py tests/test_import.py tests/test_no_unsafe_calls.py \
	tests/test_operators.py tests/test_package.py tests/test_worked_examples.py tests/laws/test_bounds_laws.py \
	tests/laws/test_calculus_laws.py tests/laws/test_energy_laws.py tests/laws/test_operator_laws.py \
	tests/laws/test_theorem_laws.py

$(VENV)-quick/.installed: $(SETTINGS)
	$(PYTHON) -m venv $(VENV)-quick
	$(VENV)-quick/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[quick]'
	touch $@

quick: $(VENV)-quick/.installed
	$(VENV)-quick/bin/ruff check --quiet .
	$(VENV)-quick/bin/ruff format --check --quiet .
	$(VENV)-quick/bin/lint-imports --no-logo
	$(VENV)-quick/bin/pytest -q -n auto --dist worksteal -m "not slow" -k "not double" \
		--hypothesis-profile=quick $(QUICK_TESTS)

# One BLAS and torch thread for each worker: with more threads than CPUs they wait for each other in busy loops, and a
# dense decomposition takes 25 times as long. The engine's own threads stay two.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 GSP_FB_THREADS=2 $(BIN)/pytest -q -n auto --dist worksteal -m "not slow"

test: check
	$(PYTEST) --mpl

# Apart from the tests: tracing every branch doubles their time.
coverage: $(VENV)/.test
	$(PYTEST) --cov --cov-report=
	$(BIN)/python -m tools.reliability.floors

$(VENV)/.docs: $(VENV)/.demo
	$(PIP) -e '.[docs]'
	touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -n -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt atheris
	$(BIN)/python -m tools.fuzz --seconds 75 --rounds 3 --jobs 2

chaos: $(VENV)/.test
	$(BIN)/python -m tools.chaos --kills 1000

laws: $(VENV)/.test
	$(BIN)/pytest -q -m slow tests/test_stress.py
	$(BIN)/python -m tools.reliability.laws --jobs 2

# In an environment of its own: mutmut wants an older pytest than the one that is pinned.
$(VENV)-mutation/pyvenv.cfg: $(SETTINGS)
	$(PYTHON) -m venv $(VENV)-mutation
	grep -v '^pytest==' constraints.txt > $(VENV)-mutation/constraints.txt
	$(VENV)-mutation/bin/python -m pip install --quiet --disable-pip-version-check \
		-c $(VENV)-mutation/constraints.txt -e '.[test]' 'pytest<9' 'mutmut>=3.8'

mutation: $(VENV)-mutation/pyvenv.cfg
	$(VENV)-mutation/bin/python -m tools.reliability.mutation --jobs 2

oracles: $(VENV)/.test
	$(BIN)/python -m tools.oracles numbers spectra filters --count 20000

reliability: $(VENV)/.test
	$(BIN)/python -m tools.fuzz --report
	$(BIN)/python -m tools.reliability.page

# The same tests on the oldest supported versions, and on the newest ones that pip finds. EXTRAS leaves torch out where
# there is no build of it without CUDA: make test-new PYTHON=python3.13 EXTRAS=graphs,plot,data,report,ml,fast
EXTRAS ?= all
CORE_TESTS := tests/test_graph.py tests/test_operators.py tests/test_spectrum.py tests/test_profile.py \
	tests/test_atomic.py tests/test_files.py tests/test_filterbank.py tests/laws
TEST_TOOLS := pytest hypothesis mpmath array-api-strict

test-min:
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python -m pip install --quiet -c constraints-min.txt -e '.[$(EXTRAS)]' $(TEST_TOOLS)
	.venv-min/bin/python -m pytest -q -m "not slow" $(CORE_TESTS)

test-new:
	$(PYTHON) -m venv .venv-new
	grep '^torch==' constraints.txt > .venv-new/constraints.txt
	.venv-new/bin/python -m pip install --quiet -c .venv-new/constraints.txt -e '.[$(EXTRAS)]' $(TEST_TOOLS)
	.venv-new/bin/python -m pytest -q -m "not slow" $(CORE_TESTS)

audit:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet pip-audit
	.venv-audit/bin/pip-audit -r constraints.txt --no-deps --disable-pip

test-mpi: $(VENV)/.test
	tests/mpi/run.sh
	$(BIN)/pytest -q -n 0 tests/mpi/test_mpirun.py

test-gpu: $(VENV)/.test
	$(PIP) -e '.[gpu]'
	$(BIN)/pytest -q -n 0 tests/device/test_cupy_signatures.py
	$(BIN)/pytest -q -n 0 -m gpu tests

package: $(VENV)/.test
	rm -rf build dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/pytest -q -n 0 -m slow tests/test_package.py

bench: $(VENV)/.test
	-$(PIP) -e '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-quick .venv-min .venv-new .venv-audit .venv-mutation mutants tools/fuzz/grown build dist demo-report.html docs/_build docs/auto_gallery docs/api/generated *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
