# CLIFT: `make` prints the targets. Everything happens inside .venv and target/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find core bindings -name '*.rs' -not -path '*/fuzz/*' -not -path '*/target/*') Cargo.toml Cargo.lock core/Cargo.toml bindings/python/Cargo.toml

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python lint format bench docs wheel package clean validate validate-kernel

help: ## print the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(VENV)/built ## set everything up and run the main job: ARQ and HARQ under the TCP of 2014 and of today on a mobile GEO link
	@echo "3 schemes, 2 receptions, 2 congestion controls, a page and bulk data: 2880 runs, then 1008 under 7 TCPs; some 10 s" >&2
	$(BIN)/clift run examples/geo_mobile.toml -o results/demo
	$(BIN)/clift paper ijscn2014 --what-changed -o results/what_changed.png

test: $(VENV)/tools test-rust test-python ## set everything up and run every test

test-rust: ## Rust tests only
	cargo test --workspace --quiet

test-python: $(VENV)/tools ## Python tests only
	$(BIN)/python -m pytest -q

validate: $(VENV)/tools ## everything against theory, ns-2, ns-3, the papers and this machine's kernel (about half an hour)
	cargo test --release -p clift --test it model:: -- --ignored --nocapture
	$(BIN)/python validation/campaign_statistics.py
	$(BIN)/python validation/lms_statistics.py
	$(BIN)/python validation/tcp_windows.py
	$(BIN)/python validation/tcp_ns3.py
	$(BIN)/python -m validation.kernel
	$(BIN)/python -m validation.kernel.geo
	$(BIN)/python -m validation.kernel.beside
	$(BIN)/python validation/wiopt2003.py
	$(BIN)/python validation/tauran2017.py
	$(BIN)/python validation/tauran2017_channel.py

validate-kernel: $(VENV)/tools ## every tenth drawn cell measured anew with this machine's kernel (root)
	$(BIN)/python -m validation.kernel.beside --measure $$(seq 0 10 149)

lint: $(VENV)/tools ## format check, clippy, ruff, mypy; a warning is an error
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d; \
		then cargo check --package clift --no-default-features --target wasm32-unknown-unknown; \
		else echo "skipped: the check for wasm32, whose target is not installed"; fi
	$(BIN)/ruff format --check python tests bench validation examples docs
	$(BIN)/ruff check python tests bench validation examples docs
	$(BIN)/mypy

format: $(VENV)/tools ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tests bench validation examples docs

bench: $(VENV)/tools ## speed and memory as ratios, beside ns-2 and ns-3 where they are installed
	$(BIN)/python -m bench

docs: $(VENV)/tools ## regenerate the reference pages and check every link
	$(BIN)/python docs/build.py

wheel: $(VENV)/tools ## the Python package as a file in dist/, for Python 3.11 and newer without Rust
	@rm -rf dist
	$(BIN)/maturin build --release --locked --quiet --interpreter $(BIN)/python --out dist
	@ls -1sh dist/*.whl

package: ## the Rust crate as others would get it, built from its own files alone
	cargo package --package clift --offline

clean: ## remove what the other targets made
	rm -rf $(VENV) target results dist

# --- set-up ---

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: CLIFT needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust 1.88 or newer (rustup.rs)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV) || { echo "error: no venv; on Debian: apt install python3-venv" >&2; rm -rf $(VENV); exit 2; }

# An editable install, so that Python changes need no rebuild; Rust changes trigger one.
$(VENV)/built: $(VENV)/bin/python pyproject.toml $(RUST)
	@echo "building CLIFT: after a clone 2 to 4 minutes on two cores, 1 GB in target and .5 GB in $(VENV); nothing elsewhere" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --release --locked
	@touch $@

$(VENV)/tools: $(VENV)/built
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
