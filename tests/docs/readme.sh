#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The host in README.md compiles as it stands, runs, and prints what the README says. TAP.

set -euo pipefail

top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The first block between ```LANGUAGE and ```.
block() { # block LANGUAGE
    awk -v fence="\`\`\`$1" '
        inside && /^```$/ { exit }
        inside { print }
        $0 == fence && !inside { inside = 1 }' "$top/README.md"
}

check() { # check NUMBER NAME COMMAND...
    local number=$1 name=$2
    shift 2
    if "$@" >"$folder/log" 2>&1; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        sed 's/^/# /' "$folder/log"
    fi
}

compile() {
    local sanitizers=()
    [[ -z ${CPLAYOUT_SANITIZERS-} ]] || sanitizers=("-fsanitize=$CPLAYOUT_SANITIZERS")
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "${sanitizers[@]}" -I"$top/abi" \
        "$folder/host.c" -o "$folder/host" -lpthread -ldl
}

says_what_the_readme_says() {
    "$folder/host" "${CPLAYOUT_TEST_PLUGIN:?}" | sort | diff "$folder/expected" -
}

block c >"$folder/host.c"
block text | sort >"$folder/expected"

echo 1..3
check 1 "the README has a host and its output" test -s "$folder/host.c" -a -s "$folder/expected"
check 2 "the host compiles" compile
check 3 "it prints what the README says" says_what_the_readme_says
