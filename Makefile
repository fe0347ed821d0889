# Everything that is done with this project. "make" lists it.

LINTER_VERSION := v2.15.0
API_LINTER     := @redocly/cli@2.77.0
LINTER         := .tools/$(LINTER_VERSION)/golangci-lint

# Many tests wait for something, so more run at a time than there are processors.
#
# With CI set, or RACE=1, the tests run with the race detector, which needs a C compiler. It leaves out SQLite, which is C
# translated to Go: nothing of this project is in there, and it would take two thirds of the time. SHORT=1 draws a fifth of the random
# cases (-short); RUN and SKIP choose tests by name. CI leaves vet to lint.
RACE      ?= $(if $(CI),1)
PACKAGES  ?= ./...
DETECTOR  := -race $(foreach part,sqlite/lib libc memory,-gcflags=modernc.org/$(part)=-race=false)
TEST       = $(if $(RACE),CGO_ENABLED=1 )go test $(if $(RACE),$(DETECTOR) )$(if $(CI),-vet=off )$(if $(SHORT),-short )-parallel 6 \
	-timeout 90m $(if $(RUN),-run '$(RUN)') $(if $(SKIP),-skip '$(SKIP)')

# Tests that need an installed program have its name in theirs, at one of three levels, and those that need the coding programs have
# RealProgram there; two packages need one for every test.
# One more test waits half a minute for a lease to end, and one downloads Go modules that nothing else needs.
SLOW      := (?i:postgres|redis|browser|javascript|realprogram|python|losesNoDelivery|generatedGo)
QUICK     := -skip '$(SLOW)|/$(SLOW)|//$(SLOW)' $$(go list ./... | grep -v -e /store/postgres -e /redislimit)
VERSION    = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT     = $(shell git rev-parse HEAD 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run demo build binaries dist deb image packs packages-check test quick tools bench soak lint lint-api generate keep verify compat ui ui-dev shots clean

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build, then serve on ./data
	bin/holdco serve

# A data directory of its own: the next time it goes on with what is there, and "rm -r data/demo" is the end of it. A past that
# was cut short is begun anew. Ctrl+C reaches both programs, and a second signal would make the server stop at once.
demo: build ## serve a company to look at, with 90 days of past, on ./data/demo
	@export HOLDCO_DATA_DIR=data/demo; set -e; \
	if [ ! -e data/demo/filled ]; then \
		rm -rf data/demo; bin/holdco migrate up >/dev/null; bin/holdco demo --history 90d; touch data/demo/filled; \
	fi; \
	export HOLDCO_TOKEN=$$(bin/holdco token create --name demo --scopes admin --expires 720h --json | sed -n 's/.*"token": "\(.*\)".*/\1/p'); \
	bin/holdco serve --log-level warn & server=$$!; stopped=; trap 'stopped=yes' INT TERM; \
	while kill -0 $$server 2>/dev/null && ! curl -sf -o /dev/null http://127.0.0.1:3100/readyz; do sleep 0.2; done; \
	printf '\nOpen the dashboard with this link, once, within 15 minutes:\n\n  %s\n\n' "$$(bin/holdco login)"; \
	bin/holdco demo || true; \
	[ "$$stopped" ] || kill $$server; wait $$server

# Without nomsgpack Gin brings codecs that nothing here uses: an eighth of the binary, and 3 MB of memory.
BUILD = CGO_ENABLED=0 go build -tags nomsgpack -trimpath -buildvcs=false \
	-ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)"

build: ## build bin/holdco, one static binary
	$(BUILD) -o bin/holdco ./cmd/holdco

# What is shipped. The same commit gives the same bytes, with the same Go.
PLATFORMS ?= linux/amd64 linux/arm64
BIN       ?= bin
DIST      ?= dist
ARCH       = $(shell go env GOHOSTARCH)
HOST       = $(shell go env GOHOSTOS)/$(ARCH)
EPOCH      = $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
PACK       = go run ./cmd/pack -version "$(VERSION)" -epoch "$(EPOCH)" -bin "$(BIN)" -out "$(DIST)" -platforms "$(PLATFORMS)"
BUILDER   ?= $(firstword $(foreach one,docker podman buildah,$(shell command -v $(one))))

binaries:
	$(BUILD) -o $(BIN)/holdco ./cmd/holdco
	@for p in $(PLATFORMS); do \
		to=$(BIN)/$$(echo $$p | tr / _)/holdco; mkdir -p $${to%/*}; \
		if [ $$p = $(HOST) ]; then cp $(BIN)/holdco $$to; \
		else GOOS=$${p%/*} GOARCH=$${p#*/} $(BUILD) -o $$to ./cmd/holdco || exit 1; fi; \
	done

dist: binaries ## pack the archives, with checksums and bills of materials, into dist (PLATFORMS="linux/amd64 darwin/arm64")
	$(PACK) archives

deb: binaries ## pack the Debian packages into dist (needs dpkg-deb)
	$(PACK) deb

image: binaries ## build the image holdco:latest of the Containerfile, for this machine (BUILDER=podman)
	$(PACK) image
	$(BUILDER) build $(if $(filter-out %docker,$(BUILDER)),--format docker --timestamp $(EPOCH)) \
		--build-arg TARGETARCH=$(ARCH) -f Containerfile -t holdco:latest .

# For this machine alone: to compile the dependencies for another takes minutes.
packages-check: PLATFORMS := $(HOST)
packages-check: tools packs ## pack for this machine, twice, and check all with the programs that will read it
	go test -tags packages -count 1 ./cmd/pack

packs: binaries
	rm -rf $(DIST)
	$(PACK) archives deb image

test: tools ## run all tests, on SQLite and Postgres; installs what they need (RACE=1: with the race detector)
	$(TEST) $(PACKAGES)

# It leaves vet to lint, and collects garbage less often, which takes memory.
quick: SHORT := 1
quick: ## run the tests that need nothing but Go, with fewer random cases: no Postgres, Redis or browser
	env GOGC=400 $(TEST) -vet=off $(QUICK)

tools:
	@RACE=$(RACE) PACKAGING=$(if $(filter packages-check,$(MAKECMDGOALS)),1) .ci/install

bench: build tools ## measure what Holdco costs over a bare program, as ratios
	go test -tags bench -run TestBench -count 1 -timeout 2h -v ./wiring | grep -v -e '^=== ' -e '^ *--- '

# STORE=sqlite or STORE=postgres is one of them; SEED repeats what clients chose, and when servers were killed. Nothing is piped: the
# exit code is that of the tests.
SOAK  ?= 10m
STORE ?= .*
soak: tools ## do everything at once on each store for SOAK=10m, kill servers, and see that nothing is lost and nothing grows
	go test -tags soak -run 'TestSoak/^$(STORE)$$' -count 1 -timeout 0 -v ./wiring -soak $(SOAK) $(if $(SEED),-seed $(SEED))

lint: $(LINTER) ## look for mistakes
	$(LINTER) run
	cd .ci/compat && $(abspath $(LINTER)) run

lint-api: ## look for mistakes in the OpenAPI documents (needs npm)
	npx --yes $(API_LINTER) lint --skip-rule operation-4xx-response --skip-rule no-unused-components \
		testdata/golden/openapi.json testdata/golden/export_openapi.json testdata/golden/gateway_openapi.json

generate: ## write all generated files anew
	go generate ./...

# The page is built with what the lock file names, and no script of a package runs. Its build is the same, byte by byte, everywhere.
UI := adapters/dashboard/ui

ui: ## build the dashboard from adapters/dashboard/ui into its dist (needs Node.js 20.19 or later)
	cd $(UI) && npm ci --ignore-scripts --no-audit --no-fund && npm run generate && npm run check && npm run build
	go test ./adapters/dashboard -run ThePageIsBuiltFromItsSources -count 1 -update

ui-dev: ## serve the dashboard with reload, beside a running holdco (HOLDCO_DASHBOARD: its URL)
	cd $(UI) && npm ci --ignore-scripts --no-audit --no-fund && npm run generate && npm run dev

# Where there is no such Node.js, the build is not repeated; a test still knows whether dist is of these sources.
HAS_NODE = $(shell node -e 'const [a, b] = process.versions.node.split("."); if (a > 20 || (a == 20 && b >= 19)) console.log(1)' 2>/dev/null)

shots: tools ## take the pictures in the README anew
	go test -tags shots -count 1 -run TestShotsOfTheDemoInABrowser ./wiring

# What compares documents is a module of its own, which the program does not depend on. It works offline once its modules are there.
compat: ## check that the documents of the APIs keep what releases promised
	cd .ci/compat && go mod tidy -diff && go test -vet=off -count 1 .

keep: RELEASED = $(CURDIR)/testdata/released/$(RELEASE)
keep: tools ## keep the documents and the stores that a release promises to work with (RELEASE=1.2.0)
	@test -n "$(RELEASE)" || { echo "name the release: make keep RELEASE=1.2.0"; exit 1; }
	mkdir -p $(RELEASED)
	cp testdata/golden/openapi.json testdata/golden/export_openapi.json testdata/golden/gateway_openapi.json $(RELEASED)
	go test -short ./app/doctor -run AStoreAtWork -args -release $(RELEASED)
	go test ./app/backups -run AFullStore -args -release $(RELEASED)

verify: generate $(if $(HAS_NODE),ui) compat ## check that generated files, go.mod and formatting are as committed (or staged), and that compat finds nothing
	go mod tidy -diff
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	@changed=$$(git status --porcelain | grep -v '^[AMDRT]  ' || true); \
	test -z "$$changed" || { echo "neither committed nor staged:"; echo "$$changed"; git --no-pager diff; exit 1; }

clean: ## remove what was built and installed here; ./data stays
	rm -rf bin dist .tools

$(LINTER):
	GOBIN=$(abspath $(@D)) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)
