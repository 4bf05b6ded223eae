# SPDX-License-Identifier: Apache-2.0
"""The trainer's HTML report: complete, true to the JSON, safe to open, written whole or not at all. TAP."""

import html
import html.parser
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

TRAINER = os.environ["TEST_TRAINER"]
COMMAND = os.environ["CPLAYOUT"]
TEXT = os.path.join(os.environ["top_srcdir"], "CONTRIBUTING.md")
SEQ = 64
QUICK = ["--layouts", "all", "--steps", "3", "--seq", str(SEQ)]
LENGTHS = [20, 7, 1, 36]  # one pack of SEQ tokens
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
RANKS = 4
tests = []


def test(function):
    tests.append(function)
    return function


def run(*words, **keywords):
    done = subprocess.run([TRAINER, *words], capture_output=True, text=True, timeout=300, **keywords)
    return done.returncode, done.stdout, done.stderr


class Page(html.parser.HTMLParser):
    """Checks that every tag is closed; keeps all tags and attributes, and the cells of every table."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.tags, self.attributes, self.tables = [], [], [], []
        self.cell = None
        self.feed(text)
        self.close()
        assert self.stack == [], f"left open: {self.stack}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.stack.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, f"</{tag}> in {self.stack}"
        self.stack.pop()
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def rows(self, *head):
        """The rows behind the head that begins with these cells, of all tables that have it."""
        found = [table[1:] for table in self.tables if table[0][:len(head)] == list(head)]
        assert found, f"no table begins with {head}"
        return found


def report(*words, folder=None, **keywords):
    """Runs with a report and JSON; returns the page's text and the runs of the JSON."""
    with tempfile.TemporaryDirectory() as own:
        place = folder or os.path.join(own, "report")
        code, out, err = run(*QUICK, "--json", "--report", place, *words, **keywords)
        assert code == 0, err
        assert err == f"Report: {place}/index.html\n", err
        assert os.listdir(place) == ["index.html"], os.listdir(place)
        with open(os.path.join(place, "index.html"), encoding="utf-8") as file:
            return file.read(), json.loads(out)["runs"]


def packed(*words):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("".join(f"{length}\n" for length in LENGTHS))
        file.flush()
        return report("--packed", "--lengths", file.name, "--text", TEXT, *words)


def pack_starts(page):
    """Documents of the first pack as the page's commands name them."""
    cut = re.search(r"--cu-seqlens</span> ([0-9,]+)", page)
    return [int(start) for start in cut.group(1).split(",")]


def zigzag_owner(starts, ranks):
    """Rank of every token: each document, padded to 2P equal chunks, chunk c to c or 2P - 1 - c."""
    owner = []
    for begin, end in zip(starts, starts[1:]):
        chunk = -(-(end - begin) // (2 * ranks))
        owner += [min(at // chunk, 2 * ranks - 1 - at // chunk) for at in range(end - begin)]
    return owner


def held(row):
    """Tokens of a row "rank, tokens, ranges"."""
    tokens = set()
    for part in row[2].replace("\u2060", "").split(", "):
        first, _, last = part.partition("–")
        tokens |= set(range(int(first), int(last or first) + 1))
    return tokens


@test
def page_is_well_formed_and_whole():
    for page in (report("--text", TEXT)[0], packed()[0]):
        assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
        assert "{{" not in page and "}}" not in re.sub(r"(?s)<style>.*</style>", "", page)
        parsed = Page(page)
        ids = [value for name, value in parsed.attributes if name == "id"]
        assert len(ids) == len(set(ids)), ids
        images = len(re.findall(r'<svg role="img" aria-label="[^"]{10,}"', page))
        assert images == parsed.tags.count("figure") >= 10, (images, parsed.tags.count("figure"))


@test
def page_needs_nothing_else():
    page, _ = report("--text", TEXT)
    parsed = Page(page)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(parsed.tags)
    assert not {"src", "href", "xlink:href"} & {name for name, _ in parsed.attributes}
    assert "http" not in page and "@import" not in page
    assert set(re.findall(r"url\(([^)]*)\)", page)) == {"#hatch"}


@test
def numbers_are_those_of_the_json():
    page, runs = report("--text", TEXT)
    [rows] = Page(page).rows("run", "single", "zigzag", "dual", "mirror")
    rows = {row[0]: row[1:] for row in rows}
    assert rows["first loss"] == [f"{r['loss'][0]:.4f}" for r in runs]
    assert rows["last loss"] == [f"{r['loss'][-1]:.4f}" for r in runs]
    assert rows["parts of a scan"] == [str(r["chain_parts"]) for r in runs]
    for name, key in (("States", "linear_state_bytes"), ("Halos", "halo_bytes"),
                      ("Keys and values", "attention_bytes"), ("Conversions", "conversion_bytes")):
        for cell, r in zip(rows[name], runs):
            bytes_shown = 0 if cell == "–" else float(cell.split()[0]) * 1024 ** (
                ["B", "KiB", "MiB"].index(cell.split()[1]))
            assert abs(bytes_shown - r[key]) <= 0.05 * r[key], (name, cell, r[key])
    [losses] = Page(page).rows("step", "single")
    assert [row[1:] for row in losses] == [[f"{r['loss'][s]:.6f}" for r in runs] for s in range(3)]


@test
def ranks_hold_every_token_once():
    for page, starts in ((report("--text", TEXT)[0], [0, SEQ]), (packed()[0], None)):
        starts = starts or pack_starts(page)
        one, *split = Page(page).rows("rank", "tokens", "which")
        assert held(one[0]) == set(range(SEQ))
        assert len(split) == 3  # zigzag, contiguous, mirror
        for rows in split:
            assert [row[0] for row in rows] == [str(rank) for rank in range(RANKS)]
            union = [token for row in rows for token in held(row)]
            assert sorted(union) == list(range(SEQ))
        owner = zigzag_owner(starts, RANKS)
        for rank in range(RANKS):
            expected = {token for token in range(SEQ) if owner[token] == rank}
            assert held(split[0][rank]) == expected, (rank, starts)
            assert held(split[1][rank]) == set(range(16 * rank, 16 * rank + 16))


def lanes(page):
    """Drawings as lists of lanes, each a list of (begin, end) as shares of the width."""
    drawings = []
    for drawing in re.findall(r'(?s)<div class="plot strip">(.*?)</div>', page):
        width = int(re.search(r'viewBox="0 0 (\d+) ', drawing).group(1))
        drawings.append([[(int(x) / width, (int(x) + int(length)) / width)
                          for x, length in re.findall(r"M(\d+) \d+h(\d+)", path)]
                         for path in re.findall(r'class="held"[^>]* d="([^"]*)"', drawing)])
    return drawings


@test
def drawings_show_what_the_words_say():
    page, _ = report("--text", TEXT)
    tables = Page(page).rows("rank", "tokens", "which")
    drawings = lanes(page)
    assert len(drawings) == len(tables) == 4
    for drawing, rows in zip(drawings, tables):
        assert len(drawing) == len(rows)
        for lane, row in zip(drawing, rows):
            shown = {token for token in range(SEQ)
                     if any(begin <= (token + 0.5) / SEQ < end for begin, end in lane)}
            assert shown == held(row), (row, lane)
            assert sum(end - begin for begin, end in lane) * SEQ - len(shown) < 0.1, lane


@test
def curves_have_a_point_for_every_step():
    page, runs = report("--text", TEXT)
    paths = re.findall(r'<path class="curve run-(\w+)" d="(M[^"]*L[^"]*)"', page)
    assert [name for name, _ in paths] == [r["name"] for r in runs]
    for _, path in paths:
        points = [tuple(map(float, p.split())) for p in re.split("[ML]", path.replace("h0", ""))[1:]]
        assert [x for x, _ in points] == [0, 500, 1000], path
        assert points[0][1] < points[-1][1], "the loss falls, so the curve goes down"


@test
def long_runs_are_thinned():
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = run("--layouts", "single", "--steps", "3000", "--seq", "1", "--pattern", "-",
                           "--text", TEXT, "--report", folder)
        assert code == 0, err
        with open(folder + "/index.html", encoding="utf-8") as file:
            page = file.read()
    [path] = re.findall(r'<path class="curve run-single" d="(M[^"]*L[^"]*)"', page)
    places = [float(point.split()[0]) for point in re.split("[ML]", path)[1:]]
    assert 400 <= len(places) <= 1000, len(places)
    assert places == sorted(places) and places[0] < 10 and places[-1] > 990, (places[0], places[-1])


@test
def attention_work_is_counted_within_documents():
    page, runs = packed("--steps", "1")
    assert [r["documents"] for r in runs] == [len(pack_starts(page)) - 1] * 4
    starts = pack_starts(page)
    position = [at for begin, end in zip(starts, starts[1:]) for at in range(end - begin)]
    zigzag = zigzag_owner(starts, RANKS)
    by_zigzag = [sum(position[t] + 1 for t in range(SEQ) if zigzag[t] == r) for r in range(RANKS)]
    by_slices = [sum(position[t] + 1 for t in range(16 * r, 16 * r + 16)) for r in range(RANKS)]
    [rows] = Page(page).rows("rank", "zigzag", "× mean", "contiguous", "× mean", "mirror")
    mean = sum(by_slices) / RANKS
    for rank, row in enumerate(rows):
        assert row[1] == str(by_zigzag[rank]), (rank, row, by_zigzag)
        assert row[3] == str(by_slices[rank]), (rank, row, by_slices)
        assert row[4] == f"{by_slices[rank] / mean:.2f}", (rank, row)
    for r in runs[1:]:
        assert r["attention_pairs"] == by_zigzag, (r["name"], r["attention_pairs"])


@test
def its_commands_repeat_it():
    for page, runs in (report("--text", TEXT, "--seed", "5"), packed("--recompute")):
        lines = [shlex.split(html.unescape(re.sub(r"<[^>]*>", "", line)))
                 for block in re.findall(r"(?s)<pre><code>(.*?)</code></pre>", page)
                 for line in block.strip().split("\n")]
        assert [line[:2] for line in lines] == [["./run", "demo"]] + 5 * [["./run", "cplayout"]]
        for line in lines[1:]:
            done = subprocess.run([COMMAND, *line[2:]], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, (line, done.stderr)
        again = lines[0][2:]
        if "--lengths" in again:  # the file of the first run is gone
            continue
        with tempfile.TemporaryDirectory() as folder:
            again[again.index("--report") + 1] = folder
            code, out, err = run("--json", *again)
        assert code == 0, err
        assert [r["loss"] for r in json.loads(out)["runs"]] == [r["loss"] for r in runs]


@test
def what_comes_from_outside_is_escaped():
    with tempfile.TemporaryDirectory() as own:
        folder = os.path.join(own, "<script>alert('&amp;')</script>\"")
        with open(os.path.join(own, "<b>'\"&.txt"), "w", encoding="utf-8") as file:
            file.write("some text " * 40)
        page, _ = report("--text", file.name, folder=folder)
        assert "script" not in Page(page).tags and "<b>" not in page
        command = html.unescape(re.sub(r"<[^>]*>", "", re.search(
            r"(?s)<pre><code>(.*?)</code>", page).group(1)))
        words = shlex.split(command)
        assert words[words.index("--report") + 1] == folder, words
        assert words[words.index("--text") + 1] == file.name, words


@test
def one_run_one_rank_one_step():
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run("--layouts", "mirror", "--cp", "1", "--steps", "1", "--seq", "8",
                             "--text", TEXT, "--report", folder)
        assert code == 0, err
        assert out.endswith(f"\nReport: {folder}/index.html\n"), out
        with open(folder + "/index.html", encoding="utf-8") as file:
            page = file.read()
        Page(page)
        assert "nan" not in re.sub(r"(?s)<style>.*</style>", "", page)


def refused(folder, *parts):
    """One line before any training, exit status 1. So many steps would not end in time."""
    code, out, err = run("--steps", "1000000", "--text", TEXT, "--report", folder)
    assert code == 1 and out == "" and err.count("\n") == 1, (code, out, err)
    for part in (folder, *parts):
        assert part in err, err


@test
def folder_that_cannot_be():
    with tempfile.TemporaryDirectory() as own:
        refused(TEXT, "Not a directory")
        refused(TEXT + "/below", "Not a directory")
        os.mkdir(own + "/index.html")
        refused(own, "directory")
        assert os.listdir(own) == ["index.html"]
    refused("/proc/nowhere")
    code, _, err = run("--report", "")
    assert code == 2 and "--report" in err, err


@test
def no_folder_is_made_for_what_cannot_run():
    with tempfile.TemporaryDirectory() as own:
        code, _, err = run("--text", "/nowhere", "--report", own + "/report")
        assert code == 1 and "/nowhere" in err, err
        assert os.listdir(own) == []


def small_files():
    """As on a disk that is full: no file may grow beyond some bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@test
def full_disk_leaves_the_old_report():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/index.html", "w", encoding="utf-8") as file:
            file.write("the old one")
        code, out, err = run(*QUICK, "--text", TEXT, "--report", folder, preexec_fn=small_files)
        assert code == 1 and folder in err and "too large" in err, (code, err)
        assert "The layouts agree" in out, out
        assert os.listdir(folder) == ["index.html"]
        with open(folder + "/index.html", encoding="utf-8") as file:
            assert file.read() == "the old one"


@test
def table_tells_about_packs():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("16\n")
        file.flush()
        _, out, err = run(*QUICK, "--packed", "--lengths", file.name, "--text", TEXT)
    assert "tokens per step 64 (4 documents)" in out, out + err
    assert "A pack has 4 documents on average" in out, out
    assert "documents" not in run(*QUICK, "--text", TEXT)[1]
    assert all(len(line) <= 100 for line in out.split("\n")), out


def main():
    print(f"1..{len(tests)}")
    failed = 0
    for number, function in enumerate(tests, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {number} - {name}")
        except (AssertionError, ValueError, LookupError, AttributeError, OSError,
                subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in repr(error).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
