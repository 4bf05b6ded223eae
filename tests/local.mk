# SPDX-License-Identifier: Apache-2.0
#
# Tests. A C test needs one line here: the program tests/unit/test_x is built from tests/unit/test_x.c
# with the flags at the top of Makefile.am and the libraries in LDADD below.
# All of them print TAP: Criterion programs by CRITERION_OUTPUTS, the others by themselves.

# Criterion programs, linked with the plugin's internals.
unit_tests = \
	tests/unit/test_balanced \
	tests/unit/test_base \
	tests/unit/test_fill \
	tests/unit/test_layouts \
	tests/unit/test_lengths \
	tests/unit/test_packed \
	tests/unit/test_pattern \
	tests/unit/test_route \
	tests/unit/test_run_copy \
	tests/unit/test_schedule \
	tests/unit/test_table \
	tests/unit/test_wanted \
	tests/unit/test_wanted_edges

# Plain TAP programs for the contract.
abi_tests = \
	tests/abi/growth \
	tests/abi/signatures

# Plain TAP programs that include <dlpack/dlpack.h>.
dlpack_tests = \
	tests/abi/dlpack

# Plain TAP programs, because Criterion aborts under TSan. They run in every build.
thread_tests = \
	tests/fuzz/fuzz_plan \
	tests/threads/adjoint \
	tests/threads/arguments \
	tests/threads/batches \
	tests/threads/broken \
	tests/threads/conversions \
	tests/threads/converts \
	tests/threads/copies \
	tests/threads/derived \
	tests/threads/ends \
	tests/threads/failures \
	tests/threads/fields \
	tests/threads/forks \
	tests/threads/groups \
	tests/threads/hooks \
	tests/threads/known_cuts \
	tests/threads/known_losses \
	tests/threads/loss \
	tests/threads/memory \
	tests/threads/metadata \
	tests/threads/mismatches \
	tests/threads/options \
	tests/threads/packs \
	tests/threads/receivers \
	tests/threads/recompute \
	tests/threads/registered \
	tests/threads/registration \
	tests/threads/row_units \
	tests/threads/rules_batch \
	tests/threads/rules_layers \
	tests/threads/rules_ranks \
	tests/threads/samples \
	tests/threads/shifts \
	tests/threads/shortage \
	tests/threads/slices \
	tests/threads/sources \
	tests/threads/steady \
	tests/threads/tables \
	tests/threads/verify \
	tests/threads/views \
	tests/threads/views_packed \
	tests/threads/wires

# Plain TAP programs over the trainer, in the trainer's own precision ...
trainer_tests = \
	tests/trainer/comm_threads \
	tests/trainer/layouts \
	tests/trainer/packed_layouts \
	tests/trainer/packs \
	tests/trainer/recompute_memory
# ... and over its numerics in double precision (-DTRAINER_DOUBLE). Both kinds have flags of their
# own: see "trainer tests" below.
trainer_double_tests = \
	tests/trainer/gradients \
	tests/trainer/packed_gradients

# Scripts, *.sh for bash and *.py for Python 3. They print TAP.
abi_scripts = \
	tests/abi/headers.sh \
	tests/abi/layout.sh \
	tests/abi/rooms.sh \
	tests/abi/symbols.sh

# Scripts that hold documents to what they say.
docs_scripts = \
	tests/docs/readme.sh \
	tests/docs/trainer_guide.sh

# Scripts that run the command named by CPLAYOUT.
command_scripts = \
	tests/docs/configuration.py \
	tests/docs/layouts.py \
	tests/tools/cases.py \
	tests/tools/check.py \
	tests/tools/command.py \
	tests/tools/manual.py \
	tests/tools/packed.py

# Scripts that run the trainer named by TEST_TRAINER.
trainer_scripts = \
	tests/trainer/command.py \
	tests/trainer/page.py

# Scripts that make installcheck runs.
install_scripts = \
	tests/install/installed.sh

# Code that several tests share.
test_support_sources = \
	tests/oracle/oracle.c \
	tests/oracle/oracle.h \
	tests/oracle/packed.c \
	tests/oracle/packed.h \
	tests/threads/block.c \
	tests/threads/block.h \
	tests/threads/chunk.c \
	tests/threads/chunk.h \
	tests/threads/counter.c \
	tests/threads/counter.h \
	tests/threads/deal.c \
	tests/threads/deal.h \
	tests/threads/findings.c \
	tests/threads/findings.h \
	tests/threads/gathering.c \
	tests/threads/gathering.h \
	tests/threads/host.c \
	tests/threads/host.h \
	tests/threads/known.c \
	tests/threads/known.h \
	tests/threads/mail.c \
	tests/threads/mail.h \
	tests/threads/party.c \
	tests/threads/party.h \
	tests/threads/play.c \
	tests/threads/play.h \
	tests/threads/scene.c \
	tests/threads/scene.h \
	tests/threads/tap.c \
	tests/threads/tap.h \
	tests/threads/wire.c \
	tests/threads/wire.h \
	tests/unit/packs.h \
	tests/unit/support.h

# What tests and scripts read.
test_data = \
	abi/golden/signatures-v1.h \
	abi/golden/x86_64-v1.txt \
	tests/abi/layout.c \
	tests/abi/tap.bash \
	tests/cases/check.json \
	tests/cases/cost.json \
	tests/cases/map.json \
	tests/cases/route.json \
	tests/cases/shift.json \
	tests/install/host.c \
	tests/suppressions/lsan.txt \
	tests/tools/oracle.py \
	tests/tools/tap.py

# --- trainer tests: a few lines each ---------------------------------------------------------------
#
# For a test in the trainer's own precision, without "_double"; _SOURCES only if it has more than its
# own file:
#
#     tests_trainer_loss_CPPFLAGS = $(trainer_test_cppflags)
#     tests_trainer_loss_CFLAGS = $(trainer_cflags)
#     tests_trainer_loss_LDADD = $(trainer_test_ldadd)

tests_trainer_comm_threads_CPPFLAGS = $(trainer_test_cppflags)
tests_trainer_comm_threads_CFLAGS = $(trainer_cflags)
tests_trainer_comm_threads_LDADD = $(trainer_test_ldadd)

tests_trainer_layouts_SOURCES = \
	tests/trainer/distance.c \
	tests/trainer/distance.h \
	tests/trainer/layouts.c
tests_trainer_layouts_CPPFLAGS = $(trainer_test_cppflags)
tests_trainer_layouts_CFLAGS = $(trainer_cflags)
tests_trainer_layouts_LDADD = $(trainer_test_ldadd)

tests_trainer_packed_layouts_SOURCES = \
	tests/trainer/distance.c \
	tests/trainer/distance.h \
	tests/trainer/packed_layouts.c \
	$(trainer_test_sources)
tests_trainer_packed_layouts_CPPFLAGS = $(trainer_test_cppflags)
tests_trainer_packed_layouts_CFLAGS = $(trainer_cflags)
tests_trainer_packed_layouts_LDADD = $(trainer_test_ldadd)

tests_trainer_packs_SOURCES = tests/trainer/packs.c $(trainer_test_sources)
tests_trainer_packs_CPPFLAGS = $(trainer_test_cppflags)
tests_trainer_packs_CFLAGS = $(trainer_cflags)
tests_trainer_packs_LDADD = $(trainer_test_ldadd)

tests_trainer_recompute_memory_SOURCES = \
	tests/trainer/blocks.c \
	tests/trainer/blocks.h \
	tests/trainer/recompute_memory.c \
	$(trainer_test_sources)
tests_trainer_recompute_memory_CPPFLAGS = $(trainer_test_cppflags)
tests_trainer_recompute_memory_CFLAGS = $(trainer_cflags)
tests_trainer_recompute_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=aligned_alloc
tests_trainer_recompute_memory_LDADD = $(trainer_test_ldadd)

tests_trainer_gradients_SOURCES = tests/trainer/gradients.c $(trainer_double_test_sources)
tests_trainer_gradients_CPPFLAGS = $(trainer_double_test_cppflags)
tests_trainer_gradients_CFLAGS = $(trainer_cflags)
tests_trainer_gradients_LDADD = $(trainer_double_test_ldadd)

tests_trainer_packed_gradients_SOURCES = \
	tests/trainer/blocks.c \
	tests/trainer/blocks.h \
	tests/trainer/packed_gradients.c \
	$(trainer_double_test_sources)
tests_trainer_packed_gradients_CPPFLAGS = $(trainer_double_test_cppflags)
tests_trainer_packed_gradients_CFLAGS = $(trainer_cflags)
tests_trainer_packed_gradients_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=aligned_alloc
tests_trainer_packed_gradients_LDADD = $(trainer_double_test_ldadd)

# Code that tests share is compiled into each of them, because their flags differ.
trainer_test_sources = \
	tests/trainer/check.c \
	tests/trainer/check.h
trainer_double_test_sources = \
	$(trainer_test_sources) \
	tests/trainer/by_token.c \
	tests/trainer/by_token.h \
	tests/trainer/deal.c \
	tests/trainer/deal.h \
	tests/trainer/group.c \
	tests/trainer/group.h \
	tests/trainer/tiny.c \
	tests/trainer/tiny.h

trainer_test_cppflags = $(trainer_cppflags) -I$(top_srcdir)/tests
trainer_test_ldadd = hosts/trainer/libtrainer.a $(trainer_libs)
trainer_double_test_cppflags = $(trainer_test_cppflags) -DTRAINER_DOUBLE
trainer_double_test_ldadd = hosts/trainer/libtrainer-double.a $(trainer_libs)

# --- what runs where ------------------------------------------------------------------------------

if TESTS_ENABLED
check_LTLIBRARIES += tests/libsupport.la
check_PROGRAMS += $(thread_tests) $(abi_tests)
if HAVE_DLPACK
check_PROGRAMS += $(dlpack_tests)
endif
if BUILD_TRAINER
check_PROGRAMS += $(trainer_tests) $(trainer_double_tests)
endif
if !TSAN
if HAVE_CRITERION
check_PROGRAMS += $(unit_tests)
endif
TESTS += $(abi_scripts) $(docs_scripts)
if BUILD_COMMAND
TESTS += $(command_scripts)
endif
if BUILD_TRAINER
TESTS += $(trainer_scripts)
endif
endif
endif
TESTS += $(check_PROGRAMS)

tests_libsupport_la_SOURCES = $(test_support_sources)

LDADD = tests/libsupport.la libcpl.la $(CRITERION_LIBS) -lpthread -ldl -lm

EXTRA_DIST += \
	$(abi_scripts) $(docs_scripts) $(command_scripts) $(trainer_scripts) $(install_scripts) \
	$(test_data)

# --- how they run ---------------------------------------------------------------------------------

tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh

TEST_EXTENSIONS = .sh .py
LOG_DRIVER = $(tap_driver)
LOG_COMPILER = $(TEST_LAUNCHER)
SH_LOG_DRIVER = $(tap_driver)
SH_LOG_COMPILER = $(BASH_PROGRAM)
PY_LOG_DRIVER = $(tap_driver)
PY_LOG_COMPILER = $(PYTHON)

# CC and CXX may hold options; CXX is empty without a C++17 compiler. Paths are absolute, so that a
# test may change its folder. TEST_SANITIZERS is empty or a list such as "address,undefined": a
# test of what the shared object depends on must know.
# allocator_may_return_null: tests ask for absurd sizes and expect an error, as malloc gives one.
AM_TESTS_ENVIRONMENT = \
	unset $$(env | sed -n 's/^\(CPLAYOUT_[A-Za-z0-9_]*\)=.*/\1/p'); \
	export CC='$(CC)' CXX='$(TEST_CXX)' PYTHON='$(PYTHON)'; \
	export top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)'; \
	export CPLAYOUT='$(abs_top_builddir)/tools/cplayout'; \
	export TEST_TRAINER='$(abs_top_builddir)/hosts/trainer/cplayout-trainer'; \
	export TEST_PLUGIN='$(abs_top_builddir)/plugin/.libs/libcplayout.so'; \
	export TEST_SANITIZERS='$(SANITIZERS)'; \
	export CRITERION_OUTPUTS='tap:-'; \
	export PYTHONDONTWRITEBYTECODE=1; \
	export ASAN_OPTIONS='detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1'; \
	export LSAN_OPTIONS='suppressions=$(abs_top_srcdir)/tests/suppressions/lsan.txt:print_suppressions=0'; \
	export UBSAN_OPTIONS='print_stacktrace=1'; \
	export TSAN_OPTIONS='second_deadlock_stack=1:allocator_may_return_null=1';

# After make install, with the same DESTDIR if there was one. Empty: there is no command.
if BUILD_COMMAND
installed_command = $(DESTDIR)$(bindir)/cplayout
endif

installcheck-local:
	@$(AM_TESTS_ENVIRONMENT) \
	export DESTDIR='$(DESTDIR)' PKG_CONFIG='$(PKG_CONFIG)'; \
	export includedir='$(includedir)' pkglibdir='$(pkglibdir)' pkgconfigdir='$(pkgconfigdir)'; \
	export CPLAYOUT='$(installed_command)'; \
	$(TEST_LAUNCHER) $(BASH_PROGRAM) $(top_srcdir)/tests/install/installed.sh

# For ./run test --only.
list-tests:
	@echo $(TESTS)

.PHONY: list-tests
