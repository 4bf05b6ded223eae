# SPDX-License-Identifier: Apache-2.0
# The shared object. One file per line, sorted, headers beside their source.

plugin_base_sources = \
	plugin/base/alloc.c \
	plugin/base/alloc.h \
	plugin/base/arena.c \
	plugin/base/arena.h \
	plugin/base/arith.h \
	plugin/base/buffer.c \
	plugin/base/buffer.h \
	plugin/base/config_file.c \
	plugin/base/config_file.h \
	plugin/base/cores.c \
	plugin/base/cores.h \
	plugin/base/deadline.c \
	plugin/base/deadline.h \
	plugin/base/error.c \
	plugin/base/error.h \
	plugin/base/forkmark.c \
	plugin/base/forkmark.h \
	plugin/base/hash.h \
	plugin/base/limits.h \
	plugin/base/log.c \
	plugin/base/log.h \
	plugin/base/nearest.c \
	plugin/base/nearest.h \
	plugin/base/option_table.c \
	plugin/base/options.c \
	plugin/base/options.h \
	plugin/base/report.h \
	plugin/base/sources.c \
	plugin/base/sources.h \
	plugin/base/tensor.c \
	plugin/base/tensor.h

plugin_plan_sources = \
	plugin/plan/balanced.c \
	plugin/plan/balanced.h \
	plugin/plan/chain.c \
	plugin/plan/chain.h \
	plugin/plan/counts.c \
	plugin/plan/counts.h \
	plugin/plan/dealer.c \
	plugin/plan/dealer.h \
	plugin/plan/derived.c \
	plugin/plan/derived.h \
	plugin/plan/inverse.c \
	plugin/plan/inverse.h \
	plugin/plan/keys.c \
	plugin/plan/keys.h \
	plugin/plan/layout.c \
	plugin/plan/layout.h \
	plugin/plan/layouts.c \
	plugin/plan/locals.c \
	plugin/plan/locals.h \
	plugin/plan/pattern.c \
	plugin/plan/pattern.h \
	plugin/plan/registration.c \
	plugin/plan/registration.h \
	plugin/plan/route.c \
	plugin/plan/route.h \
	plugin/plan/rule.h \
	plugin/plan/rules.c \
	plugin/plan/rules.h \
	plugin/plan/rules_batch.c \
	plugin/plan/rules_layers.c \
	plugin/plan/rules_options.c \
	plugin/plan/rules_ranks.c \
	plugin/plan/schedule.c \
	plugin/plan/schedule.h \
	plugin/plan/stream.c \
	plugin/plan/stream.h \
	plugin/plan/table.c \
	plugin/plan/table.h \
	plugin/plan/wanted.c \
	plugin/plan/wanted.h

# The CPU version of the kernels; it includes nothing of ours.
plugin_kernel_sources = \
	kernels/run_copy.c \
	kernels/run_copy.h

plugin_move_sources = \
	plugin/move/agree.c \
	plugin/move/agree.h \
	plugin/move/copy.c \
	plugin/move/copy.h \
	plugin/move/exchange.c \
	plugin/move/exchange.h \
	plugin/move/group.c \
	plugin/move/group.h \
	plugin/move/host.c \
	plugin/move/host.h \
	plugin/move/local.c \
	plugin/move/local.h \
	plugin/move/members.h \
	plugin/move/rank_map.c \
	plugin/move/rank_map.h \
	plugin/move/stage.c \
	plugin/move/stage.h \
	plugin/move/transport.h \
	plugin/move/turn.c \
	plugin/move/turn.h

plugin_batch_sources = \
	plugin/batch/batch.c \
	plugin/batch/batch.h \
	plugin/batch/chunks.c \
	plugin/batch/chunks.h \
	plugin/batch/context.c \
	plugin/batch/context.h \
	plugin/batch/convert.c \
	plugin/batch/convert.h \
	plugin/batch/declared.c \
	plugin/batch/declared.h \
	plugin/batch/digest.c \
	plugin/batch/digest.h \
	plugin/batch/fields.c \
	plugin/batch/fields.h \
	plugin/batch/fill.c \
	plugin/batch/fill.h \
	plugin/batch/hooks.c \
	plugin/batch/hooks.h \
	plugin/batch/loss.c \
	plugin/batch/loss.h \
	plugin/batch/make.c \
	plugin/batch/make.h \
	plugin/batch/metadata.c \
	plugin/batch/metadata.h \
	plugin/batch/registration.c \
	plugin/batch/registration.h \
	plugin/batch/share.c \
	plugin/batch/share.h \
	plugin/batch/shift.c \
	plugin/batch/shift.h \
	plugin/batch/view.c \
	plugin/batch/view.h

# query.c is not here: it holds the exported symbol and belongs to the shared object alone.
plugin_entry_sources = \
	plugin/entry/batch.h \
	plugin/entry/batch_loss.c \
	plugin/entry/batch_v1.c \
	plugin/entry/communicator.c \
	plugin/entry/communicator.h \
	plugin/entry/core.c \
	plugin/entry/core.h \
	plugin/entry/core_batch.c \
	plugin/entry/core_context.c \
	plugin/entry/core_convert.c \
	plugin/entry/entry.c \
	plugin/entry/entry.h \
	plugin/entry/plan.h \
	plugin/entry/plan_attention.c \
	plugin/entry/plan_locals.c \
	plugin/entry/plan_partition.c \
	plugin/entry/plan_queries.c \
	plugin/entry/plan_route.c \
	plugin/entry/plan_table.c \
	plugin/entry/plan_v1.c

plugin_cflags = $(AM_CFLAGS) $(ANALYZER_CFLAGS) -fvisibility=hidden

# Everything but the exported symbol, so that unit tests reach internals without exporting them.
noinst_LTLIBRARIES += libcpl.la
libcpl_la_SOURCES = \
	$(plugin_base_sources) \
	$(plugin_plan_sources) \
	$(plugin_kernel_sources) \
	$(plugin_move_sources) \
	$(plugin_batch_sources) \
	$(plugin_entry_sources)
libcpl_la_CPPFLAGS = $(plugin_cppflags)
libcpl_la_CFLAGS = $(plugin_cflags)

# A sanitizer's run-time library resolves its symbols at load time, so -z defs would refuse them.
if SANITIZED
plugin_link_defs =
else
plugin_link_defs = -Wl,-z,defs
endif

# nodelete: threads and hosts may hold our code after dlclose. now: a missing symbol shows at load.
# Not --exclude-libs: it would hide the exported symbol as well, since libcpl is an archive.
pkglib_LTLIBRARIES += plugin/libcplayout.la
plugin_libcplayout_la_SOURCES = plugin/entry/query.c
plugin_libcplayout_la_CPPFLAGS = $(plugin_cppflags)
plugin_libcplayout_la_CFLAGS = $(plugin_cflags)
plugin_libcplayout_la_LDFLAGS = \
	-module -avoid-version -shared -no-undefined \
	-Wl,--version-script=$(top_srcdir)/abi/cplayout.map \
	$(plugin_link_defs) -Wl,-z,nodelete -Wl,-z,now \
	$(AM_LDFLAGS)
plugin_libcplayout_la_LIBADD = libcpl.la
EXTRA_plugin_libcplayout_la_DEPENDENCIES = $(top_srcdir)/abi/cplayout.map

# Nobody links a plugin, so libtool's .la file is of no use once installed. Uninstalling goes by that
# file, hence the second hook.
install-exec-hook:
	rm -f $(DESTDIR)$(pkglibdir)/libcplayout.la

uninstall-hook:
	rm -f $(DESTDIR)$(pkglibdir)/libcplayout.so

# How a host of ours finds the plugin: installed, or in the build tree when it runs from there.
plugin_search_cppflags = \
	-DCPLAYOUT_PLUGIN_DIR=\"$(pkglibdir)\" \
	-DCPLAYOUT_BUILD_PLUGIN=\"$(abs_top_builddir)/plugin/.libs/libcplayout.so\"
