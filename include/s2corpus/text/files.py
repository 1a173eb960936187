"""Clean the documents of a file (JSON lines or Parquet) and write them to two files: kept and dropped documents."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.outcomes import CleanOutcome, Split
from s2corpus.rules import CleanRules, SplitRules
from s2corpus.storage.parquet import open_parquet
from s2corpus.text.clean import clean
from s2corpus.text.documents import CleanedDocument, DocumentDecision, Set
from s2corpus.text.near_duplicates import Candidate, cluster_duplicates, text_key
from s2corpus.text.splits import assign_recipe_split, assign_split, compute_bounds, date_span
from s2corpus.text.unigrams import Unigrams
from s2corpus_reader.layout import Unit, build_blocks
from s2orc_parse.cores import map_in_order
from s2orc_parse.outputs import atomic_path

_BATCH_ROWS = 256
_TYPES = {
    "id": str, "sha1": str, "title": str, "abstract": str, "date": str, "year": int, "body": list, "sources": list, "open_access": bool,
}  # fmt: skip
MAX_LINE = 64 << 20
"""maximum number of bytes in a line"""
Row = Mapping[str, Any]


def clean_file(
    source: Path,
    set_: Set,
    rules: CleanRules,
    split_rules: SplitRules,
    unigrams: Unigrams,
    out: Path,
    dropped: Path | None,
    as_of: datetime | None = None,
) -> Counter[str]:
    """Clean the documents of a file by a spec's rules; return the number of documents for each outcome.

    Kept lines contain the snapshot's columns and `split`, in the order of the file. The later of two equal texts has the split
    `held_back:duplicate`, except in profile recipe-2024. A rolling split needs `as_of`.

    Raises:
        UserError: the input is missing or invalid, or `as_of` is missing.
    """
    if split_rules.kind == "rolling" and as_of is None:
        raise UserError("the spec's split is rolling: it needs --as-of YYYY-MM-DD")
    borders = compute_bounds(split_rules, as_of or datetime.now(UTC))

    def decide_row(located: tuple[str, Row]) -> tuple[str, object, CleanedDocument, DocumentDecision]:
        where, row = located
        document = read_document(row, where)
        decision = clean(set_, document, rules, unigrams)
        return where, row.get("sha1"), replace(document, body=None), decision

    is_recipe = rules.profile == "recipe-2024"
    undated = Split.TRAIN if rules.unknown_year == "keep" else Split.UNDATED
    outcomes: Counter[str] = Counter()
    candidates: list[Candidate] = []
    with tempfile.TemporaryDirectory(prefix="s2corpus-clean-") as scratch, ExitStack() as stack:
        interim = Path(scratch) / "kept.jsonl"
        reject = _open_writer(stack, dropped, _DROPPED) if dropped else None
        with interim.open("wb") as interim_file:
            seen: set[str] = set()
            for where, sha1, document, decision in map_in_order(decide_row, iterate_rows(source)):
                check_unique_id(document, where, seen)
                outcomes[decision.outcome] += 1
                if decision.outcome is not CleanOutcome.KEPT:
                    if reject:
                        reject(_build_dropped_row(decision))
                    continue
                if is_recipe and document.date:
                    split = assign_recipe_split(document.date, split_rules.train_before)
                else:
                    split = assign_split(document.date, *borders, undated=undated)
                if not is_recipe:
                    key = text_key(decision.text or "")
                    candidates.append(Candidate(set_, document.paper_id, document.date, split, key, None))
                row = {"id": document.paper_id, "sha1": sha1, "text": decision.text, "split": split}
                interim_file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        duplicates = cluster_duplicates(candidates, {}, hold_back=False)
        accept = _open_writer(stack, out, _KEPT)
        with interim.open("rb") as lines:
            for line in lines:
                row = orjson.loads(line)
                if member := duplicates.get((set_, row["id"])):
                    row["split"] = member.split
                accept({key: value for key, value in row.items() if key != "sha1" or value})
    return outcomes


def format_outcomes(outcomes: Mapping[str, int]) -> str:
    """Return a message with the number of documents for each outcome, kept first."""
    words = sorted(outcomes.items(), key=lambda item: (item[0] != "kept", -item[1], item[0]))
    return f"{sum(outcomes.values())} documents: " + (", ".join(f"{n} {word}" for word, n in words) or "none")


def _build_dropped_row(decision: DocumentDecision) -> dict[str, Any]:
    values = asdict(decision)
    for key in ("set", "paper_id", "outcome", "text"):
        del values[key]
    return {"id": decision.paper_id, "reason": str(decision.outcome), **values}


_KEPT = pa.schema([(name, pa.string()) for name in ("id", "sha1", "text", "split")])
_DROPPED = pa.schema([
    ("id", pa.string()), ("reason", pa.string()), ("language", pa.string()), ("language_votes", pa.map_(pa.string(), pa.int32())),
    ("words", pa.int64()), ("paragraphs", pa.int32()), ("top_word", pa.string()), ("top_share", pa.float64()),
    ("log_prob", pa.float64()), ("removed_sections", pa.int32()),
])  # fmt: skip

RowWriter = Callable[[dict[str, Any]], object]
"""writes one row"""


def _open_writer(stack: ExitStack, path: Path, schema: pa.Schema) -> RowWriter:
    """Return a writer for the rows of a file, which is complete when `stack` closes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None
    temporary = stack.enter_context(atomic_path(path))
    if path.suffix == ".parquet":
        return stack.enter_context(_write_parquet(temporary, schema))
    file: Any = stack.enter_context(temporary.open("wb"))
    if path.suffix == ".gz":
        file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
    return lambda row: file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


@contextmanager
def _write_parquet(path: Path, schema: pa.Schema) -> Iterator[RowWriter]:
    rows: list[dict[str, Any]] = []

    def flush() -> None:
        writer.write_table(pa.Table.from_pylist(rows, schema))
        rows.clear()

    def write(row: dict[str, Any]) -> None:
        votes = row.get("language_votes")
        rows.append({**row, "language_votes": list(votes.items())} if votes else row)
        if len(rows) == _BATCH_ROWS:
            flush()

    with pq.ParquetWriter(path, schema) as writer:
        yield write
        flush()


def read_documents(path: Path) -> Iterator[CleanedDocument]:
    """Yield the documents of a file.

    Raises:
        UserError: the file is missing or invalid.
    """
    seen: set[str] = set()
    for where, row in iterate_rows(path):
        document = read_document(row, where)
        check_unique_id(document, where, seen)
        yield document


def section_texts(documents: Iterable[CleanedDocument]) -> list[str]:
    """Return the sections that have paragraphs, as the card's rules evaluate them."""
    return [
        section.text for document in documents for section in build_blocks(document.body or ())[0] if section.paragraphs
    ]


def check_unique_id(document: CleanedDocument, where: str, seen: set[str]) -> None:
    """Add a document's id to the ids of a file.

    Raises:
        UserError: the file contains the id twice.
    """
    if document.paper_id in seen:
        raise UserError(f"{where}: duplicate id {document.paper_id!r}; ids are unique in a file")
    seen.add(document.paper_id)


def iterate_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield (location, row) of a file of rows: JSON lines, also gzipped, or Parquet."""
    try:
        if path.suffix == ".parquet":
            number = 0
            with open_parquet(path) as file:
                for batch in file.batches(rows=_BATCH_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{path}, row {number}", row
            return
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > MAX_LINE:
                    raise UserError(f"{where}: longer than {MAX_LINE:,} bytes; expected one JSON object per line")
                if line.strip():
                    yield where, _parse_line(line, where)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; expected a .jsonl, .jsonl.gz or .parquet file") from None
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _parse_line(line: bytes, where: str) -> Row:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UserError(f"{where}: invalid JSON ({error}); expected one JSON object per line") from None
    if not isinstance(row, dict):
        raise UserError(f"{where}: got {type(row).__name__}; expected one JSON object per line")
    return row


def read_document(row: Row, where: str) -> CleanedDocument:
    """Return the document of a file's row. Errors contain `where` as the location.

    Raises:
        UserError: the row has an unknown key or a value of the wrong type.
    """
    _check(row, _TYPES, where, needed=("id",))
    body = row.get("body")
    return CleanedDocument(
        paper_id=row["id"],
        title=row.get("title"),
        abstract=row.get("abstract"),
        date=_date(row, where),
        body=None if body is None else tuple(_unit(unit, f"{where}, body[{i}]") for i, unit in enumerate(body)),
        open_access=row.get("open_access") is not False,
        sources=tuple(map(str, row.get("sources") or ())),
    )


def _check(row: Row, types: Mapping[str, type], where: str, *, needed: Collection[str] = ()) -> None:
    if unknown := sorted(set(row) - set(types)):
        raise UserError(f"{where}: unknown key {', '.join(map(repr, unknown))}; expected {', '.join(types)}")
    for key, kind in types.items():
        value, is_needed = row.get(key), key in needed
        if is_needed if value is None else not isinstance(value, kind) or (kind is int and value is True):
            expected = f"{kind.__name__}{'' if is_needed else ' or null'}"
            raise UserError(f"{where}: {key} is {value!r:.60}; expected {expected}")


def _date(row: Row, where: str) -> str | None:
    if row.get("date"):
        try:
            date_span(row["date"])
        except ValueError:
            raise UserError(f"{where}: date is {row['date']!r}; expected YYYY, YYYY-MM or YYYY-MM-DD") from None
        return str(row["date"])
    year = row.get("year")
    if year is None:
        return None
    if not 0 < year < 10_000:
        raise UserError(f"{where}: year is {year}; expected 1 to 9999, or null")
    return f"{year:04d}"


def _unit(unit: Any, where: str) -> Unit:
    if not isinstance(unit, dict):
        raise UserError(f"{where}: {unit!r:.60} given; expected {{section, text}}")
    _check(unit, {"section": str, "text": str}, where)
    return Unit(unit.get("section"), unit.get("text"))
