"""Read, clean and write documents in files (JSON lines or Parquet): one file for kept and one for dropped documents."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.cores import in_order
from s2corpus.errors import UserError
from s2corpus.rules.clean import CleanRules
from s2corpus.rules.split import SplitRules
from s2corpus.storage.outputs import whole
from s2corpus.storage.parquet import open_parquet
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import Decision, Document, Outcome
from s2corpus.text.layout import Unit
from s2corpus.text.splits import Split, bounds, date_span, recipe_split, split_by_date
from s2corpus.text.unigrams import Unigrams

if TYPE_CHECKING:
    from s2corpus.text.near_duplicates import Candidate, Member

KEYS = ("id", "sha1", "title", "abstract", "date", "year", "body", "sources", "open_access")
_UNIT_KEYS = {"section", "text"}
_MAX_LINE = 64 << 20
_ROWS = 256
_Given = tuple[str, bytes | dict[str, Any]]


class CleaningSpec(Protocol):
    """The rules of a release spec that are needed to clean a file."""

    @property
    def clean(self) -> CleanRules:
        """Rules that decide which documents are kept."""

    @property
    def split(self) -> SplitRules:
        """Rules that assign a split to each document."""


def clean_file(
    source: Path,
    set_: str,
    spec: CleaningSpec,
    unigrams: Unigrams,
    out: Path,
    dropped: Path | None,
    as_of: datetime | None = None,
) -> Counter[str]:
    """Clean the documents of a file by a spec's rules; return the number of documents for each outcome.

    Kept lines contain the snapshot's columns and `split`. If texts within the file are equal, the later one is
    `held_back:duplicate`. Profile recipe-2024 is an exception: it does not detect duplicates. Documents keep their order.
    A rolling split needs `as_of`.

    Raises:
        UserError: the input is invalid; the message contains the file, the line, the problem and the expected value.
    """
    if spec.split.kind == "rolling" and as_of is None:
        raise UserError("the spec's split is rolling: say as of which day with --as-of")
    borders = bounds(spec.split, as_of or datetime.now(UTC))
    decide = clean_s2orc if set_ == "s2orc" else clean_s2ag

    def decided(given: _Given) -> tuple[str, object, Document, Decision]:
        row, document = _read(given)
        decision = decide(document, spec.clean, unigrams)
        return given[0], row.get("sha1"), replace(document, body=None), decision

    recipe = spec.clean.profile == "recipe-2024"
    outcomes: Counter[str] = Counter()
    candidates: list[Candidate] = []
    with tempfile.TemporaryDirectory(prefix="s2corpus-clean-") as scratch, ExitStack() as stack:
        interim = Path(scratch) / "kept.jsonl"
        reject = _writer(stack, dropped, _DROPPED) if dropped else None
        with interim.open("wb") as kept:
            seen: set[str] = set()
            for where, sha1, document, decision in in_order(decided, _rows(source)):
                _refuse_again(document, where, seen)
                outcomes[decision.outcome] += 1
                if decision.outcome is not Outcome.KEPT:
                    if reject:
                        reject.write(_dropped(decision))
                    continue
                split = _split(document, spec, borders)
                if not recipe:
                    from s2corpus.text.near_duplicates import Candidate, text_key  # 0.1 s; the recipe needs neither

                    key = text_key(decision.text or "")
                    candidates.append(Candidate(set_, document.paper_id, document.date, split, key, None))
                line = {"id": document.paper_id, "sha1": sha1, "text": decision.text, "split": split}
                kept.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        duplicates = _equal_texts(candidates)
        accept = _writer(stack, out, _KEPT)
        with interim.open("rb") as lines:
            for text in lines:
                line = orjson.loads(text)
                if member := duplicates.get((set_, line["id"])):
                    line["split"] = member.split
                accept.write({key: value for key, value in line.items() if key != "sha1" or value})
    return outcomes


def _equal_texts(candidates: list[Candidate]) -> Mapping[tuple[str, str], Member]:
    if not candidates:
        return {}
    from s2corpus.text.near_duplicates import clusters

    return clusters(candidates, {}, hold_back=False)


def counted(outcomes: Mapping[str, int]) -> str:
    """Return a message with the number of documents for each outcome, kept first."""
    words = sorted(outcomes.items(), key=lambda item: (item[0] != "kept", -item[1], item[0]))
    return f"{sum(outcomes.values())} documents: " + (", ".join(f"{n} {word}" for word, n in words) or "none")


def _split(document: Document, spec: CleaningSpec, borders: tuple[date, date]) -> Split:
    if spec.clean.profile == "recipe-2024" and document.date:
        return recipe_split(document.date, spec.split.train_before)
    undated = Split.TRAIN if spec.clean.unknown_year == "keep" else Split.UNDATED
    return split_by_date(document.date, *borders, undated=undated)


def _dropped(decision: Decision) -> dict[str, Any]:
    values = asdict(decision)
    for key in ("set", "paper_id", "outcome", "text"):
        del values[key]
    return {"id": decision.paper_id, "reason": decision.outcome.value, **values}


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a file.

    Raises:
        UserError: the input is invalid; the message contains the file, the line, the problem and the expected value.
    """
    seen: set[str] = set()
    for given in _rows(path):
        _, document = _read(given)
        _refuse_again(document, given[0], seen)
        yield document


def _read(given: _Given) -> tuple[Mapping[str, Any], Document]:
    """Return the row and document of an item from `_rows`."""
    where, line = given
    row = _object(line, where) if isinstance(line, bytes) else line
    return row, document_of(row, where)


def _refuse_again(document: Document, where: str, seen: set[str]) -> None:
    if document.paper_id in seen:
        raise UserError(f"{where}: id {document.paper_id!r} is there twice; ids are unique in a file")
    seen.add(document.paper_id)


def _rows(path: Path) -> Iterator[_Given]:
    """Yield (location, row) of a file of documents. Lines of JSON files are yielded as bytes; the worker parses them."""
    try:
        if path.suffix == ".parquet":
            number = 0
            with open_parquet(path) as file:
                for batch in file.batches(rows=_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{path}, row {number}", row
            return
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > _MAX_LINE:
                    raise UserError(f"{where}: longer than {_MAX_LINE:,} bytes; a line is one document")
                if line.strip():
                    yield where, line
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: give a file of documents, .jsonl, .jsonl.gz or .parquet") from None
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UserError(f"{where}: no JSON ({error}); a line is one JSON object") from None
    if not isinstance(row, dict):
        raise UserError(f"{where}: {type(row).__name__} given; a line is one JSON object")
    return row


def document_of(row: Mapping[str, Any], where: str) -> Document:
    """Return the document of a file's row. Errors contain `where` as the location.

    Raises:
        UserError: the row has an unknown key or a value of the wrong type.
    """
    if unknown := sorted(set(row) - set(KEYS)):
        raise UserError(f"{where}: unknown {_keys(unknown)}; known are {', '.join(KEYS)}")
    _check(row, "id", str, where, needed=True)
    for key, kind in (("sha1", str), ("title", str), ("abstract", str), ("date", str), ("year", int), ("body", list)):
        _check(row, key, kind, where)
    _check(row, "sources", list, where)
    _check(row, "open_access", bool, where)
    body = row.get("body")
    return Document(
        paper_id=row["id"],
        title=row.get("title"),
        abstract=row.get("abstract"),
        date=_date(row, where),
        body=None if body is None else tuple(_unit(unit, f"{where}, body[{i}]") for i, unit in enumerate(body)),
        open_access=row.get("open_access") is not False,
        sources=tuple(map(str, row.get("sources") or ())),
    )


def _check(row: Mapping[str, Any], key: str, kind: type, where: str, *, needed: bool = False) -> None:
    value = row.get(key)
    if (value is None and needed) or (
        value is not None and (not isinstance(value, kind) or (kind is int and value is True))
    ):
        raise UserError(f"{where}: {key} is {value!r:.60}; expected {kind.__name__}{'' if needed else ' or null'}")


def _date(row: Mapping[str, Any], where: str) -> str | None:
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
    if unknown := sorted(set(unit) - _UNIT_KEYS):
        raise UserError(f"{where}: unknown {_keys(unknown)}; known are section, text")
    _check(unit, "section", str, where)
    _check(unit, "text", str, where)
    return Unit(unit.get("section"), unit.get("text"))


def _keys(unknown: Iterable[str]) -> str:
    return "key " + ", ".join(map(repr, unknown))


_KEPT = pa.schema([(name, pa.string()) for name in ("id", "sha1", "text", "split")])
_DROPPED = pa.schema(
    [
        ("id", pa.string()),
        ("reason", pa.string()),
        ("language", pa.string()),
        ("language_votes", pa.map_(pa.string(), pa.int32())),
        ("words", pa.int64()),
        ("paragraphs", pa.int32()),
        ("top_word", pa.string()),
        ("top_share", pa.float64()),
        ("log_prob", pa.float64()),
        ("removed_sections", pa.int32()),
    ]
)


class _Writer(Protocol):
    def write(self, row: dict[str, Any]) -> None: ...

    def __enter__(self) -> _Writer: ...

    def __exit__(self, *_: object) -> None: ...


def _writer(stack: ExitStack, path: Path, schema: pa.Schema) -> _Writer:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None
    beside = stack.enter_context(whole(path))
    packed = path.suffix == ".gz"
    rows: _Writer = _ParquetRows(beside, schema) if path.suffix == ".parquet" else _JsonRows(beside, packed=packed)
    return stack.enter_context(rows)


class _JsonRows:
    def __init__(self, path: Path, *, packed: bool) -> None:
        plain = path.open("wb")
        self._file: Any = gzip.GzipFile("", "wb", fileobj=plain, mtime=0) if packed else plain
        self._plain = plain

    def write(self, row: dict[str, Any]) -> None:
        self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def __enter__(self) -> _JsonRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._plain.close()


class _ParquetRows:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        votes = row.get("language_votes")
        self._rows.append({**row, "language_votes": votes and list(votes.items())} if votes else row)
        if len(self._rows) == _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def __enter__(self) -> _ParquetRows:
        return self

    def __exit__(self, *raised: object) -> None:
        if raised[0] is None:
            self._flush()
        self._writer.close()
