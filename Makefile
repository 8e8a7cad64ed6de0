# make demo: a whole calibration of a built-in robot, offline.
# make test: everything CI runs.
# make docs: the documentation site, with its tutorials run, in build/docs.
# make bench: speed against named peers, in an environment of its own.

PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
DYNAMICS := .venv-bench-dynamics
# The pip outside installs into the environment, so that no ensurepip is needed.
PIP = PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
      $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.installed
	$(VENV)/bin/theodolite demo --out demo --force

test: $(VENV)/.tested lint
	$(VENV)/bin/python -m pytest -n 2

lint: $(VENV)/.tested
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/.tested
	$(VENV)/bin/python docs/extensions/building.py build/docs

bench: $(BENCH)/.installed $(DYNAMICS)/.installed
	$(BENCH)/bin/python bench/calibration.py
	$(BENCH)/bin/python bench/elimination.py
	$(BENCH)/bin/python bench/loops.py
	$(BENCH)/bin/python bench/parallel.py
	$(DYNAMICS)/bin/python -W ignore bench/dynamics.py
	$(BENCH)/bin/python bench/compensation.py
	$(BENCH)/bin/python bench/design.py
	$(BENCH)/bin/python bench/startup.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Theodolite needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.tested: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[test,lint]'
	@touch $@ $(VENV)/.installed

$(BENCH)/.installed: pyproject.toml bench/constraints.txt
	$(PYTHON) -m venv --without-pip $(BENCH)
	PIP_CONSTRAINT=$(CURDIR)/bench/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  $(PYTHON) -m pip --python $(BENCH)/bin/python install --quiet --editable . pybotics
	@touch $@

$(DYNAMICS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --without-pip $(DYNAMICS)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  $(PYTHON) -m pip --python $(DYNAMICS)/bin/python install --quiet --editable . figaroh==1.0.2
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(DYNAMICS) demo build docs/tutorials/_run
