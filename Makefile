# Two commands for a newcomer: `make quickstart` and `make test`. Both set up their own environment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help quickstart leaderboards leaderboards-check gate test test-all lint typecheck format clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# The stamp names what it was made from, so a second call installs nothing.
$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

quickstart: $(VENV)/.installed  ## install, then run the sample suite with the sample model
	$(BIN)/xharness run --suite sample --model sample --output runs/sample

leaderboards: $(VENV)/.installed  ## make every table and figure in leaderboards/ again, without a network
	$(BIN)/python scripts/make_leaderboards.py

leaderboards-check: $(VENV)/.installed  ## fail where a committed table or figure is stale
	$(BIN)/python scripts/make_leaderboards.py --check

gate: $(VENV)/.installed  ## run the sample suite and compare it with the committed baseline
	rm -rf runs/gate
	$(BIN)/xharness run --suite sample --model sample --seeds 1 --limit 60 --output runs/gate
	$(BIN)/xharness compare leaderboards/baselines/sample runs/gate --gate leaderboards/baselines/sample/gate.yaml

test: $(VENV)/.installed  ## lint, type check, the fast tests, and whether leaderboards/ is up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto
	$(BIN)/python scripts/make_leaderboards.py --check

test-all: $(VENV)/.installed  ## every test, the slow ones too
	$(BIN)/pytest -m ''

lint: $(VENV)/.installed  ## ruff
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

typecheck: $(VENV)/.installed  ## mypy --strict
	$(BIN)/mypy

format: $(VENV)/.installed  ## let ruff mend what it can
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
