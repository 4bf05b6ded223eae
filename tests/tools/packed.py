#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of map and route over packed documents. Prints TAP."""
import json
import os
import random
import sys
import tempfile
from xml.etree import ElementTree

from oracle import (LAYOUTS, Pack, agree, expected_cost, expected_packed_map, expected_route,
                    expected_shift, expected_totals, needs, packed_table)
from tap import answer, refuse, run, run_tests

PACKS = 240
INT32_MOST = 2**31 - 1


def lengths(pack, padded=True):
    words = ["--cu-seqlens", ",".join(map(str, pack.cu_seqlens()))]
    if padded:
        words += ["--cu-seqlens-padded", ",".join(map(str, pack.cu_seqlens_padded()))]
    return words


# ---- Random packs -------------------------------------------------------------------------------


def draw_documents(source, padded):
    documents = []
    for _ in range(source.randint(1, 6)):
        real = source.choice((0, 1, 2, source.randint(3, 12)))
        documents.append((real, real + (source.choice((0, 0, 1, source.randint(2, 7)))
                                        if padded else 0)))
    return documents


def draw_pack(source, unit):
    """A pack whose rows are a multiple of `unit`, and whether it has padding."""
    padded = source.random() < 0.6
    documents = draw_documents(source, padded)
    missing = -sum(rows for _, rows in documents) % unit
    real, rows = documents.pop()
    documents.append((real if padded else real + missing, rows + missing))
    return Pack(documents), padded


def draws():
    source = random.Random(20261)
    for _ in range(PACKS):
        cp, tp = source.randint(1, 4), source.randint(1, 3)
        pack, padded = draw_pack(source, cp * tp)
        yield cp, tp, pack, ["--cp", cp, "--tp", tp, *lengths(pack, padded)]


def check_maps(layout):
    for cp, tp, pack, words in draws():
        got = answer("map", "--layout", layout, *words)
        agree(got, expected_packed_map(layout, cp, tp, pack), (layout, words))


def test_map_contiguous():
    check_maps("contiguous")


def test_map_mirror():
    check_maps("mirror")


def test_map_zigzag():
    check_maps("zigzag")


def test_map_zigzag_stream():
    check_stream_maps("zigzag-stream")


def test_map_striped():
    for block in (1, 2, 3):
        check_stream_maps(f"striped:{block}")


def check_stream_maps(layout):
    """Layouts that ignore documents ask for lengths of their own."""
    source = random.Random(layout)
    for _ in range(PACKS // 3):
        cp, tp = source.randint(1, 4), source.randint(1, 3)
        pack, padded = draw_pack(source, needs(layout, cp, tp))
        words = ["--cp", cp, "--tp", tp, *lengths(pack, padded)]
        agree(answer("map", "--layout", layout, *words),
              expected_packed_map(layout, cp, tp, pack), (layout, words))


def test_shift():
    source = random.Random(7)
    for cp, tp, pack, words in draws():
        layout, by = source.choice(("contiguous", "mirror", "zigzag")), source.randint(-4, 4)
        wanted = expected_shift(packed_table(layout, cp, tp, pack), pack, by)
        got = answer("shift", "--layout", layout, "--by", by, *words)
        assert [rank["targets"] for rank in got["ranks"]] == wanted, (layout, by, words)


def test_cost():
    source = random.Random(8)
    for cp, tp, pack, words in draws():
        layout, to = (source.choice(("contiguous", "mirror", "zigzag")) for _ in range(2))
        tables = [packed_table(name, cp, tp, pack) for name in (layout, to)]
        wanted = expected_cost(tables[0], tp, pack)
        totals = expected_totals(expected_route(*tables)[1])
        got = answer("cost", "--layout", layout, "--to", to, "--hidden", 3, "--dtype", "fp32",
                     *words)
        attention = wanted.pop("attention")
        assert got["attention"]["pairs"] == attention["pairs"], (layout, words)
        assert abs(got["attention"]["max_over_mean"] - attention["max_over_mean"]) < 1e-9, words
        agree(got, wanted, (layout, words))
        agree(got, {"moved_rows": totals["moved_rows"], "peers": totals["peers"],
                    "worst_rank_rows": totals["worst_rank_rows"],
                    "bytes_total": 12 * totals["moved_rows"],
                    "bytes_worst_rank": 12 * totals["worst_rank_rows"]}, (layout, to, words))


def test_break_even():
    got = answer("cost", "--layout", "contiguous", "--to", "zigzag", "--cp", 8, "--seq", 131072,
                 "--hidden", 4096, "--dtype", "bf16", "--linear-layers", 24, "--conversions", 8,
                 "--state-bytes", 4 << 20)
    assert got["break_even_tokens"] == 24 * 7 * 8 * (4 << 20) / (8 * 8192), got


def test_balanced():
    """By properties: every row once, equal shares, work within the tolerance."""
    offsets = [0, 300, 310, 2048, 2050, 4096]
    words = ("--cp", 4, "--cu-seqlens", ",".join(map(str, offsets)))
    got = answer("map", "--layout", "balanced:0.02", *words)
    rows = [row for rank in got["ranks"] for start, length in rank["fragments"]
            for row in range(start, start + length)]
    work = [rank["attention_pairs"] for rank in got["ranks"]]
    assert sorted(rows) == list(range(4096)) and {r["rows"] for r in got["ranks"]} == {1024}
    assert max(work) <= 1.02 * sum(work) / 4, work
    moved = answer("route", "--from", "contiguous", "--to", "balanced:0.02", *words)["moved_rows"]
    assert 0 < moved < answer("route", "--from", "contiguous", "--to", "zigzag",
                              *words)["moved_rows"], moved


def test_svg():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a<b&c.svg")
        answer("map", "--layout", "zigzag", "--cp", 3, "--cu-seqlens", "0,7,20", "--svg", path)
        with open(path, encoding="utf-8") as file:
            root = ElementTree.fromstring(file.read())
        assert os.listdir(folder) == ["a<b&c.svg"], "a draft was left"
        bars = [bar for bar in root.iter("{http://www.w3.org/2000/svg}rect")
                if bar.get("class").startswith("c")]
        pack = Pack([(7, 7), (13, 13)])
        for rank, rows in enumerate(packed_table("zigzag", 3, 1, pack)):
            own = [bar for bar in bars if bar.get("class") == f"c{rank}"]
            width = sum(float(bar.get("width")) for bar in own)
            assert abs(width - 720 * sum(row >= 0 for row in rows) / 20) < 0.1, rank
        ask = ("map", "--layout", "striped:16", "--cp", 2, "--seq", 1048576, "--svg")
        answer(*ask, os.path.join(folder, "thin.svg"))
        with open(os.path.join(folder, "thin.svg"), encoding="utf-8") as file:
            assert file.read().count("<rect") <= 2 + 2 * 7201, "slivers on top of each other"
        os.unlink(os.path.join(folder, "thin.svg"))
        refuse(1, ("map", "--layout", "zigzag", "--seq", "8", "--svg", folder), [folder], "svg")
        assert os.listdir(folder) == ["a<b&c.svg"], "a draft was left"


def test_svg_goes_into_what_is_there():
    """Links are followed, pipes written to, modes kept: nothing is put in their place."""
    ask = ("map", "--layout", "zigzag", "--cp", 2, "--seq", 8, "--svg")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a" * 255)
        answer(*ask, path)
        with open(path, encoding="utf-8") as file:
            picture = file.read()
        os.chmod(path, 0o640)
        link = os.path.join(folder, "link")
        os.symlink(path, link)
        os.truncate(path, 0)
        answer(*ask, link)
        assert os.path.islink(link) and os.path.getsize(path) == len(picture)
        assert os.stat(path).st_mode & 0o777 == 0o640
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        answer(*ask, pipe)
        assert os.read(reader, 1 << 16).decode() == picture
        os.close(reader)
        assert not os.path.isfile(pipe)


def test_zigzag_of_any_length():
    """Zigzag pads; nothing has to divide."""
    source = random.Random(4)
    for _ in range(PACKS // 2):
        cp, tp = source.randint(2, 4), source.randint(1, 3)
        padded = source.random() < 0.5
        pack = Pack(draw_documents(source, padded))
        words = ["--cp", cp, "--tp", tp, *lengths(pack, padded)]
        agree(answer("map", "--layout", "zigzag", *words),
              expected_packed_map("zigzag", cp, tp, pack), words)


def check_routes(source, target):
    for cp, tp, pack, words in draws():
        tables = [packed_table(layout, cp, tp, pack) for layout in (source, target)]
        ranks, rows = expected_route(*tables)
        padding = sum(held.count(-1) for held in tables[1])
        got = answer("route", "--from", source, "--to", target, *words)
        agree(got, {"from": source, "to": target, "ranks": ranks}, (source, target, words))
        agree(got, expected_totals(rows, padding), (source, target, words))


def test_route_contiguous_to_zigzag():
    check_routes("contiguous", "zigzag")


def test_route_zigzag_to_contiguous():
    check_routes("zigzag", "contiguous")


def test_route_zigzag_to_itself():
    check_routes("zigzag", "zigzag")


def test_route_mirror_to_zigzag():
    check_routes("mirror", "zigzag")


def test_padded_offsets_default_to_the_real_ones():
    pack = Pack([(3, 3), (5, 5), (0, 0)])
    for layout in LAYOUTS:
        words = ("map", "--layout", layout, "--cp", 2)
        assert answer(*words, *lengths(pack, False)) == answer(*words, *lengths(pack)), layout


def test_no_tokens():
    for given in ("0,0", "0,0,0,0"):
        for layout in (*LAYOUTS, "striped:2", "balanced"):
            words = ("--cp", 4, "--tp", 3, "--cu-seqlens", given)
            got = answer("map", "--layout", layout, *words)
            assert got["rows"] == 0 and [r["fragments"] for r in got["ranks"]] == [[]] * 12, got
            assert run("map", "--layout", layout, *words)[1].count("none") == 12
            got = answer("route", "--from", layout, "--to", "zigzag", *words)
            assert got["total_rows"] == 0, got
            assert run("route", "--from", layout, "--to", "zigzag", *words)[0] == 0


# ---- Bad lists ----------------------------------------------------------------------------------


def both_verbs(*words):
    yield ("map", "--layout", "zigzag", "--cp", "2", *words)
    yield ("route", "--from", "zigzag", "--to", "contiguous", "--cp", "2", *words)


def test_lists_that_are_no_lists():
    long = "1" * 500
    for given, index, shown in (
            ("", 0, "''"), (",", 0, "''"), ("0,", 1, "''"), ("0,,8", 1, "''"), (",0,8", 0, "''"),
            ("0,x", 1, "'x'"), ("0,8x", 1, "'8x'"), ("0;8", 0, "'0;8'"), ("0 8", 0, "'0 8'"),
            ("0, 8", 1, "' 8'"), ("0,8 ", 1, "'8 '"), ("0,+8", 1, "'+8'"), ("0,-", 1, "'-'"),
            ("0,--8", 1, "'--8'"), ("0,8.0", 1, "'8.0'"), ("0,1e3", 1, "'1e3'"),
            ("0,0x8", 1, "'0x8'"), ("[0,8]", 0, "'[0'"), ("0,4,nan", 2, "'nan'"),
            ("0,2147483648", 1, "'2147483648'"), ("0,-2147483649", 1, "'-2147483649'"),
            ("0,99999999999999999999", 1, "'99999999999999999999'"), (f"0,{long}", 1, "1" * 60)):
        for words in both_verbs("--cu-seqlens=" + given):
            refuse(2, words, ["--cu-seqlens:", f"[{index}]", shown], "cu_seqlens")
        for words in both_verbs("--cu-seqlens", "0,8", "--cu-seqlens-padded", given):
            refuse(2, words, ["--cu-seqlens-padded:", f"[{index}]", shown], "cu_seqlens_padded")


def test_lists_that_break_the_rules():
    most = str(INT32_MOST)
    for real, padded, parts, option in (
            ("0", None, ["2", "1"], "cu_seqlens"),
            ("7", None, ["2", "1"], "cu_seqlens"),
            ("2,4,8", None, ["cu_seqlens[0]", "2"], "cu_seqlens"),
            ("-1,4", None, ["cu_seqlens[0]", "-1"], "cu_seqlens"),
            ("0,-4", None, ["cu_seqlens[1]", "-4"], "cu_seqlens"),
            ("0,-2147483648", None, ["cu_seqlens[1]", "-2147483648"], "cu_seqlens"),
            ("0,8,4", None, ["cu_seqlens[2]", "4", "8"], "cu_seqlens"),
            ("0,8", "4,12", ["cu_seqlens_padded[0]", "4"], "cu_seqlens_padded"),
            ("0,4,8", "0,12,8", ["cu_seqlens_padded[2]", "8", "12"], "cu_seqlens_padded"),
            ("0,4,8", "0,3,8", ["document 0", "4", "3"], "cu_seqlens_padded"),
            ("0,4,8", "0,5,8", ["document 1", "4", "3"], "cu_seqlens_padded"),
            ("0,4,8", "0,8", ["cu_seqlens_padded", "2", "3"], "cu_seqlens_padded"),
            ("0,8", "0,8,16", ["cu_seqlens_padded", "3", "2"], "cu_seqlens_padded"),
            ("0,8", "0", ["cu_seqlens_padded", "1 entry", "2"], "cu_seqlens_padded"),
            (f"0,{most}", None, [most], "cu_seqlens")):
        given = ["--cu-seqlens=" + real]
        given += ["--cu-seqlens-padded=" + padded] if padded is not None else []
        for words in both_verbs(*given):
            refuse(1, words, parts, option)


def test_rows_that_do_not_divide():
    for layout, cp, tp in (("contiguous", 2, 1), ("mirror", 4, 1), ("zigzag", 1, 2)):
        words = ("map", "--layout", layout, "--cp", cp, "--tp", tp, "--cu-seqlens", "0,3,9")
        refuse(1, words, ["9", layout, f"P = {cp}"], "cu_seqlens")
        words = (*words, "--cu-seqlens-padded", "0,6,13")
        refuse(1, words, ["13", layout, f"T = {tp}"], "cu_seqlens_padded")


def test_exactly_one_kind_of_length():
    packed = ("--cu-seqlens", "0,8")
    padded = ("--cu-seqlens-padded", "0,8")
    for verb in (("map", "--layout", "zigzag"), ("route", "--from", "zigzag", "--to", "mirror")):
        refuse(2, verb, ["--seq", "--cu-seqlens"], "seq")
        refuse(2, (*verb, *packed, "--seq", "8"), ["--seq", "--cu-seqlens"], "cu_seqlens")
        refuse(2, (*verb, *padded), ["--cu-seqlens-padded needs --cu-seqlens"], "cu_seqlens")
        refuse(2, (*verb, *padded, "--seq", "8"), ["--cu-seqlens-padded needs"], "cu_seqlens")
        refuse(2, (*verb, "--cu-seqlens"), ["--cu-seqlens needs a value"], "cu_seqlens")
        refuse(2, (*verb, *packed, *padded[:1]), ["needs a value"], "cu_seqlens_padded")
        refuse(2, (*verb, *packed, "--cu_seqlens=0,9"), ["twice", "'0,8'", "'0,9'"], "cu_seqlens")
    assert answer(*verb, *packed, "--cu_seqlens=0,8", "--cu_seqlens_padded", "0,8")


# ---- Text for people ----------------------------------------------------------------------------


def test_map_text():
    out = run("map", "--layout", "zigzag", "--cp", "2", "--cu-seqlens", "0,3,7",
              "--cu-seqlens-padded", "0,4,9")[1]
    lines = out.splitlines()
    assert lines[0].startswith("zigzag, P = 2, T = 1: 7 tokens in 12 rows, identity "), out
    assert lines[1] == "2 documents; padding: 2 rows in the input, 3 added", out
    assert lines[2].split() == ["rank", "rows", "of", "the", "stream", "rows", "valid", "pairs"]
    assert lines[3].split()[:8] == ["0", "0,", "3-5,", "pad", "2", "6", "3", "4"], out
    assert lines[4].split()[:8] == ["1", "1-2,", "6-8,", "pad", "1", "6", "4", "12"], out
    assert [line.split()[0] for line in lines[-3:]] == ["valid:", "pairs:", "strip:"], out


def test_route_text():
    words = ("route", "--from", "contiguous", "--to", "zigzag", "--cp", "2", "--cu-seqlens",
             "0,3,8")
    out = run(*words)[1]
    lines = out.splitlines()
    assert lines[0] == "contiguous -> zigzag, P = 2, T = 1: 3 of 12 rows move", out
    assert lines[2] == "2 documents; padding to fill: 4 rows", out
    section = out[out.index("rank 0\n"):out.index("rank 1\n")].splitlines()
    assert [line.split() for line in section[1:]] == [
        ["keeps", "0,", "3", "as", "2"], ["sends", "to", "1:", "1-2"],
        ["receives", "from", "1:", "3"], ["pads", "1,", "4-5"]], out


def test_route_text_of_many_ranks():
    """A rank may send more rows than any rank of the target holds."""
    pack = Pack([(1, 1)] * 3200)
    words = ("route", "--from", "zigzag", "--to", "contiguous", "--cp", 32, *lengths(pack, False))
    lines = run(*words)[1].splitlines()
    ranks, _ = expected_route(*(packed_table(layout, 32, 1, pack)
                                for layout in ("zigzag", "contiguous")))
    sent = sum(rows for message in ranks[0]["sends"] for _, rows in message["rows"])
    assert sent == 3100
    titles = next(i for i, line in enumerate(lines) if line.split()[:2] == ["rank", "kept"])
    assert lines[titles + 1].split() == ["0", "100", "3100", "0", "31", "0"], lines[titles + 1]
    assert len({len(line) for line in lines[titles:titles + 33]}) == 1, lines[titles:titles + 33]


def test_json_is_all_of_stdout():
    for words in both_verbs("--cu-seqlens", "0,3,8"):
        status, out, err = run(*words, "--json")
        assert status == 0 and err == "" and out.count("\n") == 1, words
        assert isinstance(json.loads(out), dict), words


# ---- Size ---------------------------------------------------------------------------------------


def test_many_documents():
    documents = [(1 + i % 3, 1 + i % 3 + i % 2) for i in range(8000)]
    pack = Pack(documents + [(0, -sum(rows for _, rows in documents) % 16)])
    words = ["--cp", 8, "--tp", 2, *lengths(pack)]
    agree(answer("map", "--layout", "zigzag", *words), expected_packed_map("zigzag", 8, 2, pack),
          "many documents")
    for verb in (("map", "--layout", "zigzag"),
                 ("route", "--from", "contiguous", "--to", "zigzag")):
        status, out, err = run(*verb, *words)
        assert status == 0 and err == "" and out, verb


def test_longest_pack():
    rows = INT32_MOST - 15
    words = ("map", "--layout", "zigzag", "--cp", 8, "--cu-seqlens", f"0,{rows}")
    got = answer(*words)
    assert got["rows"] == rows // 16 * 16 + (16 if rows % 16 else 0), got
    assert sum(rank["attention_pairs"] for rank in got["ranks"]) == rows * (rows + 1) // 2


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
