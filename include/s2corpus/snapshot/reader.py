"""Find a snapshot by its address or name, and read its documents."""

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
from s2corpus.storage.lake import NotALakeFile, lake_uri, open_lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, gzip_lines, read_bytes, read_object
from s2corpus_reader.files import SnapshotFile, list_files
from s2corpus_reader.parquet import read_table

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake


def open_snapshot(name: str, lake: str | None = None) -> Lake:
    """Open the folder of a snapshot by its address, or by its id in the lake. The name of a spec opens its latest snapshot.

    Raises:
        UserError: the snapshot does not exist.
    """
    if "/" not in name:
        if not SnapshotId.is_valid(name) and not re.fullmatch(SPEC_NAME, name):
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
            f"{name}: no manifest.json and no latest.json found: expected the folder of a snapshot or of a spec"
        )
    snapshot = read_pointer(folder, "latest.json", folder.root.rpartition("/")[2]).snapshot
    if snapshot is None:
        raise UserError(f"{name}: all its snapshots were yanked")
    found = open_lake(f"{folder.root.rpartition('/')[0]}/{snapshot}", confined=True)
    if found.size("manifest.json") is None:
        raise UserError(f"{folder.uri('latest.json')} names {snapshot}, but {found.root} has no manifest.json")
    return found


def read_manifest(snapshot: Lake) -> tuple[bytes, dict[str, SnapshotFile]]:
    """Return the bytes of the manifest, and the files that it lists by path.

    Raises:
        UserError: the manifest is malformed, or a listed path could leave the folder of the snapshot.
    """
    try:
        manifest = read_bytes(snapshot, "manifest.json")
        return manifest, list_files(orjson.loads(manifest))
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(
            f"{snapshot.uri('manifest.json')} is damaged ({error}): run corpus verify for details"
        ) from None


def published_manifests(snapshot: Lake) -> set[str]:
    """Return the SHA-256s of the published manifest, from the marker of the snapshot and from the pointer.

    The set is empty for a copy outside its lake. An unreadable marker or pointer adds a value that matches no manifest.
    """
    folder, _, id_ = snapshot.root.rpartition("/")
    if not SnapshotId.is_valid(id_):
        return set()
    spec, found = SnapshotId(id_).spec, set()
    for key in (f"published/{id_}", "latest.json"):
        try:
            recorded = read_object(open_lake(folder), f"{spec}/{key}", MAX_SMALL_BYTES)
            if key != "latest.json" or recorded["snapshot"] == id_:
                found.add(str(recorded["manifest_sha256"]))
        except (ValueError, LookupError, TypeError, NotALakeFile):
            found.add(f"{key} cannot be read")
        except FileNotFoundError:
            continue
    return found


def read_by_ids(snapshot: Lake, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the documents with the given current or former ids, in the order of files.

    Raises:
        UserError: the snapshot does not contain an id; the message lists all missing ids.
    """
    aliases = read_table(snapshot, "aliases.parquet")
    current_ids = dict(zip(aliases["alias"].to_pylist(), aliases["paper_id"].to_pylist(), strict=True))
    wanted = {current_ids.get(id_, id_): id_ for id_ in ids}
    index = read_table(snapshot, "index.parquet", ["id", "file", "line"])
    rows = index.filter(_is_one_of("id", list(wanted))).to_pylist()
    if missing := sorted(wanted[id_] for id_ in set(wanted) - {row["id"] for row in rows}):
        raise UserError(f"{snapshot.root}: no document {', '.join(missing)} (excluded documents are not published)")
    yield from read_at(snapshot, rows)


def read_sample(snapshot: Lake, count: int, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a reproducible sample: the `count` documents with the smallest hashes of their ids."""
    index = read_table(snapshot, "index.parquet", ["id", "set", "split", "file", "line"])
    chosen = index.filter(_is_one_of("set", sets) & _is_one_of("split", splits))
    hashes = [hashlib.sha256(id_.encode()).digest()[:8] for id_ in chosen["id"].to_pylist()]
    first = sorted(range(len(hashes)), key=hashes.__getitem__)[:count]
    yield from read_at(snapshot, chosen.take(pa.array(first, pa.int64())).to_pylist())


def _is_one_of(column: str, values: Sequence[str]) -> pc.Expression:
    """Return the condition that a column has one of the values. Arrow rejects an empty list without a type."""
    return pc.field(column).isin(pa.array(values, pa.string()))


def grep(snapshot: Lake, pattern: str, sets: Sequence[str], splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the documents with text that matches a regular expression, in the order of files.

    Raises:
        UserError: the pattern is not a regular expression.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UserError(f"{pattern!r} is not a regular expression: {error}") from None
    for set_ in sets:
        for split in splits:
            for entry in snapshot.list(f"v2/{set_}/{split}/"):
                for _, line in _read_lines(snapshot, entry.key):
                    document = orjson.loads(line)
                    if compiled.search(document["text"]):
                        yield document


def read_at(snapshot: Lake, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
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


def _read_lines(snapshot: Lake, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) of a file."""
    with snapshot.open(path) as raw:
        yield from enumerate(gzip_lines(raw), 1)
