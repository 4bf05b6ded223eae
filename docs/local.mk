# SPDX-License-Identifier: Apache-2.0
# Documentation: distributed, not built. The manual page is installed with its command.

docs_files = \
	docs/demo-report.png \
	docs/trainer.md

if BUILD_COMMAND
dist_man_MANS = docs/cplayout.1
endif

EXTRA_DIST += $(docs_files)
