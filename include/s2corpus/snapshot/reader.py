"""Finding a snapshot by its address or name, and reading documents of it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.errors import UserError
from s2corpus.ids import SPEC_NAME, SnapshotId
from s2corpus.snapshot.pointer import read_pointer
from s2corpus.storage.lake import NotAFile, lake_uri, open_lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, gzip_lines, read_object
from s2corpus_reader.parquet import read_table

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake


def open_snapshot(name: str, lake: str | None = None) -> Lake:
    """A snapshot's folder: by its address, or by its id in the lake; a spec's folder or name gives its latest snapshot.

    Raises:
        UserError: there is none.
    """
    if "/" not in name:
        if not SnapshotId.known(name) and not re.fullmatch(SPEC_NAME, name):
            raise UserError(
                f"{name!r} is neither an address (s3://…/snapshots/<id>), nor a snapshot id <spec>-<YYYYMMDD>-<8 hex>, "
                "nor the name of a spec"
            )
        name = f"{(lake or lake_uri()).rstrip('/')}/snapshots/{name}"
    folder = open_lake(name, confined=True)
    for key in ("manifest.json", "latest.json"):
        folder.check_file(key)
    if folder.size("manifest.json") is not None:
        return folder
    if folder.size("latest.json") is None:
        raise UserError(
            f"{name}: no manifest.json and no latest.json found: give the folder of a snapshot or of a spec"
        )
    snapshot = read_pointer(folder, "latest.json", folder.root.rpartition("/")[2]).snapshot
    if snapshot is None:
        raise UserError(f"{name}: every snapshot of it was yanked")
    found = open_lake(f"{folder.root.rpartition('/')[0]}/{snapshot}", confined=True)
    if found.size("manifest.json") is None:
        raise UserError(f"{folder.uri('latest.json')} names {snapshot}, but {found.root} has no manifest.json")
    return found


def published_manifests(snapshot: Lake) -> set[str]:
    """SHA-256s of the manifest that a snapshot was published with, as its mark and the pointer have them; empty for a copy that lies
    without its publication. What cannot be read counts as another manifest."""
    folder, _, id_ = snapshot.root.rpartition("/")
    if not SnapshotId.known(id_):
        return set()
    spec, found = SnapshotId(id_).spec, set()
    for key in (f"published/{id_}", "latest.json"):
        try:
            noted = read_object(open_lake(folder), f"{spec}/{key}", MAX_SMALL_BYTES)
            if key != "latest.json" or noted["snapshot"] == id_:
                found.add(str(noted["manifest_sha256"]))
        except (ValueError, LookupError, TypeError, NotAFile):
            found.add(f"{key} cannot be read")
        except FileNotFoundError:
            continue
    return found


def by_ids(snapshot: Lake, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The documents with these ids, or former ids, in the order of files.

    Raises:
        UserError: names the ids that the snapshot has not.
    """
    aliases = _table(snapshot, "aliases.parquet")
    known = dict(zip(aliases["alias"].to_pylist(), aliases["paper_id"].to_pylist(), strict=True))
    wanted = {known.get(id_, id_): id_ for id_ in ids}
    index = _table(snapshot, "index.parquet", ["id", "file", "line"])
    rows = index.filter(_is_one_of("id", list(wanted))).to_pylist()
    if missing := sorted(wanted[id_] for id_ in set(wanted) - {row["id"] for row in rows}):
        raise UserError(f"{snapshot.root}: no document {', '.join(missing)} (dropped or held back ones are in none)")
    yield from at(snapshot, rows)


def sample(snapshot: Lake, count: int, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The same `count` documents each time, spread over all: those whose ids have the smallest hashes."""
    index = _table(snapshot, "index.parquet", ["id", "set", "split", "file", "line"])
    chosen = index.filter(_is_one_of("set", sets) & _is_one_of("split", splits))
    hashes = [hashlib.sha256(id_.encode()).digest()[:8] for id_ in chosen["id"].to_pylist()]
    first = sorted(range(len(hashes)), key=hashes.__getitem__)[:count]
    yield from at(snapshot, chosen.take(pa.array(first, pa.int64())).to_pylist())


def _is_one_of(column: str, values: Sequence[str]) -> pc.Expression:
    """Return the condition that a column has one of the values; without a type, Arrow refuses an empty list."""
    return pc.field(column).isin(pa.array(values, pa.string()))


def grep(snapshot: Lake, pattern: str, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every document whose text has a match of a regular expression, in the order of files.

    Raises:
        UserError: no regular expression.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UserError(f"{pattern!r} is not a regular expression: {error}") from None
    for set_ in sets:
        for split in splits:
            for entry in snapshot.list(f"v2/{set_}/{split}/"):
                for _, line in _lines(snapshot, entry.key):
                    document = orjson.loads(line)
                    if compiled.search(document["text"]):
                        yield document


def _table(snapshot: Lake, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    return read_table(snapshot, path, columns)


def at(snapshot: Lake, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The documents at these places (`file`, `line`), file by file."""
    files: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        files[row["file"]].add(row["line"])
    for path, wanted in sorted(files.items()):
        last = max(wanted)
        for number, line in _lines(snapshot, path):
            if number in wanted:
                yield orjson.loads(line)
            if number == last:
                break


def _lines(snapshot: Lake, path: str) -> Iterator[tuple[int, bytes]]:
    with snapshot.open(path) as raw:
        yield from enumerate(gzip_lines(raw), 1)
