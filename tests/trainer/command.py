# SPDX-License-Identifier: Apache-2.0
"""The trainer as a user meets it: JSON, table, progress bar, and one clear message for bad input. TAP."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile

TRAINER = os.environ["CPLAYOUT_TRAINER"]
TEXT = os.path.join(os.environ["top_srcdir"], "CONTRIBUTING.md")
QUICK = ["--steps", "2", "--seq", "64", "--text", TEXT]
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
