# SPDX-License-Identifier: Apache-2.0

# CPL_OPENBLAS
# ------------
# Matrix products of the trainer. Its ranks are threads that multiply at the same time, which the
# serial OpenBLAS of Debian 12 does not stand: concurrent calls return wrong products. The threaded
# build does; the trainer tells it to start no threads of its own.
AC_DEFUN([CPL_OPENBLAS], [
    CPL_DEPENDENCY([OPENBLAS], [openblas], [openblas], [the trainer])
])
