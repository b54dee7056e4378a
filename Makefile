# Two commands do everything on a fresh machine: `make demo` and `make check`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

NEW = import sys; sys.version_info >= (3, 11) or sys.exit("p2c needs Python 3.11 or newer, and this is %d.%d: \
	name another with make PYTHON=python3.12" % sys.version_info[:2])
EMPTY = { test ! -e $(VENV) || test -e $(VENV)/pyvenv.cfg || \
	{ echo "$(VENV) is there and is no environment of Python: remove it, or name another with make VENV=…" >&2; false; }; }

.PHONY: environment demo check test slow dist docs docs-serve bench bench-quick format clean screenshots

environment:  ## what works is kept; what an older Python or an interrupt has left behind is made anew
	@$(BIN)/python -c '$(NEW)' 2>/dev/null && $(BIN)/python -m pip --version >/dev/null 2>&1 || \
	{ $(PYTHON) -c '$(NEW)' && $(EMPTY) && $(PYTHON) -m venv --clear $(VENV); }

$(BIN)/.p2c: pyproject.toml | environment
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(BIN)/.dev: pyproject.toml $(BIN)/.p2c
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(BIN)/.p2c  ## install, and plan for the embedded loan applicant
	$(BIN)/p2c example loan --to build/loan
	$(BIN)/p2c why build/loan/loan.toml build/loan/loan-john.json
	$(BIN)/p2c plan build/loan/loan.toml build/loan/loan-john.json

check: $(BIN)/.dev  ## install, and run every check that CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.language
	$(BIN)/pytest -n auto

test: $(BIN)/.dev
	$(BIN)/pytest -n auto

slow: $(BIN)/.dev  ## the thorough runs
	$(BIN)/pytest -n auto -m slow

dist: $(BIN)/.dev  ## the files of a release, into dist
	$(BIN)/python -m hatchling build

docs: $(BIN)/.dev  ## the site, into build/site; any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-serve: $(BIN)/.dev  ## the site on this machine, made anew as its pages change
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

format: $(BIN)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

screenshots: $(BIN)/.dev  ## take the README's pictures of the workbench anew; needs chromium
	$(BIN)/python -m benchmarks.screenshots docs/images

$(BIN)/.bench: pyproject.toml $(BIN)/.p2c
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

bench: $(BIN)/.bench  ## every table and figure of the evaluation, into benchmarks/report; goes on where it was stopped
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.measure
	$(BIN)/python -m benchmarks.report

bench-quick: $(BIN)/.bench  ## the same on a few rows, into build/bench/report
	$(BIN)/python -m benchmarks.run --quick --jobs 2
	$(BIN)/python -m benchmarks.measure --quick
	$(BIN)/python -m benchmarks.report --quick

clean:
	rm -rf build dist $(VENV)
