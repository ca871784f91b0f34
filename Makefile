# "make" or "make help" lists what there is. Everything here is a short form of
# a command that can be typed by hand.

GOLANGCI_LINT_VERSION := v2.15.0
GO                    ?= go
BIN                   := $(CURDIR)/bin
LINT                  := $(BIN)/golangci-lint

# Nested modules are linted and formatted like the main one.
MODULES := $(patsubst %/,%,$(dir $(wildcard go.mod */go.mod contrib/*/go.mod examples/*/go.mod)))

# These need root, or files of "make dist", or are of the scripts for releases: they are not among the other tests of their
# module.
ELSEWHERE := $$($(GO) list ./... | grep -v -e /partition$$ -e /pidnamespace$$ -e /dist$$ -e /release$$)
AS_ROOT   := $(if $(filter-out 0,$(shell id -u)),-exec 'sudo -E')

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: try
try: ## see two commands contend for a lock on a temporary ZooKeeper
	@.ci/install-zookeeper
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/zkrecipes ./cmd/zkrecipes
	@$(GO) build -o $(BIN)/throwaway ./integration/cmd/throwaway
	@$(BIN)/throwaway -- sh .ci/try $(BIN)/zkrecipes

.PHONY: picture
picture: ## record docs/terminal.svg again: the picture of a terminal in README.md
	@.ci/install-picture
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/zkrecipes ./cmd/zkrecipes
	@.ci/picture $(BIN)/zkrecipes

.PHONY: man
man: ## write the manual pages of the command into bin/man
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/zkrecipes ./cmd/zkrecipes
	$(BIN)/zkrecipes man --dir $(BIN)/man/man1

.PHONY: dist
dist: ## build the files of a release from the commit that is checked out, into bin/dist
	.ci/dist

.PHONY: dist-check
dist-check: ## the same twice, in two clones, and compare them
	.ci/dist-check

.PHONY: dist-test
dist-test: ## install and run what bin/dist has, in containers; needs a container engine (.ci/docker-up) and an image (.ci/mkdebian)
	cd integration && $(GO) test -count=1 ./dist

.PHONY: test
test: ## everything that needs only Go
	$(GO) test ./...

.PHONY: long
long: ## the long forms of the tests that have one
	ZKRECIPES_LONG=1 $(GO) test -timeout 20m ./internal/proof/faultsweep ./internal/proof/histories ./internal/proof/queuemodel ./internal/queue

# go-zookeeper reads its last zxid while its other goroutine may write it: when a watch is set before the client has seen
# to those of an earlier connection, or after a reconnect. The tests of zktest and of integration set watches with it, so
# there it is built without the detector. Clients of this module set none with it.
RACE_BUT_LIBRARY = $(GO) test -race -count=1 -gcflags=github.com/go-zookeeper/zk=-race=false

.PHONY: race
race: ## the same with the race detector
	$(GO) test -race -count=1 -timeout 30m $$($(GO) list ./... | grep -v /zktest$$)
	$(RACE_BUT_LIBRARY) ./zktest

.PHONY: lint
lint: $(LINT) ## go vet and the chosen linters, in every module
	@set -e; for dir in $(MODULES); do \
		echo "lint $$dir"; \
		(cd $$dir && export GOWORK=off && $(GO) vet ./... && $(LINT) run --allow-parallel-runners ./...); \
	done

.PHONY: fmt
fmt: $(LINT) ## format all Go files and sort their imports
	@set -e; for dir in $(MODULES); do (cd $$dir && GOWORK=off $(LINT) fmt ./...); done

.PHONY: fuzz
fuzz: ## every fuzz target, a minute each (FUZZTIME=10m for longer)
	.ci/fuzz $(or $(FUZZTIME),1m)

.PHONY: integration
integration: ## tests against a real ZooKeeper, started as plain processes
	cd integration && $(GO) test -count=1 $(ELSEWHERE)

.PHONY: integration-race
integration-race: ## the same with the race detector
	cd integration && $(RACE_BUT_LIBRARY) -timeout 15m $(ELSEWHERE)

.PHONY: integration-docker
integration-docker: ## these tests against ZooKeeper in containers
	cd integration && ZKRECIPES_BACKEND=docker $(GO) test -count=1 $(ELSEWHERE)

.PHONY: namespaces
namespaces: ## the command in a container and in its own PID namespace; asks for root
	cd integration && $(GO) test -count=1 $(AS_ROOT) ./pidnamespace

.PHONY: partitions
partitions: ## three real servers whose network is cut, and that are frozen and restarted; asks for root
	cd integration && $(GO) test -count=1 -timeout 15m $(AS_ROOT) ./partition

.PHONY: bench
bench: ## compare a mutex with its least possible cost, and zktest with a real ZooKeeper (BENCH=regexp picks some)
	cd integration && $(GO) test -run '^$$' -bench '$(or $(BENCH),.)' -count 3 .

# A module of its own, so that no other one needs the libraries it compares with.
BENCH_PROGRAM := cd bench && GOWORK=off $(GO) build -o $(BIN)/bench . && $(BIN)/bench

.PHONY: bench-peers
bench-peers: ## compare with other lock libraries (PEERS="-systems bare,ours -rounds 2" for less; PEERS=-h)
	.ci/install-peers
	$(BENCH_PROGRAM) peers $(PEERS)

.PHONY: bench-faults
bench-faults: ## a holder is killed, cut off or frozen: who holds then, by library (FAULTS="-systems ours,etcd" for less; FAULTS=-h)
	.ci/install-peers
	$(BENCH_PROGRAM) faults $(FAULTS)

.PHONY: bench-scale
bench-scale: ## crowds over processes, and what a held lock takes (SCALE="-waiters 1000" for less; SCALE=-h)
	.ci/install-peers
	$(BENCH_PROGRAM) scale $(SCALE)

.PHONY: apidiff
apidiff: ## what has changed in the exported API since the last release; is it in CHANGELOG.md?
	.ci/apidiff

.PHONY: release
release: ## make the commit and the tags of a release (VERSION=v0.1.0): docs/releasing.md
	.ci/release $(VERSION)

.PHONY: release-test
release-test: ## test the scripts for releases, and get this tree as a user does
	cd integration && $(GO) test -count=1 -timeout 15m ./release

.PHONY: ci
ci: ## exactly what the build server runs
	bash .ci/run

.PHONY: tools
tools: $(LINT) ## install the tools used here into ./bin

$(LINT):
	.ci/go-tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION) $(BIN)
