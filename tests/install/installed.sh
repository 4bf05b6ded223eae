#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves that what was installed serves somebody who has nothing else: the headers stand alone, a
# host compiled with pkg-config finds the plugin and uses it, the command runs and finds it too. TAP;
# run by `make installcheck`, which says where things are.
#
# With DESTDIR the files lie below a folder that is not there at run time: default paths cannot be
# followed, so the plugin is named.
set -u

here=$(cd "$(dirname "$0")" && pwd)
read -r -a cc <<<"${CC:-gcc}"
read -r -a cxx <<<"${CXX-g++}"
warnings=(-Wall -Wextra -Wpedantic -Werror)
destdir=${DESTDIR:-}
headers=$destdir${includedir:?}/cplayout
plugin=${pkglibdir:?}/libcplayout.so

# shellcheck disable=SC1091
. "$here/../abi/tap.bash"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

sanitizers=()
[[ -z ${TEST_SANITIZERS:-} ]] || sanitizers=("-fsanitize=$TEST_SANITIZERS")

# Names the plugin, to the host and to the command, where its default path cannot be followed.
host_arguments=()
command_arguments=()
if [[ -n $destdir ]]; then
    host_arguments=("$destdir$plugin")
    command_arguments=(--plugin "$destdir$plugin")
fi

# --- files ----------------------------------------------------------------------------------------

plugin_without_la() {
    [[ -e $destdir$plugin && ! -e $destdir${plugin%.so}.la ]] || {
        ls -l "$destdir$pkglibdir"
        return 1
    }
}

# --- headers --------------------------------------------------------------------------------------

compile_header() { # compile_header STANDARD HEADER COMPILER...
    local standard=$1 header=$2
    shift 2
    printf '#include <cplayout/%s>\nextern int not_empty;\n' "$header" >"$work/use.c"
    "$@" "-std=$standard" "${warnings[@]}" -I"$destdir$includedir" -c -o "$work/use.o" "$work/use.c"
}

check_headers() {
    local path header
    for path in "$headers"/*.h; do
        header=${path##*/}
        tap_check "installed $header alone in c11" compile_header c11 "$header" "${cc[@]}"
        if ((${#cxx[@]})); then
            tap_check "installed $header alone in c++17" \
                compile_header c++17 "$header" "${cxx[@]}" -x c++
        else
            tap_skip "installed $header alone in c++17" "no C++ compiler"
        fi
    done
}

# --- a host ---------------------------------------------------------------------------------------

# The folder of our .pc file alone, and paths as they are: without this, pkg-config drops what it
# takes for the system's own folders.
pkg_config() {
    env PKG_CONFIG_LIBDIR="$destdir${pkgconfigdir:?}" PKG_CONFIG_PATH='' \
        PKG_CONFIG_SYSROOT_DIR="$destdir" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
        "${PKG_CONFIG:?}" "$@" cplayout
}

variables() {
    expect_equal "$(printf '#include <cplayout/version.h>\nCPLAYOUT_ABI_MAJOR\n' |
        "${cc[@]}" -E -P -I"$destdir$includedir" -)" "$(pkg_config --variable=abi_major)" || return 1
    # Sysroots do not change where the plugin is at run time; pkgconf puts them before variables.
    [[ $(pkg_config --variable=plugindir) == *"$pkglibdir" ]]
}

no_libraries() {
    local libraries
    libraries=$(pkg_config --libs) && expect_empty "${libraries// /}"
}

# As on the command line of a shell ...
host_by_words() {
    local words
    read -r -a words <<<"$(pkg_config --cflags)"
    compile_host "${words[@]}"
}

# ... and as in a recipe of a Makefile, where the shell reads the options once more.
host_by_text() {
    eval "compile_host $(pkg_config --cflags)"
}

compile_host() {
    rm -f "$work/host"
    "${cc[@]}" -std=gnu11 "${warnings[@]}" "${sanitizers[@]}" "$@" -o "$work/host" "$here/host.c" \
        -ldl
}

default_path() {
    expect_equal "\"$pkglibdir\" \"/libcplayout.so\"" \
        "$(printf '#include <cplayout/loader.h>\nCPLAYOUT_DEFAULT_PLUGIN\n' |
            "${cc[@]}" -E -P -D_GNU_SOURCE -I"$destdir$includedir" -include cplayout/plugin_dir.h - |
            tail -n 1)"
}

run_host() {
    expect_equal "$destdir$plugin" "$("$work/host" "${host_arguments[@]}")"
}

# --- the command ----------------------------------------------------------------------------------

command_maps() {
    expect_equal '[[0,4],[12,4]]' "$("${CPLAYOUT:?}" map --layout zigzag --cp 2 --seq 16 --json \
        "${command_arguments[@]}" | sed -E 's/.*"fragments":(\[\[[0-9,]*\],\[[0-9,]*\]\]).*/\1/')"
}

# Also where the tree that the command was built in is still there. With DESTDIR the default is said
# by the failure to find it.
command_looks_there() {
    local said
    said=$("${CPLAYOUT:?}" info --json 2>&1)
    [[ $said == *"\"plugin\":\"$plugin\""* || -n $destdir && $said == *"$plugin"* ]] || {
        printf '%s\n' "$said"
        return 1
    }
}

tap_check "the plugin is there, without libtool's file" plugin_without_la
check_headers
if [[ -n ${PKG_CONFIG:-} ]]; then
    tap_check "cplayout.pc says which ABI and where the plugin is" variables
    tap_check "cplayout.pc links nothing" no_libraries
    tap_check "its options define the default path" default_path
    tap_check "a host compiles with its options as words" host_by_words
    tap_check "the host finds the plugin" run_host
    tap_check "a host compiles with its options as shell text" host_by_text
    tap_check "that host finds the plugin" run_host
else
    tap_skip "cplayout.pc" "no pkg-config"
fi
if [[ -n ${CPLAYOUT:-} ]]; then
    tap_check "the command answers" command_maps
    tap_check "the command finds the installed plugin and no other" command_looks_there
else
    tap_skip "the command" "it was not built"
fi
tap_end
