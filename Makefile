# Everything runs in .venv, which is made from the package index; needs Python >= 3.10 with its headers and a C compiler.
#   make demo   the heavy top under several methods: a convergence table here, its plot in demo/
#   make test   the whole suite: C tests plain and under sanitizers, then pytest
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(shell find csrc lgint -name '*.[ch]' -o -name '*.def' -o -name '*.py' -o -name '*.pyi')
C_FILES = $(shell find csrc tests/c -name '*.[ch]')
C_TESTS = $(MAKE) -C tests/c PYTHON=$(abspath $(BIN))/python

.PHONY: demo test sanitize docs lint format clean

demo: $(VENV)/plot.stamp
	$(BIN)/lgint demo --out demo

test: $(VENV)/test.stamp
	$(C_TESTS) test
	$(C_TESTS) sanitize
	$(BIN)/pytest --nbmake tests $(wildcard notebooks)

sanitize: $(VENV)/test.stamp
	$(C_TESTS) sanitize

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(C_FILES)

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(C_FILES)

# x.stamp: lgint as it stands is installed together with its extra x; objects that did not change are kept
$(VENV)/%.stamp: $(SOURCES) | $(BIN)/python
	rm -rf build/lib* lgint.egg-info
	$(BIN)/python -m pip install --quiet ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build demo docs/_build docs/generated *.egg-info lgint/*.so
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	$(MAKE) -C tests/c clean
