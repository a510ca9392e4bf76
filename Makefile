# Everything runs in .venv, which is made from the package index; needs Python >= 3.10 with its headers and a C compiler.
#   make demo   the heavy top under several methods: prints a convergence table and writes its plot to demo/
#   make test   the suite without its slow tests: C tests, then pytest
#   make slow   the slow tests; SHARE=8 runs one in 8 of them
#   make sanitize   `make test` under the address and undefined-behaviour sanitizers; needs gcc; SHARE=3 runs about one in 3
#                   of the cases of a test with many
#   make fuzz     random models of all elements under the sanitizers; FUZZ=50 draws 50 times as many as there are elements
#   make wheel    dist/lgint-*.tar.gz, and from it, without an index, dist/lgint-*.whl for this machine, which is tried in
#                 clean environments with the newest and the oldest OpenBLAS
#   make papers   the figures and tables of the papers, in papers/, and the verdicts and thumbnails of docs/papers.md
#   make papers-quick   the same with fewer steps, without changing the docs
#   make validation   the cases of docs/validation.md
#   make tables   the tables in the pages of docs/ that come from the code and from measurements
#   make pictures   the pictures of the README, of getting started, of docs/gallery/README.md and of docs/wishes.md
#   make notebooks   the outputs of the notebooks; needs Chromium for pictures of their views
#   make counts   instructions per step by part of the code, compared with the committed ones; needs valgrind;
#                 SHARE=8 counts one in 8 of the cases
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(shell find csrc -name '*.[ch]' -o -name '*.def')
C_FILES = $(shell find csrc tests/c -name '*.[ch]')
SHARE := 1
JOBS := $(shell getconf _NPROCESSORS_ONLN)
C_TESTS = $(MAKE) --jobs=$(JOBS) --output-sync=target -C tests/c PYTHON=$(abspath $(BIN))/python
# most of a file's tests stay in one process, which makes what they share once
PARALLEL_PYTEST = $(BIN)/pytest -n $(JOBS) --dist worksteal
# without the plugin that runs notebooks, which takes seconds to load in every process
NO_NOTEBOOKS := -p no:nbmake
# the files of the tests with a marker: all others need not be read to find them
marked = $(sort $(shell grep -rl --include='test_*.py' 'mark\.$(1)' tests))

.PHONY: demo test slow sanitize sanitized fuzz papers papers-quick validation tables counts wheel pictures notebooks \
    docs lint format clean

demo: $(VENV)/plot.stamp
	$(BIN)/lgint demo --out demo

test: $(VENV)/test.stamp
	$(C_TESTS) test
	$(PARALLEL_PYTEST) -m "not measures and not slow" --nbmake tests $(wildcard notebooks)
	$(BIN)/pytest $(NO_NOTEBOOKS) -m measures $(call marked,measures)

slow: $(VENV)/test.stamp
	$(PARALLEL_PYTEST) $(NO_NOTEBOOKS) -m slow --share $(SHARE) $(call marked,slow)

# A separate extension in build/sanitize precedes the installed one on the path. Python is not linked with the two
# libraries, so they are preloaded. Memory comes from malloc, where the sanitizer sees each block; leaks are not
# reported, as Python itself never frees some memory. The sanitizers' report goes to stderr, which pytest must not
# capture. Left out are tests that measure time or memory, slow ones, those in a browser, those of the source tree, and
# those of Python code above runs and models that other tests run: artifacts of papers, linear analysis, sweeps, folders
# of long runs, keys, studies, fits, plots, films, notebooks, commands and cases of the validation page.
SANITIZED := $(abspath build/sanitize)
UNSANITIZED := layout papers linear validation $(addprefix face/test_,sweep* long_runs.py keys.py study.py fit.py \
    plot.py film.py notebook.py cli.py)
FUZZ := 50
SANITIZED_PYTEST = LD_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    PYTHONPATH=$(SANITIZED)/lib $(PARALLEL_PYTEST) $(NO_NOTEBOOKS) --capture=sys
PRELOAD = $(foreach library,libasan.so libstdc++.so,$(shell $(CC) -print-file-name=$(library)))

sanitize: sanitized
	$(C_TESTS) sanitize
	$(SANITIZED_PYTEST) -m "not measures and not slow and not browser" --cases $(SHARE) \
	    $(patsubst %,--ignore-glob='tests/%',$(UNSANITIZED)) tests

sanitized: $(VENV)/test.stamp
	rm -rf $(SANITIZED)/lib
	LGINT_SANITIZE=1 CC="$(CC)" $(BIN)/python setup.py -q build --build-base $(SANITIZED) --build-lib $(SANITIZED)/lib

fuzz: sanitized
	LGINT_FUZZ=$(FUZZ) $(SANITIZED_PYTEST) tests/models/test_random_*.py

# What `cibuildwheel` does for each platform (see pyproject.toml), but only for this machine's Python, and with no more
# than what the sources say they need to be built.
WHEEL := $(abspath build/wheel)
NEEDED := $(shell sed -n '/^requires = /{s/^requires = \[//;s/\]$$//;s/", /" /g;p;}' pyproject.toml)
OLDEST := $(shell sed -n 's/^dependencies.*openblas32>=\([0-9.]*\),.*/\1/p' pyproject.toml)
TRY_WHEEL = cd $(WHEEL)/empty && $(WHEEL)/venv/bin/python $(abspath tests/wheel.py)

wheel: $(VENV)/wheel.stamp
	rm -rf $(WHEEL) dist
	$(BIN)/python setup.py -q sdist
	mkdir -p $(WHEEL)/source $(WHEEL)/empty
	tar -xzf dist/*.tar.gz -C $(WHEEL)/source --strip-components=1
	$(PYTHON) -m venv $(WHEEL)/builder
	$(WHEEL)/builder/bin/python -m pip install --quiet $(NEEDED)
	cd $(WHEEL)/source && $(WHEEL)/builder/bin/python -m pip wheel --quiet --no-build-isolation --no-index --no-deps \
	    --wheel-dir $(WHEEL) .
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/auditwheel repair --exclude libscipy_openblas.so --wheel-dir dist $(WHEEL)/*.whl
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip install --quiet dist/*.whl
	$(TRY_WHEEL)
	$(WHEEL)/venv/bin/python -m pip install --quiet "scipy-openblas32==$(OLDEST).*"
	$(TRY_WHEEL)

papers: $(VENV)/plot.stamp
	$(BIN)/lgint reproduce all --out papers
	cp papers/verdicts.csv docs/verdicts.csv
	$(BIN)/python docs/thumbnails.py papers
	$(BIN)/python docs/pages.py

validation: $(VENV)/test.stamp
	$(BIN)/lgint reproduce validation --out build/validation
	cp build/validation/validation.csv docs/validation.csv
	$(BIN)/python docs/pages.py

tables: $(VENV)/test.stamp
	$(BIN)/python docs/pages.py

papers-quick: $(VENV)/plot.stamp
	$(BIN)/lgint reproduce all --quick --out build/papers

pictures: $(VENV)/docs.stamp
	$(BIN)/python docs/motion.py
	$(BIN)/python docs/front.py
	$(BIN)/python docs/thumbnails.py
	$(BIN)/python docs/wishes.py

notebooks: $(VENV)/docs.stamp
	$(BIN)/python docs/run_notebooks.py

counts: $(VENV)/bench.stamp
	$(BIN)/python -m lgint._tools.bench_counts --share $(SHARE) -o build/instructions.csv

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/check_pages.py docs/_build/html

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	printf '%s\n' $(filter csrc/%.c,$(C_FILES)) | \
	    xargs -P $(JOBS) -I{} $(BIN)/clang-tidy --quiet {} -- $$($(BIN)/python setup.py compile_flags)

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(C_FILES)

# x.stamp: this folder is installed in place (editable) together with its extra x, so that `import lgint` finds the same
# package here and elsewhere; objects that have not changed are kept
$(VENV)/%.stamp: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist demo papers docs/_build docs/benchmark_models docs/mechanisms docs/notebooks *.egg-info lgint/*.so
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	$(MAKE) -C tests/c clean
