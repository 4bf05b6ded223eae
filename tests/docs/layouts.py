#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/layouts.md to what the command does: its figures and its pictures. Prints TAP.

With --write it makes the pictures anew.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from tap import COMMAND, HANG, TOP, run_tests  # noqa: E402

PAGE = os.path.join(TOP, "docs", "layouts.md")


def blocks():
    """Command lines of the page, each with the lines of output that are quoted below it."""
    with open(PAGE, encoding="utf-8") as file:
        for block in re.findall(r"(?:^    .*\n)+", file.read(), re.M):
            first, *quoted = (line[4:] for line in block.splitlines())
            assert first.startswith("$ cplayout "), first
            yield shlex.split(first)[2:], quoted


def command(words, folder):
    """Runs a command line; its picture goes to a folder instead. Returns output and picture."""
    words, picture = list(words), None
    if "--svg" in words:
        at = words.index("--svg") + 1
        picture = words[at]
        words[at] = os.path.join(folder, os.path.basename(picture))
    done = subprocess.run(COMMAND + words, capture_output=True, text=True, timeout=HANG,
                          check=True)
    return done.stdout.splitlines(), picture


def test_figures():
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for words, quoted in blocks():
            lines, picture = command(words, folder)
            assert quoted or picture, f"{words}: nothing is quoted"
            for line in quoted:
                assert line in lines, f"{words} does not print {line!r}"
                checked += 1
    assert checked > 8, checked


def test_pictures():
    made = 0
    with tempfile.TemporaryDirectory() as folder:
        for words, _ in blocks():
            _, picture = command(words, folder)
            if picture is None:
                continue
            with open(os.path.join(folder, os.path.basename(picture)), "rb") as new:
                with open(os.path.join(TOP, picture), "rb") as old:
                    assert new.read() == old.read(), f"{picture} is stale: run this with --write"
            made += 1
    with open(PAGE, encoding="utf-8") as file:
        shown = re.findall(r"!\[[^]]+\]\(layouts/([a-z-]+\.svg)\)", file.read())
    kept = os.listdir(os.path.join(TOP, "docs", "layouts"))
    assert sorted(shown) == sorted(kept) and made == len(shown), (shown, kept)


def test_every_layout_has_its_section():
    names = subprocess.run(COMMAND + ["map", "--layout", "none", "--seq", "8"],
                           capture_output=True, text=True, timeout=HANG, check=False).stderr
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for name in names.split("layouts: ")[1].split(", "):
        assert f"\n## {name.strip()}\n" in page, name


if __name__ == "__main__":
    if "--write" in sys.argv:
        for line, _ in blocks():
            command(line, os.path.join(TOP, "docs", "layouts"))
    else:
        sys.exit(run_tests(globals()))
