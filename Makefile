# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmend: repairs ownership in the root file system of a stopped LXC container.
#
# Targets
#   all            build/ctmend and build/libctmend.a (default)
#   check          all that check-unit, -fuzz, -cli, -root, -man and -install do; its last line is
#                  "N passed, N failed, N skipped". As root it first installs what is missing; on
#                  a Proxmox VE host it installs nothing, and skips what it cannot do then
#   check-unit     unit tests, one program for each tests/test_*.c; T=idmap runs one of them
#   check-fuzz     replay the inputs of fixtures/fuzz through the fuzz targets; T=idmap runs one
#   check-cli      golden tests of the command line; T=NAME runs one, UPDATE=1 rewrites the .out
#                  files
#   check-root     tests on loop images, real ACLs and capabilities; need root; T=NAME runs one
#   check-long     what check tries a tenth of, and what takes too long for it: kill points, power
#                  loss, ten million inodes; an hour or more, and needs root. When all have
#                  passed, tests/LONG is rewritten; T=393-random-kill runs one
#   check-trixie   build in a Debian 13 (Proxmox VE 9) and run the unit and CLI tests there; needs
#                  root and Debian's archive. What it makes is kept in build/trixie
#   check-man      the manual pages pass mandoc -Tlint and groff -ww
#   check-install  install to a scratch DESTDIR, run, uninstall; nothing may be left
#   lint           clang-format, clang-tidy, shellcheck, codespell, the rules of the house, and
#                  gcc and clang with warnings as errors
#   format         run clang-format over the C sources; F="a.c b.h" over these alone
#   coverage       build with gcov, run the tests, print the line coverage of lib/ (85 % or more)
#   fuzz           let clang's libFuzzer look for inputs that break a parser, FUZZ_TIME seconds for
#                  each target of tests/fuzz (60); T=idmap runs one. What it finds is in build-fuzz/
#   bench          time and memory beside find, bfs and chown on a tree of 1,000,000 inodes; fails
#                  over its limits; needs root
#   demo           the main job on a small damaged container; needs root
#   deps           install what building needs; deps-test what the tests need beside that, and
#                  deps-dev what lint and coverage need (apt-get, Debian). Needs root, removes no
#                  package, and installs nothing on a Proxmox VE host
#   install        to DESTDIR and the directories below
#   uninstall      remove what install put there
#   dist           ctmend-VERSION.tar.xz from the last commit; only in a git checkout
#   clean          remove the build directory that BUILD and SAN name
#   distclean      remove all build directories
#   help           this text
#
# Variables
#   CC CFLAGS CPPFLAGS LDFLAGS LDLIBS
#                  yours are used as they are; ours stand in front of them
#   BUILD=DIR      where objects go; build, or build-address-undefined for SAN=address,undefined
#   SAN=LIST       build with -fsanitize=LIST; any report of a sanitizer fails the check
#   DEV=1          warnings are errors
#   HARDENING=     compiler flags for hardening; what the compiler knows, by default
#   V=1            show the commands
#   T= F= UPDATE=1 see check-unit, check-cli and format; T takes several names
#   BENCH_DIR= BENCH_N= BENCH_PARTS= BENCH_REPAIRS= BENCH_ROUNDS=
#                  for bench, see tests/bench/run.sh
#   TEST_TIMEOUT=  seconds for one test program or script (300)
#   TEST_JOBS=     how many of them run at the same time; one for each processor
#   REQUIRE_ROOT_TESTS=1
#                  a skipped test is a failure; default when root runs the tests
#   prefix exec_prefix sbindir libdir libexecdir includedir datarootdir datadir mandir docdir
#   bashcompdir zshcompdir
#   DESTDIR
#   PKG_CONFIG AR INSTALL CLANG_FORMAT CLANG_TIDY

.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:

prefix      ?= /usr/local
exec_prefix ?= $(prefix)
sbindir     ?= $(exec_prefix)/sbin
libdir      ?= $(exec_prefix)/lib
libexecdir  ?= $(exec_prefix)/libexec
includedir  ?= $(prefix)/include
datarootdir ?= $(prefix)/share
datadir     ?= $(datarootdir)
mandir      ?= $(datarootdir)/man
docdir      ?= $(datarootdir)/doc/ctmend
bashcompdir ?= $(datarootdir)/bash-completion/completions
zshcompdir  ?= $(datarootdir)/zsh/site-functions

PKG_CONFIG   ?= pkg-config
INSTALL      ?= install
CLANG_FORMAT ?= clang-format
CLANG_TIDY   ?= clang-tidy

comma := ,
hash  := \#
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(COVERAGE),-coverage)

ifeq ($(V),1)
Q   :=
say  = @:
else
Q   := @
say  = @printf '  %-7s %s\n'
endif

# --- what is built from what ---------------------------------------------------------------------

LIB_SRC   := $(sort $(wildcard lib/*.c lib/*/*.c))
CMD_SRC   := $(sort $(filter-out cmd/main.c,$(wildcard cmd/*.c)))
TEST_SRC  := $(sort $(wildcard tests/test_*.c))
THELP_SRC := $(sort $(filter-out $(TEST_SRC),$(wildcard tests/*.c)))
ROOT_SRC  := $(sort $(wildcard tests/root/*.c))
FUZZ_SRC  := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HEADERS   := $(sort $(wildcard lib/*.h lib/*/*.h cmd/*.h tests/*.h tests/fuzz/*.h))
MAN       := $(sort $(wildcard man/*.[1-8]))

LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ   := $(CMD_SRC:%.c=$(BUILD)/%.o)
MAIN_OBJ  := $(BUILD)/cmd/main.o
THELP_OBJ := $(THELP_SRC:%.c=$(BUILD)/%.o)
TEST_OBJ  := $(TEST_SRC:%.c=$(BUILD)/%.o)
TEST_BIN  := $(TEST_SRC:%.c=$(BUILD)/%)
ROOT_OBJ  := $(ROOT_SRC:%.c=$(BUILD)/%.o)
ROOT_BIN  := $(ROOT_SRC:%.c=$(BUILD)/%)
FUZZ_OBJ  := $(FUZZ_SRC:%.c=$(BUILD)/%.o) $(BUILD)/tests/fuzz/driver.o
FUZZ_BIN  := $(FUZZ_SRC:%.c=$(BUILD)/%)
HELPER    := share/pve-storage.pl
ALL_OBJ   := $(LIB_OBJ) $(CMD_OBJ) $(MAIN_OBJ) $(THELP_OBJ) $(BUILD)/tests/pveplace.o \
	$(TEST_OBJ) $(ROOT_OBJ) $(FUZZ_OBJ)

# T=idmap or T=test_idmap choose unit tests; without T all run. Without Criterion there are none.
ALL_UNITS := $(if $(shell $(PKG_CONFIG) --exists criterion 2>/dev/null && echo yes),$(TEST_BIN))
UNIT_BIN  := $(if $(T),$(T:%=$(BUILD)/tests/test_%),$(ALL_UNITS))

# --- flags ---------------------------------------------------------------------------------------

PKGS := mount libarchive libacl jansson libcap libseccomp smartcols blkid nettle zlib
ifeq ($(origin PKG_CFLAGS),undefined)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)
endif
ifeq ($(PKG_LIBS),)
MISSING_DEPS := 1
endif

CFLAGS ?= $(if $(SAN)$(COVERAGE),-O1,-O2) -g

# A flag is used when this compiler takes it without a word. Fortification needs an optimising build
# and gets in the way of AddressSanitizer, which checks more.
probe = $(shell for f in $(1); do \
	echo '$(hash)include <string.h>' | \
	$(CC) $(CFLAGS) -Werror $$f -x c -c -o /dev/null - 2>/dev/null && printf '%s ' $$f; done)
ifndef HARDENING
HARDENING := $(call probe,-fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-ftrivial-auto-var-init=zero $(if $(SAN),,-D_FORTIFY_SOURCE=3)) -fPIE
endif
HARDENING_LD ?= $(if $(HARDENING),-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now)

WARN := -Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough $(if $(filter 1,$(DEV)),-Werror)
WARN_SRC := -Wconversion -Wsign-conversion

SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
# gcc's shared libubsan ignores the file for its reports when libasan is loaded too; linked together
# they share their options. clang always links its own statically.
SAN_LIBS  := $(if $(SAN),$(call probe,-static-libasan -static-libubsan))
COV_FLAGS := $(if $(COVERAGE),--coverage -fprofile-update=atomic)

OUR_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ilib -Icmd $(PKG_CFLAGS)
OUR_CFLAGS   := -std=gnu17 -pthread $(WARN) $(HARDENING) $(SAN_FLAGS) $(COV_FLAGS)
OUR_LDFLAGS  := -pthread -Wl,--as-needed $(HARDENING_LD) $(SAN_FLAGS) $(SAN_LIBS) $(COV_FLAGS)
BANNED       := $(if $(wildcard lib/base/banned.h),-include base/banned.h)

COMPILE_ANY = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS)
COMPILE_SRC = $(COMPILE_ANY) $(WARN_SRC) $(BANNED)
COMPILE_TST = $(COMPILE_ANY) -Itests
LINK        = $(CC) $(OUR_LDFLAGS) $(CFLAGS) $(LDFLAGS)

# The version of an untagged build names its commit.
VERSION := $(shell cat VERSION)
COMMIT  := $(shell test -e .git && git describe --always --exclude '*' 2>/dev/null)
TAGGED  := $(if $(COMMIT),$(shell \
	git describe --exact-match --tags --match 'v$(VERSION)' 2>/dev/null))
VERSION_STRING := $(VERSION)$(if $(TAGGED),,$(COMMIT:%=+%))

# --- building ------------------------------------------------------------------------------------

.PHONY: all
all: $(BUILD)/ctmend $(BUILD)/libctmend.a

$(BUILD)/ctmend: $(MAIN_OBJ) $(BUILD)/libcmd.a $(BUILD)/libctmend.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

# cmd/ without main(), so that unit tests can link it
$(BUILD)/libcmd.a: $(CMD_OBJ)
$(BUILD)/libctmend.a: $(LIB_OBJ)
$(BUILD)/libtests.a: $(THELP_OBJ)
$(BUILD)/lib%.a: $(BUILD)/sources.stamp
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/lib/%.o: lib/%.c $(BUILD)/flags.stamp
	$(say) CC $@
	$(Q)mkdir -p $(@D) && $(COMPILE_SRC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/cmd/%.o: cmd/%.c $(BUILD)/flags.stamp
	$(say) CC $@
	$(Q)mkdir -p $(@D) && $(COMPILE_SRC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags.stamp
	$(say) CC $@
	$(Q)mkdir -p $(@D) && $(COMPILE_TST) $(CFLAGS) -MMD -MP -c -o $@ $<

TEST_LIBS := $(BUILD)/libtests.a $(BUILD)/libcmd.a $(BUILD)/libctmend.a
$(TEST_BIN): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_LIBS)
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ -lcriterion $(PKG_LIBS) $(LDLIBS)

# Small programs for the scripts of tests/root, which find them beside $$CTMEND.
$(ROOT_BIN): $(BUILD)/tests/root/%: $(BUILD)/tests/root/%.o $(BUILD)/libtests.a \
		$(BUILD)/libctmend.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

# With FUZZER the compiler's fuzzer has the main function, otherwise the driver that replays inputs.
$(FUZZ_BIN): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o \
		$(if $(FUZZER),,$(BUILD)/tests/fuzz/driver.o) $(BUILD)/libctmend.a
	$(say) LINK $@
	$(Q)$(LINK) $(if $(FUZZER),-fsanitize=fuzzer) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

# Only this object knows the version.
$(BUILD)/lib/base/version.o: $(BUILD)/version.stamp
$(BUILD)/lib/base/version.o: private OUR_CPPFLAGS += -DCTM_VERSION='"$(VERSION_STRING)"'

# Only this object knows where the helper is; the tests have a program with another one.
$(BUILD)/lib/storage/pveplace.o: $(BUILD)/libexecdir.stamp
$(BUILD)/lib/storage/pveplace.o: private OUR_CPPFLAGS += -DCTM_LIBEXECDIR='"$(libexecdir)"'
$(BUILD)/tests/pveplace.o: lib/storage/pveplace.c $(BUILD)/flags.stamp
	$(say) CC $@
	$(Q)mkdir -p $(@D) && $(COMPILE_SRC) $(CFLAGS) -DCTM_PVEPLACE_OF_TESTS -MMD -MP -c -o $@ $<

# ctmend as the scripts of tests/root need it: it looks for the helper below --sysroot.
$(BUILD)/tests/ctmend: $(MAIN_OBJ) $(BUILD)/tests/pveplace.o $(BUILD)/libcmd.a $(BUILD)/libctmend.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

# A stamp is rewritten only when what it records has changed.
stamp = $(Q)mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
quote = '$(subst ','\'',$(1))'
.PHONY: FORCE
FORCE:
$(BUILD)/flags.stamp: FORCE
	$(if $(MISSING_DEPS),@echo >&2 'not all of these are there: $(PKGS)'; \
		echo >&2 'as root run: make deps'; exit 1)
	$(call stamp,$(call quote,$(COMPILE_SRC) $(CFLAGS) $(LINK) $(PKG_LIBS) $(LDLIBS)))
$(BUILD)/version.stamp: FORCE
	$(call stamp,$(call quote,$(VERSION_STRING)))
$(BUILD)/libexecdir.stamp: FORCE
	$(call stamp,$(call quote,$(libexecdir)))
$(BUILD)/sources.stamp: FORCE
	$(call stamp,$(call quote,$(LIB_OBJ) $(CMD_OBJ) $(THELP_OBJ)))

# Everything compiled, nothing linked: for make lint
.PHONY: objects
objects: $(ALL_OBJ)

-include $(ALL_OBJ:.o=.d)

# --- testing -------------------------------------------------------------------------------------

RUN = BUILD='$(BUILD)' SAN='$(SAN)' T='$(T)' tests/run.sh

# What is missing is installed before a second make asks pkg-config.
.PHONY: check check-unit check-fuzz check-cli check-root check-man check-install check-programs
.PHONY: check-long check-trixie
check:
	@scripts/deps.sh --auto build --optional test
	+@$(MAKE) --no-print-directory check-programs
	+@$(RUN) unit fuzz cli root man install
check-long:
	@scripts/deps.sh --auto build test
	+@$(MAKE) --no-print-directory T= check-programs
	@BUILD='$(BUILD)' T='$(T)' tests/long/run.sh
check-trixie:
	@scripts/deps.sh --auto build test
	@BUILD='$(BUILD)' tests/trixie.sh
check-programs: all $(UNIT_BIN) $(ROOT_BIN) $(BUILD)/tests/ctmend $(FUZZ_BIN)
check-unit: $(UNIT_BIN)
	@$(RUN) unit
check-fuzz: $(FUZZ_BIN)
	@$(RUN) fuzz
check-cli: all
	@UPDATE='$(UPDATE)' $(RUN) cli
check-root: all $(ROOT_BIN) $(BUILD)/tests/ctmend
	@$(RUN) root
check-man:
	@$(RUN) man
check-install: all
	+@$(RUN) install

# New inputs go to a corpus of the build directory; fixtures/fuzz keeps what people put there.
.PHONY: fuzz fuzz-run
FUZZ_TIME ?= 60
fuzz:
	+@$(MAKE) --no-print-directory CC=clang BUILD=build-fuzz FUZZER=1 \
		SAN=address,undefined,fuzzer-no-link fuzz-run
fuzz-run: $(if $(T),$(T:%=$(BUILD)/tests/fuzz/fuzz_%),$(FUZZ_BIN))
	$(Q)set -e; for bin in $^; do \
		name=$${bin##*/fuzz_}; log=$(BUILD)/$$name.log; echo "  FUZZ    $$name"; \
		mkdir -p $(BUILD)/corpus/$$name; \
		$$bin -max_total_time=$(FUZZ_TIME) -max_len=8192 -timeout=10 \
			-artifact_prefix=$(BUILD)/$$name- \
			$(BUILD)/corpus/$$name fixtures/fuzz/$$name >$$log 2>&1 || \
			{ tail -n 40 $$log; exit 1; }; \
		grep '^#[0-9]*.DONE' $$log; \
	done

.PHONY: coverage bench demo
coverage:
	@scripts/deps.sh --auto build test dev
	+@$(MAKE) --no-print-directory COVERAGE=1 coverage-run
.PHONY: coverage-run
coverage-run: check-programs
	@find $(BUILD) -name '*.gcda' -delete
	@$(RUN) unit cli root
	@gcovr --root . --filter lib/ --print-summary --fail-under-line 85 $(BUILD)
bench:
	@scripts/deps.sh --auto build test
	+@$(MAKE) --no-print-directory all
	@BUILD='$(BUILD)' CTMEND='$(abspath $(BUILD)/ctmend)' CC='$(CC)' tests/bench/run.sh
demo:
	@scripts/deps.sh --auto build demo
	+@$(MAKE) --no-print-directory all
	@CTMEND='$(abspath $(BUILD)/ctmend)' scripts/demo.sh

# --- looking after the sources -------------------------------------------------------------------

.PHONY: lint lint-run format deps deps-test deps-dev
lint:
	@scripts/deps.sh --auto build test dev
	+@$(MAKE) --no-print-directory lint-run
lint-run: ANALYZER := -include tests/analyzer.h
lint-run:
	+@BUILD='$(BUILD)' CLANG_FORMAT='$(CLANG_FORMAT)' CLANG_TIDY='$(CLANG_TIDY)' \
		LINT_FLAGS='-std=gnu17 -DCTM_VERSION="" -DCTM_LIBEXECDIR="" $(OUR_CPPFLAGS) $(BANNED) $(ANALYZER)' \
		tests/lint.sh
format:
	$(Q)$(CLANG_FORMAT) -i $(or $(F),$(wildcard $(ALL_OBJ:$(BUILD)/%.o=%.c)) $(HEADERS))
deps:
	@scripts/deps.sh build
deps-test:
	@scripts/deps.sh test
deps-dev:
	@scripts/deps.sh dev

# --- installing ----------------------------------------------------------------------------------

.PHONY: install install-share install-man uninstall dist clean distclean help
API_HEADER := $(wildcard lib/ctmend.h)
BASH_COMP  := $(wildcard cmd/completion/ctmend.bash)
ZSH_COMP   := $(wildcard cmd/completion/_ctmend)
SUDOERS    := share/ctmend.sudoers
HOOKSCRIPT := share/hookscript

# fill MODE FILE TO: install a text with the directories filled in; those of the running system,
# without DESTDIR
define fill
	sed -e 's,@sbindir@,$(sbindir),g' -e 's,@libexecdir@,$(libexecdir),g' \
		-e 's,@datadir@,$(datadir),g' -e 's,@docdir@,$(docdir),g' $(2) >$(DESTDIR)$(3)
	chmod $(1) $(DESTDIR)$(3)

endef
man_place = $(mandir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))

install: all install-share install-man
	$(INSTALL) -d $(DESTDIR)$(sbindir)
	$(INSTALL) -m 755 $(BUILD)/ctmend $(DESTDIR)$(sbindir)/ctmend
	$(INSTALL) -d $(DESTDIR)$(libexecdir)/ctmend
	$(INSTALL) -m 755 $(HELPER) $(DESTDIR)$(libexecdir)/$(HELPER:share/%=ctmend/%)
ifneq ($(API_HEADER),)
	$(INSTALL) -d $(DESTDIR)$(libdir) $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 $(BUILD)/libctmend.a $(DESTDIR)$(libdir)/libctmend.a
	$(INSTALL) -m 644 $(API_HEADER) $(DESTDIR)$(includedir)/ctmend.h
endif
ifneq ($(BASH_COMP),)
	$(INSTALL) -d $(DESTDIR)$(bashcompdir)
	$(INSTALL) -m 644 $(BASH_COMP) $(DESTDIR)$(bashcompdir)/ctmend
endif
ifneq ($(ZSH_COMP),)
	$(INSTALL) -d $(DESTDIR)$(zshcompdir)
	$(INSTALL) -m 644 $(ZSH_COMP) $(DESTDIR)$(zshcompdir)/_ctmend
endif
install-share:
	$(INSTALL) -d $(DESTDIR)$(datadir)/ctmend $(DESTDIR)$(docdir)/examples
	$(call fill,755,$(HOOKSCRIPT),$(datadir)/ctmend/$(notdir $(HOOKSCRIPT)))
	$(call fill,644,$(SUDOERS),$(docdir)/examples/$(notdir $(SUDOERS)))
install-man:
	$(INSTALL) -d $(sort $(foreach m,$(MAN),$(DESTDIR)$(dir $(call man_place,$(m)))))
	$(foreach m,$(MAN),$(call fill,644,$(m),$(call man_place,$(m))))

uninstall:
	rm -f $(DESTDIR)$(sbindir)/ctmend $(DESTDIR)$(libexecdir)/$(HELPER:share/%=ctmend/%) \
		$(DESTDIR)$(libdir)/libctmend.a $(DESTDIR)$(includedir)/ctmend.h \
		$(DESTDIR)$(bashcompdir)/ctmend $(DESTDIR)$(zshcompdir)/_ctmend \
		$(DESTDIR)$(datadir)/ctmend/$(notdir $(HOOKSCRIPT)) \
		$(DESTDIR)$(docdir)/examples/$(notdir $(SUDOERS)) \
		$(foreach m,$(MAN),$(DESTDIR)$(call man_place,$(m)))
	@rmdir $(DESTDIR)$(libexecdir)/ctmend $(DESTDIR)$(datadir)/ctmend \
		$(DESTDIR)$(docdir)/examples $(DESTDIR)$(docdir) 2>/dev/null || :

DIST := ctmend-$(VERSION).tar
dist:
	@test -e .git || \
		{ echo >&2 'make dist packs the last commit, and this is no git checkout'; exit 1; }
	$(Q)git archive --prefix=ctmend-$(VERSION)/ --output=$(DIST) HEAD && xz -f $(DIST) || \
		{ rm -f $(DIST); exit 1; }
	@echo $(DIST).xz

clean:
	rm -rf $(BUILD)
distclean:
	rm -rf build build-*/ coverage ctmend-*.tar.xz

help:
	@sed -n '3,/^$$/{s/^# \{0,1\}//p}' Makefile
