# SPDX-License-Identifier: Apache-2.0

# CPL_SANITIZERS
# --------------
# --enable-asan, --enable-ubsan, --enable-tsan. Sets SANITIZERS (a list such as "address,undefined"),
# SANITIZER_CFLAGS, SANITIZER_LDFLAGS and TEST_LAUNCHER.
AC_DEFUN([CPL_SANITIZERS], [
    AC_ARG_ENABLE([asan],
        [AS_HELP_STRING([--enable-asan], [compile with AddressSanitizer])], [], [enable_asan=no])
    AC_ARG_ENABLE([ubsan],
        [AS_HELP_STRING([--enable-ubsan], [compile with UndefinedBehaviorSanitizer])], [], [enable_ubsan=no])
    AC_ARG_ENABLE([tsan],
        [AS_HELP_STRING([--enable-tsan], [compile with ThreadSanitizer, tests are the plain TAP programs])],
        [], [enable_tsan=no])
    AS_IF([test "x$enable_asan/$enable_tsan" = xyes/yes],
        [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])

    SANITIZERS=
    AS_IF([test "x$enable_asan" = xyes], [SANITIZERS="$SANITIZERS,address"])
    AS_IF([test "x$enable_tsan" = xyes], [SANITIZERS="$SANITIZERS,thread"])
    AS_IF([test "x$enable_ubsan" = xyes], [SANITIZERS="$SANITIZERS,undefined"])
    SANITIZERS=`AS_ECHO(["$SANITIZERS"]) | sed 's/^,//'`

    SANITIZER_CFLAGS= SANITIZER_LDFLAGS= TEST_LAUNCHER=
    AS_IF([test "x$SANITIZERS" != x], [
        SANITIZER_CFLAGS="-fsanitize=$SANITIZERS -fno-omit-frame-pointer"
        SANITIZER_LDFLAGS="-fsanitize=$SANITIZERS"
        AS_IF([test "x$enable_ubsan" = xyes],
            [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-sanitize-recover=all"])
        CPL_CHECK_SANITIZER
    ])
    # Older ThreadSanitizers stop with "unexpected memory mapping" on kernels that randomise more
    # address bits than they expect; where the system lets us, tests run without randomisation.
    AS_IF([test "x$enable_tsan" = xyes && setarch `uname -m` -R true 2>/dev/null],
        [TEST_LAUNCHER="setarch `uname -m` -R"])
    AC_SUBST([SANITIZERS])
    AC_SUBST([SANITIZER_CFLAGS])
    AC_SUBST([SANITIZER_LDFLAGS])
    AC_SUBST([TEST_LAUNCHER])
])

# CPL_CHECK_SANITIZER
# -------------------
# The run-time library is a package of its own on some systems: say so here, not at the first link.
AC_DEFUN([CPL_CHECK_SANITIZER], [
    AC_MSG_CHECKING([whether $CC links with -fsanitize=$SANITIZERS])
    cpl_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([no run-time library for -fsanitize=$SANITIZERS])])
    CFLAGS=$cpl_saved_CFLAGS
])
