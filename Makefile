# The two commands: `make run` starts the app, `make test` runs every test.
.DEFAULT_GOAL := run
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test setup clean

run: $(VENV)/.installed  ## Install what is missing and start the app on http://localhost:8501
	$(BIN)/python -m streamlit run app.py

setup: $(VENV)/.installed  ## Make .venv with what the app needs

test: $(VENV)/.installed-dev browser  ## Install what the tests need and run them all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations 15

# Without --no-compile a third of the time goes into compiling modules that nobody imports; the others are as they are used.
$(VENV)/.installed: requirements.txt requirements-ocr.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.txt -r requirements-ocr.txt
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt requirements-gguf.txt
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements-dev.txt
	touch $@

# The browser tests use the system's Chromium; Playwright's own download serves where there is none.
.PHONY: browser
browser: $(VENV)/.installed-dev
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else $(BIN)/python -m playwright install chromium; fi

clean:  ## Remove what was installed; documents and conversations in data/ stay
	rm -rf $(VENV)
