# SPDX-License-Identifier: Apache-2.0

# CPL_JANSSON
# -----------
# JSON for the command and the trainer; the plugin itself neither reads nor writes JSON.
AC_DEFUN([CPL_JANSSON], [
    CPL_DEPENDENCY([JANSSON], [jansson], [jansson >= 2.10], [the cplayout command and the trainer])
])
