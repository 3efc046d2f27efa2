# Two commands do all set-up: `make demo` and `make test`. Each makes .venv first when it is missing or out of date.
PYTHON ?= python3
LOWEST_PYTHON ?= python3.11
BIN := .venv/bin
LOWEST := .venv-lowest/bin

# Tests run two at a time: BLAS threads on top of that would fight for the cores.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: demo test stress test-lowest bench docs check clean

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

.venv-lowest/ready: pyproject.toml .ci/lowest.py
	$(LOWEST_PYTHON) -m venv .venv-lowest
	$(LOWEST)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(LOWEST)/python .ci/lowest.py > .venv-lowest/lowest.txt
	$(LOWEST)/python -m pip install --quiet --editable ".[all]" --group test --constraint .venv-lowest/lowest.txt
	touch $@

demo: .venv/ready            ## buy a tenth of the answers of language models, and compare with the truth
	$(BIN)/curplus demo

test: .venv/ready            ## run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

stress: .venv/ready          ## the long forms of the tests: 500 examples of each property, more draws, types and kills
	CURPLUS_STRESS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test-lowest: .venv-lowest/ready  ## run the tests with the lowest versions that pyproject.toml allows
	$(LOWEST)/python -m pytest -n 1 -W ignore::DeprecationWarning  # old packages call what newer ones deprecate

.venv-cmfrec/ready:          # a neighbour in an environment of its own
	$(PYTHON) -m venv .venv-cmfrec
	.venv-cmfrec/bin/python -m pip install --quiet cmfrec threadpoolctl
	touch $@

bench: .venv/ready .venv-cmfrec/ready  ## ours beside the neighbours on the same data: docs/guide/results.rst
	$(BIN)/python benchmarks/bench.py --cmfrec .venv-cmfrec/bin/python

docs: .venv/ready            ## build the documentation, warnings are errors
	$(BIN)/python -m sphinx -j 2 -W --keep-going -b html docs docs/_build/html

check: .venv/ready           ## format, lint, types and repository review
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/repo-review .

clean:
	rm -rf .venv .venv-lowest .venv-cmfrec dist docs/_build docs/gallery docs/api/generated
