# make demo: a whole calibration of a built-in robot, offline.
# make test: everything CI runs.
# make docs: the documentation site, with its tutorials run, in build/docs.
# make app: the application, in a browser.
# make bench: speed against named peers, in an environment of its own.

PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
DYNAMICS := .venv-bench-dynamics
# The pip outside installs into the environment, so that no ensurepip is needed.
PIP = PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
      $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet

.PHONY: demo app test lint docs bench clean browser

demo: $(VENV)/.installed
	$(VENV)/bin/theodolite demo --out demo --force

app: $(VENV)/.app
	$(VENV)/bin/theodolite app

test: $(VENV)/.tested lint browser
	$(VENV)/bin/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/.tested
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# Debian's own, if it is missing and may be installed; without it those tests are skipped.
browser:
	@command -v chromium >/dev/null || ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ] || \
	  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium \
	   >/dev/null) || true

docs: $(VENV)/.tested
	$(VENV)/bin/python docs/extensions/building.py build/docs

TABLE := $(CURDIR)/build/bench.md

# One Markdown table in build/bench.md, beside what each benchmark prints.
bench: export THEODOLITE_BENCH_TABLE = $(TABLE)
bench: $(BENCH)/.installed $(DYNAMICS)/.installed
	$(DYNAMICS)/bin/python bench/table.py $(TABLE)
	$(BENCH)/bin/python bench/calibration.py
	$(BENCH)/bin/python bench/elimination.py
	$(BENCH)/bin/python bench/loops.py
	$(BENCH)/bin/python bench/parallel.py
	$(DYNAMICS)/bin/python -W ignore bench/dynamics.py
	$(DYNAMICS)/bin/python -W ignore bench/kernels.py
	$(DYNAMICS)/bin/python bench/growth.py
	$(BENCH)/bin/python bench/compensation.py
	$(BENCH)/bin/python bench/design.py
	$(BENCH)/bin/python bench/startup.py
	$(DYNAMICS)/bin/python bench/studies.py
	$(DYNAMICS)/bin/python bench/fleets.py
	@cat $(TABLE)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Theodolite needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.app: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[app]'
	@touch $@ $(VENV)/.installed

$(VENV)/.tested: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[test,lint]'
	@touch $@ $(VENV)/.installed $(VENV)/.app

$(BENCH)/.installed: pyproject.toml bench/constraints.txt
	$(PYTHON) -m venv --without-pip $(BENCH)
	PIP_CONSTRAINT=$(CURDIR)/bench/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  $(PYTHON) -m pip --python $(BENCH)/bin/python install --quiet --editable . pybotics
	@touch $@

$(DYNAMICS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --without-pip $(DYNAMICS)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  $(PYTHON) -m pip --python $(DYNAMICS)/bin/python install --quiet --editable '.[fast,scale]' figaroh==1.0.2
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(DYNAMICS) demo build docs/tutorials/_run
