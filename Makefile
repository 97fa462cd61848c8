# `make` lists the targets.
.DEFAULT_GOAL := help
VENV := .venv
PYTHON := $(VENV)/bin/python
LIBRARY := libubauc_core.$(if $(filter Darwin,$(shell uname)),dylib,so)

.PHONY: help test test-torch build python wheel check lint doc bench fuzz clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

test: ## all tests: the library, the program, the Python package, and all against scikit-learn
	@if [ -z "$$UBAUC_DATA" ]; then echo "NOTE: UBAUC_DATA is not set: tests on the real data sets will be SKIPPED"; fi
	@$(MAKE) --no-print-directory -j 2 python
	@$(PYTHON) tests/run.py

# Not part of `make test`: PyTorch takes gigabytes. TORCH_PYTHON names a Python that has it, and the
# package's other needs; docs/torch.md says how to make one.
TORCH_PYTHON ?= $(PYTHON)
test-torch: python ## tests of ubauc.torch, SKIPPED without PyTorch (TORCH_PYTHON=…)
	@$(TORCH_PYTHON) -c 'import torch' 2>/dev/null || echo "NO TORCH in $(TORCH_PYTHON): the tests of ubauc.torch will be SKIPPED"
	PYTHONPATH=$(CURDIR)/python $(TORCH_PYTHON) -m pytest -rs python/tests_torch

# The Python module, the program and all tests from one build: by itself each would build its
# dependencies again, with other features.
build:
	cargo build --workspace --all-features --lib --bins --tests --examples

# What `maturin develop` does, with the library of that build.
python: $(VENV)/ready build ## build the Python package into the virtual environment
	install -m 755 target/debug/$(LIBRARY) python/ubauc/_core.abi3.so
	@$(PYTHON) -c 'import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path("purelib"), "ubauc.pth").write_text("$(CURDIR)/python")'

wheel: $(VENV)/ready ## the wheel to ship, in target/wheels
	$(VENV)/bin/maturin build

check: lint doc test ## the whole gate: format, lints, documentation, tests

lint: $(VENV)/ready ## format and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	cargo clippy --workspace --no-default-features -- -D warnings
	$(VENV)/bin/ruff check bench tests python
	$(VENV)/bin/ruff format --check bench tests python

doc: ## the library's documentation
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

bench: $(VENV)/bench-ready ## speed: ours / theirs / ratio, from one run (set UBAUC_DATA for the real data)
	$(VENV)/bin/maturin develop --quiet --profile dist
	$(PYTHON) bench/run.py

fuzz: ## fuzz every reader for a minute each (FUZZ_SECONDS=60); needs cargo-fuzz
	for target in $$(ls fuzz/fuzz_targets | sed 's/\.rs//'); do \
	  (cd fuzz && cargo fuzz run -s none $$target -- -max_total_time=$${FUZZ_SECONDS:-60} -max_len=4096) || exit 1; \
	done

clean: ## remove what was built
	cargo clean
	rm -rf $(VENV) bench/.cache

$(VENV)/ready: tests/requirements.txt
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --requirement tests/requirements.txt
	touch $@

$(VENV)/bench-ready: $(VENV)/ready bench/requirements.txt
	$(PYTHON) -m pip install --quiet --requirement bench/requirements.txt
	touch $@
