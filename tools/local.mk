# SPDX-License-Identifier: Apache-2.0
# The `cplayout` command: a host like any other, it sees abi/ only.

command_sources = \
	tools/args.c \
	tools/args.h \
	tools/check.c \
	tools/cost.c \
	tools/cost.h \
	tools/cost_text.c \
	tools/dtypes.c \
	tools/dtypes.h \
	tools/finding.c \
	tools/finding.h \
	tools/host.c \
	tools/host.h \
	tools/info.c \
	tools/lists.c \
	tools/lists.h \
	tools/main.c \
	tools/map.c \
	tools/map.h \
	tools/map_svg.c \
	tools/map_text.c \
	tools/names.c \
	tools/names.h \
	tools/options.c \
	tools/options.h \
	tools/report.c \
	tools/report.h \
	tools/route.c \
	tools/route.h \
	tools/route_text.c \
	tools/settings.c \
	tools/settings.h \
	tools/shift.c \
	tools/terminal.c \
	tools/terminal.h \
	tools/verbs.h

if BUILD_COMMAND
bin_PROGRAMS += tools/cplayout
endif
tools_cplayout_SOURCES = $(command_sources)
tools_cplayout_CPPFLAGS = $(host_cppflags) $(plugin_search_cppflags)
tools_cplayout_CFLAGS = $(AM_CFLAGS) $(ANALYZER_CFLAGS) $(JANSSON_CFLAGS)
tools_cplayout_LDADD = $(JANSSON_LIBS) -ldl
