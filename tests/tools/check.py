#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `cplayout check`: options, files, findings in both forms. Prints TAP."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

from tap import COMMAND, HANG, answer, in_terminal, refuse, run, run_tests


def check(*words):
    """Exit status, object and standard error of a check in JSON."""
    status, out, err = run("check", *words, "--json")
    assert out.count("\n") == 1, (words, out)
    return status, json.loads(out), err


def findings(*words):
    """(severity, code, option) of every finding."""
    status, got, err = check(*words)
    assert sorted(got) == ["diagnostics", "ok"], (words, got)
    for found in got["diagnostics"]:
        assert sorted(found) == ["code", "hint", "message", "option", "origin", "part", "severity",
                                 "value"], found
    listed = [(found["severity"], found["code"], found["option"]) for found in got["diagnostics"]]
    errors = sum(1 for severity, _, _ in listed if severity == "error")
    assert got["ok"] == (errors == 0) and status == (1 if errors else 0), (words, status, got)
    assert (f"{errors} error" in err) == (errors > 0) and (err == "") == (errors == 0), (words, err)
    return listed


def error(code, option):
    return ("error", code, option)


@contextlib.contextmanager
def config(content):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.conf")
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        yield path


# ---- Options ------------------------------------------------------------------------------------


def test_defaults_are_fine():
    assert findings() == []
    assert run("check") == (0, "no errors, no warnings\n", "")


def test_ways_to_write_an_option():
    wanted = [error("sequence.indivisible", "seq_length")]
    for words in (("--context-parallel-size", "4", "--seq-length", "1020"),
                  ("--context_parallel_size=4", "--seq_length=1020"),
                  ("--cp", "4", "--seq", "1020"), ("--cp=4", "--seq=1020"),
                  ("--cp", "4", "--context-parallel-size", "4", "--seq-length", "1020")):
        assert findings(*words) == wanted, words
    assert findings("--tp", "2", "--sequence-parallel", "--seq", "3")[0] == wanted[0]


def test_booleans_stand_alone():
    without = [("warning", "sequence.parallel_without_tp", "sequence_parallel")]
    for words in (("--sequence-parallel",), ("--sequence-parallel", "true"),
                  ("--sequence_parallel=true",), ("--sequence-parallel", "--cp", "2"),
                  ("--cp", "2", "--sequence-parallel")):
        assert findings(*words) == without, words
    assert findings("--sequence-parallel", "false") == []
    assert findings("--sequence-parallel", "perhaps") == [error("option.type", "sequence_parallel")]


def test_values_that_begin_with_a_dash():
    assert findings("--timeout-seconds", "-1") == [error("option.type", "timeout_seconds")]
    assert findings("--hybrid-layer-pattern", "-*M") == []
    assert findings("--hybrid-layer-pattern", "--*M") == []
    assert findings("--hybrid-layer-pattern=--*M", "--cp", "2") == []
    assert findings("--mtp-num-layers-x", "-1") == [error("option.unknown", "mtp_num_layers_x")]


def test_unknown_options_are_findings():
    for words, name in ((("--frob", "3"), "frob"), (("--frob=3",), "frob"), (("--frob",), "frob"),
                        (("--frob", "--cp", "2"), "frob"), (("--frob-it", "-3"), "frob_it"),
                        (("--from", "zigzag"), "from"), (("--layout", "zigzag"), "layout"),
                        (("--seq_lenght", "8"), "seq_lenght"),
                        (("--cu-seqlens", "0"), "cu_seqlens")):
        assert findings(*words) == [error("option.unknown", name)], words
    hint = check("--seq-lenght", "8")[1]["diagnostics"][0]["hint"]
    assert "seq_length" in hint, hint


def test_everything_is_found():
    assert findings("--frob", "1", "--cp", "x", "--linear-cp-layout", "ring",
                    "--attention-cp-layout=spiral", "--hybrid-layer-pattern", "M?",
                    "--sequence-parallel") == [
        error("option.unknown", "frob"), error("option.type", "context_parallel_size"),
        error("layout.unknown", "linear_cp_layout"), error("layout.unknown", "attention_cp_layout"),
        error("pattern.symbol", "hybrid_layer_pattern"),
        ("warning", "sequence.parallel_without_tp", "sequence_parallel")]
    assert findings("--cp", "2", "--cp", "4") == [error("option.type", "context_parallel_size")]


def test_wrong_usage():
    for words, parts, option in (
            (("--seq-length",), ["seq_length needs a value"], "seq_length"),
            (("--cp", "--sequence-parallel"), ["cp needs a value"],
             "context_parallel_size"),
            (("--config",), ["--config needs a value"], "config"),
            (("--config", "a", "--config", "b"), ["twice"], "config"),
            (("zigzag",), ["unexpected argument 'zigzag'"], ""),
            (("--cp", "2", "4"), ["unexpected argument '4'"], ""),
            (("--",), ["unknown option '--'"], ""),
            (("--=3",), ["unknown option '--'"], "")):
        refuse(2, ("check", *words), parts, option)


def test_bytes_that_are_no_text():
    done = subprocess.run(COMMAND + ["check", b"--f\xffrob", "3", "--linear-cp-layout", b"\xfe\x1b",
                                     "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=HANG)
    got = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 1 and got[0]["option"] == "f?rob", got
    assert "'??'" in got[1]["message"], got
    done = subprocess.run(COMMAND + ["check", b"--f\xff\x1brob", "3"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=HANG)
    assert done.stdout.isascii() and b"\x1b" not in done.stdout, done.stdout


# ---- Files --------------------------------------------------------------------------------------


def test_file():
    text = """# a run
context_parallel_size = 4

   attention-cp-layout=zigzag   # as the kernel wants it
\tlinear_cp_layout\t=  contiguous
sequence_parallel = false
hybrid_layer_pattern = -*M
boundary_cp_layout =
"""
    for content in (text, text.replace("\n", "\r\n"), text.rstrip("\n")):
        with config(content) as path:
            assert findings("--config", path) == [error("layout.unknown", "boundary_cp_layout")]
            assert findings("--boundary-cp-layout", "zigzag", "--config=" + path) == []
    for content in ("", "\n\n", "# nothing", "   # nothing\n"):
        with config(content) as path:
            assert findings("--config", path) == [], content


def test_command_line_wins():
    with config("context_parallel_size = 4\nseq-length = 1020\nfrob = 1\nframe = 2\n") as path:
        given = ("--config", path)
        unknown = [error("option.unknown", "frob"), error("option.unknown", "frame")]
        assert findings(*given) == unknown + [error("sequence.indivisible", "seq_length")]
        for words in (("--seq", "1024", *given), (*given, "--seq_length=1024"),
                      (*given, "--cp", "2")):
            assert findings(*words) == unknown, words
        assert findings(*given, "--cp", "2", "--frame", "3") == [unknown[1], *unknown]
    with config("cp = 4\nseq = 1020\n") as path:
        assert findings("--config", path) == [error("sequence.indivisible", "seq_length")]
    with config("seq_length = 8\nseq_length = 16\n") as path:
        assert findings("--config", path) == [error("option.type", "seq_length")]
        assert findings("--config", path, "--seq", "8") == []


def test_bad_lines():
    for content, line, part in (
            ("seq_length\n", 1, "'='"), ("# x\n\nseq_length 8\n", 3, "'='"),
            ("cp = 2\n= 3\n", 2, "name"), ("seq length = 3\n", 1, "names"),
            ("--cp = 2\nse.q = 3", 2, "names"), ("[section]\n", 1, "'='"),
            ("cp = 2\nseq # = 3\n", 2, "'='"), (b"cp = 2\nse\xffq = 3\n", 2, "names"),
            (b"cp = 2\n\0seq = 3\n", 2, "NUL"), (b"\x7fELF\0\0", 1, "NUL")):
        with config(content) as path:
            refuse(1, ("check", "--config", path), [f"{path}:{line}: ", part], "config")


def test_files_that_cannot_be_read():
    with tempfile.TemporaryDirectory() as folder:
        refuse(1, ("check", "--config", folder), [folder], "config")
        missing = os.path.join(folder, "missing")
        refuse(1, ("check", "--config", missing), [missing, "No such file"], "config")
    refuse(1, ("check", "--config", ""), ["No such file"], "config")


def test_long_files():
    lines = ["# " + "x" * 100000, *["seq_length = 8"] * 3000, "frob = " + "y" * 5000]
    with config("\n".join(lines)) as path:
        assert findings("--config", path) == [error("option.unknown", "frob")]


# ---- Text for people ----------------------------------------------------------------------------


BAD = ("check", "--linear-cp-layout", "ring", "--sequence-parallel")


def test_text():
    """A finding as compilers show theirs: place, severity, message, code, setting, part, hint."""
    status, out, err = run(*BAD)
    found = check(*BAD[1:])[1]["diagnostics"]
    assert status == 1 and err == "cplayout: 1 error, 1 warning\n", err
    for each in found:
        head = "command line: {severity}: {message} [{code}]".format(**each)
        assert head in " ".join(out.split()), (head, out)
        assert " ".join(("hint: " + each["hint"]).split()) in " ".join(out.split()), out
    assert "\n    --linear-cp-layout ring\n                       ^~~~\n" in out, out
    status, out, err = run("check", "--sequence-parallel")
    assert status == 0 and err == "" and out.splitlines()[-1] == "no errors, 1 warning", out


def lines_of(words, part, **env):
    """The line of a finding's setting and the one below it, from the first column on."""
    _, out, _ = run("check", *words, env=env)
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if part in line and line.startswith("    "))
    return lines[at][4:], lines[at + 1][4:]


def test_carets():
    setting, below = lines_of(("--hybrid-layer-pattern", "MM*X-"), "MM*X-")
    assert setting == "--hybrid-layer-pattern MM*X-" and below == " " * 26 + "^", below
    setting, below = lines_of((), "never", CPLAYOUT_TIMEOUT_SECONDS="never")
    assert setting == "CPLAYOUT_TIMEOUT_SECONDS=never" and below == " " * 25 + "^~~~~", below
    with config("# x\nseq_length = 1020\n") as path:
        setting, below = lines_of(("--config", path, "--cp", "4"), "1020")
        assert setting == "seq_length = 1020" and below == " " * 13 + "^~~~", below
        assert f"{path}:2: error: " in run("check", "--config", path, "--cp", "4")[1]
    setting, below = lines_of(("--linear-cp-layout", "zigz\u00e4g"), "--linear-cp-layout z")
    assert below == " " * 19 + "^~~~~~", below
    setting, below = lines_of(("--linear-cp-layout", ""), "--linear-cp-layout")
    assert below == " " * 19 + "^", below


def test_long_values():
    for before in (0, 3, 8, 9, 200, 5000):
        pattern = "M" * before + "X" + "*" * 5000
        setting, below = lines_of(("--hybrid-layer-pattern", pattern), "X")
        assert len(setting) <= 76 and setting.endswith("..."), setting
        assert setting[len(below) - 1] == "X" and below.strip() == "^", (setting, below)


def test_findings_fit_the_terminal():
    for columns in (60, 80, 120):
        words = ("check", "--cp", "4", "--seq", "1020", "--linear-cp-layout", "mirror",
                 "--hybrid-layer-pattern", "M" * 300 + "?")
        for line in in_terminal(words, columns, status=1, NO_COLOR="1").splitlines():
            assert len(line) <= columns, (columns, line)


# ---- Sources ------------------------------------------------------------------------------------


def origin(words, option, **env):
    """Where a wrong value is from."""
    _, out, _ = run("check", *words, "--json", env=env)
    return {found["option"]: found["origin"] for found in json.loads(out)["diagnostics"]}[option]


def test_precedence():
    with config("timeout_seconds = file\n") as path:
        given = ("--config", path)
        assert origin(given, "timeout_seconds") == f"{path}:1"
        assert origin(given, "timeout_seconds",
                      CPLAYOUT_TIMEOUT_SECONDS="variable") == "CPLAYOUT_TIMEOUT_SECONDS"
        assert origin((*given, "--timeout-seconds", "line"), "timeout_seconds",
                      CPLAYOUT_TIMEOUT_SECONDS="variable") == "host"
        assert origin((), "timeout_seconds", CPLAYOUT_CONF=path) == f"{path}:1"
        assert origin(given, "timeout_seconds", CPLAYOUT_TIMEOUT_SECONDS="") == f"{path}:1"


def test_unknown_variables():
    _, out, _ = run("check", "--json", env={"CPLAYOUT_SEQ_LENGHT": "8"})
    found = json.loads(out)["diagnostics"]
    assert [(each["code"], each["option"]) for each in found] == [
        ("variable.unknown", "CPLAYOUT_SEQ_LENGHT")], found
    assert "CPLAYOUT_SEQ_LENGTH" in found[0]["hint"], found


def test_many_options():
    words = [f"--frob{i}=1" for i in range(3000)]
    assert len(findings(*words)) == 3000


def test_pipes_do_not_hold_it():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pipe")
        os.mkfifo(path)
        refuse(1, ("check", "--config", path), [path, "no regular file"], "config")
    refuse(1, ("check", "--config", "/dev/zero"), ["no regular file"], "config")


def test_colors_in_a_terminal():
    assert "command line: \x1b[1;31merror\x1b[0m: " in in_terminal(BAD, 80, status=1)
    assert "\x1b[1;35mwarning\x1b[0m: " in in_terminal(("check", "--sequence-parallel"), 80)
    assert "\x1b" not in in_terminal(BAD, 80, status=1, NO_COLOR="1")
    assert "\x1b" not in run(*BAD)[1]


def test_names_of_the_plugin():
    """Every option that info lists is taken with its own default, if it has one."""
    for option in answer("info")["options"]:
        if option["default"]:
            words = ("--" + option["name"].replace("_", "-"), option["default"])
            assert findings(*words) == [], words


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
