# Handoff: `make demo` shows the whole walk, `make test` checks everything that needs no server.

BIN := .build/release/handoff

.PHONY: help packages build demo run test test-servers test-long fuzz bench docs format lint clean

help:
	@echo "make demo          build, then one real video through the whole walk"
	@echo "make run           build, then a broker in ./run until Ctrl-C"
	@echo "make test          format, warnings, tests without outside servers"
	@echo "make test-servers  tests against real servers on loopback"
	@echo "make test-long     torture, soak and long fuzzing"
	@echo "make fuzz          libFuzzer: make fuzz [TARGET=NAME] [SECONDS=60]"
	@echo "make bench         speed and memory"
	@echo "make docs          the documentation, as a DocC archive"
	@echo "make format        format the sources in place"

packages:
	@.ci/packages build

build: packages
	swift build -c release

demo: build
	@$(BIN) demo

run: build
	@test -e run/handoff.toml || $(BIN) init run
	@$(BIN) serve --config run/handoff.toml

lint:
	swift format lint --strict --recursive Package.swift Sources Plugins Tests

format:
	swift format --in-place --recursive Package.swift Sources Plugins Tests

# The product is built as it ships, and the end-to-end tests run that build.
test:
	@.ci/packages test
	$(MAKE) --no-print-directory lint
	swift build -c release
	swift build --build-tests
	.ci/tests
	.ci/fuzz 2

# The servers are installed, started and stopped by the tests themselves.
test-servers:
	@.ci/packages servers
	swift build -c release
	swift build --build-tests
	HANDOFF_SERVERS=1 swift test --skip-build --no-parallel --filter 'ServerTests'

test-long: build
	HANDOFF_LONG=1 swift test --no-parallel \
	  --filter 'LongTests|ArchiveFileSystemTests|ArchiveMHLTests|ArchiveRemoteTests|ArchiveTests|BurstTests|ExpiryTests|InterruptedCopyTests|LockCases|StopCaseTests'
	.ci/fuzz 300

TARGET :=
SECONDS := 60
fuzz:
	@.ci/packages build
	.ci/fuzz $(SECONDS) $(TARGET)

bench: build
	swift build -c release --product handoff-bench
	.build/release/handoff-bench ledger
	.build/release/handoff-bench watch
	.build/release/handoff-bench upload
	.build/release/handoff-bench archive

docs: packages
	swift package dump-symbol-graph --minimum-access-level package --skip-synthesized-members
	rm -rf .build/symbols .build/docs && mkdir -p .build/symbols
	cp .build/*/symbolgraph/HandoffService*.json .build/symbols/
	docc convert Sources/HandoffService/HandoffService.docc \
	  --additional-symbol-graph-dir .build/symbols --output-path .build/docs --warnings-as-errors \
	  --fallback-display-name HandoffService --fallback-bundle-identifier handoff.service
	@echo "the documentation is in .build/docs"

clean:
	rm -rf .build
