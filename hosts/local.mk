# SPDX-License-Identifier: Apache-2.0
# Hosts. They see abi/ only.

# --- example: the listing in README.md ------------------------------------------------------------

noinst_PROGRAMS += hosts/example/example

# As strict as the line in README.md promises, and without the tests' libraries.
hosts_example_example_SOURCES = hosts/example/example.c
hosts_example_example_CPPFLAGS = -I$(top_srcdir)/abi
hosts_example_example_CFLAGS = $(base_cflags) $(OPT_CFLAGS) -std=c11 -Wpedantic
hosts_example_example_LDADD = -lpthread -ldl

# --- trainer --------------------------------------------------------------------------------------

# Numerics: compiled a second time in double precision for the gradient tests.
trainer_numerics_sources = \
	hosts/trainer/adam.c \
	hosts/trainer/adam.h \
	hosts/trainer/arena.c \
	hosts/trainer/arena.h \
	hosts/trainer/attention.c \
	hosts/trainer/attention.h \
	hosts/trainer/chain.c \
	hosts/trainer/chain.h \
	hosts/trainer/chunk.c \
	hosts/trainer/chunk.h \
	hosts/trainer/collectives.c \
	hosts/trainer/comm.c \
	hosts/trainer/comm.h \
	hosts/trainer/conv.c \
	hosts/trainer/conv.h \
	hosts/trainer/gather.c \
	hosts/trainer/gather.h \
	hosts/trainer/gemm.c \
	hosts/trainer/gemm.h \
	hosts/trainer/layer.c \
	hosts/trainer/layer.h \
	hosts/trainer/linear_attention.c \
	hosts/trainer/linear_attention.h \
	hosts/trainer/message.h \
	hosts/trainer/mlp.c \
	hosts/trainer/mlp.h \
	hosts/trainer/model.c \
	hosts/trainer/model.h \
	hosts/trainer/model_parts.h \
	hosts/trainer/nn.c \
	hosts/trainer/nn.h \
	hosts/trainer/params.c \
	hosts/trainer/params.h \
	hosts/trainer/real.h \
	hosts/trainer/rope.c \
	hosts/trainer/rope.h \
	hosts/trainer/scan.c \
	hosts/trainer/scan.h \
	hosts/trainer/shard.c \
	hosts/trainer/shard.h \
	hosts/trainer/step.c

# The rest, without main.c.
trainer_sources = \
	hosts/trainer/balance.c \
	hosts/trainer/balance.h \
	hosts/trainer/clock.h \
	hosts/trainer/commands.c \
	hosts/trainer/commands.h \
	hosts/trainer/curves.c \
	hosts/trainer/curves.h \
	hosts/trainer/deals.c \
	hosts/trainer/deals.h \
	hosts/trainer/folder.c \
	hosts/trainer/folder.h \
	hosts/trainer/html.c \
	hosts/trainer/html.h \
	hosts/trainer/mix.h \
	hosts/trainer/packs.c \
	hosts/trainer/packs.h \
	hosts/trainer/page.c \
	hosts/trainer/page.h \
	hosts/trainer/plugin.c \
	hosts/trainer/plugin.h \
	hosts/trainer/progress.c \
	hosts/trainer/progress.h \
	hosts/trainer/report.c \
	hosts/trainer/report.h \
	hosts/trainer/sample.c \
	hosts/trainer/sample.h \
	hosts/trainer/sense.c \
	hosts/trainer/sense.h \
	hosts/trainer/session.c \
	hosts/trainer/session.h \
	hosts/trainer/settings.c \
	hosts/trainer/settings.h \
	hosts/trainer/skeleton.h \
	hosts/trainer/strips.c \
	hosts/trainer/strips.h \
	hosts/trainer/terminal.c \
	hosts/trainer/terminal.h \
	hosts/trainer/text.c \
	hosts/trainer/text.h \
	hosts/trainer/train.c \
	hosts/trainer/train.h \
	hosts/trainer/units.c \
	hosts/trainer/units.h \
	hosts/trainer/views.c \
	hosts/trainer/views.h \
	hosts/trainer/volumes.c \
	hosts/trainer/volumes.h

# The page's skeleton as a C string, line by line.
hosts/trainer/skeleton.c: $(srcdir)/hosts/trainer/page.html.in
	$(AM_V_GEN)$(MKDIR_P) hosts/trainer && { \
	  echo '#include "skeleton.h"' && echo 'const char skeleton[] =' && \
	  sed -e 's/[\\"]/\\&/g' -e 's/^/    "/' -e 's/$$/\\n"/' $(srcdir)/hosts/trainer/page.html.in && \
	  echo '    ;'; } >$@.part && mv $@.part $@

EXTRA_DIST += hosts/trainer/page.html.in
CLEANFILES += hosts/trainer/skeleton.c

trainer_cppflags = $(host_cppflags) -I$(top_srcdir)/hosts/trainer $(plugin_search_cppflags) \
	-DTRAINER_DOCUMENTS=\"$(abs_top_srcdir)\"
trainer_cflags = \
	$(base_cflags) $(TRAINER_OPT_CFLAGS) $(TRAINER_ANALYZER_CFLAGS) \
	$(OPENBLAS_CFLAGS) $(JANSSON_CFLAGS)
trainer_libs = $(OPENBLAS_LIBS) $(JANSSON_LIBS) -lm -lpthread -ldl

if BUILD_TRAINER
noinst_LIBRARIES += hosts/trainer/libtrainer.a
noinst_PROGRAMS += hosts/trainer/cplayout-trainer
if TESTS_ENABLED
check_LIBRARIES += hosts/trainer/libtrainer-double.a
endif
endif

hosts_trainer_libtrainer_a_SOURCES = $(trainer_numerics_sources) $(trainer_sources)
nodist_hosts_trainer_libtrainer_a_SOURCES = hosts/trainer/skeleton.c
hosts_trainer_libtrainer_a_CPPFLAGS = $(trainer_cppflags)
hosts_trainer_libtrainer_a_CFLAGS = $(trainer_cflags)

hosts_trainer_cplayout_trainer_SOURCES = hosts/trainer/main.c
hosts_trainer_cplayout_trainer_CPPFLAGS = $(trainer_cppflags)
hosts_trainer_cplayout_trainer_CFLAGS = $(trainer_cflags)
hosts_trainer_cplayout_trainer_LDADD = hosts/trainer/libtrainer.a $(trainer_libs)

hosts_trainer_libtrainer_double_a_SOURCES = $(trainer_numerics_sources)
hosts_trainer_libtrainer_double_a_CPPFLAGS = $(trainer_cppflags) -DTRAINER_DOUBLE
hosts_trainer_libtrainer_double_a_CFLAGS = $(trainer_cflags)
