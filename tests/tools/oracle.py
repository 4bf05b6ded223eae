# SPDX-License-Identifier: Apache-2.0
"""What layouts and routes should be, computed token by token from the definitions alone.

A rank's rows are a list of rows of the stream in local order, -1 for padding that the layout adds.
"""
import math

LAYOUTS = ("contiguous", "mirror", "zigzag", "zigzag-stream")


def known(layout):
    """Whether this oracle has the layout's rule. balanced has none: it is tested by properties."""
    return layout in LAYOUTS or layout.startswith("striped:")


# ---- One dense sequence -------------------------------------------------------------------------


def needs(layout, cp, tp):
    """What a sequence length must be a multiple of."""
    if cp > 1 and layout in ("zigzag", "zigzag-stream"):
        return math.lcm(2 * cp, cp * tp)
    if cp > 1 and layout.startswith("striped:"):
        return math.lcm(cp * block_of(layout), cp * tp)
    return cp * tp


def block_of(layout):
    return int(layout.split(":")[1])


def owner(layout, cp, length, token):
    if cp == 1:
        return 0
    if layout.startswith("striped:"):
        return token // block_of(layout) % cp
    if layout in ("zigzag", "zigzag-stream"):
        chunk = token // (length // (2 * cp))
        return min(chunk, 2 * cp - 1 - chunk)
    piece = token // (length // cp)
    if layout == "contiguous":
        return piece
    held = [k // 2 if k % 2 == 0 else cp - 1 - (k - 1) // 2 for k in range(cp)]
    return held.index(piece)


def windows(ranks, tp):
    """Cuts the rows of every CP rank into equal windows."""
    window = len(ranks[0]) // tp
    return [rows[i * window:(i + 1) * window] for rows in ranks for i in range(tp)]


def table(layout, cp, tp, length):
    """Tokens of every logical rank in local order."""
    ranks = [[] for _ in range(cp)]
    for token in range(length):
        ranks[owner(layout, cp, length, token)].append(token)
    return windows(ranks, tp)


# ---- Packed documents ---------------------------------------------------------------------------


class Pack:
    """Documents of (real tokens, rows with the padding of the source)."""

    def __init__(self, documents):
        self.documents = documents
        self.tokens = sum(real for real, _ in documents)
        self.rows = sum(rows for _, rows in documents)

    @staticmethod
    def _offsets(lengths):
        offsets = [0]
        for length in lengths:
            offsets.append(offsets[-1] + length)
        return offsets

    def cu_seqlens(self):
        return self._offsets(real for real, _ in self.documents)

    def cu_seqlens_padded(self):
        return self._offsets(rows for _, rows in self.documents)

    def places(self):
        """For every row of the stream its position in the document, or None if it is padding."""
        return [i if i < real else None for real, rows in self.documents for i in range(rows)]

    def padded_by(self, layout, cp, tp):
        """Rows of every document with what the layout adds."""
        lengths = [rows for _, rows in self.documents]
        if layout == "zigzag" and cp > 1:
            unit = 2 * cp
            lengths = [(length + unit - 1) // unit * unit for length in lengths]
            while sum(lengths) // cp % tp != 0:
                lengths[-1] += unit
        return lengths


def packed_table(layout, cp, tp, pack):
    """Rows of the stream that every logical rank holds, in local order."""
    if layout != "zigzag" or cp == 1:
        return table(layout, cp, tp, pack.rows)
    ranks = [[] for _ in range(cp)]
    start = 0
    for (_, rows), padded in zip(pack.documents, pack.padded_by(layout, cp, tp)):
        for i in range(padded):
            ranks[owner("zigzag", cp, padded, i)].append(start + i if i < rows else -1)
        start += rows
    return windows(ranks, tp)


# ---- Answers of the command ---------------------------------------------------------------------


def merge(items):
    """Joins neighbours: equal-length tuples of positions, each of which grows by one."""
    runs = []
    for item in items:
        if runs and all(a + runs[-1][-1] == b for a, b in zip(runs[-1], item)):
            runs[-1][-1] += 1
        else:
            runs.append([*item, 1])
    return runs


def fragments_of(rows):
    fragments = []
    for row in rows:
        start, length = fragments[-1] if fragments else (None, 0)
        if start is not None and row == (-1 if start == -1 else start + length):
            fragments[-1][1] += 1
        else:
            fragments.append([row, 1])
    return fragments


def expand(fragments):
    return [-1 if start == -1 else start + i for start, length in fragments for i in range(length)]


def ranks_of_map(rows_of_ranks, tp, places):
    answer = []
    for rank, rows in enumerate(rows_of_ranks):
        valid = [places[row] for row in rows if row != -1 and places[row] is not None]
        answer.append({"rank": rank, "cp_rank": rank // tp, "tp_rank": rank % tp,
                       "fragments": fragments_of(rows), "rows": len(rows),
                       "valid_rows": len(valid),
                       "attention_pairs": sum(place + 1 for place in valid)})
    return answer


def expected_map(layout, cp, tp, length):
    return {"layout": layout, "cp": cp, "tp": tp, "tokens": length, "stream_rows": length,
            "rows": length, "cu_seqlens_padded": [0, length],
            "ranks": ranks_of_map(table(layout, cp, tp, length), tp, range(length))}


def expected_packed_map(layout, cp, tp, pack):
    rows_of_ranks = packed_table(layout, cp, tp, pack)
    padded = Pack([(0, rows) for rows in pack.padded_by(layout, cp, tp)])
    return {"layout": layout, "cp": cp, "tp": tp, "tokens": pack.tokens, "stream_rows": pack.rows,
            "rows": sum(map(len, rows_of_ranks)), "cu_seqlens_padded": padded.cu_seqlens_padded(),
            "ranks": ranks_of_map(rows_of_ranks, tp, pack.places())}


def expected_shift(rows_of_ranks, pack, by):
    """For every local row the row `by` tokens later in its document, -1 where there is none."""
    where = pack.places()

    def later(row):
        if row == -1 or where[row] is None:
            return -1
        place = where[row] + by
        start = row - where[row]
        inside = place >= 0 and row + by < len(where) and where[row + by] == place
        return start + place if inside else -1

    return [[later(row) for row in rows] for rows in rows_of_ranks]


def expected_cost(rows_of_ranks, tp, pack):
    """Attention of every CP rank, its windows together, by sets of rows."""
    where = pack.places()
    merged = [sum(rows_of_ranks[i:i + tp], []) for i in range(0, len(rows_of_ranks), tp)]
    pairs, missing = [], 0
    for rows in merged:
        own = {row for row in rows if row != -1 and where[row] is not None}
        seen = {key for row in own for key in range(row - where[row], row + 1)}
        pairs.append(sum(where[row] + 1 for row in own))
        missing += len(seen - own)
    mean = sum(pairs) / len(pairs)
    return {"attention": {"pairs": pairs, "max_over_mean": max(pairs) / mean if mean else 1},
            "kv_rows": missing,
            "padding_rows": sum(rows.count(-1) for rows in rows_of_ranks)}


def places(rows_of_ranks):
    """row of the stream -> (rank, local row)"""
    return {row: (rank, local) for rank, rows in enumerate(rows_of_ranks)
            for local, row in enumerate(rows) if row != -1}


def expected_route(source, target):
    """The ranks of a route and its rows[i][j], both from the two tables."""
    count = len(source)
    kept = [[] for _ in range(count)]
    sends = [{} for _ in range(count)]
    receives = [{} for _ in range(count)]
    rows = [[0] * count for _ in range(count)]
    there = places(target)
    for row, (rank, src) in sorted(places(source).items()):
        peer, dst = there[row]
        rows[rank][peer] += 1
        if peer == rank:
            kept[rank].append((src, dst))
        else:
            sends[rank].setdefault(peer, []).append((src,))
            receives[peer].setdefault(rank, []).append((dst,))

    def messages(of_peer):
        return [{"peer": peer, "rows": merge(of_peer[peer])} for peer in sorted(of_peer)]

    def pads(held):
        return merge((local,) for local, row in enumerate(held) if row == -1)

    ranks = [{"rank": rank, "kept": merge(kept[rank]), "sends": messages(sends[rank]),
              "receives": messages(receives[rank]), "pads": pads(target[rank])}
             for rank in range(count)]
    return ranks, rows


def expected_totals(rows, padding=0):
    count = len(rows)
    others = [[(i, j) for j in range(count) if j != i] for i in range(count)]
    sent = [sum(rows[i][j] for i, j in pairs) for pairs in others]
    received = [sum(rows[j][i] for i, j in pairs) for pairs in others]
    peers = [sum(1 for i, j in pairs if rows[i][j] + rows[j][i] > 0) for pairs in others]
    return {"total_rows": sum(map(sum, rows)) + padding, "moved_rows": sum(sent),
            "worst_rank_rows": max(sent + received), "peers": max(peers)}


def agree(got, wanted, where):
    for key, value in wanted.items():
        assert got.get(key) == value, f"{where}: {key} is {got.get(key)}, not {value}"
