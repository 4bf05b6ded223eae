#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the cplayout command, as people and scripts use it. Prints TAP.

Environment: CPLAYOUT is the command (words of a shell line), top_srcdir the source tree.
What layouts and routes should be is computed here token by token, by the definitions alone.
"""
import fcntl
import json
import math
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
import traceback

COMMAND = shlex.split(os.environ.get("CPLAYOUT", "tools/cplayout"))
CASES = os.path.join(os.environ.get("top_srcdir", "."), "tests", "cases")
LAYOUTS = ("contiguous", "mirror", "zigzag")
HANG = 120  # seconds after which a command counts as hanging


# ---- Running the command ------------------------------------------------------------------------


def run(*words, env=None):
    done = subprocess.run(COMMAND + [str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=HANG,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def answer(*words):
    """The JSON of a command that should succeed."""
    status, out, err = run(*words, "--json")
    assert status == 0 and err == "", f"{words}: status {status}, stderr {err!r}"
    return json.loads(out)


def refuse(status, words, parts, option=None):
    """The command fails with `status` and a message that has all `parts`, in both forms."""
    got, out, err = run(*words)
    assert got == status, f"{words}: status {got}, not {status}; stderr {err!r}"
    assert out == "", f"{words}: stdout {out!r}"
    for part in parts:
        assert part in err, f"{words}: stderr {err!r} lacks {part!r}"

    got, out, err_json = run(*words, "--json")
    error = json.loads(out)["error"]
    assert got == status and err_json == err, f"{words}: with --json {got} {err_json!r}"
    assert sorted(error) == ["code", "hint", "message", "option"], f"{words}: {error}"
    assert error["code"] and error["message"], f"{words}: {error}"
    assert err.count(error["message"]) == 1, f"{words}: stderr {err!r}"
    if option is not None:
        assert error["option"] == option, f"{words}: names option {error['option']!r}"


def in_terminal(words, columns, **env):
    """What the command writes to a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE")}
    with subprocess.Popen(COMMAND + list(words), stdout=follower, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE,
                          env={**base, "TERM": "xterm", "LANG": "C", **env}) as process:
        os.close(follower)
        written = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            written += part
        assert process.wait(HANG) == 0, process.stderr.read()
    os.close(leader)
    return written.decode()


# ---- The oracle ---------------------------------------------------------------------------------


def needs(layout, cp, tp):
    """What a sequence length must be a multiple of."""
    return math.lcm(2 * cp, cp * tp) if layout == "zigzag" and cp > 1 else cp * tp


def owner(layout, cp, length, token):
    if cp == 1:
        return 0
    if layout == "zigzag":
        chunk = token // (length // (2 * cp))
        return min(chunk, 2 * cp - 1 - chunk)
    piece = token // (length // cp)
    if layout == "contiguous":
        return piece
    held = [k // 2 if k % 2 == 0 else cp - 1 - (k - 1) // 2 for k in range(cp)]
    return held.index(piece)


def table(layout, cp, tp, length):
    """Tokens of every logical rank in local order."""
    ranks = [[] for _ in range(cp)]
    for token in range(length):
        ranks[owner(layout, cp, length, token)].append(token)
    window = length // (cp * tp)
    return [rows[i * window:(i + 1) * window] for rows in ranks for i in range(tp)]


def merge(items):
    """Joins neighbours: equal-length tuples of positions, each of which grows by one."""
    runs = []
    for item in items:
        if runs and all(a + runs[-1][-1] == b for a, b in zip(runs[-1], item)):
            runs[-1][-1] += 1
        else:
            runs.append([*item, 1])
    return runs


def expected_map(layout, cp, tp, length):
    ranks = [{"rank": rank, "cp_rank": rank // tp, "tp_rank": rank % tp,
              "fragments": merge([(token,) for token in rows]), "rows": len(rows),
              "valid_rows": len(rows), "attention_pairs": sum(token + 1 for token in rows)}
             for rank, rows in enumerate(table(layout, cp, tp, length))]
    return {"layout": layout, "cp": cp, "tp": tp, "tokens": length, "rows": length,
            "cu_seqlens_padded": [0, length], "ranks": ranks}


def places(rows_of_ranks):
    """token -> (rank, local row)"""
    return {token: (rank, local) for rank, rows in enumerate(rows_of_ranks)
            for local, token in enumerate(rows)}


def expected_route(source, target):
    """The ranks of a route and its rows[i][j], both from the two tables."""
    count = len(source)
    kept = [[] for _ in range(count)]
    sends = [{} for _ in range(count)]
    receives = [{} for _ in range(count)]
    rows = [[0] * count for _ in range(count)]
    there = places(target)
    for token, (rank, src) in sorted(places(source).items()):
        peer, dst = there[token]
        rows[rank][peer] += 1
        if peer == rank:
            kept[rank].append((src, dst))
        else:
            sends[rank].setdefault(peer, []).append((src,))
            receives[peer].setdefault(rank, []).append((dst,))

    def messages(of_peer):
        return [{"peer": peer, "rows": merge(of_peer[peer])} for peer in sorted(of_peer)]

    ranks = [{"rank": rank, "kept": merge(kept[rank]), "sends": messages(sends[rank]),
              "receives": messages(receives[rank]), "pads": []} for rank in range(count)]
    return ranks, rows


def expected_totals(rows):
    count = len(rows)
    others = [[(i, j) for j in range(count) if j != i] for i in range(count)]
    sent = [sum(rows[i][j] for i, j in pairs) for pairs in others]
    received = [sum(rows[j][i] for i, j in pairs) for pairs in others]
    peers = [sum(1 for i, j in pairs if rows[i][j] + rows[j][i] > 0) for pairs in others]
    return {"total_rows": sum(map(sum, rows)), "moved_rows": sum(sent),
            "worst_rank_rows": max(sent + received), "peers": max(peers)}


def agree(got, wanted, where):
    for key, value in wanted.items():
        assert got.get(key) == value, f"{where}: {key} is {got.get(key)}, not {value}"


def expand(fragments):
    return [token for start, length in fragments for token in range(start, start + length)]


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


# ---- Cases from bug reports ---------------------------------------------------------------------


def load_cases(kind):
    with open(os.path.join(CASES, kind + ".json"), encoding="utf-8") as file:
        return json.load(file)["cases"]


def words_of(kind, given):
    words = [kind]
    for name, value in given.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words += ["--" + name.replace("_", "-"), text]
    return words


def layouts_of(given):
    return [given[name] for name in ("layout", "from", "to") if name in given]


def is_packed(given):
    return "cu_seqlens" in given


def unknown_layouts(given):
    return [layout for layout in layouts_of(given) if layout not in LAYOUTS]


def check_refused_case(kind, case):
    given = case["input"]
    parts = ["--cu-seqlens", "not supported"] if is_packed(given) else unknown_layouts(given)
    refuse(1, words_of(kind, given), parts)


def check_map_case(case):
    words = words_of("map", case["input"])
    if case["expect"].get("error"):
        refuse(1, words, [str(case["input"]["seq"])])
        return
    got = [expand(rank["fragments"]) for rank in answer(*words)["ranks"]]
    assert got == [expand(fragments) for fragments in case["expect"]["fragments"]], case["id"]


def check_route_case(case):
    expect = case["expect"]
    ranks, rows = expected_route(*([expand(fragments) for fragments in expect[side]]
                                   for side in ("source", "target")))
    assert rows == expect["rows"], f"{case['id']}: the case contradicts itself"
    got = answer(*words_of("route", case["input"]))
    agree(got, {"moved_rows": expect["moved_rows"], "ranks": ranks}, case["id"])


def check_cases(kind, check):
    done = 0
    for case in load_cases(kind):
        if is_packed(case["input"]) or unknown_layouts(case["input"]):
            check_refused_case(kind, case)
        else:
            check(case)
            done += 1
    assert done > 0, "no case is supported"


def test_map_cases():
    check_cases("map", check_map_case)


def test_route_cases():
    check_cases("route", check_route_case)


# ---- The command line ---------------------------------------------------------------------------


def test_wrong_usage():
    good = ("map", "--layout", "zigzag", "--seq", "8")
    for words, parts, option in (
            ((), ["verb"], ""),
            (("frob",), ["frob", "--help"], ""),
            (("mapp",), ["mapp", "did you mean 'map'"], ""),
            (("shift", "--layout", "zigzag"), ["shift", "not supported by this version"], ""),
            (("cost",), ["cost", "not supported by this version"], ""),
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
            (("map", "--layout", "zigzag", "--cu-seqlens", "0,8"),
             ["--cu-seqlens", "not supported by this version"], "cu_seqlens"),
            (("map", "--layout", "zigzag", "--seq", "8", "--cu_seqlens_padded", "0,8"),
             ["--cu-seqlens-padded", "not supported by this version"], "cu_seqlens_padded"),
            ((*ask(), "--svg", "file"), ["--svg", "not supported by this version"], "svg"),
            ((*ask(), "--plugin", "/nowhere/plugin.so"), ["/nowhere/plugin.so"], "plugin"),
            (("info", "--plugin", __file__), [os.path.basename(__file__)], "plugin")):
        refuse(1, words, parts, option)


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
                  ("info",)):
        for order in ((*words, "--json"), (words[0], "--json", *words[1:])):
            status, out, err = run(*order)
            assert status == 0 and err == "" and out.count("\n") == 1, order
            assert isinstance(json.loads(out), dict), order
    keys = list(answer("map", "--layout", "mirror", "--seq", "6"))
    assert keys == ["layout", "cp", "tp", "tokens", "rows", "cu_seqlens_padded", "identity",
                    "ranks"], keys


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
                  ("map", "--help"), ("--help",)):
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
                  ("map", "--help")):
        for columns in (60, 100):
            for line in in_terminal(words, columns, NO_COLOR="1").splitlines()[1:]:
                assert len(line) <= columns, (words, columns, line)


def test_info():
    info = answer("info")
    text = run("info")[1]
    assert sorted(info["abi"]) == ["draft", "major", "minor"], info["abi"]
    assert info["transports"] == ["local"] and "plan/1" in info["interfaces"], info
    assert info["plugin"].endswith(".so") and info["version"] in text, info
    assert len(info["options"]) > 0
    for option in info["options"]:
        assert sorted(option) == ["default", "help", "name", "type", "values"], option
        assert option["name"] in text and option["help"].split()[0] in text, option


def test_help_and_version():
    for words in (("--help",), ("map", "--help"), ("route", "--help"), ("info", "--help")):
        status, out, err = run(*words)
        assert status == 0 and err == "" and "usage: cplayout" in out and "--json" in out, words
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


# ---- TAP ----------------------------------------------------------------------------------------


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, (name, test) in enumerate(tests, 1):
        title = name[len("test_"):].replace("_", " ")
        try:
            test()
            print(f"ok {number} - {title}", flush=True)
        except Exception:  # whatever goes wrong, the other tests still run
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {title}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
