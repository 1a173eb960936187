"""Clean the documents of a file and write them to files (JSON lines or Parquet): one for kept and one for dropped documents."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.cores import map_in_order
from s2corpus.errors import UserError
from s2corpus.rules.clean import CleanRules
from s2corpus.rules.split import SplitRules
from s2corpus.storage.outputs import atomic_path
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import CleanedDocument, CleanOutcome, DocumentDecision
from s2corpus.text.input_files import Given, iterate_rows, parse_row, refuse_again
from s2corpus.text.splits import Split, bounds, recipe_split, split_by_date
from s2corpus.text.unigrams import Unigrams

if TYPE_CHECKING:
    from s2corpus.text.near_duplicates import Candidate, Member

_ROWS = 256


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

    def decided(given: Given) -> tuple[str, object, CleanedDocument, DocumentDecision]:
        row, document = parse_row(given)
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
            for where, sha1, document, decision in map_in_order(decided, iterate_rows(source)):
                refuse_again(document, where, seen)
                outcomes[decision.outcome] += 1
                if decision.outcome is not CleanOutcome.KEPT:
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


def _split(document: CleanedDocument, spec: CleaningSpec, borders: tuple[date, date]) -> Split:
    if spec.clean.profile == "recipe-2024" and document.date:
        return recipe_split(document.date, spec.split.train_before)
    undated = Split.TRAIN if spec.clean.unknown_year == "keep" else Split.UNDATED
    return split_by_date(document.date, *borders, undated=undated)


def _dropped(decision: DocumentDecision) -> dict[str, Any]:
    values = asdict(decision)
    for key in ("set", "paper_id", "outcome", "text"):
        del values[key]
    return {"id": decision.paper_id, "reason": decision.outcome.value, **values}


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


class _RowWriter(Protocol):
    def write(self, row: dict[str, Any]) -> None: ...

    def __enter__(self) -> _RowWriter: ...

    def __exit__(self, *_: object) -> None: ...


def _writer(stack: ExitStack, path: Path, schema: pa.Schema) -> _RowWriter:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None
    beside = stack.enter_context(atomic_path(path))
    packed = path.suffix == ".gz"
    rows: _RowWriter = _ParquetRows(beside, schema) if path.suffix == ".parquet" else _JsonRows(beside, packed=packed)
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
