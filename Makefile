# Everything that is done to this repository. `make` alone prints the list.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
FUZZTIME ?= 30s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The race detector instruments everything but what computes on its own data, on one goroutine at a time, and costs most when
# instrumented: SQLite, which was translated from C and takes half of the processor time of the tests otherwise, compression,
# and the search for codes, whose tests take seven times as long otherwise.
RACELESS := modernc.org/... github.com/klauspost/... github.com/gonebox/gonebox/internal/otp/... github.com/gonebox/gonebox/internal/htmltoken
RACE     := -race $(foreach p,$(RACELESS),-gcflags='$p=-race=false')

# The clients of other services that tests run against this one, from npm.
COMPAT := $(patsubst %/package.json,%/node_modules,$(wildcard test/compat/*/package.json) test/agents/package.json)

# A text of two or three parts may be put together with +=.
GOFIX   := $(GO) fix -stringsbuilder=false
TOOL    := $(GO) tool -modfile=tools/go.mod

.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F '\t' '{ printf "make %-8s %s\n", $$1, $$2 }'

.PHONY: run
run: build ## build the binary and start the service on this machine
	bin/gonebox serve

.PHONY: build
build: ## build the static binary bin/gonebox
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X github.com/gonebox/gonebox/internal/app.Version=$(VERSION)' -o bin/gonebox ./cmd/gonebox

.PHONY: test
test: deps build ## install what the tests need, then run them all: with the race detector, and again on PostgreSQL
	@TEST_PROGRAM=$(CURDIR)/bin/gonebox $(MAKE) --no-print-directory --jobs=2 test-race test-postgres

# They leave vetting to make vet, which does it once and with more analyses. What runs without the race detector is built with the
# settings of a release, so that the packages that it imports are compiled once.
.PHONY: test-race test-postgres
test-race:
	$(GO) test $(RACE) -vet=off -timeout 1h ./cmd/... ./internal/... ./test/...
	$(GO) -C clients/go vet ./...
test-postgres: # the tests of the interface on PostgreSQL with three processes, and the house rules, which start no goroutine
	GONEBOX_TEST_ENGINE=postgres CGO_ENABLED=0 $(GO) test -trimpath -vet=off -timeout 1h . ./test/blackbox

.PHONY: deps
deps: # what the tests need of the machine
	@test/deps.sh
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web/node_modules clients/typescript/node_modules $(COMPAT); else echo "without npm the tests of the page and of clients from npm are skipped"; fi

.PHONY: quick
quick: ## the daily loop: build, vet, the house rules and the short tests
	$(GO) build ./...
	$(GO) vet ./...
	$(GO) test .
	$(GO) test -short ./...

.PHONY: check
check: forms lint assets ## everything a change must pass beside the tests

.PHONY: forms
forms: format vet modules house docs # the part of check that needs no linter and no npm

.PHONY: modules
modules: # go.mod and the module cache are in order, and no idiom is old
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GOFIX) -diff ./...

.PHONY: format
format:
	@bad=$$($(TOOL) gofumpt -l .); if [ -n "$$bad" ]; then echo "not gofumpt's form (make fix mends it):"; echo "$$bad"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: ## golangci-lint alone (building it the first time takes minutes)
	$(TOOL) golangci-lint run

.PHONY: house
house: # the rules of this house: imports, clocks, SQL, sizes, names
	$(GO) test .

.PHONY: docs
docs: # the generated pages of docs/ say what the code says
	$(GO) test -run 'Doc' ./internal/config ./internal/licences ./internal/problem

.PHONY: assets
assets: web/node_modules # the pages' types, tests and built files match their sources
	@npm --prefix web run --silent check

.PHONY: fix
fix: ## mend what can be mended by itself: format, old idioms, generated docs
	$(GOFIX) ./...
	$(TOOL) gofumpt -w .
	$(GO) test -run 'Doc' ./internal/config ./internal/licences ./internal/problem -update

.PHONY: web
web: web/node_modules ## build the pages of web/ into internal/webui
	@npm --prefix web run --silent build

web/node_modules clients/typescript/node_modules $(COMPAT): %/node_modules: %/package.json %/package-lock.json
	@cd $* && npm ci --loglevel=error
	@touch $@

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s), one after the other
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|^\./||; s|/[^/]*:func | |' | while read -r dir name; do \
		echo "== $$dir $$name"; \
		$(GO) test "./$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) </dev/null; \
	done

.PHONY: failover
failover: ## kill and freeze the primary of a PostgreSQL with three nodes (installs Patroni and etcd)
	@test/deps.sh failover
	$(GO) test ./test/system -run '^TestPatroni' -v -patroni -timeout 20m

.PHONY: bench
bench: ## measure the service under load
	$(GO) -C test/bench run .

.PHONY: otp
otp: ## score the code extractor on its corpus
	$(GO) run ./internal/otp/count

.PHONY: otp-matrix
otp-matrix: ## read the whole matrix of plain mails with the code extractor
	$(GO) test ./internal/otp -run '^TestMatrix$$' -v -args -matrix

.PHONY: otp-fit
otp-fit: ## fit the weights of the code extractor to its corpus
	$(GO) test ./internal/otp/score -run '^TestListRows$$' -args -fit
	$(GO) test ./internal/otp/score -run '^TestFit$$' -v -timeout 30m -args -fit

.PHONY: otp-features
otp-features: ## print what each feature of the code extractor is worth
	$(GO) test ./internal/otp/score -run '^TestWorth$$' -v -timeout 30m -args -worth

.PHONY: clean
clean: ## remove what these commands made, but no data
	rm -rf bin web/node_modules $(COMPAT)
