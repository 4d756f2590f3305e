# Everything runs in .venv, made from a bare Python 3.11 on first use.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: demo test test-all check gpu-test clean

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: .venv/ready  ## The main job with the embedded model: twelve operators, on a GPU or the simulated device, as found.
	$(BIN)/python -m experiments.run scaffold=geak rounds=5

test: .venv/ready  ## The tests that a change should pass, in a few minutes on two cores; of long sets a sample (ARGS="--slow-seed 7" draws another).
	$(BIN)/python -m pytest -m "not slow and not gpu" $(ARGS)

test-all: .venv/ready  ## Everything that runs without a GPU, long sets whole: every kernel, near miss and alternative, all hacks.
	$(BIN)/python -m pytest -m "not gpu" $(ARGS)

gpu-test: .venv/ready  ## The tests that need a GPU.
	$(BIN)/python -m pytest -m gpu

check: .venv/ready  ## Lint and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m benchmark.lint

clean:
	rm -rf .venv build dist *.egg-info
