# Two commands matter: `make demo` and `make test`. Everything else is listed by `make help`.
# Each target sets up what it needs: packages, native parts, compiled TypeScript.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint sanitize bench soak build native format clean prepare packages test-tools

help:
	@echo 'make demo      run a plan on this very repository and look at the evidence (under 4 minutes)'
	@echo 'make test      build and test; the last line is "N passed, N failed"'
	@echo 'make lint      types, format, house rules, dead code'
	@echo 'make sanitize  the C parts under ASan, UBSan and (where it is installed) valgrind'
	@echo 'make bench     the speed claims of docs/contract.md as ratios'
	@echo 'make soak      slow tests: runs killed at random moments'
	@echo 'make build     packages, native parts, TypeScript'
	@echo 'make format    rewrite the sources in the one format'
	@echo 'make clean     remove what was built'

demo: build
	@demo/demo.sh

test: build test-tools
	@node build/test/summary.js

lint: build
	@node_modules/.bin/biome check .
	@node_modules/.bin/oxlint .
	@node_modules/.bin/knip --no-progress

sanitize: build
	@.ci/sanitize

bench: build
	@node build/bench/main.js

soak: build
	@node build/test/summary.js soak

build: packages native
	@node_modules/.bin/tsc -p .
	@node .ci/bundle.js

native: packages
	@$(MAKE) --no-print-directory -C native

packages: prepare
	@.ci/packages

test-tools:
	@.ci/test-tools

prepare:
	@.ci/prepare

format: packages
	@node_modules/.bin/biome check --write .

clean:
	rm -rf build
