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

# Compilers and linkers that collect garbage a quarter as often take a fifth less processor time, and 1.2 GB for the largest package in
# place of 0.8. The variable is theirs alone, since the program under test and the tests would read it, too.
LESS_GC := -toolexec='env GOGC=400'

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
	CGO_ENABLED=0 $(GO) build $(LESS_GC) -trimpath -ldflags '-s -w -X github.com/gonebox/gonebox/internal/app.Version=$(VERSION)' -o bin/gonebox ./cmd/gonebox

.PHONY: test
test: deps build ## install what the tests need, then run them all: with the race detector, and again on PostgreSQL
	@TEST_PROGRAM=$(CURDIR)/bin/gonebox $(MAKE) --no-print-directory --jobs=2 test-race test-postgres

# They leave vetting to make vet, which does it once and with more analyses. What runs without the race detector is built with the
# settings of a release, so that the packages that it imports are compiled once.
.PHONY: test-race test-postgres
test-race:
	$(GO) test $(RACE) $(LESS_GC) -vet=off -timeout 1h ./cmd/... ./internal/... ./test/...
	CGO_ENABLED=0 $(GO) -C clients/go vet -trimpath ./...
	CGO_ENABLED=0 $(GO) -C tools/release test $(LESS_GC) -trimpath -vet=off . # a small release; make release-test tests a whole one
	CGO_ENABLED=0 $(GO) -C clients/go/goneboxcontainer vet $(LESS_GC) -trimpath ./...
test-postgres: # the tests of the interface on PostgreSQL with three processes, and what needs no race detector: the house rules, and what a mail allocates
	GONEBOX_TEST_ENGINE=postgres CGO_ENABLED=0 $(GO) test $(LESS_GC) -trimpath -vet=off -timeout 1h . ./test/blackbox
	CGO_ENABLED=0 $(GO) test $(LESS_GC) -trimpath -vet=off -run Allocates ./internal/inbound

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
	$(GO) test -run 'Doc' . ./internal/config ./internal/licences ./internal/problem -update

.PHONY: web
web: web/node_modules ## build the pages of web/ into internal/webui
	@npm --prefix web run --silent build

web/node_modules clients/typescript/node_modules $(COMPAT): %/node_modules: %/package.json %/package-lock.json
	@cd $* && npm ci --ignore-scripts --loglevel=error
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

# The release whose data is made: the newest heading of the changelog.
RELEASE ?= $(shell sed -n '/^## [0-9]/{s/^## //;p;q;}' CHANGELOG.md)

.PHONY: release-data
release-data: ## make the data that tests upgrade from, of a release that is not out yet
	$(GO) test ./test/system -run '^TestDataOfReleasesIsServed$$' -make-release $(RELEASE)

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

.PHONY: release
release: deps ## make everything that a release consists of in dist/, and publish nothing
	$(GO) -C tools/release run . -root $(CURDIR) -dist $(CURDIR)/dist

.PHONY: release-test
release-test: build ## make a release, install each part of it in a clean place, and make it again (minutes; installs debootstrap and others)
	@test/deps.sh release
	@$(MAKE) --no-print-directory release
	$(GO) -C tools/release test -count=1 -timeout 1h . -args -dist $(CURDIR)/dist
	TEST_PROGRAM=$(CURDIR)/bin/gonebox $(GO) -C tools/charttest test -count=1 . -args -chart "$$(echo $(CURDIR)/dist/gonebox-chart-*.tgz)"

.PHONY: clean
clean: ## remove what these commands made, but no data
	rm -rf bin dist web/node_modules clients/typescript/node_modules clients/typescript/dist $(COMPAT)
