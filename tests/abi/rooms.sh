#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves that includes go only where they may:
#   plugin/      downward, entry > batch > move > plan > base; only entry knows the contract, and only
#                move calls kernels
#   abi/         the contract itself, the C library, dlfcn
#   kernels/     themselves and the C library
#   the others   (tools, hosts, layers, preload): nothing of the plugin
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$here/../..}
rooms=(base plan move batch entry) # each may include itself and those before it
c_library=(assert ctype errno float inttypes iso646 limits locale math setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time wchar)

# shellcheck disable=SC1091
. "$here/tap.bash"

# Prints "FILE INCLUDED" for every include below a folder; INCLUDED keeps its quotes or brackets.
includes() {
    find "$top/$1" -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' -o -name '*.hpp' \
        -o -name '*.cu' -o -name '*.cuh' \) -exec grep -H -E '^[[:space:]]*#[[:space:]]*include' {} + |
        sed -E "s,^$top/([^:]*):[[:space:]]*#[[:space:]]*include[[:space:]]*,\\1 ," |
        sed -E 's,^([^ ]* (<[^>]*>|"[^"]*"|[^ ]*)).*,\1,'
}

is_c_library() {
    [[ $1 =~ ^\<([a-z0-9]+)\.h\>$ && " ${c_library[*]} " == *" ${BASH_REMATCH[1]} "* ]]
}

# Position of a room, -1 if there is none of that name.
level_of() {
    local i
    for i in "${!rooms[@]}"; do
        if [[ ${rooms[i]} == "$1" ]]; then
            echo "$i"
            return
        fi
    done
    echo -1
}

# room_may ROOM INCLUDED
room_may() {
    local own target
    own=$(level_of "$1")
    case $2 in
    '<cplayout/'*) [[ $1 == entry ]] ;;
    '<'*) true ;;
    '"kernels/'*) [[ $1 == move ]] ;;
    '"config.h"') [[ $1 == entry ]] ;;
    '"'*/*)
        target=${2#\"}
        target=$(level_of "${target%%/*}")
        [[ $own -ge 0 && $target -ge 0 && $target -le $own && $2 != *..* ]]
        ;;
    *) false ;;
    esac
}

abi_may() {
    case $2 in
    '<cplayout/'* | '<dlfcn.h>') true ;;
    *) is_c_library "$2" ;;
    esac
}

kernels_may() {
    case $2 in
    *..*) false ;;
    '"kernels/'*) true ;;
    '"'*/*) false ;;
    '"'*) true ;;
    '<emmintrin.h>') true ;; # SSE2, of the compiler
    *) is_c_library "$2" ;;
    esac
}

outside_may() {
    local room
    [[ $2 != *plugin/* ]] || return 1
    for room in "${rooms[@]}"; do
        [[ $2 != [\"\<]"$room"/* ]] || return 1
    done
}

# check_folder FOLDER RULE: every include below the folder is allowed, and there is one at all.
check_folder() {
    local file included count=0 bad=0
    while read -r file included; do
        count=$((count + 1))
        "$2" "$(basename "$(dirname "$file")")" "$included" || {
            bad=1
            echo "$file includes $included"
        }
    done < <(includes "$1")
    [[ $count -gt 0 ]] || echo "found no include at all"
    [[ $count -gt 0 && $bad -eq 0 ]]
}

test_folder() {
    if [[ -d $top/$2 ]]; then
        tap_check "$1" check_folder "$2" "$3"
    else
        tap_skip "$1" "there is no folder $2"
    fi
}

# Every source file lies in a room.
files_in_rooms() {
    local file room
    for file in "$top"/plugin/*.[ch] "$top"/plugin/*/*.[ch] "$top"/plugin/*/*/*.[ch]; do
        [[ -e $file ]] || continue
        room=${file#"$top"/plugin/}
        [[ $room == */* && $(level_of "${room%/*}") -ge 0 ]] || echo "${file#"$top"/}"
    done
}

no_file_elsewhere() {
    expect_empty "$(files_in_rooms)"
}

tap_check "plugin: every file lies in a room" no_file_elsewhere
for room in "${rooms[@]}"; do
    test_folder "plugin/$room includes downward" "plugin/$room" room_may
done
test_folder "abi includes the contract and the C library" abi abi_may
test_folder "kernels include themselves and the C library" kernels kernels_may
for folder in tools hosts layers preload; do
    if [[ -n $(find "$top/$folder" -name '*.[ch]' -print -quit 2>/dev/null) ]]; then
        test_folder "$folder include nothing of the plugin" "$folder" outside_may
    fi
done
tap_end
