# posagent. This file is the only entry; `make help` lists the targets.
# Everything works in a fresh clone with nothing but Go: what needs a tool that is not there is listed as not run.

GO   ?= go
BIN  := bin
T    ?= 1m
N    ?= 20
STATES ?= 2000
VECTORS ?=
REQUIRE_ALL ?=
RACE ?= ./...
LINTER := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# One set of flags for everything but `race`, so that the SQLite engine is compiled once.
export CGO_ENABLED = 0
export GO REQUIRE_ALL

.PHONY: help demo run build unit test race cross qemu-demo lint tools bench fuzz vectors kill powercut clean

help: ## list the targets and their variables
	@echo 'make TARGET [VARIABLE=value]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r t d; do printf '%-12s %s\n' "$$t" "$$d"; done

demo: build ## tell the whole story on this machine: backend, terminal, register, wallet, cables pulled
	$(BIN)/posagent demo

run: build ## run a sandbox terminal with its backend: register line tcp 127.0.0.1:20007, state in out/state
	@mkdir -p out/state
	@[ -e out/run.toml ] || printf '[ecr]\ntcp = "127.0.0.1:20007"\n' > out/run.toml
	$(BIN)/posagent run --config out/run.toml --state out/state

build: ## build bin/posagent for this machine
	$(GO) build -o $(BIN)/posagent ./cmd/posagent

unit: ## the Go tests alone
	$(GO) test -shuffle=on ./...

test: ## everything that proves the product: vet, gofmt, tests, tests with tools; REQUIRE_ALL=1 lets nothing be left out
	@sh cross/test.sh

race: ## the Go tests under the race detector: RACE="packages" (needs gcc)
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $(RACE)

cross: ## build for every target into bin/, print the sizes, tell the story on emulated ARM where an emulator is
	@sh cross/cross.sh build
	@sh cross/cross.sh run

qemu-demo: ## the story on emulated armv5, armv7 and arm64 (needs proot and qemu-user-static)
	@sh cross/cross.sh run

lint: ## golangci-lint, fetched and built on first use
	$(GO) run $(LINTER) run ./...

tools: ## install what some tests need, where this is root on a Debian
	@sh cross/tools.sh

bench: ## every benchmark, N times where N is set
	$(GO) test -run '^$$' -bench . -benchmem $(if $(filter command line,$(origin N)),-count $(N)) ./...

fuzz: ## every fuzz target for T each (T=1m)
	@T='$(T)' sh cross/fuzz.sh

vectors: ## decode a file of foreign ZVT messages: VECTORS=file.jsonl
	@test -n '$(VECTORS)' || { echo 'make vectors VECTORS=file.jsonl'; exit 2; }
	VECTORS='$(abspath $(VECTORS))' $(GO) test -count=1 -run Vectors -v ./ecr/zvt/...

kill: ## kill -9 the terminal at N random moments (N=20)
	N='$(N)' $(GO) test -count=1 -timeout 60m -v ./cross/kill

powercut: ## cut the power at STATES places of the store's life (STATES=2000)
	POSAGENT_STATES='$(STATES)' $(GO) test -count=1 -timeout 60m -run PowerCut -v ./store/... ./agent/...

clean: ## remove what was built
	rm -rf $(BIN) out
