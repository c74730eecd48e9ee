# `make demo` and `make test` do all the set-up: a virtual environment in .venv with Mercer and what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-fast test-torch test-slow docs benchmarks check-release clean

demo: $(READY)
	$(BIN)/mercer demo

test: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# For the inner loop: every room, without what takes a quarter of a second or more.
test-fast: $(READY)
	$(BIN)/python -m pytest -n 2 -m "not slow and not thorough" tests

# What needs torch, which is gigabytes: installed here and not by `make test`.
test-torch: $(READY)
	$(BIN)/pip install --quiet --group torch
	$(BIN)/python -m pytest -n 2 -m "torch and not slow" tests

# The site, with every example run: warnings are errors. `make docs GALLERY=0` leaves the examples out.
GALLERY ?= 1
docs: $(READY)
	$(BIN)/pip install --quiet --group docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going -D plot_gallery=$(GALLERY) docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	@echo "The site: docs/_build/html/index.html"

# Wheel and source archive, built and looked at; docs/release.md says what follows.
check-release: $(READY)
	$(BIN)/pip install --quiet --group release
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

# All of them, to the end; then every verdict in one table. Fails where a promise fell short.
benchmarks: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --group dev --editable .
	touch $(READY)

clean:
	rm -rf $(VENV) dist build docs/_build docs/gallery docs/reference/api docs/reference/pictures .pytest_cache .mypy_cache .ruff_cache
