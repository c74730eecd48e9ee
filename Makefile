# `make demo` and `make test` do all the set-up: a virtual environment in .venv with Mercer and what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-fast test-torch test-slow benchmarks clean

demo: $(READY)
	$(BIN)/mercer demo

test: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# For the inner loop: every room, without what takes half a second or more.
test-fast: $(READY)
	$(BIN)/python -m pytest -n 2 -m "not slow and not thorough" tests

# What needs torch, which is gigabytes: installed here and not by `make test`.
test-torch: $(READY)
	$(BIN)/pip install --quiet --editable ".[dev,dev-torch]"
	$(BIN)/python -m pytest -n 2 -m "torch and not slow" tests

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

# All of them, to the end; then every verdict in one table. Fails where a promise fell short.
benchmarks: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache
