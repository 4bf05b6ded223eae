# SPDX-License-Identifier: Apache-2.0
#
# Compiler options of ours. They end up in AM_CFLAGS and AM_LDFLAGS, before the user's own.

# CPL_CHECK_CFLAG(VARIABLE, option)
# ---------------------------------
# Appends the option to VARIABLE if the compiler takes it. -Werror makes clang refuse what it does
# not know instead of mentioning it.
AC_DEFUN([CPL_CHECK_CFLAG], [
    AS_VAR_PUSHDEF([cpl_cache], [cpl_cv_cflag_$2])
    AC_CACHE_CHECK([whether $CC takes $2], [cpl_cache], [
        cpl_saved_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS -Werror $2"
        AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int cpl_probe;]])],
            [AS_VAR_SET([cpl_cache], [yes])], [AS_VAR_SET([cpl_cache], [no])])
        CFLAGS=$cpl_saved_CFLAGS
    ])
    AS_VAR_IF([cpl_cache], [yes], [AS_VAR_APPEND([$1], [" $2"])])
    AS_VAR_POPDEF([cpl_cache])
])

# CPL_OPTIMIZATION
# ----------------
# Sets OPT_CFLAGS (everything) and TRAINER_OPT_CFLAGS (the trainer's inner loops).
AC_DEFUN([CPL_OPTIMIZATION], [
    AC_ARG_ENABLE([debug],
        [AS_HELP_STRING([--enable-debug], [compile with -O0 -g3 instead of -O2 -g])],
        [], [enable_debug=no])
    AS_IF([test "x$enable_debug" = xyes],
        [OPT_CFLAGS="-O0 -g3" TRAINER_OPT_CFLAGS="-O0 -g3"],
        [OPT_CFLAGS="-O2 -g" TRAINER_OPT_CFLAGS="-O3 -g"])
    AC_SUBST([OPT_CFLAGS])
    AC_SUBST([TRAINER_OPT_CFLAGS])
])

# CPL_WARNINGS
# ------------
# Sets WARN_CFLAGS. Warnings fail in a checkout, where somebody can fix them, and not in a release,
# where a newer compiler would only stop the user.
AC_DEFUN([CPL_WARNINGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [warnings are errors @<:@default: yes in a git checkout@:>@])],
        [], [AS_IF([test -e "$srcdir/.git"], [enable_werror=yes], [enable_werror=no])])
    WARN_CFLAGS=
    m4_foreach_w([cpl_flag], [
        -Wall
        -Wextra
        -Wshadow
        -Wstrict-prototypes
        -Wmissing-prototypes
        -Wconversion
        -Wformat=2
        -Wvla
        -Wcast-qual
        -Wundef
        -Wpointer-arith
        -Werror=incompatible-pointer-types
        -Werror=implicit
    ], [CPL_CHECK_CFLAG([WARN_CFLAGS], cpl_flag)])
    AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([WARN_CFLAGS], [" -Werror"])])
    AC_SUBST([WARN_CFLAGS])
])

# CPL_ANALYZER
# ------------
# Sets ANALYZER_CFLAGS, used for what we ship (plugin, command, trainer) and not for tests.
AC_DEFUN([CPL_ANALYZER], [
    AC_ARG_ENABLE([analyzer],
        [AS_HELP_STRING([--enable-analyzer], [compile with gcc -fanalyzer, its warnings are errors])],
        [], [enable_analyzer=no])
    ANALYZER_CFLAGS=
    AS_IF([test "x$enable_analyzer" = xyes], [
        CPL_CHECK_CFLAG([ANALYZER_CFLAGS], [-fanalyzer])
        AS_IF([test "x$ANALYZER_CFLAGS" = x],
            [AC_MSG_ERROR([--enable-analyzer: $CC has no -fanalyzer])])
        AS_VAR_APPEND([ANALYZER_CFLAGS], [" -Werror"])
    ])
    # gcc 12 loses sight of memory that is stored through a pointer and calls it leaked. The trainer's
    # leaks are found by the ASan build, where they happen.
    TRAINER_ANALYZER_CFLAGS="$ANALYZER_CFLAGS -Wno-analyzer-malloc-leak"
    AC_SUBST([ANALYZER_CFLAGS])
    AC_SUBST([TRAINER_ANALYZER_CFLAGS])
])
