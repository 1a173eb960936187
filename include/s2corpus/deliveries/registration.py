"""Registration: read drops and deliveries once, verify them against `_READY`, and store them for all later releases.

A drop or delivery that differs from its `_READY` or makes forbidden claims is refused with a reason. The next run checks it again.
"""

from __future__ import annotations

import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa

from pdf2tei.version import NAME as EMBEDDED
from s2corpus import sources
from s2corpus.deliveries.copies import Copies
from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.declarations import Declarations, DeclaredFacts
from s2corpus.deliveries.entries import arxiv_id_of, has_records, kind_of, read_entries
from s2corpus.deliveries.pdf_names import map_pdf_names, select_own
from s2corpus.deliveries.ready import Delivery, ListedFile, Ready, Refused, hash_stream, parse_ready
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import EXTRACTORS
from s2corpus.ids import RecordId
from s2corpus.outcomes import Refusal
from s2corpus.sources import scienceparse
from s2corpus.sources.arrow import batches as record_batches
from s2corpus.sources.record import DECLARED
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import RECORDS, REGISTERED_FILES, REGISTERED_RECORDS, RegisteredFileRow
from s2corpus.tables.parses import STORED_TEI
from s2orc_parse import jats
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES

_ARTICLE_SUFFIXES = (".xml", ".nxml", ".json")
_BATCH_ROWS = 10_000
_THREADS = 8


@dataclass(frozen=True, slots=True)
class Registered:
    """Counts and warnings of a verified drop or delivery."""

    rows: int
    dropped: int
    pdfs: int
    not_read: int = 0
    """number of files of a drop that no release reads"""
    warnings: tuple[str, ...] = ()
    """unusable values of its records.jsonl, with line and key"""


def register(lake: Lake, delivery: Delivery) -> Registered:
    """Verify a drop or delivery against its `_READY` and store its content; a repeated call returns the stored result.

    Raises:
        Refused: it differs from its `_READY`, or no adapter reads it.
    """
    facts_key = f"{delivery.registered}/facts.json"
    files, records = (registered_table(lake, delivery, name) for name in ("files", "records"))
    if files.is_complete() and records.is_complete() and lake.size(facts_key) is not None:
        stored = orjson.loads(lake.get(facts_key)[0])
        return Registered(**{**stored, "warnings": tuple(stored["warnings"])})
    ready, _ = parse_ready(lake, delivery.key("_READY"), lake.size(delivery.key("_READY")) or 0)
    _check_listing(lake, delivery, ready)
    _check_source(lake, delivery, ready)
    copies = Copies.find()
    with ThreadPoolExecutor(_THREADS) as pool:
        digests = list(pool.map(lambda file: _verify_file(lake, delivery, file, copies), ready.files))
    sha1_of = {file.name: digest for file, digest in zip(ready.files, digests, strict=True)}
    declared = Declarations(delivery.id, sha1_of)
    counts = {"rows": 0, "dropped": 0}
    pdf_names = map_pdf_names(lake, delivery, sha1_of)
    record_files = [f.name for f in ready.files if has_records(delivery, f.name)]
    for number, name in enumerate(record_files):
        with tempfile.TemporaryDirectory(prefix="s2corpus-records-") as scratch:
            path = Path(scratch) / "file"
            lake.download(delivery.key(name), path)
            with path.open("rb") as stream:
                entries = (
                    declared.entries(stream)
                    if delivery.kind == "drop"
                    else read_entries(path, delivery, name, pdf_names)
                )
                records.write(number, _batches(entries, delivery, number, counts))
    articles: dict[str, tuple[str, str | None]] = {}
    descriptions: set[str] = set()
    entries = _read_articles(lake, delivery, ready, sha1_of, pdf_names, articles, descriptions)
    records.write(len(record_files), _batches(entries, delivery, len(record_files), counts))
    rows = []
    for file in sorted(ready.files, key=lambda file: file.name):
        if file.name in articles or (delivery.kind == "drop" and file.name != RECORDS_FILE):
            kind, record_id = articles.get(file.name) or (kind_of(file.name), None)
            claims = declared.facts.get(file.name) or DeclaredFacts(0)
            row = RegisteredFileRow(
                name=file.name, kind=kind, bytes=file.bytes, sha1=sha1_of[file.name], record_id=record_id,
                arxiv_id=claims.arxiv_id or arxiv_id_of(file.name), open_access=claims.open_access, license=claims.license,
            )  # fmt: skip
            rows.append(row)
    files.write(0, rows)
    files.commit([0])
    records.commit(range(len(record_files) + 1))
    pdfs = sum(row["kind"] == "pdf" for row in rows)
    not_read = sum(row["kind"] == "other" and row["name"] not in descriptions for row in rows)
    facts = Registered(counts["rows"], counts["dropped"], pdfs, not_read, declared.warning_messages)
    lake.put(facts_key, orjson.dumps(asdict(facts)))
    return facts


def _read_articles(
    lake: Lake,
    delivery: Delivery,
    ready: Ready,
    sha1_of: Mapping[str, str],
    pdf_names: Mapping[str, str],
    articles: dict[str, tuple[str, str | None]],
    descriptions: set[str],
) -> Iterator[sources.Entry]:
    """Fill `articles` with the kind and record id of publishers' full texts, and yield the records of those in a drop.

    Also yield ScienceParse's records of the PDFs in a drop, and add the names of their files to `descriptions`.

    `articles` is complete when the generator ends. A drop describes only its files. We therefore assign the ids of its records and
    the kind `archive`. A license in a file applies only to that file. Files of a delivery are articles of its source, and their
    records are read with the delivery.
    """
    for file in ready.files:
        if not file.name.lower().endswith(_ARTICLE_SUFFIXES) or file.bytes > MAX_ENTRY_BYTES:
            continue
        if delivery.kind == "delivery" and delivery.source not in jats.CONVERTERS:
            continue
        data, _ = lake.get(delivery.key(file.name))
        if delivery.kind == "drop" and scienceparse.has_form(data):
            descriptions.add(file.name)
            yield from select_own(scienceparse.read(io.BytesIO(data), pdf_names, file.name), file.name, sha1_of)
            continue
        kind = jats.detect_kind(data)
        if kind is None or (delivery.kind == "delivery" and kind != delivery.source):
            continue
        entries = list(islice(sources.read(kind, io.BytesIO(data)), 2))
        record = entries[0] if len(entries) == 1 else None
        if delivery.kind == "delivery":
            articles[file.name] = kind, record.record_id if isinstance(record, sources.Record) else None
        elif isinstance(record, sources.Record):
            id_ = f"{kind}:{sha1_of[file.name]}"
            articles[file.name] = kind, id_
            yield replace(record, record_id=id_, kind=sources.RecordKind.ARCHIVE, license=None, open_access=None)
        else:
            articles[file.name] = kind, None
            yield sources.Dropped(sources.RejectReason.MALFORMED, file.name)


def forget(lake: Lake, delivery: Delivery) -> None:
    """Delete the result of a registration, so that the next run verifies the changed drop again and refuses it."""
    lake.delete(f"{delivery.registered}/facts.json")


def registered_table(lake: Lake, delivery: Delivery, name: str) -> TableRef:
    """Return the table `files` or `records` of a registered drop or delivery."""
    return TableRef(lake, f"{delivery.registered}/{name}", REGISTERED_FILES if name == "files" else REGISTERED_RECORDS)


def _check_listing(lake: Lake, delivery: Delivery, ready: Ready) -> None:
    """Raise Refused for invalid or repeated names, and for missing or unlisted files."""
    names = [file.name for file in ready.files]
    for name in names:
        is_below = not name.startswith("/") and ".." not in name.split("/") and "\\" not in name
        if not is_below or not name.isprintable() or name == "_READY":
            raise Refused(Refusal.BAD_NAME, f"{name!r} is not a file name of a drop")
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise Refused(Refusal.BAD_NAME, f"listed twice: {repeated[:3]}")
    present = {entry.key.removeprefix(delivery.folder) for entry in lake.list(delivery.folder)} - {"_READY"}
    if missing := sorted(set(names) - present):
        raise Refused(Refusal.INCOMPLETE, f"{len(missing)} listed but missing: {missing[:3]}")
    if extra := sorted(present - set(names)):
        raise Refused(Refusal.UNLISTED, f"{len(extra)} present but not listed: {extra[:3]}")


def _verify_file(lake: Lake, delivery: Delivery, file: ListedFile, copies: Copies) -> str:
    """Return the SHA-1 of a file, and retain a PDF; raise Refused if its size or SHA-256 is not the listed one."""
    is_pdf = delivery.kind == "drop" and kind_of(file.name) == "pdf"
    with lake.open(delivery.key(file.name)) as stream, copies.receive(file.bytes if is_pdf else None) as copy:
        digests = hash_stream(stream, file.bytes, copy.write)
        if (digests.bytes, digests.sha256) == (file.bytes, file.sha256):
            copy.store(digests.sha1)
    if (
        digests.bytes > file.bytes == lake.size(delivery.key(file.name))
    ):  # The reader stopped before the checksum of the answer.
        raise TransientError(
            f"{lake.uri(delivery.key(file.name))}: the answer is longer than the object: a proxy may answer instead of S3; "
            "check AWS_ENDPOINT_URL and the proxy"
        )
    if digests.bytes != file.bytes:
        size = "more" if digests.bytes > file.bytes else digests.bytes
        raise Refused(Refusal.CHANGED, f"{file.name}: {file.bytes} bytes listed, {size} found")
    if digests.sha256 != file.sha256:
        raise Refused(Refusal.CHANGED, f"{file.name}: its SHA-256 is not the listed one")
    return digests.sha1


def _check_source(lake: Lake, delivery: Delivery, ready: Ready) -> None:
    """Raise Refused for a delivery with a reserved source name, or with files that no adapter reads.

    Names of extractors and of declarations in drops are reserved: these records are made by the pipeline.
    """
    is_reserved = delivery.source in (DECLARED, *EXTRACTORS.names, EMBEDDED)
    if delivery.kind == "delivery" and not is_reserved:
        # The name of an extractor that was installed earlier is reserved too.
        is_reserved = next(iter(lake.list(f"{STORED_TEI.name}/{delivery.source}/")), None) is not None
    if is_reserved:
        raise Refused(
            Refusal.UNKNOWN_SOURCE,
            f"{delivery.source} is reserved for records from drops and PDFs: use another source name",
        )
    if delivery.kind == "delivery" and any(file.name.rpartition("/")[2] != RECORDS_FILE for file in ready.files):
        try:
            sources.SOURCES.load(delivery.source)
        except UserError as error:
            raise Refused(Refusal.UNKNOWN_SOURCE, str(error)) from None


def _batches(
    entries: Iterator[sources.Entry], delivery: Delivery, file: int, counts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    """Yield rows of REGISTERED_RECORDS in the order of the entries of the `file`-th file, in batches."""
    position = file << 40  # The lower 40 bits are the position of an entry within its file.
    schema = REGISTERED_RECORDS.schema
    while chunk := list(islice(entries, _BATCH_ROWS)):
        records = {at: entry for at, entry in enumerate(chunk, position) if isinstance(entry, sources.Record)}
        deleted = [
            {
                "record_id": entry.record_id, "source": RecordId(entry.record_id).source, "kind": "archive",
                "delivery": delivery.id, "ready_at": delivery.ready_at, "deleted": True, "position": at,
            }
            for at, entry in enumerate(chunk, position) if isinstance(entry, sources.Deleted)
        ]  # fmt: skip
        rows = pa.Table.from_batches(
            record_batches(records.values(), delivery=delivery.id, ready_at=delivery.ready_at), RECORDS.schema
        )
        rows = rows.append_column("position", pa.array(list(records), pa.int64()))
        rows = rows.append_column("deleted", pa.repeat(False, len(records))).select(schema.names).cast(schema)
        if deleted:
            rows = pa.concat_tables([rows, pa.Table.from_pylist(deleted, schema)]).sort_by("position")
        counts["dropped"] += len(chunk) - rows.num_rows
        counts["rows"] += rows.num_rows
        position += len(chunk)
        yield from rows.to_batches()
