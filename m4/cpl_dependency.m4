# SPDX-License-Identifier: Apache-2.0

# CPL_DEPENDENCY(VARIABLE, option, pkg-config module, what is left out without it)
# --------------------------------------------------------------------------------
# A dependency that may be absent: looked for by default, an error only when the user asked for it.
# Sets cpl_have_<option>, VARIABLE_CFLAGS and VARIABLE_LIBS.
AC_DEFUN([CPL_DEPENDENCY], [
    AC_REQUIRE([PKG_PROG_PKG_CONFIG])
    AC_ARG_WITH([$2],
        [AS_HELP_STRING([--with-$2], [yes: required, no: leave out $4 @<:@default: use it if found@:>@])],
        [], [: ${with_$2=check}])
    AS_CASE([$with_$2],
        [yes|no|check], [],
        [AC_MSG_ERROR([--with-$2=$with_$2: only yes or no; for another folder set PKG_CONFIG_PATH])])
    cpl_have_$2=no
    AS_IF([test "x$with_$2" != xno],
        [PKG_CHECK_MODULES([$1], [$3], [cpl_have_$2=yes], [cpl_have_$2=no])])
    CPL_DEPENDENCY_VERDICT([$2], [$4])
])

# CPL_DEPENDENCY_VERDICT(option, what is left out without it)
# -----------------------------------------------------------
AC_DEFUN([CPL_DEPENDENCY_VERDICT], [
    AS_CASE([$cpl_have_$1/$with_$1],
        [no/yes], [AC_MSG_ERROR([--with-$1 was given, but $1 was not found])],
        [no/check], [AC_MSG_WARN([$1 was not found: left out: $2])],
        [no/no], [AC_MSG_NOTICE([without $1: left out: $2])])
])
