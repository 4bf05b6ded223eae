#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves what the shared object shows to the loader: one exported symbol without a version, no
# library but libc, no text relocations, no reference to CUDA or NCCL, the right name, and the flag
# that keeps it in memory. The file is $TEST_PLUGIN.
set -u

here=$(cd "$(dirname "$0")" && pwd)
plugin=${TEST_PLUGIN:-}

# shellcheck disable=SC1091
. "$here/tap.bash"

[[ -n $plugin ]] || tap_skip_all "TEST_PLUGIN names no file"

# Values of one tag of the dynamic section, such as NEEDED, without brackets.
dynamic() {
    readelf -d -W "$plugin" | sed -n -E "s/^ *0x[0-9a-f]+ +\\($1\\) +(.*: )?\\[?([^]]*)\\]?\$/\\2/p"
}

undefined() {
    nm -D --undefined-only "$plugin" | sed 's/.* //'
}

is_sanitized() {
    undefined | grep -q -E '^__(asan|ubsan|tsan|lsan|msan)_'
}

is_object() {
    readelf -h "$plugin" | grep -E 'Type: +DYN'
}

one_export() {
    expect_equal "T cplayout_plugin_query_v1" \
        "$(nm -D --defined-only "$plugin" | sed -E 's/^[0-9a-f]+ //')"
}

no_version() {
    expect_empty "$(readelf -V -W "$plugin" | grep 'Version definition section')" || return 1
    expect_empty "$(nm -D --defined-only "$plugin" | grep '@')"
}

needs_libc_only() {
    expect_equal "libc.so.6" "$(dynamic NEEDED)"
}

is_nodelete() {
    dynamic FLAGS_1 | grep -w NODELETE || {
        echo "FLAGS_1 is '$(dynamic FLAGS_1)'"
        return 1
    }
}

no_textrel() {
    expect_empty "$(readelf -d -W "$plugin" | grep TEXTREL)"
}

no_gpu_symbol() {
    expect_empty "$(undefined | grep -E '^p?(cuda|nccl|cu[A-Z])')"
}

soname() {
    expect_equal "libcplayout.so" "$(dynamic SONAME)"
}

tap_check "the plugin is a shared object" is_object
tap_check "it exports the query function and nothing else" one_export
tap_check "the export has no version" no_version
if [[ -n ${TEST_SANITIZERS:-} ]] || is_sanitized; then
    tap_skip "it needs libc and nothing else" "sanitizers bring libraries of their own"
else
    tap_check "it needs libc and nothing else" needs_libc_only
fi
tap_check "it stays in memory (NODELETE)" is_nodelete
tap_check "it has no text relocations" no_textrel
tap_check "it refers to no symbol of CUDA or NCCL" no_gpu_symbol
tap_check "its name is libcplayout.so" soname
tap_end
