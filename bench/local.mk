# SPDX-License-Identifier: Apache-2.0
# Benchmarks: built and run by `./run bench` only. The program bench/x is built from bench/x.c, with
# the plugin's internals like a unit test.

bench_programs = \
	bench/plan

bench_plan_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_DATA=\"$(abs_top_srcdir)/bench/data\"
bench_plan_LDADD = libcpl.la

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
