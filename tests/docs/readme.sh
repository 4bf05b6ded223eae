#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The host in README.md is hosts/example/example.c, builds and runs by the two lines there, and prints
# what stands there. TAP.

set -euo pipefail

top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
example=${top_builddir:-$top/build}/hosts/example/example
plugin=${TEST_PLUGIN:?}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The section about the host.
awk '/^## / { inside = $0 == "## A host" } inside' "$top/README.md" >"$folder/section"

# Its block between ```LANGUAGE and ```.
block() { # block LANGUAGE
    awk -v fence="\`\`\`$1" '
        inside && /^```$/ { exit }
        inside { print }
        $0 == fence { inside = 1 }' "$folder/section"
}

# Its indented line that begins with a word.
line() { # line WORD
    awk -v word="$1" '/^    / && $1 == word { sub(/^ +/, ""); print; exit }' "$folder/section"
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

shows_the_example() {
    block c | diff "$top/hosts/example/example.c" -
}

prints_what_is_shown() { # prints_what_is_shown COMMAND...
    "$@" >"$folder/printed" && diff "$folder/expected" "$folder/printed"
}

# The lines are for the top folder after a build; here is one that has what they name.
lay_out() {
    mkdir -p "$folder/top/build/plugin/.libs"
    ln -s "$top/abi" "$top/hosts" "$folder/top"
    ln -s "$plugin" "$folder/top/build/plugin/.libs/libcplayout.so"
}

# The line as it stands, but for the compiler under test, which is to have nothing to say.
compiles() (
    local words compiler strict=(-Wall -Wextra -Wpedantic -Werror)
    read -r -a words <<<"$(line gcc)"
    read -r -a compiler <<<"${CC:-gcc}"
    [[ -z ${TEST_SANITIZERS-} ]] || strict+=("-fsanitize=$TEST_SANITIZERS")
    cd "$folder/top" && "${compiler[@]}" "${strict[@]}" "${words[@]:1}"
)

runs() (
    local words
    read -r -a words <<<"$(line ./example)"
    cd "$folder/top" && prints_what_is_shown "${words[@]}"
)

block text >"$folder/expected"
lay_out

echo 1..5
check 1 "the README shows what a host prints" test -s "$folder/expected"
check 2 "the README shows the example as it is" shows_the_example
check 3 "the example prints what is shown" prints_what_is_shown "$example" "$plugin"
check 4 "the README's line compiles it" compiles
check 5 "the README's line runs it" runs
