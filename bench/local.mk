# SPDX-License-Identifier: Apache-2.0
# Benchmarks: built and run by `./run bench` only. bench/balanced and bench/plan have the plugin's
# internals like a unit test; the others are hosts that load the plugin of this build.

bench_programs = \
	bench/balanced \
	bench/calls \
	bench/exchange \
	bench/plan \
	bench/views

bench_host_sources = bench/rounds.c bench/rounds.h bench/seat.c bench/seat.h
bench_host_cppflags = $(host_cppflags) $(plugin_search_cppflags)
bench_host_libs = -lpthread -ldl

bench_balanced_SOURCES = bench/balanced.c bench/rounds.c bench/rounds.h
bench_balanced_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_DATA=\"$(abs_top_srcdir)/bench/data\"
bench_balanced_LDADD = libcpl.la

bench_calls_SOURCES = bench/calls.c $(bench_host_sources)
bench_calls_CPPFLAGS = $(bench_host_cppflags)
bench_calls_LDADD = $(bench_host_libs)

bench_exchange_SOURCES = bench/exchange.c bench/pack.c bench/pack.h $(bench_host_sources)
bench_exchange_CPPFLAGS = $(bench_host_cppflags)
bench_exchange_LDADD = $(bench_host_libs)

bench_plan_SOURCES = \
	bench/index.c \
	bench/index.h \
	bench/input.c \
	bench/input.h \
	bench/plan.c \
	bench/rounds.c \
	bench/rounds.h
bench_plan_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_DATA=\"$(abs_top_srcdir)/bench/data\"
bench_plan_LDADD = libcpl.la

bench_views_SOURCES = bench/views.c $(bench_host_sources)
bench_views_CPPFLAGS = $(bench_host_cppflags)
bench_views_LDADD = $(bench_host_libs)

# What they read. Document lengths of real training mixes; see the README beside them.
bench_data = \
	bench/data/README.md \
	bench/data/document-lengths-prolong.txt \
	bench/data/document-lengths-wlbllm.txt

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
EXTRA_DIST += $(bench_data)

bench: all $(bench_programs)

list-bench:
	@echo $(bench_programs)

.PHONY: bench list-bench
