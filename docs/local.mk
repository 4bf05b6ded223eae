# SPDX-License-Identifier: Apache-2.0
# Documentation: distributed, not built.

docs_files =

EXTRA_DIST += $(docs_files)
