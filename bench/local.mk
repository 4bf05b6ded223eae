# SPDX-License-Identifier: Apache-2.0
# Benchmarks: built and run by `./run bench` only. bench/bench_x is built from bench/bench_x.c.

bench_programs =

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES = $(bench_programs)

bench: all $(bench_programs)

list-bench:
	@echo $(bench_programs)

.PHONY: bench list-bench
