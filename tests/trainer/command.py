# SPDX-License-Identifier: Apache-2.0
"""The trainer as a user meets it: JSON, table, progress bar, and one clear message for bad input. TAP."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile

TRAINER = os.environ["TEST_TRAINER"]
TEXT = os.path.join(os.environ["top_srcdir"], "CONTRIBUTING.md")
QUICK = ["--steps", "2", "--seq", "64", "--text", TEXT]
SMALL = [*QUICK, "--pattern", "M*-M"]
# The sequence is long enough for the loss to fall on a text of a few thousand bytes.
KEYS = {"name", "loss", "grad_norm", "linear_state_bytes", "halo_bytes", "attention_bytes",
        "conversion_bytes", "attention_max_over_mean", "seconds"}
tests = []


def test(function):
    tests.append(function)
    return function


def run(*words):
    done = subprocess.run([TRAINER, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def lengths_file(content):
    """A file of document lengths; bytes are taken as they are."""
    file = tempfile.NamedTemporaryFile()
    file.write(content)
    file.flush()
    return file


def refused_lengths(content, *parts):
    """The file is named in one line, before anything is trained."""
    with lengths_file(content) as file:
        refused(1, ["--packed", "--lengths", file.name, *QUICK], file.name, *parts)


def refused(status, words, *parts):
    """The trainer ends with this status and one line on stderr that has all parts."""
    code, out, err = run(*words)
    assert code == status, f"exit status {code}, not {status}: {err}"
    assert out == "", f"output: {out!r}"
    assert err.count("\n") == 1, f"not one line: {err!r}"
    assert not re.search(r"rank (\d+): rank \1:", err), f"the rank is named twice: {err!r}"
    for part in parts:
        assert part in err, f"{part!r} is not in {err!r}"


@test
def json_is_all_of_stdout():
    code, out, err = run("--layouts", "all", "--json", *QUICK)
    assert code == 0 and err == "", err
    runs = json.loads(out)["runs"]
    assert [r["name"] for r in runs] == ["single", "zigzag", "dual", "mirror"]
    for r in runs:
        assert KEYS <= set(r), KEYS - set(r)
        assert len(r["loss"]) == len(r["grad_norm"]) == 2
        assert r["seconds"] > 0


@test
def loss_falls_below_its_limit_and_layouts_agree():
    code, out, err = run("--layouts", "all", "--json", "--steps", "40", "--seq", "256",
                         "--text", TEXT)
    assert code == 0, err
    single, *others = json.loads(out)["runs"]
    for r in [single, *others]:
        assert r["loss"][-1] < 0.7 * r["loss"][0], (r["name"], r["loss"][0], r["loss"][-1])
        for a, b in zip(r["loss"], single["loss"]):
            assert abs(a - b) <= 1e-3 * b, (r["name"], a, b)
    zigzag, dual, mirror = others
    assert zigzag["conversion_bytes"] == 0
    assert 3 * mirror["conversion_bytes"] == 2 * dual["conversion_bytes"] > 0
    assert zigzag["linear_state_bytes"] == 2 * dual["linear_state_bytes"] > 0
    assert mirror["linear_state_bytes"] == dual["linear_state_bytes"]


@test
def table_is_for_people_and_plain_in_a_pipe():
    code, out, err = run("--layouts", "single,dual", *QUICK)
    assert code == 0 and err == "", err
    assert "The layouts agree" in out and "single" in out and "dual" in out
    assert "\033" not in out and "\r" not in out


@test
def progress_shows_on_a_terminal_only():
    ours, theirs = pty.openpty()
    with subprocess.Popen([TRAINER, "--json", *QUICK], stdout=subprocess.PIPE, stderr=theirs,
                          env={**os.environ, "TERM": "xterm"}) as process:
        out, _ = process.communicate(timeout=300)
    shown = os.read(ours, 65536).decode()
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0
    json.loads(out)
    for part in ("loss", "tok/s", "left", "2/2"):
        assert part in shown, shown


@test
def default_text_is_there():
    code, out, err = run("--steps", "1", "--seq", "64", "--cp", "2", "--json")
    assert code == 0, err


@test
def seed_decides():
    first = json.loads(run("--json", *QUICK)[1])["runs"][0]["loss"]
    again = json.loads(run("--json", *QUICK)[1])["runs"][0]["loss"]
    other = json.loads(run("--json", "--seed", "2", *QUICK)[1])["runs"][0]["loss"]
    assert first == again != other


@test
def missing_plugin():
    refused(1, ["--plugin", "/nowhere/plugin.so", *QUICK], "/nowhere/plugin.so")


@test
def file_that_is_no_plugin():
    refused(1, ["--plugin", TEXT, *QUICK], TEXT)


@test
def missing_text():
    refused(1, ["--text", "/nowhere/text"], "/nowhere/text", "No such file")


@test
def text_that_is_a_folder():
    refused(1, ["--text", "/"], "/", "directory")


@test
def text_shorter_than_a_sequence():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x" * 64)
        file.flush()
        refused(1, ["--seq", "64", "--text", file.name], "64", "65", file.name)


@test
def text_of_one_sequence_is_enough():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x" * 65)
        file.flush()
        code, _, err = run("--seq", "64", "--steps", "1", "--text", file.name)
        assert code == 0, err


@test
def length_that_does_not_divide():
    refused(1, ["--seq", "1020", "--steps", "1", "--text", TEXT], "1020", "multiple of 8", "1016",
            "1024")


@test
def help_tells_of_packs_and_recomputation():
    code, out, err = run("--help")
    assert code == 0 and err == "", err
    for option in ("--packed", "--lengths FILE", "--recompute"):
        assert re.search(f"^  {option} +\\w", out, re.M), option
    assert max(map(len, out.splitlines())) <= 100


@test
def packed_layouts_agree():
    code, out, err = run("--packed", "--layouts", "all", "--json", *SMALL)
    assert code == 0 and err == "", err
    result = json.loads(out)
    assert result["agreement"]["holds"] is True
    assert [r["name"] for r in result["runs"]] == ["single", "zigzag", "dual", "mirror"]
    for r in result["runs"]:
        assert KEYS <= set(r), KEYS - set(r)
        assert len(r["loss"]) == 2 and min(r["loss"]) > 0, r["loss"]


@test
def packed_is_for_people_too():
    code, out, err = run("--packed", "--layouts", "single,dual", *SMALL)
    assert code == 0 and err == "", err
    assert "The layouts agree" in out


@test
def packs_are_other_samples():
    dense, packed, again = (json.loads(run("--json", *words, *SMALL)[1])["runs"][0]["loss"]
                            for words in ([], ["--packed"], ["--packed"]))
    assert dense != packed == again


@test
def recomputation_changes_nothing_but_the_way():
    for words in ([], ["--packed"]):
        plain, lean = (json.loads(run("--layouts", "all", "--json", *words, *more, *SMALL)[1])["runs"]
                       for more in ([], ["--recompute"]))
        for a, b in zip(plain, lean):
            assert a["loss"] == b["loss"] and a["grad_norm"] == b["grad_norm"], a["name"]
            for key in ("linear_state_bytes", "halo_bytes", "attention_bytes", "conversion_bytes"):
                assert abs(2 * b[key] - 3 * a[key]) <= 3, (a["name"], key)


@test
def lengths_decide():
    with lengths_file(b"64\n") as whole, lengths_file(b"8\n") as parts:
        states = [json.loads(run("--packed", "--lengths", file.name, "--cp", "2", "--json",
                                 *SMALL)[1])["runs"][0]["linear_state_bytes"]
                  for file in (whole, parts)]
    # Contiguous slices of 32 rows: one document crosses the border, documents of 8 do not.
    assert states[0] > 0 == states[1], states


@test
def documents_of_one_token_leave_nothing_to_learn():
    with lengths_file(b"1\n") as file:
        code, out, err = run("--packed", "--lengths", file.name, "--layouts", "all", "--json",
                             *SMALL)
    assert code == 0 and err == "", err
    for r in json.loads(out)["runs"]:
        assert r["loss"] == [0, 0] and r["grad_norm"] == [0, 0], r
        assert r["linear_state_bytes"] == r["halo_bytes"] == 0, r


@test
def ranks_that_hold_padding_alone():
    with lengths_file(b"2\n") as file:
        for more in ([], ["--recompute"]):
            code, out, err = run("--packed", "--lengths", file.name, "--layouts", "all", "--json",
                                 *more, *SMALL, "--seq", "8")
            assert code == 0 and err == "", err
            assert json.loads(out)["agreement"]["holds"] is True


@test
def lengths_of_any_line_ending():
    losses = []
    for content in (b"20\n7\n1\n", b"20\n7\n1", b"20\r\n7\r\n1\r\n"):
        with lengths_file(content) as file:
            code, out, err = run("--packed", "--lengths", file.name, "--json", *SMALL)
            assert code == 0 and err == "", err
            losses.append(json.loads(out)["runs"][0]["loss"])
    assert losses[0] == losses[1] == losses[2], losses


@test
def lengths_without_packed():
    with lengths_file(b"20\n") as file:
        refused(2, ["--lengths", file.name, *SMALL], "--lengths", "--packed")
        refused(2, ["--lengths"], "--lengths")


@test
def lengths_that_are_none():
    for content, line, shown in ((b"junk\n", 1, "junk"), (b"5\n0\n", 2, "0"), (b"5\n6\n-7\n", 3, "-7"),
                                 (b"5\n\n6\n", 2, ""), (b"1000000001\n", 1, "1000000001"),
                                 (b"5\n99999999999999999999\n", 2, "99999999999999999999"),
                                 (b"5\n6 7", 2, "6 7"), (b"5\r\nx\r\n", 2, "x"),
                                 (b"1e3\n", 1, "1e3")):
        refused_lengths(content, f"line {line}:", f"'{shown}'")


@test
def lengths_with_a_zero_byte():
    refused_lengths(b"5\n12\0junk\n", "line 2:")


@test
def lengths_with_a_very_long_line():
    refused_lengths(b"5\n" + b"0" * 62 + b"12\n", "line 2:")
    refused_lengths(b"5\n" + b"x" * 5000 + b"\n", "line 2:")


@test
def lengths_with_returns_alone():
    refused_lengths(b"20\r7\r1\r", "line 1:")


@test
def lengths_of_nothing():
    refused_lengths(b"", "no lengths")


@test
def lengths_that_cannot_be_read():
    refused(1, ["--packed", "--lengths", "/nowhere/lengths", *SMALL], "/nowhere/lengths",
            "No such file")
    refused(1, ["--packed", "--lengths", "/", *SMALL], "lengths /", "directory")
    with lengths_file(b"5\n") as file:
        os.chmod(file.name, 0)
        if not os.access(file.name, os.R_OK):
            refused(1, ["--packed", "--lengths", file.name, *SMALL], file.name, "denied")


@test
def pack_that_does_not_divide():
    refused(1, ["--packed", "--seq", "1022", "--steps", "1", "--text", TEXT], "1022",
            "multiple of 4", "1020", "1024")


@test
def pack_need_not_divide_into_chunks():
    code, _, err = run(*SMALL, "--packed", "--seq", "60")
    assert code == 0, err


@test
def unknown_layer_symbol():
    refused(2, ["--pattern", "M-X*", *QUICK], "'X'", "index 2")


@test
def empty_pattern():
    refused(2, ["--pattern", "", *QUICK], "--pattern")


@test
def unknown_layouts():
    refused(2, ["--layouts", "dual,spiral", *QUICK], "'spiral'", "mirror")


@test
def no_ranks():
    refused(2, ["--cp", "0", *QUICK], "--cp", "'0'")


@test
def numbers_that_are_none():
    for option in ("--cp", "--steps", "--seq", "--seed"):
        for value in ("-1", "x", "4x", "", "99999999999999999999", "1.5"):
            refused(2, [option, value], option, f"'{value}'")


@test
def unknown_option():
    refused(2, ["--layers", "4"], "--layers")
    refused(2, ["-x"], "-x")
    refused(2, ["stray"], "stray")
    refused(2, ["--cp"], "--cp")


def main():
    print(f"1..{len(tests)}")
    failed = 0
    for number, function in enumerate(tests, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {number} - {name}")
        except (AssertionError, ValueError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in str(error).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
