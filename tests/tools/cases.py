#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases from bug reports, through the command. Prints TAP.

A case of a layout or an option that does not exist yet must be refused, by its name.
"""
import json
import os
import sys

from oracle import agree, expand, expected_route, expected_totals, known
from tap import TOP, answer, refuse, run, run_tests


def load_cases(kind):
    with open(os.path.join(TOP, "tests", "cases", kind + ".json"), encoding="utf-8") as file:
        return json.load(file)["cases"]


def words_of(kind, given):
    words = [kind]
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words += [option] if value else []
        elif isinstance(value, list):
            words += [option, ",".join(map(str, value))]
        else:
            words += [option, str(value)]
    return words


def check_cases(kind, unknown, check):
    """`unknown` lists what a case uses that does not exist; `check` looks at the other cases."""
    done = 0
    for case in load_cases(kind):
        missing = unknown(case["input"])
        if missing:
            check_refused(kind, case, missing)
        else:
            check(case)
            done += 1
    assert done > 0, "no case is supported"


def check_refused(kind, case, missing):
    words = words_of(kind, case["input"])
    if kind == "check":
        status, out, err = run(*words)
        assert status == 1 and "error" in err, (case["id"], err)
        for name in missing:
            assert f"option.unknown: {name}: " in out, (case["id"], out)
    else:
        refuse(1, words, missing)


# ---- map ----------------------------------------------------------------------------------------


def unknown_layouts(given):
    layouts = [given[name] for name in ("layout", "from", "to") if name in given]
    return [layout for layout in layouts if not known(layout)]


def check_map_case(case):
    words = words_of("map", case["input"])
    expect = case["expect"]
    if expect.get("error"):
        refuse(1, words, [])
        return
    got = answer(*words)
    assert [expand(rank["fragments"]) for rank in got["ranks"]] == [
        expand(fragments) for fragments in expect["fragments"]], case["id"]
    if "cu_seqlens_padded" in expect:
        agree(got, {"cu_seqlens_padded": expect["cu_seqlens_padded"]}, case["id"])


def test_map():
    check_cases("map", unknown_layouts, check_map_case)


# ---- route --------------------------------------------------------------------------------------


def check_route_case(case):
    expect = case["expect"]
    source, target = ([expand(fragments) for fragments in expect[side]]
                      for side in ("source", "target"))
    ranks, rows = expected_route(source, target)
    assert rows == expect["rows"], f"{case['id']}: the case contradicts itself"
    got = answer(*words_of("route", case["input"]))
    agree(got, {"moved_rows": expect["moved_rows"], "ranks": ranks}, case["id"])
    agree(got, expected_totals(rows, sum(held.count(-1) for held in target)), case["id"])


def test_route():
    check_cases("route", unknown_layouts, check_route_case)


# ---- shift --------------------------------------------------------------------------------------


def check_shift_case(case):
    got = answer(*words_of("shift", case["input"]))
    targets = [rank["targets"] for rank in got["ranks"]]
    assert targets == case["expect"]["targets"], (case["id"], targets)


def test_shift():
    check_cases("shift", unknown_layouts, check_shift_case)


# ---- cost ---------------------------------------------------------------------------------------


def check_cost_case(case):
    expect = dict(case["expect"])
    got = answer(*words_of("cost", case["input"]))
    assert got["attention"]["pairs"] == expect.pop("pairs"), (case["id"], got)
    assert abs(got["attention"]["max_over_mean"] - expect.pop("max_over_mean")) < 1e-12, case["id"]
    agree(got, expect, case["id"])


def test_cost():
    check_cases("cost", unknown_layouts, check_cost_case)


# ---- check --------------------------------------------------------------------------------------


def unknown_options(given):
    known = [option["name"] for option in answer("info")["options"]]
    return [name for name, value in given.items() if name not in known and value is not False]


def check_check_case(case):
    expect = case["expect"]
    status, out, _ = run(*words_of("check", case["input"]), "--json")
    got = json.loads(out)
    codes = sorted([found["code"], found["option"]] for found in got["diagnostics"])
    assert status == (0 if expect["ok"] else 1) and got["ok"] == expect["ok"], (case["id"], out)
    assert codes == sorted(expect["codes"]), (case["id"], codes)


def test_check():
    check_cases("check", unknown_options, check_check_case)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
