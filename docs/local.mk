# SPDX-License-Identifier: Apache-2.0
# Documentation: distributed, not built. The manual page is installed with its command.

docs_files = \
	docs/configuration.md \
	docs/demo-report.png \
	docs/layouts.md \
	docs/layouts/balanced.svg \
	docs/layouts/contiguous.svg \
	docs/layouts/mirror.svg \
	docs/layouts/striped.svg \
	docs/layouts/zigzag-packed.svg \
	docs/layouts/zigzag-stream.svg \
	docs/layouts/zigzag.svg \
	docs/trainer.md

if BUILD_COMMAND
dist_man_MANS = docs/cplayout.1
endif

EXTRA_DIST += $(docs_files)
