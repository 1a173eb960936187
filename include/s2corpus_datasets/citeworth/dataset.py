"""Build CiteWorth: paragraphs whose sentences are labeled as citing or not (Wright and Augenstein 2021, §3)."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus_datasets import sentences
from s2corpus_datasets.citeworth.rules import (
    CiteworthPaperOutcome,
    CiteworthParagraphOutcome,
    CiteWorthParams,
    classify_paper,
    classify_paragraph,
)
from s2corpus_datasets.job import Dataset, Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Row, StepResult, hash_number
from s2corpus_datasets.sentences import count_tokens
from s2corpus_datasets.source import SnapshotPaper
from s2corpus_reader.escaping import format_csv

SPLITS = ("train", "dev", "test")
LABELS = ("check-worthy", "non-check-worthy")
_SAMPLE = pa.struct([
    ("text", pa.string()), ("label", pa.string()), ("original_text", pa.string()),
    ("ref_ids", pa.list_(pa.list_(pa.string()))), ("citation_text", pa.list_(pa.string())),
])  # fmt: skip
LINE = pa.schema([
    ("paper_id", pa.string()), ("section_index", pa.int64()), ("file_index", pa.string()), ("file_offset", pa.int64()),
    ("mag_field_of_study", pa.list_(pa.string())), ("original_text", pa.string()), ("section_title", pa.string()),
    ("samples", pa.list_(_SAMPLE)),
])  # fmt: skip
"""a line of the files: a paragraph, in the form of the authors' data"""


class CiteWorth(Dataset):
    """The CiteWorth dataset."""

    version = f"3.{sentences.VERSION}"
    description = (
        "Paragraphs of open full texts whose sentences are labeled check-worthy (they cite) or not, with citation marks removed, "
        "balanced over ten fields (Wright and Augenstein, CiteWorth, 2021)."
    )
    params = CiteWorthParams
    tables = (DatasetTable("citeworth", LINE, {split: f"{split}/*.jsonl.gz" for split in SPLITS}),)
    schema = pa.schema([
        ("paper_id", pa.string()), ("field", pa.string()), ("rank", pa.int64()), ("paper_rank", pa.int64()),
        ("sentences", pa.int64()), ("line", pa.binary()),
    ])  # fmt: skip
    published_metrics: Mapping[str, float] = {
        "sentences": 1_181_793, "tokens": 34_170_708, "check_worthy": 375_388, "check_worthy_share": 0.3176,
        "chars.min": 21, "chars.max": 1_447,
        "chars.mean": 152, "chars.median": 142, "sentences.train": 945_426, "sentences.dev": 118_182, "sentences.test": 118_185,
    }  # fmt: skip
    """figures of Table 2"""

    def rows(self, params: CiteWorthParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield a row for each paragraph that passes all checks."""
        result.add_input("papers")
        paper_outcome = classify_paper(params, paper)
        result.add_outcome("papers", paper_outcome)
        text = paper.full_text(params.kinds)
        if paper_outcome is not CiteworthPaperOutcome.CONSIDERED or text is None:
            return
        kind, parse = text
        for index, paragraph in enumerate(parse["body_text"]):
            result.add_input("paragraphs")
            outcome, samples = classify_paragraph(params, paragraph)
            result.add_outcome("paragraphs", outcome)
            if outcome is not CiteworthParagraphOutcome.KEPT:
                continue
            line = {
                "paper_id": paper.id,
                "section_index": index,
                "file_index": paper.shard,
                "file_offset": paper.line_offsets[kind],
                "mag_field_of_study": paper.fields[:1],
                "original_text": paragraph["text"],
                "section_title": paragraph["section"],
                "samples": samples,
            }
            yield {
                "paper_id": paper.id,
                "field": paper.fields[0],
                "rank": hash_number(f"{params.seed}:{paper.id}:{index}") >> 1,
                "paper_rank": hash_number(f"{params.seed + 1}:{paper.id}") >> 1,
                "sentences": len(samples),
                "line": orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE),
            }

    def choose(self, job: Job) -> dict[str, Any]:
        """Return the quota and the highest rank of each field, and the paper ranks at which train and dev end."""
        params: CiteWorthParams = job.params
        with job.sql() as sql:
            counts = dict(sql.execute("SELECT field, count(*) FROM cached GROUP BY field ORDER BY field").fetchall())
            if not counts:
                return {"quota": 0, "counts": {}, "cuts": {}, "train_until": 0, "dev_until": 0}
            quota = params.paragraphs_per_field or min(counts.values())
            sql.execute(
                """CREATE TEMP TABLE limits AS SELECT field, max(rank) AS last FROM
                (SELECT field, rank, row_number() OVER (PARTITION BY field ORDER BY rank) AS place,
                    count(*) OVER (PARTITION BY field) AS total FROM cached)
                WHERE place = least(?, total) GROUP BY field ORDER BY field""",
                [quota],
            )
            limits = dict(sql.execute("SELECT field, last FROM limits ORDER BY field").fetchall())
            sql.execute("""CREATE TEMP TABLE ranked AS SELECT paper_rank, row_number() OVER (ORDER BY paper_rank) AS place,
                sum(n) OVER (ORDER BY paper_rank) / sum(n) OVER () AS share
                FROM (SELECT paper_rank, sum(sentences) AS n FROM cached JOIN limits USING (field) WHERE rank <= last
                GROUP BY paper_rank)""")
            (papers,) = sql.execute("SELECT count(*) FROM ranked").fetchone()
            train = 1 - params.dev_share - params.test_share
            nearest = [
                sql.execute("SELECT place FROM ranked ORDER BY abs(share - ?), place LIMIT 1", [share]).fetchone()[0]
                for share in (train, train + params.dev_share)
            ]
            train_until, dev_until = (
                sql.execute("SELECT paper_rank FROM ranked WHERE place = ?", [place]).fetchone()[0]
                for place in _adjust_split_ends(papers, nearest, bool(params.dev_share), bool(params.test_share))
            )
        return {"quota": quota, "counts": counts, "cuts": limits, "train_until": train_until, "dev_until": dev_until}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `<split>/<nn>.jsonl.gz`, one paragraph per line, in the order of papers."""
        with ExitStack() as stack:
            files = {split: stack.enter_context(out.open_lines(f"{split}/{shard:02d}.jsonl.gz")) for split in SPLITS}
            for row in job.rows([shard]):
                out.result.add_input("balance")
                if row["rank"] > choice["cuts"][row["field"]]:
                    out.result.add_outcome("balance", "over_quota")
                    continue
                split = _split(row["paper_rank"], choice)
                out.result.add_outcome("balance", split)
                files[split].write(row["line"])
                _tally(out.result.tally, orjson.loads(row["line"]), split, row["field"])

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Write `sheet.csv` and `sheet_key.csv` for the manual evaluation; return the figures of the paper's Table 2."""
        params: CiteWorthParams = job.params
        if params.sheet_sentences:
            method = "naive" if params.naive else "citeworth"
            seed = f"{params.seed}:{method}"
            drawn = draw_sentences(params.sheet_sentences, list_sentences(seed, _chosen_lines(job, choice)))
            out.write_bytes("sheet.csv", format_sheet(drawn).encode())
            out.write_bytes("sheet_key.csv", format_key(drawn, method).encode())
        tally = result.tally
        total = sum(tally[f"sentences.{split}"] for split in SPLITS)
        lengths = sorted(
            (int(name.removeprefix("chars.")), n) for name, n in tally.items() if name.startswith("chars.")
        )
        values, counts = np.array(lengths, np.int64).reshape(-1, 2).T
        median = values[np.searchsorted(counts.cumsum(), [(total - 1) // 2, total // 2], "right")] if total else values
        return {
            "sentences": total,
            "check_worthy": tally["check-worthy"],
            "tokens": tally["tokens"],
            "check_worthy_share": tally["check-worthy"] / total if total else 0.0,
            **{f"sentences.{split}": tally[f"sentences.{split}"] for split in SPLITS},
            **{f"paragraphs.{name}": tally[f"field.{name}"] for name in sorted(choice["counts"])},
            "chars.min": int(values[0]) if total else 0,
            "chars.max": int(values[-1]) if total else 0,
            "chars.mean": int(values @ counts) / total if total else 0.0,
            "chars.median": float(median.mean()) if total else 0.0,
        }

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that all fields have the same number of paragraphs, no split is empty, and all ten fields are present."""
        paragraphs = [int(n) for name, n in metrics.items() if name.startswith("paragraphs.")]
        fields = len(job.params.fields)
        unequal = len(set(paragraphs)) - 1 if paragraphs else 0
        empty = sum(not metrics[f"sentences.{split}"] for split in SPLITS) if metrics["sentences"] else 0
        is_balanced = job.params.paragraphs_per_field is None
        return [
            DatasetCheck("fields_balanced", unequal, "fields have different numbers of paragraphs", blocks=is_balanced),
            DatasetCheck(
                "splits_present", empty, "splits are empty: the sample has fewer papers than splits", blocks=False
            ),
            DatasetCheck("fields_present", fields - len(paragraphs), "fields of study have no paragraph", blocks=False),
        ]


def _chosen_lines(job: Job, choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the paragraphs of all splits."""
    for row in job.rows(columns=["field", "rank", "line"]):
        if row["rank"] <= choice["cuts"][row["field"]]:
            yield orjson.loads(row["line"])


def _adjust_split_ends(papers: int, nearest: Sequence[int], has_dev: bool, has_test: bool) -> tuple[int, int]:
    """Return the positions of the last train paper and the last dev paper.

    They are moved so that no requested split is empty, if there are enough papers.
    """
    train, dev = nearest
    if papers < 1 + has_dev + has_test:
        return train, dev
    train = max(1, min(train, papers - has_dev - has_test))
    return train, max(train + has_dev, min(dev, papers - has_test))


def _split(rank: int, choice: Mapping[str, Any]) -> str:
    return "train" if rank <= choice["train_until"] else "dev" if rank <= choice["dev_until"] else "test"


def _tally(tally: Counter[str], line: Mapping[str, Any], split: str, field: str) -> None:
    tally[f"field.{field}"] += 1
    for sample in line["samples"]:
        tally[f"sentences.{split}"] += 1
        tally[sample["label"]] += 1
        tally["tokens"] += count_tokens(sample["text"])
        tally[f"chars.{len(sample['text'])}"] += 1


@dataclass(frozen=True, slots=True)
class SheetSentence:
    """A sentence of the dataset with its origin."""

    text: str
    label: str
    paper_id: str
    section_index: int
    rank: str
    """hash; the sentences with the lowest ranks are drawn"""

    @property
    def item(self) -> str:
        """Name in the sheet: a hash that hides the rank, because sentences of the more frequent label have lower ranks."""
        return hashlib.sha256(f"item:{self.rank}".encode()).hexdigest()[:16]


def list_sentences(seed: str, lines: Iterable[Mapping[str, Any]]) -> Iterator[SheetSentence]:
    """Yield every sentence of these paragraphs."""
    for line in lines:
        for number, sample in enumerate(line["samples"]):
            paper, section = line["paper_id"], line["section_index"]
            rank = hashlib.sha256(f"{seed}:{paper}:{section}:{number}".encode()).hexdigest()
            yield SheetSentence(sample["text"], sample["label"], paper, section, rank)


def draw_sentences(number: int, samples: Iterable[SheetSentence]) -> list[SheetSentence]:
    """Return `number` sentences of each label in random order; fewer if the dataset has fewer."""
    first: dict[str, list[tuple[int, SheetSentence]]] = {label: [] for label in LABELS}
    for sample in samples:
        heap, rank = first[sample.label], -int(sample.rank, 16)
        if len(heap) < number:
            heapq.heappush(heap, (rank, sample))
        elif rank > heap[0][0]:
            heapq.heapreplace(heap, (rank, sample))
    return sorted((sample for heap in first.values() for _, sample in heap), key=attrgetter("item"))


def format_sheet(drawn: Iterable[SheetSentence]) -> str:
    """Return CSV for the annotator: the sentences, with empty columns for the two questions of Table 3."""
    rows = ((sample.item, sample.text, "", "") for sample in drawn)
    return _format_csv(("item", "sentence", "extracted_correct", "markers_removed"), rows)


def format_key(drawn: Iterable[SheetSentence], method: str) -> str:
    """Return CSV that gives the method, label and origin of each item of the sheet."""
    rows = ((s.item, method, s.label, s.paper_id, s.section_index) for s in drawn)
    return _format_csv(("item", "method", "label", "paper_id", "section_index"), rows)


def _format_csv(names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    return format_csv((names, *([" ".join(str(value).split()) for value in row] for row in rows)), quote_all=True)
