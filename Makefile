# Everything a newcomer types. Each target sets up what it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
BENCH_READY := $(VENV)/.bench-ready
# The version that the committed figures were measured with; TORCH=... takes another one.
TORCH ?= torch==2.13.0

.PHONY: demo test test-all check format docs episodes bench clean
demo: $(READY)
	$(BIN)/cuda-gym demo

# Two at a time, each file as a whole: most of it is waiting for compilers and for processes to start.
test: $(READY)
	$(BIN)/pytest -n 2 --dist loadscope -m "not slow"

test-all: $(READY)
	$(BIN)/pytest

check: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) docs
	$(MAKE) test

format: $(READY)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# Into site/, to be read as it lies there or on any web server; nothing is fetched.
docs: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Plays the five episodes of docs/episodes anew, and the one of the README's picture, and renders them;
# a quiet machine tells better times.
episodes: $(READY)
	docs/episodes/record.sh $(BIN)/cuda-gym
	$(BIN)/python docs/episode_svg.py

bench: $(BENCH_READY)
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done
	$(BIN)/pytest -o addopts=--import-mode=importlib benchmarks/test_speed.py

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $(READY)

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --group docs
	touch $(DOCS_READY)

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --group bench
	touch $(BENCH_READY)
