#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the manual page of the command to what the command does. Prints TAP."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import COMMAND, HANG, TOP, Skip, answer, run, run_tests

PAGE = os.path.abspath(os.path.join(TOP, "docs", "cplayout.1"))
VERBS = ("map", "route", "shift", "cost", "check", "info")


def page():
    with open(PAGE, encoding="ascii") as file:
        return file.read()


# ---- Form ---------------------------------------------------------------------------------------


def complaints(*words):
    if shutil.which(words[0]) is None:
        raise Skip(f"there is no {words[0]}")
    done = subprocess.run([*words, PAGE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=HANG, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stderr.decode()


def test_groff_has_nothing_to_say():
    assert complaints("groff", "-mandoc", "-Tutf8", "-ww", "-z") == (0, "")


def test_mandoc_has_nothing_to_say():
    assert complaints("mandoc", "-T", "lint", "-W", "warning") == (0, "")


def test_no_blanks_at_line_ends():
    for number, line in enumerate(page().splitlines(), 1):
        assert line == line.rstrip(), f"line {number}"


# ---- Content ------------------------------------------------------------------------------------


def options_of_the_command():
    names = set()
    for words in (("--help",), *((verb, "--help") for verb in VERBS)):
        names.update(re.findall(r"^ +(?:also: )?--([a-z-]+)", run(*words)[1], re.M))
    return names


def test_options():
    documented = set(re.findall(r"Fl Fl ([a-z-]+)", page()))
    known = options_of_the_command()
    assert len(known) > 10 and documented == known, documented ^ known


def test_verbs():
    listed = re.findall(r"^  ([a-z]+) ", run("--help")[1], re.M)
    assert listed == list(VERBS), listed
    for verb in VERBS:
        assert f"\n.Cm {verb}\n" in page() and f"\n.Ss {verb}\n" in page(), verb


def keys_of(answered):
    """The names of all members, however deep."""
    if isinstance(answered, dict):
        return set(answered).union(*map(keys_of, answered.values()))
    if isinstance(answered, list):
        return set().union(*map(keys_of, answered))
    return set()


def test_json_keys():
    section = page().split(".Sh JSON OUTPUT")[1].split(".Sh ")[0]
    documented = set(re.findall(r"[a-z_]+", section))
    for words in (("map", "--layout", "zigzag", "--seq", "8", "--cp", "2"),
                  ("route", "--from", "contiguous", "--to", "zigzag", "--seq", "8", "--cp", "2"),
                  ("check", "--sequence-parallel"), ("info",), ("--version",)):
        missing = keys_of(answer(*words)) - documented
        assert not missing, (words, missing)


# ---- Examples -----------------------------------------------------------------------------------


def plain(line):
    """The text of a line of a literal block."""
    if line.startswith("\\&"):
        line = line[2:]
    return line.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def literal_blocks():
    for block in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", page(), re.M | re.S):
        yield [plain(line) for line in block.splitlines()]


def check_example(lines, folder):
    words = lines[0].split()[2:]
    done = subprocess.run(COMMAND + words, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=HANG)
    assert done.stdout.decode().splitlines() == lines[1:], (words, done.stdout.decode())


def test_examples():
    """Every block is a command with its output, but one: the file of the last command."""
    blocks = list(literal_blocks())
    examples = [block for block in blocks if block[0].startswith("$ cplayout ")]
    files = [block for block in blocks if block not in examples]
    assert len(examples) >= 6 and len(files) == 1, blocks
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "run.conf"), "w", encoding="ascii") as file:
            file.write("\n".join(files[0]) + "\n")
        for example in examples:
            check_example(example, folder)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
