# `make run` starts the application; `make check` checks a change within a minute; `make test` runs every test.
.DEFAULT_GOAL := run
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --only-binary :all: --constraint constraints.txt

# Without compiled modules, each process that a test starts would compile hundreds of modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup check style types test all-tests test-servers test-slow coverage constraints clean

run: $(VENV)/.installed  ## Install what is missing and start the application on http://localhost:8501
	$(BIN)/python -m streamlit run app.py

setup: $(VENV)/.installed  ## Create .venv with what the application needs

check: style types  ## Check style and types, and run the unit tests, which load no model
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile tests/unit

style: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# The check of types uses one core, so tests run at the same time.
test: style browser office  ## Check style and types, and run all tests
	$(MAKE) --jobs 2 types all-tests

all-tests: $(VENV)/.installed-dev
	$(PYTEST) --dist loadfile --no-loadscope-reorder --durations 15 -m "not servers"

test-servers: $(VENV)/.installed-dev  ## Run the tests of stores on servers: PostgreSQL, Chroma and S3
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile tests/servers

test-slow: $(VENV)/.installed-dev  ## Kill a process that indexes, 50 times
	KILLS=50 $(BIN)/python -m pytest -m slow

coverage: $(VENV)/.installed-dev browser office  ## Run all tests and report the lines that none of them runs
	$(PYTEST) --dist loadfile --cov --cov-report term

# Without --no-compile a third of the time goes into compiling modules that nobody imports; the others are as they are used.
$(VENV)/.installed: requirements.txt requirements-ocr.txt constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -r requirements.txt -r requirements-ocr.txt
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt requirements-gguf.txt requirements-server.txt requirements-dev-no-deps.txt
	$(INSTALL) -r requirements-dev.txt
	$(INSTALL) --no-deps -r requirements-dev-no-deps.txt
	touch $@

# The browser tests use the system's Chromium; Playwright's own download serves where there is none.
.PHONY: browser office
browser: $(VENV)/.installed-dev
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else $(BIN)/python -m playwright install chromium; fi

# A few tests convert documents with LibreOffice.
office:
	@command -v soffice >/dev/null || if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends \
			libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui; \
	else echo "LibreOffice (soffice) is missing, so its tests will fail: install it" >&2; fi

constraints:  ## Pin the whole tree of packages, as pip resolves it now
	$(PYTHON) -m venv $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip install --quiet --no-compile -r requirements.txt -r requirements-ocr.txt -r requirements-dev.txt
	$(VENV)-constraints/bin/python -m pip install --quiet --no-compile --no-deps -r requirements-dev-no-deps.txt
	$(VENV)-constraints/bin/python -m pip freeze | sed 's/+cpu$$//' > constraints.txt
	rm -rf $(VENV)-constraints

clean:  ## Remove what was installed; documents and conversations in data/ stay
	rm -rf $(VENV)
