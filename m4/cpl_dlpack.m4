# SPDX-License-Identifier: Apache-2.0

# CPL_DLPACK
# ----------
# One test compares our tensor struct with DLPack's header. The header has no pkg-config file.
AC_DEFUN([CPL_DLPACK], [
    AC_ARG_WITH([dlpack],
        [AS_HELP_STRING([--with-dlpack], [yes: required, no: leave out the DLPack test @<:@default: use it if found@:>@])],
        [], [: ${with_dlpack=check}])
    cpl_have_dlpack=no
    AS_IF([test "x$with_dlpack" != xno],
        [AC_CHECK_HEADER([dlpack/dlpack.h], [cpl_have_dlpack=yes])])
    CPL_DEPENDENCY_VERDICT([dlpack], [the tests against the DLPack header])
])
