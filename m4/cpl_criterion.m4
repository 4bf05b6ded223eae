# SPDX-License-Identifier: Apache-2.0

# CPL_CRITERION
# -------------
# Criterion runs the unit tests. 2.4 is the first release with TAP on standard output.
AC_DEFUN([CPL_CRITERION], [
    CPL_DEPENDENCY([CRITERION], [criterion], [criterion >= 2.4], [the unit tests])
])
