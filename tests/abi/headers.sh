#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves that every installed header stands alone: it compiles without another header before it, in
# C11, C17 and C++17, twice in one file, without a warning, and leaves no object or function behind.
# Compilers: $CC and $CXX (default gcc and g++); without a C++ compiler the C++ half is skipped.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$here/../..}
read -r -a cc <<<"${CC:-gcc}"
read -r -a cxx <<<"${CXX-g++}"
warnings=(-Wall -Wextra -Wpedantic -Werror)

# shellcheck disable=SC1091
. "$here/tap.bash"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A file that includes a header twice. ISO C wants a declaration in every file.
write_source() {
    printf '#include <cplayout/%s>\n#include <cplayout/%s>\nextern int not_empty;\n' "$1" "$1" \
        >"$work/use.c"
}

# No optimisation, so that what a header defines is not dropped for being unused.
compile_c() {
    write_source "$2"
    "${cc[@]}" "-std=$1" "${warnings[@]}" -O0 -I"$top/abi" -c -o "$work/use.o" "$work/use.c"
}

compile_cxx() {
    write_source "$2"
    "${cxx[@]}" "-std=$1" -x c++ "${warnings[@]}" -O0 -I"$top/abi" -c -o "$work/use.o" \
        "$work/use.c"
}

# Sanitizers, where $CC asks for them, leave symbols of their own.
defines_nothing() {
    compile_c gnu11 "$1" || return 1
    expect_empty "$(nm --defined-only "$work/use.o" | grep -v -E '[amtu]b?san')"
}

have_cxx=no
if [[ ${#cxx[@]} -gt 0 ]] && command -v "${cxx[0]}" >/dev/null; then
    have_cxx=yes
fi

for path in "$top"/abi/cplayout/*.h; do
    header=${path##*/}
    for standard in c11 c17; do
        tap_check "$header alone in $standard" compile_c "$standard" "$header"
    done
    if [[ $have_cxx == yes ]]; then
        tap_check "$header alone in c++17" compile_cxx c++17 "$header"
    else
        tap_skip "$header alone in c++17" "no C++ compiler"
    fi
    tap_check "$header defines nothing" defines_nothing "$header"
done
tap_end
