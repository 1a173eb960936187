"""Drops and deliveries: read once, verified against their `_READY`, and kept for every later release.

A drop is `drops/<drop_id>/`, a delivery `sources/<source>/<delivery_id>/`; both end with `_READY`, JSON
`{ready_at, files: [{name, bytes, sha256}], mode?}`. `ready_at` is the only clock: object times are never used. What differs from its
`_READY` is refused with the reason, and looked at again the next time.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import pyarrow as pa
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, ValidationError

from s2corpus import sources
from s2corpus.errors import UserError
from s2corpus.sources.dates import parse_date
from s2corpus.sources.identifiers import normalise_arxiv
from s2corpus.sources.jsonl import entry_of
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables import REGISTERED_FILES, REGISTERED_RECORDS

MAX_READY_BYTES = 256 << 20
DECLARATIONS = "records.jsonl"
READER = "3"
"""changes when the same files would be read otherwise: what was registered before is then read again"""


class Refusal(StrEnum):
    """Why a drop or delivery is not taken."""

    UNREADABLE = "unreadable"  # _READY is no JSON of the expected form
    BAD_NAME = "bad_name"  # a file name that leaves the folder, or is listed twice
    INCOMPLETE = "incomplete"  # a listed file is not there
    UNLISTED = "unlisted"  # a file is there that is not listed
    CHANGED = "changed"  # a file's size or SHA-256 is not the listed one
    UNKNOWN_SOURCE = "unknown_source"  # no adapter reads the source whose folder it lies in


class Refused(Exception):
    """A drop or delivery differs from its `_READY`."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(f"{refusal}: {detail}")
        self.refusal = refusal
        self.detail = detail


class _File(BaseModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class _Ready(BaseModel):
    ready_at: AwareDatetime
    files: list[_File]
    mode: Literal["full", "delta"] = "delta"


@dataclass(frozen=True, slots=True)
class Batch:
    """A drop (source empty) or a delivery whose `_READY` was read; `key` names this very `_READY`."""

    kind: Literal["drop", "delivery"]
    source: str
    id: str
    ready_at: str
    mode: str
    key: str
    files: int

    @property
    def folder(self) -> str:
        """Where its files are."""
        return f"drops/{self.id}/" if self.kind == "drop" else f"sources/{self.source}/{self.id}/"

    @property
    def registered(self) -> str:
        """Where it is kept once verified."""
        return f"registered/{READER}/{self.folder}{self.key}"


def folders(lake: Lake) -> Iterator[tuple[Literal["drop", "delivery"], str, str]]:
    """Every drop and delivery that has its folder: (kind, source, id), in order; those that S3 allows and no path can have are not seen."""
    for drop in _steps(lake, "drops/"):
        yield "drop", "", drop
    for source in _steps(lake, "sources/"):
        for delivery in _steps(lake, f"sources/{source}/"):
            yield "delivery", source, delivery


def _steps(lake: Lake, prefix: str) -> list[str]:
    return [name for name in lake.folders(prefix) if name not in ("", ".", "..") and "\0" not in name]


def read_ready(lake: Lake, kind: Literal["drop", "delivery"], source: str, id_: str) -> Batch | None:
    """What a drop or delivery says of itself; None where it is not ready yet.

    Raises:
        Refused: its `_READY` cannot be read.
    """
    key = f"drops/{id_}/_READY" if kind == "drop" else f"sources/{source}/{id_}/_READY"
    size = lake.size(key)
    if size is None:
        return None
    ready, data = _ready(lake, key, size)
    at = ready.ready_at.astimezone(UTC)
    return Batch(kind, source, id_, iso(at), ready.mode, hashlib.sha256(data).hexdigest()[:16], len(ready.files))


def iso(at: datetime) -> str:
    """An instant as the tables write it, ISO UTC to the microsecond, so that text order is time order."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _ready(lake: Lake, key: str, size: int) -> tuple[_Ready, bytes]:
    if size > MAX_READY_BYTES:
        raise Refused(Refusal.UNREADABLE, f"_READY has {size} bytes; at most {MAX_READY_BYTES} are read")
    data, _ = lake.get(key)
    try:
        return _Ready.model_validate_json(data), data
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Refused(Refusal.UNREADABLE, f"_READY: {where}: {first['msg']}"[:300]) from None


@dataclass(frozen=True, slots=True)
class Registered:
    """What a verified drop or delivery brought."""

    rows: int
    dropped: int
    pdfs: int


def register(lake: Lake, batch: Batch, *, threads: int = 8) -> Registered:
    """Verify a drop or delivery against its `_READY` and keep what it holds; nothing is done twice.

    Raises:
        Refused: it differs from its `_READY`, or nobody here can read it.
    """
    done = f"{batch.registered}/facts.json"
    whole = all(_table(lake, batch, name).whole() for name in ("files", "records"))
    if whole and lake.size(done) is not None:
        return Registered(**orjson.loads(lake.get(done)[0]))
    ready_key = f"{batch.folder}_READY"
    ready, _ = _ready(lake, ready_key, lake.size(ready_key) or 0)
    _check_names(lake, batch, ready)
    _check_source(batch, ready)
    with ThreadPoolExecutor(threads) as pool:
        digests = list(pool.map(lambda file: _verified(lake, batch, file), ready.files))
    sha1_of = {file.name: digest for file, digest in zip(ready.files, digests, strict=True)}
    declared: dict[str, dict[str, Any]] = {}
    counts = {"rows": 0, "dropped": 0}
    records = _table(lake, batch, "records")
    holders = [f.name for f in ready.files if batch.kind == "delivery" or f.name == DECLARATIONS]
    for number, name in enumerate(holders):
        with tempfile.TemporaryDirectory(prefix="s2corpus-records-") as scratch:
            path = Path(scratch) / "file"
            lake.download(batch.folder + name, path)
            entries = (
                _declarations(path, batch, sha1_of, declared) if batch.kind == "drop" else _entries(path, batch, name)
            )
            records.write(number, _batches(entries, batch, number << 40, counts))
    if not holders:
        records.write(0, [])
    rows = [
        {
            "name": file.name,
            "kind": _kind_of(file.name),
            "bytes": file.bytes,
            "sha1": sha1_of[file.name],
            "arxiv_id": _arxiv_id_of(file.name),
            **declared.get(file.name, declared.get(sha1_of[file.name], {})),
        }
        for file in sorted(ready.files, key=lambda file: file.name)
        if batch.kind == "drop" and file.name != DECLARATIONS
    ]
    files = _table(lake, batch, "files")
    files.write(0, rows)
    files.commit([0])
    records.commit(range(max(1, len(holders))))
    facts = Registered(counts["rows"], counts["dropped"], sum(row["kind"] == "pdf" for row in rows))
    lake.put(done, orjson.dumps(asdict(facts)))
    return facts


def forget(lake: Lake, batch: Batch) -> None:
    """Let a drop or delivery that was changed after all be verified again, and refused, by whoever is next."""
    lake.delete(f"{batch.registered}/facts.json")


def registered_table(lake: Lake, batch: Batch, name: Literal["files", "records"]) -> TableRef:
    """What a registered drop or delivery holds."""
    return _table(lake, batch, name)


def _table(lake: Lake, batch: Batch, name: str) -> TableRef:
    return TableRef(lake, f"{batch.registered}/{name}", REGISTERED_FILES if name == "files" else REGISTERED_RECORDS)


def _kind_of(name: str) -> str:
    lower = name.lower()
    if lower.endswith(".pdf"):
        return "pdf"
    return "latex" if lower.endswith((".gz", ".tgz", ".tar", ".tex")) else "other"


def _arxiv_id_of(name: str) -> str | None:
    """The arXiv id that a source archive's name says: `2004.14974v2.gz`, `hep-th9711200.gz`."""
    if _kind_of(name) != "latex":
        return None
    stem = name.rpartition("/")[2]
    return normalise_arxiv(re.sub(r"^([a-z-]+(?:\.[A-Z]{2})?)_?(\d{7})", r"\1/\2", stem))


def _check_names(lake: Lake, batch: Batch, ready: _Ready) -> None:
    names = [file.name for file in ready.files]
    for name in names:
        if (
            name.startswith("/")
            or ".." in name.split("/")
            or "\\" in name
            or not name.isprintable()
            or name == "_READY"
        ):
            raise Refused(Refusal.BAD_NAME, f"{name!r} is no file name of a drop")
    if len(set(names)) != len(names):
        raise Refused(Refusal.BAD_NAME, f"listed twice: {sorted(n for n in set(names) if names.count(n) > 1)[:3]}")
    present = {entry.key.removeprefix(batch.folder) for entry in lake.list(batch.folder)} - {"_READY"}
    if missing := sorted(set(names) - present):
        raise Refused(Refusal.INCOMPLETE, f"{len(missing)} listed but not there: {missing[:3]}")
    if extra := sorted(present - set(names)):
        raise Refused(Refusal.UNLISTED, f"{len(extra)} there but not listed: {extra[:3]}")


def _verified(lake: Lake, batch: Batch, file: _File) -> str:
    """SHA-1 of a file that has its listed size and SHA-256."""
    sha1, sha256, size = hashlib.sha1(usedforsecurity=False), hashlib.sha256(), 0
    with lake.open(batch.folder + file.name) as stream:
        while chunk := stream.read(1 << 20):
            sha1.update(chunk)
            sha256.update(chunk)
            size += len(chunk)
            if size > file.bytes:
                break
    if size != file.bytes:
        raise Refused(
            Refusal.CHANGED, f"{file.name}: {file.bytes} bytes listed, {'more' if size > file.bytes else size} found"
        )
    if sha256.hexdigest() != file.sha256:
        raise Refused(Refusal.CHANGED, f"{file.name}: its SHA-256 is not the listed one")
    return sha1.hexdigest()


def _check_source(batch: Batch, ready: _Ready) -> None:
    """Refuse a delivery with files for an adapter that is not there."""
    if batch.kind == "delivery" and any(file.name.rpartition("/")[2] != DECLARATIONS for file in ready.files):
        try:
            sources.adapter(batch.source)
        except UserError as error:
            raise Refused(Refusal.UNKNOWN_SOURCE, str(error)) from None


def _entries(path: Path, batch: Batch, name: str) -> Iterator[sources.Entry]:
    """Entries of one file of a delivery: `records.jsonl` is generic, every other file is read by its source's adapter."""
    return sources.read("jsonl" if name.rpartition("/")[2] == DECLARATIONS else batch.source, path)


def _declarations(
    path: Path, batch: Batch, sha1_of: Mapping[str, str], declared: dict[str, dict[str, Any]]
) -> Iterator[sources.Entry]:
    """Entries of a drop's records.jsonl; what it declares of the files goes to `declared` by file name or SHA-1.

    A line has `name` or `pdf_sha1`, and any of `open_access`, `licence`, `published`; a line with a title is a record too.
    """
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            try:
                line = orjson.loads(raw)
                name = line.pop("name", None)
                where = str(name or line["pdf_sha1"])
                published = line.pop("published", None)
            except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
                yield sources.Dropped(
                    sources.Reason.MALFORMED, str(number), f"expected name or pdf_sha1: {error}"[:200]
                )
                continue
            declared[where] = {
                "open_access": line["open_access"] if isinstance(line.get("open_access"), bool) else None,
                "licence": line.get("licence") if isinstance(line.get("licence"), str) else None,
                "published": parse_date(published)[0],
            }
            if arxiv_id := normalise_arxiv(str(line.get("arxiv_id") or "")):
                declared[where]["arxiv_id"] = arxiv_id
            if "title" in line:
                line = {
                    "record_id": f"drop:{batch.id}/{where}",
                    "source": "drop",
                    "date": published,
                    "pdf_sha1": sha1_of.get(where, where),
                    **line,
                }
                yield entry_of(line, str(number))


def _batches(
    entries: Iterator[sources.Entry], batch: Batch, position: int, counts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    """Rows of REGISTERED_RECORDS in the order of entries, 10,000 at a time."""
    while chunk := list(islice(entries, 10_000)):
        rows: list[dict[str, Any]] = []
        kept = [entry for entry in chunk if isinstance(entry, sources.Record)]
        read = iter(
            [row for rb in sources.batches(kept, delivery=batch.id, ready_at=batch.ready_at) for row in rb.to_pylist()]
        )
        for entry in chunk:
            match entry:
                case sources.Record():
                    rows.append({**next(read), "position": position, "deleted": False})
                case sources.Deleted():
                    rows.append({**_tombstone(entry.record_id, batch), "position": position})
                case _:
                    counts["dropped"] += 1
            position += 1
        counts["rows"] += len(rows)
        yield pa.RecordBatch.from_pylist(rows, schema=REGISTERED_RECORDS.schema)


def _tombstone(record_id: str, batch: Batch) -> dict[str, Any]:
    return {
        **dict.fromkeys(REGISTERED_RECORDS.schema.names),
        "record_id": record_id,
        "source": record_id.partition(":")[0],
        "kind": "archive",
        "delivery": batch.id,
        "ready_at": batch.ready_at,
        "deleted": True,
    }
