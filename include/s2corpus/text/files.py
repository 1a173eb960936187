"""Clean the documents of a file and write them to files (JSON lines or Parquet): one for kept and one for dropped documents."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.rules.clean import CleanRules
from s2corpus.rules.split import SplitRules
from s2corpus.text.clean import clean
from s2corpus.text.documents import CleanedDocument, CleanOutcome, DocumentDecision, Set
from s2corpus.text.input_files import RawRow, check_unique_id, iterate_rows, parse_row
from s2corpus.text.near_duplicates import Candidate, cluster_duplicates, text_key
from s2corpus.text.splits import Split, assign_recipe_split, assign_split, compute_bounds
from s2corpus.text.unigrams import Unigrams
from s2orc_parse.cores import map_in_order
from s2orc_parse.outputs import atomic_path

_BATCH_ROWS = 256


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

    def decide_row(raw: RawRow) -> tuple[str, object, CleanedDocument, DocumentDecision]:
        row, document = parse_row(raw)
        decision = clean(set_, document, rules, unigrams)
        return raw[0], row.get("sha1"), replace(document, body=None), decision

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
    return {"id": decision.paper_id, "reason": decision.outcome.value, **values}


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
