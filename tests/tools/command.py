#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the cplayout command over dense sequences, as people and scripts use it. Prints TAP."""
import json
import math
import os
import subprocess
import sys

from oracle import (LAYOUTS, agree, expected_map, expected_route, expected_totals, needs, table)
from tap import COMMAND, HANG, answer, in_terminal, refuse, run, run_tests


def grids():
    return [(cp, tp) for cp in range(1, 7) for tp in range(1, 4)]


# ---- map ----------------------------------------------------------------------------------------


def check_map(layout):
    for cp, tp in grids():
        unit = needs(layout, cp, tp)
        for length in (unit, 2 * unit, 7 * unit):
            words = ("map", "--layout", layout, "--cp", cp, "--tp", tp, "--seq", length)
            got = answer(*words)
            agree(got, expected_map(layout, cp, tp, length), words)
            assert len(got["identity"]) == 16 and int(got["identity"], 16) != 0, words


def test_map_contiguous():
    check_map("contiguous")


def test_map_mirror():
    check_map("mirror")


def test_map_zigzag():
    check_map("zigzag")


def test_identity_is_of_the_content():
    for cp, tp in grids():
        length = 2 * needs("zigzag", cp, tp)
        tables = [table(layout, cp, tp, length) for layout in LAYOUTS]
        identities = [answer("map", "--layout", layout, "--cp", cp, "--tp", tp, "--seq",
                             length)["identity"] for layout in LAYOUTS]
        for i in range(len(LAYOUTS)):
            for j in range(i):
                assert (tables[i] == tables[j]) == (identities[i] == identities[j]), (cp, tp, i, j)


def test_ranks_default_to_one():
    agree(answer("map", "--layout", "zigzag", "--seq", 7), expected_map("zigzag", 1, 1, 7), "map")


def test_indivisible_lengths():
    for layout in LAYOUTS:
        for cp, tp in grids():
            unit = needs(layout, cp, tp)
            for length in {1, unit + 1, 3 * unit - 1} if unit > 1 else ():
                refuse(1, ("map", "--layout", layout, "--cp", cp, "--tp", tp, "--seq", length),
                       [str(length)], "seq")


# ---- route --------------------------------------------------------------------------------------


def check_route_pair(source, target):
    for cp, tp in grids():
        unit = math.lcm(needs(source, cp, tp), needs(target, cp, tp))
        for length in (unit, 3 * unit):
            words = ("route", "--from", source, "--to", target, "--cp", cp, "--tp", tp,
                     "--seq", length)
            ranks, rows = expected_route(table(source, cp, tp, length),
                                         table(target, cp, tp, length))
            got = answer(*words)
            agree(got, {"from": source, "to": target, "ranks": ranks}, words)
            agree(got, expected_totals(rows), words)


def test_route_from_contiguous():
    for target in LAYOUTS:
        check_route_pair("contiguous", target)


def test_route_from_mirror():
    for target in LAYOUTS:
        check_route_pair("mirror", target)


def test_route_from_zigzag():
    for target in LAYOUTS:
        check_route_pair("zigzag", target)


def test_route_names_the_layout_that_fails():
    lengths = ("--cp", "2", "--seq", "6")
    refuse(1, ("route", "--from", "nowhere", "--to", "zigzag", *lengths), ["nowhere"], "from")
    refuse(1, ("route", "--from", "mirror", "--to", "nowhere", *lengths), ["nowhere"], "to")
    refuse(1, ("route", "--from", "mirror", "--to", "zigzag", *lengths), ["6", "zigzag"], "seq")


# ---- The command line ---------------------------------------------------------------------------


def test_wrong_usage():
    good = ("map", "--layout", "zigzag", "--seq", "8")
    for words, parts, option in (
            ((), ["verb"], ""),
            (("frob",), ["frob", "--help"], ""),
            (("mapp",), ["mapp", "did you mean 'map'"], ""),
            (("mpa",), ["mpa", "did you mean 'map'"], ""),
            (("ruote",), ["did you mean 'route'"], ""),
            (("rout",), ["did you mean 'route'"], ""),
            (("chekc",), ["did you mean 'check'"], ""),
            (("in",), ["did you mean 'info'"], ""),
            (("hlep",), ["did you mean 'help'"], ""),
            (("help", "mpa"), ["did you mean 'map'"], ""),
            (("x" * 500,), ["unknown verb"], ""),
            (("plan", "--layout", "zigzag"), ["plan", "not supported by this version"], ""),
            (("grid",), ["grid", "not supported by this version"], ""),
            (("shfit",), ["did you mean 'shift'"], ""),
            (("shift", "--layout", "zigzag"), ["--seq"], "seq"),
            (("shift", "--layout", "zigzag", "--seq", "8", "--by", "x"), ["--by", "'x'"], "by"),
            (("cost", "--seq", "8"), ["--layout"], "layout"),
            (("cost", "--layout", "zigzag", "--seq", "8", "--hidden", "4", "--dtype", "fp12"),
             ["--dtype", "fp12", "bf16"], "dtype"),
            (("cost", "--layout", "zigzag", "--seq", "8", "--dtype", "bf16"), ["--hidden"],
             "hidden"),
            (("cost", "--layout", "zigzag", "--seq", "8", "--linear-layers", "3"),
             ["--linear-layers needs", "--state-bytes"], "linear_layers"),
            (("map", "--seq", "8"), ["--layout"], "layout"),
            (("map", "--layout", "zigzag"), ["--seq"], "seq"),
            (("route", "--from", "zigzag", "--seq", "8"), ["--to"], "to"),
            ((*good, "--laiout", "mirror"), ["--laiout", "did you mean '--layout'"], "laiout"),
            ((*good, "--context-paralel-size", "2"), ["'--context-parallel-size'"],
             "context_paralel_size"),
            ((*good, "--from", "zigzag"), ["--from", "map"], "from"),
            ((*good, "--xyzzy=3"), ["--xyzzy", "map --help"], "xyzzy"),
            ((*good, "9"), ["unexpected", "9"], ""),
            ((*good, "-c"), ["unexpected", "-c"], ""),
            ((*good, "--cp"), ["--cp", "needs a value"], "cp"),
            (("map", "--layout", "--seq", "8"), ["--layout", "needs a value"], "layout"),
            ((*good, "--cp", "two"), ["--cp", "'two'", "not an integer"], "cp"),
            ((*good, "--cp", "2x"), ["--cp", "'2x'", "'x' follows"], "cp"),
            ((*good, "--cp", "2.5"), ["--cp", "'2.5'"], "cp"),
            ((*good, "--cp", " 2"), ["--cp", "' 2'"], "cp"),
            ((*good, "--cp", "+2"), ["--cp", "'+2'"], "cp"),
            ((*good, "--cp="), ["--cp", "''"], "cp"),
            ((*good, "--cp", "-"), ["--cp", "'-'"], "cp"),
            ((*good, "--seq-length", "0x10"), ["--seq", "'0x10'"], "seq"),
            ((*good, "--cp", "2", "--cp", "4"), ["--cp", "twice", "'2'", "'4'"], "cp"),
            ((*good, "--help=perhaps"), ["--help", "'perhaps'"], "help")):
        refuse(2, words, parts, option)


def test_invalid_input():
    def ask(layout="zigzag", seq="8", cp="2", tp="1"):
        return ("map", "--layout", layout, "--seq", seq, "--cp", cp, "--tp", tp)

    for words, parts, option in (
            (ask(seq="0"), ["--seq", "0"], "seq"),
            (ask(seq="-8"), ["--seq", "-8"], "seq"),
            (ask(seq="9223372036854775808"), ["--seq", "9223372036854775808"], "seq"),
            (ask(seq="9" * 500), ["--seq", "9" * 100], "seq"),
            (ask(cp="0"), ["--cp", "0"], "cp"),
            (ask(cp="-2"), ["--cp", "-2"], "cp"),
            (ask(cp="2147483648"), ["--cp", "2147483648"], "cp"),
            (ask(tp="0"), ["--tp", "0"], "tp"),
            (ask(tp="-9223372036854775809"), ["--tp", "-9223372036854775809"], "tp"),
            (ask(cp="2147483647", tp="2147483647"), ["2147483647"], "cp"),
            (ask(seq="9"), ["9", "8", "12"], "seq"),
            (ask(layout="zigzig"), ["zigzig", "zigzag"], "layout"),
            (ask(layout=""), [], "layout"),
            (ask(layout="\x1b[31mred"), ["?[31mred"], "layout"),
            (("shift", "--layout", "zigzag", "--seq", "8", "--by", "4294967296"),
             ["--by", "4294967296", "4294967295"], "by"),
            (("cost", "--layout", "zigzag", "--seq", "8", "--hidden", "0"), ["--hidden", "0"],
             "hidden"),
            (("cost", "--layout", "zigzag", "--to", "zigzig", "--seq", "8"), ["zigzig"], "to"),
            (ask(layout="striped"), ["'striped'", "striped:B"], "layout"),
            (ask(layout="striped:0"), ["'striped:0'", "striped:B"], "layout"),
            (ask(layout="striped:-1"), ["'striped:-1'"], "layout"),
            (ask(layout="striped:x"), ["'striped:x'"], "layout"),
            (ask(layout="striped:1", seq="8388608"), ["8388608 blocks", "4194304"], "layout"),
            (ask(layout="striped:3"), ["8", "multiple of 6", "6 and 12"], "seq"),
            (ask(layout="zigzag:2"), ["'zigzag:2'", "written zigzag"], "layout"),
            (ask(layout="balanced:0"), ["'balanced:0'", "TOL"], "layout"),
            (ask(layout="balanced:-1"), ["'balanced:-1'"], "layout"),
            (ask(layout="balanced:0.1:0"), ["'balanced:0.1:0'", "CHUNK"], "layout"),
            (ask(layout="table"), ["args.table"], "layout"),
            ((*ask(), "--svg", "/nowhere/x.svg"), ["/nowhere/x.svg", "No such file"], "svg"),
            ((*ask(), "--plugin", "/nowhere/plugin.so"), ["/nowhere/plugin.so"], "plugin"),
            (("info", "--plugin", __file__), [os.path.basename(__file__)], "plugin")):
        refuse(1, words, parts, option)
    status, out, _ = run("shift", "--layout", "zigzag", "--seq", "16777217", "--json")
    assert status == 1 and json.loads(out)["error"]["option"] == "json", out


def test_bytes_that_are_no_text():
    done = subprocess.run(COMMAND + ["map", "--layout", b"zig\xffzag", "--seq", "8", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANG)
    assert done.returncode == 1
    assert "zig?zag" in json.loads(done.stdout)["error"]["message"]
    assert b"zig?zag" in done.stderr


def test_synonyms():
    wanted = answer("map", "--layout", "zigzag", "--seq", 24, "--cp", 2, "--tp", 3)
    for words in (
            ("--seq-length", "24", "--context-parallel-size", "2",
             "--tensor-model-parallel-size", "3"),
            ("--seq_length=24", "--context_parallel_size=2", "--tensor_model_parallel_size=3"),
            ("--seq=24", "--cp=2", "--tp", "3", "--json", "true"),
            ("--seq", "24", "--seq-length", "24", "--cp", "02", "--tp", "3", "--json=true")):
        assert answer("map", "--layout", "zigzag", *words) == wanted, words
    assert run("map", "--json", "false", "--layout", "zigzag", "--seq", "8")[1][0] != "{"


def test_json_is_all_of_stdout():
    for words in (("map", "--layout", "mirror", "--seq", "6", "--cp", "3"),
                  ("route", "--from", "mirror", "--to", "zigzag", "--seq", "12", "--cp", "3"),
                  ("info",), ("check", "--cp", "4")):
        for order in ((*words, "--json"), (words[0], "--json", *words[1:])):
            status, out, err = run(*order)
            assert status == 0 and err == "" and out.count("\n") == 1, order
            assert isinstance(json.loads(out), dict), order
    keys = list(answer("map", "--layout", "mirror", "--seq", "6"))
    assert keys == ["layout", "cp", "tp", "tokens", "stream_rows", "rows", "cu_seqlens_padded",
                    "identity", "ranks"], keys


def test_output_that_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(COMMAND + ["map", "--layout", "zigzag", "--seq", "8"], stdout=full,
                              stderr=subprocess.PIPE, timeout=HANG)
    assert done.returncode == 1 and b"cannot write" in done.stderr, done


# ---- Text for people ----------------------------------------------------------------------------


def test_map_text():
    status, out, err = run("map", "--layout", "zigzag", "--seq", "8", "--cp", "2")
    lines = out.splitlines()
    assert status == 0 and err == ""
    assert lines[0].startswith("zigzag, P = 2, T = 1: 8 tokens in 8 rows, identity "), lines[0]
    assert lines[2].split()[:5] == ["0", "0-1,", "6-7", "4", "18"], lines[2]
    assert lines[3].split()[:4] == ["1", "2-5", "4", "18"], lines[3]
    strips = [line.split()[-1] for line in lines[2:4]]
    cell = len(strips[0]) // 4
    assert strips == ["".join(mark * cell for mark in "#..#"),
                      "".join(mark * cell for mark in ".##.")], strips
    assert lines[4].startswith("attention balance: max/mean 1.0000"), lines[4]
    balance = run("map", "--layout", "contiguous", "--seq", "8", "--cp", "2", "--tp", "2")[1]
    assert "max/mean 1.4444" in balance, balance  # 26 of 36 pairs on one of two CP ranks


def test_map_text_explains_itself():
    words = ("map", "--layout", "zigzag", "--seq", "64", "--cp", "4")
    lines = [run(*words, "--tp", tp)[1].splitlines() for tp in (1, 2)]
    assert lines[0][1].split() == ["rank", "tokens", "rows", "pairs"], lines[0]
    assert lines[1][1].split() == ["rank", "cp", "tokens", "rows", "pairs"], lines[1]
    assert [line.split()[:2] for line in lines[1][2:10]] == [
        [str(rank), str(rank // 2)] for rank in range(8)], lines[1]
    for text in lines:
        assert [line.split()[0] for line in text[-2:]] == ["pairs:", "strip:"], text
        assert "# held, + in part, . by others" in text[-1], text


def test_map_text_leaves_the_strip_out():
    """Rather than wrap: fifteen digits per range leave no room for it."""
    words = ("map", "--layout", "zigzag", "--seq", "4294967292", "--cp", "2")
    assert "strip:" in in_terminal(words, 100, NO_COLOR="1")
    narrow = in_terminal(words, 60, NO_COLOR="1")
    assert "strip:" not in narrow and "#" not in narrow, narrow
    assert "." not in narrow.splitlines()[2], narrow


def test_route_text():
    words = ("route", "--from", "contiguous", "--to", "zigzag", "--cp", "4", "--seq", "16")
    status, out, err = run(*words)
    lines = out.splitlines()
    rows = expected_route(table("contiguous", 4, 1, 16), table("zigzag", 4, 1, 16))[1]
    totals = expected_totals(rows)
    assert status == 0 and err == ""
    assert lines[0] == "contiguous -> zigzag, P = 4, T = 1: 12 of 16 rows move", lines[0]
    assert lines[1] == (f"busiest rank: {totals['worst_rank_rows']} rows, "
                        f"most peers of a rank: {totals['peers']}"), lines[1]
    for rank, counts in enumerate(rows):
        shown = [str(count) if count else "." for count in counts]
        assert ["from", str(rank), *shown] in [line.split() for line in lines], (rank, out)
    section = out[out.index("rank 0\n"):out.index("rank 1\n")].splitlines()
    assert [line.split() for line in section[1:]] == [
        ["keeps", "0-1"], ["sends", "to", "1:", "2-3"], ["receives", "from", "3:", "2-3"]], section


def test_route_text_of_many_ranks():
    out = run("route", "--from", "contiguous", "--to", "zigzag", "--cp", "32", "--seq", "64")[1]
    rows = expected_route(table("contiguous", 32, 1, 64), table("zigzag", 32, 1, 64))[1]
    lines = [line.split() for line in out.splitlines()]
    for rank, counts in enumerate(rows):
        sent = [count for peer, count in enumerate(counts) if peer != rank]
        received = [rows[peer][rank] for peer in range(32) if peer != rank]
        wanted = [rank, counts[rank], sum(sent), sum(received), sum(map(bool, sent)),
                  sum(map(bool, received))]
        assert list(map(str, wanted)) in lines, (rank, wanted)


def test_pipes_get_plain_ascii():
    for words in (("map", "--layout", "zigzag", "--seq", "16", "--cp", "4"),
                  ("route", "--from", "mirror", "--to", "zigzag", "--seq", "16", "--cp", "4"),
                  ("map", "--help"), ("--help",), ("check", "--cp", "x"), ("info",)):
        out = run(*words, env={"TERM": "xterm", "LC_ALL": "C.UTF-8"})[1]
        assert out.isascii() and "\x1b" not in out, words


def test_colors_in_a_terminal():
    words = ("map", "--layout", "zigzag", "--seq", "16", "--cp", "4")
    assert "\x1b[" in in_terminal(words, 80)
    assert "\x1b[" in in_terminal(words, 80, NO_COLOR="")
    assert "\x1b" not in in_terminal(words, 80, NO_COLOR="1")
    assert "\x1b" not in in_terminal(words, 80, TERM="dumb")


def test_fits_the_terminal():
    for words in (("map", "--layout", "zigzag", "--seq", "4096", "--cp", "64"),
                  ("map", "--layout", "zigzag", "--seq", "16", "--cp", "2"),
                  ("map", "--layout", "zigzag", "--seq", "160", "--cp", "4", "--tp", "4"),
                  ("map", "--layout", "zigzag", "--cp", "4", "--cu-seqlens",
                   ",".join(str(17 * i) for i in range(200))),
                  ("map", "--help"), ("check", "--help"), ("--help",)):
        for columns in (60, 100):
            for line in in_terminal(words, columns, NO_COLOR="1").splitlines()[1:]:
                assert len(line) <= columns, (words, columns, line)


def test_info():
    info = answer("info")
    text = run("info")[1]
    assert sorted(info["abi"]) == ["draft", "major", "minor"], info["abi"]
    assert info["transports"] == ["local", "host"] and "plan/1" in info["interfaces"], info
    assert info["plugin"].endswith(".so") and info["version"] in text, info
    assert len(info["options"]) > 0
    for option in info["options"]:
        assert sorted(option) == ["default", "deprecated", "help", "name", "synonyms", "type",
                                  "values"], option
        head = option["name"] + (" = " + option["default"] if option["default"] else "")
        assert f"\n  {head}" in text and option["help"].split()[0] in text, option
        assert option["synonyms"] in text, option


def test_info_keeps_ranges_together():
    text = run("info")[1]
    ranges = [option["values"] for option in answer("info")["options"] if "..." in option["values"]]
    assert ranges
    for values in ranges:
        kept = values.split(",")[0]
        assert kept in text, kept


def test_help():
    verbs = ("map", "route", "check", "info")
    top = run("--help")[1]
    for words in (("-h",), ("help",), ("help", "--json")):
        assert run(*words) == (0, top, ""), words
    assert "usage: cplayout VERB" in top and all(f"\n  {verb} " in top for verb in verbs), top
    for verb in verbs:
        wanted = run(verb, "--help")
        assert wanted[0] == 0 and wanted[2] == "", verb
        assert f"usage: cplayout {verb}" in wanted[1] and "--json" in wanted[1], verb
        for words in ((verb, "-h"), (verb, "help"), ("help", verb), (verb, "--json", "--help")):
            assert run(*words) == wanted, words


def test_nothing_gets_the_usage():
    status, out, err = run()
    assert status == 2 and out == "" and err.startswith("usage: cplayout VERB"), err
    for verb in ("map", "route", "check", "info"):
        assert f"\n  {verb} " in err, err


def test_version():
    status, out, err = run("--version")
    assert status == 0 and err == "" and out.startswith("cplayout "), out
    assert answer("--version")["version"] == out.split()[1]


# ---- Size ---------------------------------------------------------------------------------------


def test_many_ranks_and_long_sequences():
    length = 4096 * 4096 * 128  # 2^31
    words = ("--cp", 4096, "--seq", length)
    ranks = answer("map", "--layout", "zigzag", *words)["ranks"]
    assert len(ranks) == 4096
    assert sum(rank["attention_pairs"] for rank in ranks) == length * (length + 1) // 2
    assert len({rank["attention_pairs"] for rank in ranks}) == 1
    got = answer("route", "--from", "contiguous", "--to", "zigzag", *words)
    kept = sum(rows for rank in got["ranks"] for _, _, rows in rank["kept"])
    sent = sum(rows for rank in got["ranks"] for message in rank["sends"]
               for _, rows in message["rows"])
    assert kept + sent == length and sent == got["moved_rows"]
    for verb in (("map", "--layout", "mirror"), ("route", "--from", "mirror", "--to", "zigzag")):
        status, out, err = run(*verb, *words)
        assert status == 0 and err == "" and out.count("\n") > 4096, verb


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
