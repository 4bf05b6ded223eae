#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every C block in docs/trainer.md stands in the file that the line above it names:
#
#     From `hosts/trainer/session.c`:
#     ```c
#
# Lines that follow each other in a block follow each other in the file. Indentation is not compared.
# A line `...` leaves something out: what comes after it stands further down in the file. TAP.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=${top_srcdir:-$here/../..}
guide=$top/docs/trainer.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# shellcheck disable=SC1091
. "$here/../abi/tap.bash"

# Writes block N to FOLDER/N and prints "N LINE PATH"; PATH is - where no line names one.
split_guide() { # split_guide GUIDE FOLDER
    awk -v folder="$2" '
        $0 == "```c" { inside = 1; file = folder "/" ++count; printf "" >file
                       print count, NR, path == "" ? "-" : path; next }
        inside && $0 == "```" { inside = 0; close(file); next }
        inside { print >file; next }
        { path = "" }
        /^From `[^`]+`:$/ { split($0, parts, "`"); path = parts[2] }' "$1"
}

# quoted SOURCE BLOCK: fails, and shows the line where the block leaves the source.
quoted() {
    awk -v source="$1" '
        function bare(line) { sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line); return line }
        # The first place from `from` on where block lines first ... last stand, 0 if there is none.
        function place(from, first, last,    at, i) {
            for (at = from; at + last - first <= lines; at++) {
                for (i = first; i <= last && source_at[at + i - first] == block[i]; i++) { }
                if (i > last) { return at }
                if (i - first > longest) { longest = i - first }
            }
            return 0
        }
        BEGIN { while ((getline line <source) > 0) { source_at[++lines] = bare(line) } }
        { block[++count] = bare($0) }
        END {
            if (count == 0) { print "the block is empty"; exit 1 }
            block[count + 1] = "..."
            from = first = 1
            for (i = 1; i <= count + 1; i++) {
                if (block[i] != "...") { continue }
                if (i == first) { print "nothing between two lines of dots, or at an end"; exit 1 }
                longest = 0
                at = place(from, first, i - 1)
                if (at == 0) {
                    print "not in " source " at or below line " from ": " block[first + longest]
                    exit 1
                }
                from = at + i - first
                first = i + 1
            }
        }' "$2"
}

# check_block NUMBER PATH
check_block() {
    [[ $2 != - ]] || {
        echo "no line of the form 'From \`PATH\`:' stands above the block"
        return 1
    }
    [[ -r $top/$2 ]] || {
        echo "there is no file $2"
        return 1
    }
    quoted "$top/$2" "$folder/$1"
}

# A line that the source has not, one that it has elsewhere, and dots that go upwards are all noticed.
notices_changes() {
    printf 'int a;\n    int b;\n\nint c;\n' >"$folder/source"
    printf 'int a;\nint b;\n...\nint c;\n' >"$folder/right"
    printf 'int a;\nint x;\n' >"$folder/other"
    printf 'int a;\nint c;\n' >"$folder/gap"
    printf 'int c;\n...\nint a;\n' >"$folder/upwards"
    : >"$folder/empty"
    quoted "$folder/source" "$folder/right" || return
    local wrong
    for wrong in other gap upwards empty; do
        if quoted "$folder/source" "$folder/$wrong" >"$folder/log"; then
            echo "$wrong: not noticed"
            return 1
        fi
    done
}

# Files that the guide names in its text.
named_files_exist() {
    local missing
    # shellcheck disable=SC2016
    missing=$(grep -oE '`(abi|hosts|tests|docs|plugin|tools)/[^` ]*`' "$guide" | tr -d '`' | sort -u |
        while IFS= read -r path; do
            [[ -e $top/$path ]] || printf '%s\n' "$path"
        done)
    expect_empty "$missing"
}

fences_are_known() {
    local others
    others=$(grep -nE '^[[:space:]]*(```|~~~)' "$guide" | grep -vE '^[0-9]+:```c?$' || true)
    expect_empty "$others"
}

blocks=$(split_guide "$guide" "$folder")

tap_check "a block that differs is noticed" notices_changes
tap_check "the guide quotes code" test -n "$blocks"
while read -r number line path; do
    tap_check "line $line quotes $path" check_block "$number" "$path"
done <<<"$blocks"
tap_check "files that the guide names exist" named_files_exist
tap_check "all fenced blocks are C" fences_are_known
tap_end
