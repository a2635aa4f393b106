# CLIFT: `make` prints the targets. Everything happens inside .venv and target/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(shell find core/src quic/src -name '*.rs') Cargo.toml Cargo.lock core/Cargo.toml quic/Cargo.toml
RUST := $(CORE) $(shell find bindings/python hosts/live -name '*.rs') bindings/python/Cargo.toml hosts/live/Cargo.toml
RUST_C := $(CORE) $(wildcard bindings/c/src/*.rs) bindings/c/build.rs bindings/c/Cargo.toml bindings/c/clift.pc.in
# One profile for the extension, the C library and the tests, so that each crate is built once.
BUILD := cargo build --profile local --locked --quiet --lib --example scenario -p clift-python -p clift-c -p clift
# Installs what pyproject.toml lists, with the extras given. uv takes seconds but reads no configuration of
# pip: where it finds no packages, pip installs them.
define INSTALL
$(BIN)/python -c 'import sys, tomllib; it = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print("\n".join(it["dependencies"] + sum((it["optional-dependencies"][one] for one in sys.argv[1:]), [])))' $(1) > $(VENV)/needs.txt && \
{ UV_NO_CACHE=1 VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --requirement $(VENV)/needs.txt || \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $(VENV)/needs.txt; }
endef
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal
# Without a cache every process of the tests compiles its modules anew, three seconds for matplotlib. uv
# compiles none, and where a folder's owner wants none beside the sources, target has room.
export PYTHONPYCACHEPREFIX := $(CURDIR)/target/pycache
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
# A recipe that fails leaves nothing half-made.
.DELETE_ON_ERROR:
.PHONY: help demo reproduce c c-header ns2 ns3 hosts-deps browser-deps test test-rust test-python fuzz lint format bench docs wheel wasm package clean validate validate-kernel

help: ## print the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(VENV)/built ## set everything up and run the main job: three schemes on a mobile GEO link, by ns-2's TCP and a Linux kernel's
	@$(BIN)/clift run examples/demo.toml -o results/demo --force --brief
	@echo "report, open it in a browser: $$($(BIN)/clift report results/demo --force)"

reproduce: $(VENV)/built ## every table and figure of the five papers in full, into results/papers (some five minutes)
	$(BIN)/clift paper run all -o results/papers

test: NS3 := --newest
test: $(VENV)/tools c ns2 ns3 test-rust test-python ## set everything up and run every test

test-rust: $(VENV)/built ## Rust tests only; PROPTEST_CASES inputs for each property (64)
	PROPTEST_CASES=$(or $(PROPTEST_CASES),64) cargo test --profile local --locked --quiet --workspace --tests
	cargo test --profile local --locked --quiet --workspace --exclude clift-unit-tests --doc

test-python: $(VENV)/tools c ## Python tests only
	$(PYTEST)

# All of it runs, also where a step fails: some aims are known to be missed (docs/validation.md).
VALIDATIONS := "validation/campaign_statistics.py" \
	"-m validation.design_search" \
	"validation/lms_statistics.py" \
	"validation/tcp_windows.py" \
	"validation/tcp_ns3.py" \
	"validation/ns3_module.py" \
	"validation/networks_ns3.py" \
	"-m validation.kernel" \
	"-m validation.kernel.geo" \
	"-m validation.kernel.beside" \
	"-m validation.kernel.live" \
	"-m validation.kernel.live_links" \
	"-m validation.kernel.nr" \
	"-m validation.kernel.queues" \
	"-m validation.kernel.ecn" \
	"-m validation.kernel.prague" \
	"-m validation.kernel.prague_pairs" \
	"-m validation.kernel.pages" \
	"-m validation.kernel.multipath" \
	"validation/wiopt2003.py" \
	"validation/tauran2017.py" \
	"validation/tauran2017_channel.py" \
	"-m validation.ns2_plugin" \
	"validation/ns2_links.py" \
	"validation/report_page.py" \
	"validation/captures.py" \
	"validation/causes.py"

validate: $(VENV)/tools wasm ns3 ## everything against theory, ns-2, ns-3, the papers and this machine's kernel; ends with what failed
	@failed=; try() { echo "$$*"; "$$@" || failed="$$failed; $$*"; }; \
		try env PROPTEST_CASES=1000 cargo test --profile local --locked --workspace --tests -- --include-ignored --nocapture; \
		try cargo test --locked --manifest-path quic/tls/Cargo.toml; \
		try $(BIN)/python -m pytest -q -m long; \
		try $(BIN)/python -m pytest -q tests/test_ns3.py; \
		for one in $(VALIDATIONS); do try $(BIN)/python $$one; done; \
		test -z "$$failed" || { echo "failed$$failed" >&2; exit 1; }

validate-kernel: $(VENV)/tools ## every tenth drawn cell measured anew with this machine's kernel (root)
	$(BIN)/python -m validation.kernel.beside --measure $$(seq 0 10 149)

fuzz: ## every fuzz target for MINUTES each (5), JOBS at once (2): half an hour; MINUTES=60 for a night (nightly Rust)
	core/fuzz/night $(or $(MINUTES),5) $(or $(JOBS),2)

lint: $(VENV)/tools ## format check, clippy, ruff, mypy, licences and advisories; a warning is an error
	cargo fmt --all --check
	cargo clippy --workspace --lib --bins --examples --benches --tests -- -D warnings
	cargo run --quiet --locked --manifest-path bindings/c/header/Cargo.toml -- --check
	@if rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d; \
		then cargo check --package clift-wasm --target wasm32-unknown-unknown; \
		else echo "skipped: the check for wasm32, whose target is not installed"; fi
	$(BIN)/ruff format --check python tests bench validation examples docs hosts packaging
	$(BIN)/ruff check python tests bench validation examples docs hosts packaging
	$(BIN)/mypy
	@if command -v tsc >/dev/null; then tsc -p tests/jsconfig.json; \
		else echo "skipped: the types of the pages' scripts, since tsc is not installed"; fi
	$(BIN)/python -m pytest -q tests/test_supply_chain.py
	@set -e; if command -v cargo-deny >/dev/null; \
		then cargo deny check licenses bans sources; \
		cargo deny --manifest-path bindings/c/Cargo.toml check licenses; \
		if cargo deny fetch db >/dev/null 2>&1; then cargo deny check advisories; \
		else echo "skipped: advisories of crates, whose data cannot be had"; fi; \
		else echo "skipped: cargo deny, which is not installed; so are advisories of crates"; fi
	@if $(BIN)/python -m pip_audit --version >/dev/null 2>&1; \
		then said=$$($(BIN)/python -m pip_audit --skip-editable --progress-spinner off 2>&1) && code=0 || code=$$?; \
		case "$$said" in *ConnectionError*|*"Max retries"*|*ServiceError*|*"Failed to"*) \
		echo "skipped: advisories of Python packages, whose data cannot be had";; \
		*) printf '%s\n' "$$said"; exit $$code;; esac; \
		else echo "skipped: pip-audit, which is not installed; so are advisories of Python packages"; fi

format: $(VENV)/tools ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tests bench validation examples docs hosts packaging

bench: $(VENV)/tools ## speed and memory as ratios, beside ns-2 and ns-3 where they are installed
	$(BIN)/python -m bench

docs: $(VENV)/tools ## regenerate the reference pages and build the site of the docs: target/site/index.html
	@$(call INSTALL,docs)
	$(BIN)/python docs/build.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	cargo doc --profile local --locked --no-deps --quiet -p clift -p clift-quic
	cp -r target/doc target/site/reference/rust
	@echo "read the site: $(BIN)/python -m http.server --directory target/site 8000; pages opened from disk have no search"

c: target/c/clift.h ## the C interface: target/c/clift.h, libclift.a, libclift.so.1 and clift.pc

wheel: $(VENV)/tools wasm ## the Python package in dist/: its source, and a wheel for Python 3.11 and newer without Rust
	@$(call INSTALL,wheel)
	$(BIN)/python packaging/dist.py
	@ls -1sh dist

wasm: python/clift/explore/clift.wasm ## the core as WebAssembly, for `clift explore`; skipped where its target cannot be had

# A page carries the module. Less inlining makes it 4 % smaller and runs 6 to 10 % slower; without padding of
# indices, which linking needs, it is another 2 % smaller. Messages name sources without this machine's folders.
WASM_FLAGS := "-Cllvm-args=-inlinehint-threshold=50", "-Clink-arg=--compress-relocations", \
	"--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src=crates", "--remap-path-prefix=$(CURDIR)=clift"

python/clift/explore/clift.wasm: $(CORE) $(wildcard bindings/wasm/src/*.rs) bindings/wasm/Cargo.toml
	@if rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d || \
		rustup target add wasm32-unknown-unknown >/dev/null 2>&1; \
		then cargo build --profile wasm --locked --quiet -p clift-wasm --target wasm32-unknown-unknown \
			--config 'target.wasm32-unknown-unknown.rustflags = [$(WASM_FLAGS)]' && \
		cp target/wasm32-unknown-unknown/wasm/clift_wasm.wasm $@; \
		else echo "skipped: WebAssembly, whose target cannot be had: rustup target add wasm32-unknown-unknown" >&2; fi

package: ## the Rust crate as others would get it, built from its own files alone
	cargo package --package clift --offline

ns3: target/c/clift.h ## the module for every ns-3 that is there, built in target/ns3 and tested
	@hosts/ns3/build $(NS3)

hosts-deps: ## install ns-2 and ns-3 (root and apt) and, in target/ns3/venv, the wheel of ns-3
	@hosts/deps

browser-deps: ## install Chromium (root and apt), in which the tests open reports
	@tests/browser-deps

clean: ## remove what the other targets made
	rm -rf $(VENV) target results dist

# --- set-up ---

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: CLIFT needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust 1.88 or newer (rustup.rs)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV) || { echo "error: no venv; on Debian: apt install python3-venv" >&2; rm -rf $(VENV); exit 2; }

# The package is used where it lies: changes of Python need no build, changes of Rust trigger one. The
# extension and the C library are built by one command, so that they share every crate; packages are fetched
# meanwhile.
$(VENV)/built: $(VENV)/bin/python pyproject.toml $(RUST)
	@echo "building CLIFT: after a clone some 3 minutes on two idle cores, 1 GB in target and .5 GB in $(VENV); nothing elsewhere" >&2
	@{ test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv || true; $(call INSTALL); } & \
		packages=$$!; $(BUILD); built=$$?; wait $$packages && exit $$built
	@cp target/local/lib_clift.so python/clift/_clift.abi3.so.new
	@mv python/clift/_clift.abi3.so.new python/clift/_clift.abi3.so
	@echo "$(CURDIR)/python" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/clift.pth"
	@printf '#!%s\nimport sys\nfrom clift.cli import main\nsys.exit(main())\n' "$(CURDIR)/$(BIN)/python" > $(BIN)/clift
	@chmod +x $(BIN)/clift
	@touch $@

$(VENV)/tools: $(VENV)/built
	@$(call INSTALL,dev)
	@touch $@

# --- the C interface ---

target/c/clift.h: $(RUST_C) $(VENV)/built
	@$(BUILD)
	@mkdir -p target/c
	cp target/local/libclift_c.a target/c/libclift.a
	abi=$$(sed -n 's/^#define CLIFT_ABI //p' bindings/c/include/clift.h) && rm -f target/c/libclift.so && \
		cp target/local/libclift_c.so target/c/libclift.so.$$abi && \
		ln -s libclift.so.$$abi target/c/libclift.so
	strip --strip-debug target/c/libclift.a
	strip --strip-unneeded target/c/libclift.so
	sed "s/@VERSION@/$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)/" bindings/c/clift.pc.in > target/c/clift.pc
	cp bindings/c/include/clift.h target/c/clift.h

ns2: target/ns2/clift.so ## the plugin for ns-2: target/ns2/clift.so; `load` it in a stock ns

target/ns2/clift.so: target/c/clift.h hosts/ns2/clift.cc hosts/ns2/clift.tcl hosts/ns2/build.sh
	hosts/ns2/build.sh

c-header: ## rewrite bindings/c/include/clift.h after a change of the C interface
	cargo run --quiet --locked --manifest-path bindings/c/header/Cargo.toml
