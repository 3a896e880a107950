# Plimsoll's commands. `make` alone lists them.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO   ?= go
PKGS ?= ./...

# Tools, pinned. Each version has its own folder under .bin/, so that a new pin is installed and an old one never used by mistake.
GOLANGCI_LINT_VERSION := v2.15.0
GOFUMPT_VERSION       := v0.12.0
BENCHSTAT_VERSION     := v0.0.0-20260908200009-22c9c6c9d4da
GORELEASER_VERSION    := v2.14.3

TOOLS         := $(CURDIR)/.bin
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
GOFUMPT       := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)/gofumpt
BENCHSTAT     := $(TOOLS)/benchstat-$(BENCHSTAT_VERSION)/benchstat
GORELEASER    := $(TOOLS)/goreleaser-$(GORELEASER_VERSION)/goreleaser

# Our own Go files: no hidden folders (tools, worktrees), no fixtures.
GO_FILES = find . -name '.?*' -prune -o -name testdata -prune -o -name '*.go' -print

.PHONY: help
help: ## list the commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/plimsoll
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/plimsoll ./cmd/plimsoll

TESTFLAGS ?=

# Tests against the SDKs and frameworks, in a browser and with exporters are modules of their own, so that what they need does not come with the library.
APART := internal/sdktest internal/frameworktest internal/webtest telemetry/exporttest

.PHONY: test
test: ## vet and test everything; installs nothing (PKGS=... for a part, TESTFLAGS=...)
	$(GO) vet $(PKGS)
	$(GO) test $(TESTFLAGS) $(PKGS)
ifeq ($(PKGS),./...)
	set -e; for module in $(APART); do (cd $$module && $(GO) vet ./... && $(GO) test $(TESTFLAGS) ./...); done
endif

.PHONY: race
race: ## test with the race detector (PKGS=./core/... for a part; needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $(PKGS)

.PHONY: lint
lint: $(GOLANGCI_LINT) $(GOFUMPT) ## golangci-lint and gofumpt, at their pinned versions
	@unformatted=$$($(GO_FILES) | xargs -r $(GOFUMPT) -l); \
	if [[ -n "$$unformatted" ]]; then echo "not gofumpt-clean (make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GOLANGCI_LINT) run $(PKGS)
ifeq ($(PKGS),./...)
	set -e; for module in $(APART); do (cd $$module && $(GOLANGCI_LINT) run ./...); done
endif

.PHONY: catalog
catalog: ## make core/catalog's generated tables anew (SOURCES=folder with the pinned lists)
	$(GO) run ./internal/gencatalog -sources '$(SOURCES)'

.PHONY: fmt
fmt: $(GOFUMPT) ## format every Go file
	$(GO_FILES) | xargs -r $(GOFUMPT) -w

BENCH ?= .
COUNT ?= 1

.PHONY: bench
bench: ## run the benchmarks into bench.txt (BENCH=regexp, COUNT=n, PKGS=...)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 60m $(PKGS) | tee bench.txt

.PHONY: bench-compare
bench-compare: $(BENCHSTAT) ## compare the benchmarks with another revision (BASE=rev, BENCH=regexp, COUNT=6, PKGS=...)
	GO='$(GO)' BENCHSTAT='$(BENCHSTAT)' BENCH='$(BENCH)' PKGS='$(PKGS)' \
		COUNT='$(if $(filter command line environment,$(origin COUNT)),$(COUNT),6)' scripts/bench-compare '$(BASE)'

GATEWAYS ?= $(TOOLS)/gateways

.PHONY: bench-gateways
bench-gateways: ## measure the proxy beside two other gateways, installed into .bin/ on first use (FLAGS="-flat 10m -rate 50" for its memory at one rate; 15 minutes)
	GO='$(GO)' scripts/bench-gateways '$(GATEWAYS)' $(FLAGS)

CHECKS ?= 2000
# Packages whose tests have properties.
WITH_PROPERTIES = $(GO) list -f '{{$$p := .ImportPath}}{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{println $$p}}{{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{println $$p}}{{end}}{{end}}' $(PKGS)

.PHONY: properties
properties: ## hold every property against CHECKS (2000) made-up inputs (PKGS=...; make test has 100)
	env -u PLIMSOLL_CORPUS $(GO) test -count 1 -timeout 180m $$($(WITH_PROPERTIES) | sort -u) -rapid.checks='$(CHECKS)'

FUZZTIME ?= 30s

.PHONY: fuzz-short
fuzz-short: ## run every fuzz target for FUZZTIME (30s) each
	GO='$(GO)' PKGS='$(PKGS)' scripts/fuzz-short '$(FUZZTIME)'

.PHONY: generate
generate: ## run go generate
	$(GO) generate $(PKGS)

.PHONY: corpus
corpus: ## replay the corpus of real sessions in PLIMSOLL_CORPUS (the acceptance test)
	@[[ -n "$${PLIMSOLL_CORPUS:-}" ]] || { echo "make corpus: PLIMSOLL_CORPUS, want the corpus folder, got nothing"; exit 2; }
	$(GO) test ./replay -run Corpus -v -count 1 -timeout 60m

SIM ?= 10000

.PHONY: sim
sim: ## run made-up sessions against the scripted model server (SIM=10000)
	PLIMSOLL_SIM='$(SIM)' $(GO) test ./internal/guardsim -run TestSessions -v -count 1 -timeout 120m | grep -Ev '^ *(--- PASS|===)'

CROSSCHECK ?= 20000

.PHONY: crosscheck
crosscheck: ## hold made-up sessions of a second generator against the laws (CROSSCHECK=20000)
	PLIMSOLL_CROSSCHECK='$(CROSSCHECK)' $(GO) test ./internal/crosscheck -run TestCrosscheck -v -count 1 -timeout 180m | grep -Ev '^ *(--- PASS|===)'

.PHONY: ollama
ollama: ## test against a real Ollama server and a small model, built into .bin/ on first use (5 minutes; the tests take 20)
	@url=$$(scripts/ollama '$(TOOLS)/ollama' | tail -n 1); \
	trap "scripts/ollama '$(TOOLS)/ollama' stop" EXIT; \
	PLIMSOLL_OLLAMA="$$url" PLIMSOLL_OLLAMA_MODEL=smollm2 PLIMSOLL_OLLAMA_THINKER=smollm2-thinks $(GO) test -count 1 -timeout 60m $(TESTFLAGS) ./internal/ollamatest

# A commit without a tag is a snapshot, named by its hash.
.PHONY: release
release: $(GORELEASER) ## build the archives of a release into dist/, with their sums; publishes nothing
	RELEASE_TIME="$$(git log -1 --format=%cI)" RELEASE_SECONDS="$$(git log -1 --format=%ct)" RELEASE_NAME="$$(git describe --always --tags)" \
		$(GORELEASER) release --clean $(if $(shell git tag --points-at HEAD 'v*'),,--snapshot)

.PHONY: release-check
release-check: ## build for three systems what a release has, and run it on this one (a minute)
	GO='$(GO)' GORELEASER='$(GORELEASER)' scripts/release-check

.PHONY: clean
clean: ## remove what the other commands built (installed tools stay in .bin/)
	rm -rf bin dist .bench bench.txt
	find . -name '.?*' -prune -o \( -name 'coverage*' -o -name '*.test' -o -name '*.prof' \) -type f -print0 | xargs -0 -r rm -f

# Installed on first use. Building from source needs nothing but Go and a module proxy.
$(GOLANGCI_LINT):
	GOBIN='$(@D)' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

$(GOFUMPT):
	GOBIN='$(@D)' $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

$(BENCHSTAT):
	GOBIN='$(@D)' $(GO) install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)

$(GORELEASER):
	GOBIN='$(@D)' $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
