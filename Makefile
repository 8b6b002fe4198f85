# A thin front for the CMake presets: what people type. `make` lists the targets.
SHELL := /bin/bash

# Installs packages; DEPS=true leaves that out.
DEPS ?= scripts/deps.sh
# Compilers, and tests, that run at once.
JOBS ?= $(shell scripts/parallelism.sh)
TEST_JOBS ?= 2
# Stages of `make test-deep`, all by default, and the seconds each fuzzer gets in it.
STAGES ?=
FUZZ_SECONDS ?= 60
KILLS ?= 10000

.PHONY: help deps build test test-deep test-peers kill-storm demo bench format tidy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

deps: ## install the Debian packages that building needs (root or sudo)
	@$(DEPS) build

build: build/release/build.ninja ## compile everything; leaves build/release/bin/leat
	@cmake --build build/release -j $(JOBS)

test: build ## build and run the ordinary tests
	@$(DEPS) clients
	@ctest --test-dir build/release -LE deep --output-on-failure -j $(TEST_JOBS)

test-deep: deps ## sanitizers, storms, fuzzers, clang-tidy (STAGES="asan fuzz" FUZZ_SECONDS=60)
	@$(DEPS) deep clients
	@JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/test-deep.sh $(STAGES)

test-peers: build ## test against the real servers and clients of other systems
	@$(DEPS) peers
	@scripts/test-peers.sh

kill-storm: build ## kill a writer 10,000 times and check what it was promised (KILLS=10000)
	@LEAT_KILLS=$(KILLS) build/release/bin/kill_test

demo: build ## make a small store and show the main job
	@scripts/demo.sh

bench: build ## measure against the peers, one line per figure
	@$(DEPS) bench
	@bench/run.sh

format: ## lay out the sources by .clang-format
	@$(DEPS) deep
	@scripts/format.sh

tidy: build/release/build.ninja ## run clang-tidy
	@$(DEPS) deep
	@scripts/tidy.py

clean: ## remove everything that was built
	rm -rf build

# Ninja configures again by itself when a CMakeLists.txt changes, but does not know the presets.
build/%/build.ninja: CMakePresets.json | deps
	@cmake --preset $* --log-level=WARNING
	@touch $@
