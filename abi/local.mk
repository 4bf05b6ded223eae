# SPDX-License-Identifier: Apache-2.0
# The contract: installed headers and the list of exported symbols.

pkginclude_HEADERS = \
	abi/cplayout/batch.h \
	abi/cplayout/core.h \
	abi/cplayout/host.h \
	abi/cplayout/loader.h \
	abi/cplayout/options.h \
	abi/cplayout/plan.h \
	abi/cplayout/status.h \
	abi/cplayout/tensor.h \
	abi/cplayout/version.h

EXTRA_DIST += \
	abi/cplayout.map
