# What a person types. Everything a target needs, it installs or builds itself.
PREFIX ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
SWIFT ?= swift
# How many simulated histories, and the seed of the first: a random one unless given.
SEEDS ?= 1000
FIRST_SEED ?=
# How long each fuzzer runs.
SECONDS ?= 60
PROGRAMS = sakerd saker saker-server
# Debug, release and other builds, each in a folder of its own.
FLAVOUR = SWIFT="$(SWIFT)" scripts/flavour

.PHONY: demo test test-rooms build install packages test-packages image bench crash soak format lint clean deps debug fuzz test-tsan simulate

# The main job on this machine: a real gpsd on a simulated drive, server, agent; shows the track arriving.
# GPSD=host:port uses a real receiver instead.
demo: deps
	for program in $(PROGRAMS) saker-sim; do $(FLAVOUR) debug build --product $$program || exit 1; done
	scripts/demo $(GPSD)

# Every test, none skipped that this machine can run.
test: deps
	$(FLAVOUR) debug build --build-tests
	scripts/test
	scripts/test-boundaries
	scripts/check-boundaries

# The tests of some rooms while one works on them: ROOMS="TrackAnalysis WebAPI". Only what they need is built.
ROOMS ?=
test-rooms: deps
	SAKER_TESTS="$(addsuffix Tests,$(ROOMS))" $(FLAVOUR) debug build --product sakerPackageTests
	scripts/test $(addsuffix Tests,$(ROOMS))

# The unit tests once more, under the thread sanitizer, in a build of their own.
test-tsan: deps
	scripts/test-tsan

# Everything that reads from outside, with made-up input: docs/fuzzing.md. `make fuzz SECONDS=300` for longer.
fuzz: deps
	scripts/fuzz $(SECONDS)

# The programs as shipped, in .build-release/release.
build: deps
	for program in $(PROGRAMS) saker-sim; do $(FLAVOUR) release build --product $$program || exit 1; done

# After `make build`; honours PREFIX, DESTDIR and SYSCONFDIR, and BUILT for programs of another directory. Programs, units,
# samples, manuals, completions. Never touches an existing configuration.
BUILT ?=
install:
	BUILT="$(BUILT)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" scripts/install

# Debian packages of the programs for this machine's release, in .build-packages: docs/packages.md. REVISION=2 upgrades 1.
REVISION ?= 1
packages: build
	scripts/install-deps --packages
	BUILT="$(BUILT)" REVISION="$(REVISION)" scripts/make-packages

# The life of these packages on a system with nothing on it, and the image of the server. FORMER=folder: programs to upgrade from.
test-packages: build
	scripts/install-deps --packages --image
	BUILT="$(BUILT)" scripts/test-packages

# An image of the server for containers, from its package.
image:
	scripts/install-deps --image
	scripts/make-image

# The budgets of docs/benchmarks.md, measured here and now; GROUPS="server agent" measures only these.
GROUPS ?=
bench: deps
	scripts/bench $(GROUPS)

# Kills and cuts on the real programs: ROUNDS rounds, SEED repeats one, NETNS=0 uses a proxy instead of namespaces.
ROUNDS ?= 100
SEED ?=
crash: debug
	scripts/crash --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED))

# The same programs for MINUTES on a link that is cut again and again: what they hold must not grow.
MINUTES ?= 30
soak: debug
	scripts/soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# Histories of agent, link, server and store in virtual time, each from one seed: SEEDS of them from FIRST_SEED on.
simulate: deps
	SEEDS="$(SEEDS)" FIRST_SEED="$(FIRST_SEED)" SWIFT="$(SWIFT)" scripts/simulate

format:
	$(SWIFT) format format --in-place --parallel --recursive Sources Tests Package.swift

lint:
	scripts/check-format

clean:
	scripts/flavour clean

deps:
	scripts/install-deps

debug: deps
	$(FLAVOUR) debug build
