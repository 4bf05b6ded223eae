# SPDX-License-Identifier: Apache-2.0
#
# What the scripts in this folder share: TAP lines. Source it; end with tap_end.

tap_count=0
tap_failed=0

# tap_check NAME COMMAND...: the test passes if the command does; else its output is the reason.
tap_check() {
    local name=$1 output
    shift
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        printf 'ok %d - %s\n' "$tap_count" "$name"
    else
        tap_failed=1
        printf 'not ok %d - %s\n' "$tap_count" "$name"
        printf '%s\n' "$output" | sed 's/^/# /'
    fi
}

# tap_skip NAME REASON
tap_skip() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# tap_skip_all REASON: ends the script.
tap_skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# Prints the plan and ends the script.
tap_end() {
    printf '1..%d\n' "$tap_count"
    exit "$tap_failed"
}

# expect_empty TEXT: fails, and shows the text, unless there is none.
expect_empty() {
    [[ -z $1 ]] || {
        printf '%s\n' "$1"
        return 1
    }
}

# expect_equal EXPECTED ACTUAL
expect_equal() {
    [[ $1 == "$2" ]] || {
        printf 'expected: %s\nactual:   %s\n' "$1" "$2"
        return 1
    }
}
