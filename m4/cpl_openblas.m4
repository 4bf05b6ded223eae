# SPDX-License-Identifier: Apache-2.0

# CPL_OPENBLAS
# ------------
# Matrix products of the trainer. Its ranks are threads that multiply at the same time. Debian 12's
# build without threads does not stand that: concurrent calls return wrong products. The build with
# threads does; the trainer tells it to start none of its own.
AC_DEFUN([CPL_OPENBLAS], [
    CPL_DEPENDENCY([OPENBLAS], [openblas], [openblas], [the trainer])
])
