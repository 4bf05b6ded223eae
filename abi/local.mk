# SPDX-License-Identifier: Apache-2.0
# The contract: installed headers and the list of exported symbols.

pkginclude_HEADERS = \
	abi/cplayout/batch.h \
	abi/cplayout/communicator.h \
	abi/cplayout/core.h \
	abi/cplayout/host.h \
	abi/cplayout/lengths.h \
	abi/cplayout/loader.h \
	abi/cplayout/options.h \
	abi/cplayout/plan.h \
	abi/cplayout/status.h \
	abi/cplayout/tensor.h \
	abi/cplayout/version.h

EXTRA_DIST += \
	abi/cplayout.map

# For hosts that build with pkg-config. A header and not an option -D"...": pkg-config escapes
# quotes, so such an option works in a Makefile and fails in gcc $(pkg-config --cflags cplayout).
nodist_pkginclude_HEADERS = plugin_dir.h
CLEANFILES += plugin_dir.h
nodist_pkgconfig_DATA = cplayout.pc

plugin_dir.h: Makefile
	$(AM_V_GEN)printf '%s\n' '/* SPDX-License-Identifier: Apache-2.0 */' \
		'/* Where the plugin was installed; the options of pkg-config include this file. */' \
		'#ifndef CPLAYOUT_PLUGIN_DIR' \
		'#define CPLAYOUT_PLUGIN_DIR "$(pkglibdir)"' \
		'#endif' >$@
