#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/configuration.md to the plugin's tables of options and rules. Prints TAP.

With --write it makes the table of options anew.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from tap import COMMAND, HANG, TOP, answer, run_tests  # noqa: E402

PAGE = os.path.join(TOP, "docs", "configuration.md")
BEGIN, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def cell(text):
    """A text in a table: a bar would end the cell."""
    return text.replace("|", "\\|")


def option_row(option):
    name = f"`{option['name']}`"
    if option["synonyms"]:
        old = option["deprecated"].split(", ")
        name += "".join(f"<br>{'formerly' if other in old else 'also'} `{other}`"
                        for other in option["synonyms"].split(", "))
    default = f"`{option['default']}`" if option["default"] else "-"
    return f"| {name} | {cell(option['values'])} | {default} | {cell(option['help'])} |\n"


def option_table():
    return ("| option | values | default | meaning |\n|---|---|---|---|\n"
            + "".join(map(option_row, answer("info")["options"])))


def test_options():
    written = page().split(BEGIN)[1].split(END)[0]
    assert written == option_table(), "the table is stale: tests/docs/configuration.py --write"


def rules_of_plugin():
    """Code and severity of every rule, in the order of the plugin's table."""
    with open(os.path.join(TOP, "plugin", "plan", "rules.c"), encoding="utf-8") as file:
        return re.findall(r'\.code = "([a-z0-9_.]+)",\s*\.severity = CPL_([A-Z]+),', file.read())


def test_rules():
    listed = re.findall(r"^\| `([a-z0-9_.]+)` \| (error|warning) \|", page(), re.M)
    assert len(listed) > 30
    assert [(code, severity.upper()) for code, severity in listed] == rules_of_plugin(), listed


def test_rules_name_options():
    """What the table of rules calls an option is one."""
    names = {option["name"] for option in answer("info")["options"]}
    for line in page().splitlines():
        if re.match(r"\| `[a-z0-9_]+\.[a-z0-9_]+` \|", line):
            for name in re.findall(r"`([a-z0-9_]+)`", line.split("|")[4]):
                assert name in names, (name, line)


def test_example():
    """The file that the page shows, and what the command says of it."""
    blocks = re.findall(r"(?:^    .*\n)+", page(), re.M)
    content, shown = ("".join(line[4:] for line in block.splitlines(True)) for block in blocks[:2])
    first, *quoted = shown.splitlines()
    assert first.startswith("$ cplayout check --config run.conf"), first
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "run.conf"), "w", encoding="utf-8") as file:
            file.write(content)
        done = subprocess.run(COMMAND + first.split()[2:], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=HANG)
    assert done.stdout.splitlines() == quoted, done.stdout


def write():
    text = page()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + option_table() + END + after)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        write()
    else:
        sys.exit(run_tests(globals()))
