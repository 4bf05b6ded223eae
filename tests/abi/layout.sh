#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves that the memory layout of the ABI is the frozen one: no line of the golden file has changed,
# what is new stands behind what is old, and nothing that the headers declare is missing from the
# comparison. Needs a C compiler ($CC). To freeze a new state on purpose: layout.sh --print > FILE.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$here/../..}
machine=$(uname -m)
golden=$top/abi/golden/$machine-v1.txt
read -r -a cc <<<"${CC:-gcc}"

# shellcheck disable=SC1091
. "$here/tap.bash"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

compile() {
    "${cc[@]}" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$top/abi" \
        -o "$work/layout" "$here/layout.c" && "$work/layout" >"$work/now"
}

# The headers without comments, each after the other.
headers() {
    local header
    for header in "$top"/abi/cplayout/*.h; do
        awk 'BEGIN { RS = "\001" } { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " "); print }' "$header"
    done
}

header_structs() {
    headers | sed -n 's/^struct \(cplayout_[a-z0-9_]*\) {.*/struct \1/p'
}

# "member STRUCT.NAME" for every member that is not a slot: slots come from the same list as here.
header_members() {
    headers | awk '
        /^struct cplayout_[a-z0-9_]* \{/ { name = $2; body = ""; next }
        /^};/ && name != "" {
            count = split(body, members, ";")
            for (i = 1; i <= count; i++) {
                sub(/\[[^]]*\] *$/, "", members[i])
                if (match(members[i], /[A-Za-z_][A-Za-z0-9_]*[ \t]*$/)) {
                    member = substr(members[i], RSTART, RLENGTH)
                    sub(/[ \t]*$/, "", member)
                    print "member " name "." member
                }
            }
            name = ""
        }
        name != "" { body = body " " $0 }'
}

header_constants() {
    headers | sed -n -E \
        -e 's/^#define (CPLAYOUT_[A-Z0-9_]+) +[^ ].*/\1/p' \
        -e 's/^ +(CPLAYOUT_[A-Z0-9_]+)( = .*|,.*|)$/\1/p' | grep -v -x CPLAYOUT_DECLARE_SLOT
}

# The first two words of every line of the output: what it is about.
listed() {
    awk '{ print $1, $2 }' "$work/now" | sort
}

structs_are_listed() {
    [[ $(header_structs | wc -l) -ge 20 ]] || {
        echo "found too few structs in the headers"
        return 1
    }
    expect_empty "$(comm -23 <(header_structs | sort -u) <(listed))"
}

members_are_listed() {
    [[ $(header_members | wc -l) -ge 100 ]] || {
        echo "found too few members in the headers"
        return 1
    }
    expect_empty "$(comm -23 <(header_members | sort -u) <(listed))"
}

constants_are_listed() {
    [[ $(header_constants | wc -l) -ge 30 ]] || {
        echo "found too few constants in the headers"
        return 1
    }
    expect_empty "$(comm -23 <(header_constants | sort -u) \
        <(sed -n -E 's/^(constant|text) ([A-Z0-9_]+) .*/\2/p' "$work/now" | sort -u))"
}

# Lines that may change in one direction; growth checks them.
may_grow='^(struct [a-z0-9_]+ grows|constant CPLAYOUT_ABI_MINOR) '

frozen_lines() {
    expect_empty "$(grep -v -E "$may_grow" "$golden" | grep -v -x -F -f "$work/now")"
}

# Structs that grow keep their alignment and do not shrink; the minor number does not go back.
growth() {
    expect_empty "$(awk -v pattern="$may_grow" '
        NR == FNR { size[$1, $2] = $1 == "struct" ? $5 : $3; rest[$1, $2] = $3 " " $7; next }
        $0 ~ pattern {
            key = $1 SUBSEP $2
            if (!(key in size)) {
                print "missing: " $0
            } else if (size[key] + 0 < ($1 == "struct" ? $5 : $3) + 0) {
                print "now smaller: " $0
            } else if ($1 == "struct" && rest[key] != $3 " " $7) {
                print "now another kind or alignment: " $0
            }
        }' "$work/now" "$golden")"
}

# A new member of an old struct begins behind all that the struct had, padding included: a caller
# compiled before does not own the bytes it would see there.
new_members() {
    expect_empty "$(awk '
        NR == FNR && $1 == "struct" { size[$2] = $5; next }
        NR == FNR && $1 == "member" { known[$2] = 1; next }
        NR != FNR && $1 == "member" && !($2 in known) {
            split($2, name, ".")
            if (name[1] in size && $4 + 0 < size[name[1]] + 0) {
                print "not appended: " $0
            }
        }' "$golden" "$work/now")"
}

if [[ ${1:-} == --print ]]; then
    compile && cat "$work/now"
    exit
fi

tap_check "layout.c compiles and runs" compile
tap_check "every struct of the headers is listed" structs_are_listed
tap_check "every member of the headers is listed" members_are_listed
tap_check "every constant of the headers is listed" constants_are_listed
if [[ -e $golden ]]; then
    tap_check "every frozen line is still there" frozen_lines
    tap_check "what may grow has not shrunk" growth
    tap_check "new members are appended" new_members
else
    tap_skip "frozen layout" "no golden file for $machine"
fi
tap_end
