# posagent. This file is the only entry; `make help` lists the targets.
# Everything works in a fresh clone with nothing but Go: what needs a tool that is not there is listed as not run.

GO   ?= go
BIN  := bin
T    ?= 1m
N    ?= 20
STATES ?= 2000
FRAMES ?= 200000
SEEDS ?= 5000
RUN ?=
VECTORS ?=
PROTOCOLS ?=
SPEC ?=
SETS ?= 10000
REQUIRE_ALL ?=
VERSION ?=
RACE ?=
ONLY ?=
PACKAGES ?=
TOOLS ?=
TARGETS ?=
KEY ?=
BUSY ?= 0
LINTER := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# One set of flags for everything but `race`, so that the SQLite engine is compiled once.
export CGO_ENABLED = 0
export GO REQUIRE_ALL TOOLS ONLY PACKAGES

.PHONY: goldens verify campaigns backend migrate fleet methods printer nexo keypad faces packages update enrol visit cut doctor-bench flaky man browser screens pictures help demo run build test race cross qemu-demo lint tools bench fuzz vectors signatures kill powercut clean line fields upstream disk books million lossy reconcile sim mutants badinput vuln test-386 test-arm guest change

help: ## list the targets and their variables
	@echo 'make TARGET [VARIABLE=value]'
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r t d; do printf '%-12s %s\n' "$$t" "$$d"; done

demo: build ## tell the whole story on this machine: backend, terminal, register, wallet, cables pulled
	$(BIN)/posagent demo

run: build ## run a sandbox terminal with its backend: a register line of each protocol, state in out/sandbox
	@mkdir -p out/sandbox
	@[ -e out/run.toml ] || cp cross/run.toml out/run.toml
	$(BIN)/posagent run --config out/run.toml --state out/sandbox

build: ## build bin/posagent for this machine (VERSION=what it calls itself)
	@[ -e $(BIN)/posagent ] || echo 'building posagent: the first build compiles the SQLite engine, one to four minutes; later ones take seconds'
	$(GO) build -ldflags="-X main.linked=$$(sh cross/version.sh)" -o $(BIN)/posagent ./cmd/posagent

man: build ## write the manual page to out/posagent.1
	@mkdir -p out
	$(BIN)/posagent man > out/posagent.1

test: ## every rule of the product, with Go alone: four minutes on two processors, eight on a new machine, seconds where nothing changed (PACKAGES=./agent/...)
	@sh cross/test.sh

verify: ## make test, then what needs tools, which it names and installs: race detector, full sizes, PostgreSQL, emulated ARM, Chromium: 25 minutes (ONLY="race arm", REQUIRE_ALL=1 lets nothing be left out, TOOLS=no installs nothing)
	@sh cross/verify.sh

goldens: ## write what is calculated and kept: lengths of the transcripts' requests and their hashes, the table of decisions
	GOLDENS=write $(GO) test -count=1 -run '^TestTranscriptsAreFrozen$$' ./cross/check
	DECISIONS=write $(GO) test -count=1 -run '^TestThePageSaysWhatTheTableSays$$' ./cross/decisions

campaigns: ## every campaign at its full size, one after the other: hours, said first (ONLY="kill line")
	@MAKE='$(MAKE)' sh cross/campaigns.sh

flaky: ## make test's tests that talk to a process or run a background loop, N times, with BUSY loops beside them (N=20 BUSY=8 LANES=2 PACKAGES=./...)
	@N='$(N)' BUSY='$(BUSY)' sh cross/flaky.sh

race: ## make test's tests under the race detector: RACE="packages" (needs gcc)
	@ONLY=race RACE='$(RACE)' sh cross/verify.sh

cross: ## build for every target into bin/, print the sizes, tell the story on emulated ARM where an emulator is
	@sh cross/cross.sh build
	@sh cross/cross.sh run

qemu-demo: ## the story on emulated armv5, armv7 and arm64 (needs proot and qemu-user-static)
	@sh cross/cross.sh run

packages: ## deb and ipk of every target, and of posagent-backend for servers, into bin/, with the list of what is inside, licences, manifest and provenance (KEY=release.key signs, TARGETS=armv7,arm64)
	$(GO) run ./cross/build/packages build -out $(BIN) -only '$(TARGETS)' -key '$(KEY)'

lint: ## golangci-lint, fetched and built on first use
	$(GO) run $(LINTER) run ./...

vuln: ## look for known weaknesses in what the programs call (govulncheck; GOVULNDB names another database than vuln.go.dev; says so where it is out of reach)
	@GO='$(GO)' sh cross/vuln.sh

tools: ## install what some tests need, where this is root on a Debian (make verify does it too; TOOLS=no leaves it out)
	@sh cross/tools.sh

bench: ## the program beside this machine's limits, one table (BENCH="-only sale"); then every Go benchmark
	$(GO) run ./cross/bench $(BENCH)
	$(GO) test -run '^$$' -bench . -benchmem $(if $(filter command line,$(origin N)),-count $(N)) ./...

fuzz: ## every fuzz target for T each (T=1m)
	@T='$(T)' sh cross/fuzz.sh

vectors: ## judge a file of foreign register messages: VECTORS=zvt-vectors.jsonl, or those of caisse-ap, ecr17 and nexo
	@test -n '$(VECTORS)' || { echo 'make vectors VECTORS=file.jsonl'; exit 2; }
	@case '$(notdir $(VECTORS))' in caisse-ap*) rooms=./ecr/caisseap/... ;; ecr17*) rooms=./ecr/ecr17/... ;; nexo*) rooms=./ecr/nexo/... ;; *) rooms=./ecr/zvt/... ;; esac; \
	VECTORS='$(abspath $(VECTORS))' $(GO) test -count=1 -run Vectors -v $$rooms

fields: ## compare the lists of fields with the tables of the specification: SPEC=folder of its three documents
	@test -n '$(SPEC)' || { echo 'make fields SPEC=folder'; exit 2; }
	SPEC='$(abspath $(SPEC))' $(GO) test -count=1 -run '^TestFields' -v ./cross/check

signatures: ## sign SETS random nested parameter sets here and in PHP, and compare (SETS=10000)
	SETS='$(SETS)' $(GO) test -count=1 -run SecondImplementation -v ./schemes/paylinks

kill: ## N sales killed with -9 at random moments over ZVT, N/5 over each other protocol, and N/2 at named points; N/4 and N/2 such stories of local clients (N=5000 takes about twenty minutes); PROTOCOLS=jsonl,nexo: N sales over these alone
	N='$(N)' PROTOCOLS='$(PROTOCOLS)' $(GO) test -count=1 -timeout 60m -v $(if $(PROTOCOLS),-run '^TestKillTills$$') ./cross/campaign/kill/...

change: ## N runs of random steps of a sale in a world that changes between them: kill -9, backups, lost journals, other addresses, lines and answers (N=5000 takes two to three hours; SEED=7 RUN=3: that run alone)
	N='$(if $(filter command line,$(origin N)),$(N),100)' RUN='$(RUN)' $(GO) test -count=1 -timeout 360m -v ./cross/campaign/change

cut: ## change MUTATIONS bits and as many sectors of the logs of journals with sales and clients' operations: each is whole or said to be cut; kill 4 x KILLS times without, and KILLS times each verb that replaces a journal: no alarm (MUTATIONS=200 KILLS=100 take about ten minutes)
	POSAGENT_MUTATIONS='$(MUTATIONS)' POSAGENT_KILLS='$(KILLS)' $(GO) test -count=1 -timeout 60m -run 'TestField_J|TestScripts/(journal|gaps|keys)' -v ./store/... ./agent ./cmd/posagent ./cross/campaign/kill

backend: ## build bin/posagent-backend for this machine, and for amd64 and arm64 servers: the backend on PostgreSQL, with what is inside and its licences
	$(GO) build -ldflags="-X main.linked=$$(sh cross/version.sh)" -o $(BIN)/posagent-backend ./cmd/posagent-backend
	@for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags="-s -w -X main.linked=$$(sh cross/version.sh)" -o $(BIN)/posagent-backend-$$arch ./cmd/posagent-backend && ls -l $(BIN)/posagent-backend-$$arch; done
	@VERSION=$$(sh cross/version.sh) $(GO) run ./cross/build/packages about $(BIN)/posagent-backend $(BIN)/posagent-backend-amd64 $(BIN)/posagent-backend-arm64

migrate: ## move the books of N sales from a file to PostgreSQL and back, killed KILLS times (N=1000000 KILLS=50 take about fifteen minutes); then run all tests of the backend on moved books (five minutes)
	N='$(if $(filter command line,$(origin N)),$(N),20000)' KILLS='$(if $(KILLS),$(KILLS),20)' $(GO) test -count=1 -timeout 60m -v -run '^TestMigration$$' ./cmd/posagent-backend
	MIGRATED=full $(GO) test -count=1 -timeout 40m -v -run '^TestServicesOnMigratedBooks$$' ./cross/engines

fleet: ## TERMINALS sell through three backends on three PostgreSQL servers, which are killed, stopped and filled for ROUNDS of SECONDS; then each sale and write is judged; and settings go out to them in stages (TERMINALS=1000 ROUNDS=20 SECONDS=30 take about fifteen minutes; as root: disks too)
	TERMINALS='$(if $(TERMINALS),$(TERMINALS),1000)' ROUNDS='$(if $(ROUNDS),$(ROUNDS),20)' SECONDS='$(if $(SECONDS),$(SECONDS),30)' $(GO) test -count=1 -timeout 60m -v -run '^Test(Fleet|RollOut)$$' ./cross/campaign/fleet

enrol: ## kill an enrolment, by a code and by a bundle, and a renewal at each system call that keeps or sends something, N rounds, and go on (N=20 takes about twenty minutes)
	N='$(if $(filter command line,$(origin N)),$(N),20)' $(GO) test -count=1 -timeout 60m -v ./cross/campaign/enrol

update: ## update a running terminal to programs that work and that do not, and attack the repository (needs npm for the independent client; five minutes at most)
	UPDATE=full $(GO) test -count=1 -timeout 15m -v ./cross/campaign/update

nexo: ## a library that nexo tills have, unmodified, against the running program (needs node and npm; a minute)
	$(GO) test -count=1 -timeout 10m -v -run 'NexoLibrary' ./cmd/posagent

doctor-bench: ## seed each fault alone, against the real binary and backend: doctor names its id as the only failure (as root: disks and users too)
	DOCTOR=full $(GO) test -count=1 -timeout 15m -v -run 'OneFault' ./cross/campaign/doctor ./cmd/backend ./cmd/posagent-backend

badinput: ## every bad input a sale, a service, a page or the webhook receiver can meet, against the real binary: prints the tables
	BADINPUT=full $(GO) test -count=1 -timeout 10m -v ./cross/campaign/badinput

test-arm: ## the tests of what calculates, on emulated ARM (needs qemu-user-static)
	GOARCH=arm GOARM=7 $(GO) test -exec qemu-arm-static ./schemes/money ./schemes/wire ./schemes/methods ./schemes/aapay ./schemes/backend/books ./agent/checkout ./ecr/zvt/...

visit: ## a technician's visit to a fresh Debian on emulated ARM: install, enrol, READY, first sale (as root; ten minutes at most)
	@sh cross/visit.sh

methods: ## every method of the sandbox sold, refunded and reversed over ZVT on a pseudo terminal and on TCP, here and on emulated ARMv7
	$(GO) test -count=1 -timeout 15m -v ./cross/campaign/methods

printer: ## DEATHS random stories of receipts on a printer that dies at random places (DEATHS=500 take ten minutes)
	DEATHS='$(if $(DEATHS),$(DEATHS),100)' $(GO) test -count=1 -timeout 60m -v -run RandomDeaths ./agent/counter/printqueue

keypad: ## the keypad's tests on an emulated ARMv7 board, whose kernel makes input devices (fetches a Debian kernel; five minutes at most)
	@sh cross/keypad.sh

guest: ## the program's memory on an emulated ARMv7 board with 64 MB (fetches a Debian kernel; five minutes at most)
	@sh cross/guest.sh

powercut: ## cut the power at STATES places of the life of the store, and of local clients' writes, and in STATES/2 sales over each protocol beside ZVT (STATES=2000; 20000 take ten minutes; PROTOCOLS=jsonl,nexo: sales over these alone)
	POSAGENT_STATES='$(STATES)' PROTOCOLS='$(PROTOCOLS)' $(GO) test -count=1 -timeout 60m -run PowerCut -v $(if $(PROTOCOLS),,./store/... ./agent/...) ./cross/campaign/line

line: ## damage FRAMES blocks between register and terminal, and sales on top of them; break FRAMES/200 sales over each protocol at a byte (FRAMES=200000; PROTOCOLS=jsonl,nexo: these alone)
	FRAMES='$(FRAMES)' PROTOCOLS='$(PROTOCOLS)' $(GO) test -count=1 -timeout 60m -v $(if $(PROTOCOLS),-run Tills) ./cross/campaign/line

upstream: ## spoil N replies of the backend in every known way (N=20)
	N='$(N)' $(GO) test -count=1 -timeout 60m -v ./cross/campaign/upstream

disk: ## fail N operations of the disk under a sale and N under local clients' writes, and fill a real one (N=2000)
	N='$(if $(filter command line,$(origin N)),$(N),2000)' $(GO) test -count=1 -timeout 60m -v ./cross/campaign/disk

books: ## N calls of sixteen callers at once against the books of the payment service (N=100000 takes minutes)
	N='$(if $(filter command line,$(origin N)),$(N),2000)' $(GO) test -count=1 -timeout 60m -v ./cross/campaign/books

lossy: ## OPS writes of local clients over a link that loses, delays and doubles (OPS=100000 takes minutes)
	OPS='$(if $(OPS),$(OPS),2000)' $(GO) test -count=1 -timeout 60m -v -run Lossy ./cross/campaign/lossy

million: ## a million pending operations: start, status, accept, memory, drain (N=1000000 takes five minutes)
	N='$(if $(filter command line,$(origin N)),$(N),1000000)' $(GO) test -count=1 -timeout 30m -v -run Million ./cross/campaign/million

reconcile: ## damage a till's list of N sales, the journal and the backend at random places: each difference is found, none is invented (N=100000 takes a minute or two)
	N='$(if $(filter command line,$(origin N)),$(N),100000)' $(GO) test -count=1 -timeout 30m -v -run EachPlanted ./agent/support/reconcile

sim: ## SEEDS random terminal-days of ZVT in virtual time, and a fifth of them of each other protocol (SEEDS=5000; PROTOCOLS=jsonl,nexo: these alone)
	SEEDS='$(SEEDS)' PROTOCOLS='$(PROTOCOLS)' $(GO) test -count=1 -timeout 60m -v $(if $(PROTOCOLS),-run Tills) ./cross/campaign/sim

mutants: ## break the product one rule at a time and see a named test go red (MUTANT=regexp: some; MUTANTS_SHARD=1/4: one of four; all take one to two hours)
	MUTANTS=1 $(GO) test -count=1 -timeout "$$(sh cross/patience.sh 180)" -v -run 'Mutants' ./cross/mutants

test-386: ## the Go tests with 32-bit integers
	GOARCH=386 $(GO) test -short ./schemes/... ./store/... ./agent/... ./ecr/... ./device/...

browser: ## the backend's pages in a real Chromium
	@sh cross/browser.sh

faces: ## the letters of the screen again, from the published Go fonts (changes nothing when all is as it was)
	$(GO) run ./cross/build/fontgen

screens: ## a picture of every page (needs chromium), and of every scene of the terminal on every panel in every language, in out/screens
	@mkdir -p out/screens
	SCREENS='$(abspath out/screens)' $(GO) test -count=1 -run '^TestScreens$$' ./device/display
	@SCREENS=out/screens sh cross/browser.sh

pictures: ## draw the pictures of the README anew
	PICTURES=write $(GO) test -count=1 -run '^TestThePictureOfTheREADME$$' ./device/display

clean: ## remove what was built
	rm -rf $(BIN) out
