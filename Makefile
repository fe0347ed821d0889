# Everything that is done with this project. "make" lists it.

LINTER_VERSION := v2.15.0
API_LINTER     := @redocly/cli@2.77.0
LINTER         := .tools/$(LINTER_VERSION)/golangci-lint

# With CI set, or RACE=1, the tests run with the race detector, which needs a C compiler.
RACE      ?= $(if $(CI),1)
TEST      := $(if $(RACE),CGO_ENABLED=1 )go test $(if $(RACE),-race )-timeout 20m
VERSION    = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT     = $(shell git rev-parse HEAD 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run build test bench lint lint-api generate verify clean

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build, then serve on ./data
	bin/holdco serve

# Without nomsgpack Gin brings codecs that nothing here uses: an eighth of the binary, and 3 MB of memory.
build: ## build bin/holdco, one static binary
	CGO_ENABLED=0 go build -tags nomsgpack -trimpath -buildvcs=false \
		-ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/holdco ./cmd/holdco

test: ## run all tests, on SQLite and on an installed Postgres (RACE=1: with the race detector)
	$(TEST) ./...

bench: build ## measure what Holdco costs over a bare program, as ratios
	go test -tags bench -run TestBench -count 1 -timeout 20m -v ./wiring | grep -v -e '^=== ' -e '^ *--- '

lint: $(LINTER) ## look for mistakes
	$(LINTER) run

lint-api: ## look for mistakes in the OpenAPI documents (needs npm)
	npx --yes $(API_LINTER) lint --skip-rule operation-4xx-response --skip-rule no-unused-components \
		testdata/golden/openapi.json testdata/golden/export_openapi.json

generate: ## write all generated files anew
	go generate ./...

verify: generate ## check that generated files, go.mod and formatting are as committed (or staged)
	go mod tidy -diff
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	@changed=$$(git status --porcelain | grep -v '^[AMDRT]  ' || true); \
	test -z "$$changed" || { echo "neither committed nor staged:"; echo "$$changed"; git --no-pager diff; exit 1; }

clean: ## remove what was built and installed here; ./data stays
	rm -rf bin .tools

$(LINTER):
	GOBIN=$(abspath $(@D)) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)
