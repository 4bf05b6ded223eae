# SPDX-License-Identifier: Apache-2.0

# CPL_CXX
# -------
# C++ is used to test that the public headers compile as C++, and for nothing else, so it may be
# absent. AC_PROG_CXX names a compiler even when there is none; only compiling tells. Sets TEST_CXX,
# which is empty without one.
AC_DEFUN([CPL_CXX], [
    AC_REQUIRE([AC_PROG_CXX])
    AC_CACHE_CHECK([whether $CXX compiles C++17], [cpl_cv_cxx17], [
        AC_LANG_PUSH([C++])
        cpl_saved_CXXFLAGS=$CXXFLAGS
        CXXFLAGS="$CXXFLAGS -std=c++17"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [[auto f = [](auto x) { return x; }; return f(0);]])],
            [cpl_cv_cxx17=yes], [cpl_cv_cxx17=no])
        CXXFLAGS=$cpl_saved_CXXFLAGS
        AC_LANG_POP([C++])
    ])
    cpl_have_cxx=$cpl_cv_cxx17
    AS_IF([test "x$cpl_have_cxx" = xyes], [TEST_CXX=$CXX], [TEST_CXX=])
    AC_SUBST([TEST_CXX])
])
