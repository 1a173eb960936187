"""Select documents of a snapshot by id, as a sample, or by a regular expression. Needs the extra `arrow`."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus_reader.bounded import gzip_lines
from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.folder import Files
from s2corpus_reader.parquet import read_table
from s2corpus_reader.snapshot import Snapshot


def read_by_ids(snapshot: Files, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the documents with the given current or former ids, in the order of files.

    Raises:
        SnapshotError: the snapshot does not contain an id; the message lists all missing ids.
    """
    aliases = read_table(snapshot, "aliases.parquet")
    current_ids = dict(zip(aliases["alias"].to_pylist(), aliases["paper_id"].to_pylist(), strict=True))
    wanted = {current_ids.get(id_, id_): id_ for id_ in ids}
    index = read_table(snapshot, "index.parquet", ["id", "file", "line"])
    rows = index.filter(_is_one_of("id", list(wanted))).to_pylist()
    if missing := sorted(wanted[id_] for id_ in set(wanted) - {row["id"] for row in rows}):
        raise SnapshotError(f"{snapshot.root}: no document {', '.join(missing)} (excluded documents are not published)")
    yield from read_at(snapshot, rows)


def read_sample(snapshot: Files, count: int, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a reproducible sample: the `count` documents with the smallest hashes of their ids."""
    index = read_table(snapshot, "index.parquet", ["id", "set", "split", "file", "line"])
    chosen = index.filter(_is_one_of("set", sets) & _is_one_of("split", splits))
    hashes = [hashlib.sha256(id_.encode()).digest()[:8] for id_ in chosen["id"].to_pylist()]
    first = sorted(range(len(hashes)), key=hashes.__getitem__)[:count]
    yield from read_at(snapshot, chosen.take(pa.array(first, pa.int64())).to_pylist())


def _is_one_of(column: str, values: Sequence[str]) -> pc.Expression:
    """Return the condition that a column has one of the values. Arrow rejects an empty list without a type."""
    return pc.field(column).isin(pa.array(values, pa.string()))


def grep(snapshot: Snapshot, pattern: str, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the documents with text that matches a regular expression, in the order of files.

    Raises:
        SnapshotError: the pattern is not a regular expression.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise SnapshotError(f"{pattern!r} is not a regular expression: {error}") from None
    for set_ in sets:
        for split in splits:
            yield from (document for document in snapshot.texts(set_, split) if compiled.search(document["text"]))


def read_at(snapshot: Files, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the documents at the given positions (`file`, `line`), file by file."""
    files: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        files[row["file"]].add(row["line"])
    for path, wanted in sorted(files.items()):
        last = max(wanted)
        for number, line in _read_lines(snapshot, path):
            if number in wanted:
                yield orjson.loads(line)
            if number == last:
                break


def _read_lines(snapshot: Files, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) of a file."""
    with snapshot.open(path) as raw:
        yield from enumerate(gzip_lines(raw), 1)
