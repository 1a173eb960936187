"""Create CiteWorth: paragraphs with a label for each sentence that states whether it cites (Wright and Augenstein 2021, §3)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from s2corpus.datasets.citeworth import sheet
from s2corpus.datasets.citeworth.rules import (
    CiteworthPaperOutcome,
    CiteworthParagraphOutcome,
    CiteWorthParams,
    judge,
    paper_outcome,
)
from s2corpus.datasets.protocol import DatasetCheck, DatasetTable, Made, Row
from s2corpus.text import sentences
from s2corpus.text.sentences import count_tokens

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import SnapshotPaper

SPLITS = ("train", "dev", "test")
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


class CiteWorth:
    """The dataset."""

    name = "citeworth"
    version = f"3.{sentences.VERSION}"
    about = (
        "Paragraphs of open full texts whose sentences are labelled check-worthy (they cite) or not, with citation marks removed, "
        "balanced over ten fields (Wright and Augenstein, CiteWorth, 2021)."
    )
    params = CiteWorthParams
    schema = pa.schema([
        ("paper_id", pa.string()), ("field", pa.string()), ("rank", pa.int64()), ("paper_rank", pa.int64()),
        ("sentences", pa.int64()), ("line", pa.binary()),
    ])  # fmt: skip
    order: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    paper: Mapping[str, float] = {
        "sentences": 1_181_793, "tokens": 34_170_708, "check_worthy": 375_388, "check_worthy_share": 0.3176,
        "chars.min": 21, "chars.max": 1_447,
        "chars.mean": 152, "chars.median": 142, "sentences.train": 945_426, "sentences.dev": 118_182, "sentences.test": 118_185,
    }  # fmt: skip
    """figures of Table 2"""

    def rows(self, params: CiteWorthParams, paper: SnapshotPaper, made: Made) -> Iterator[Row]:
        """Yield a row for each paragraph that passes all checks."""
        made.funnel.enter("papers")
        outcome = paper_outcome(params, paper)
        made.funnel.count("papers", outcome)
        text = paper.full_text(params.kinds)
        if outcome is not CiteworthPaperOutcome.CONSIDERED or text is None:
            return
        kind, parse = text
        for index, paragraph in enumerate(parse["body_text"]):
            made.funnel.enter("paragraphs")
            what, samples = judge(params, paragraph)
            made.funnel.count("paragraphs", what)
            if what is not CiteworthParagraphOutcome.KEPT:
                continue
            line = {
                "paper_id": paper.id,
                "section_index": index,
                "file_index": paper.file,
                "file_offset": paper.places[kind],
                "mag_field_of_study": paper.fields[:1],
                "original_text": paragraph["text"],
                "section_title": paragraph["section"],
                "samples": samples,
            }
            yield {
                "paper_id": paper.id,
                "field": paper.fields[0],
                "rank": _rank(params.seed, f"{paper.id}:{index}"),
                "paper_rank": _rank(params.seed + 1, paper.id),
                "sentences": len(samples),
                "line": orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE),
            }

    def choose(self, job: Job) -> dict[str, Any]:
        """Return the sample: the number of paragraphs and the last rank for each field, and the boundaries of the splits."""
        params: CiteWorthParams = job.params  # type: ignore[assignment]
        with job.sql() as sql:
            counts = dict(sql.execute("SELECT field, count(*) FROM kept GROUP BY field").fetchall())
            quota = params.paragraphs_per_field or min(counts.values(), default=0)
            cuts = {}
            for field in sorted(counts):
                last = sql.execute(
                    "SELECT rank FROM kept WHERE field = ? ORDER BY rank LIMIT 1 OFFSET ?",
                    [field, min(quota, counts[field]) - 1],
                ).fetchone()
                cuts[field] = last[0]
            if not cuts:
                return {"quota": 0, "counts": {}, "cuts": {}, "train_until": 0, "dev_until": 0}
            quoted = {field.replace("'", "''"): cut for field, cut in cuts.items()}
            chosen = " OR ".join(f"(field = '{field}' AND rank <= {cut})" for field, cut in quoted.items())
            sql.execute(f"""CREATE TEMP TABLE cut AS SELECT paper_rank, row_number() OVER (ORDER BY paper_rank) AS place,
                sum(n) OVER (ORDER BY paper_rank) / sum(n) OVER () AS share
                FROM (SELECT paper_rank, sum(sentences) AS n FROM kept WHERE {chosen} GROUP BY paper_rank)""")
            (papers,) = sql.execute("SELECT count(*) FROM cut").fetchone()
            train = 1 - params.dev_share - params.test_share
            nearest = [
                sql.execute("SELECT place FROM cut ORDER BY abs(share - ?), place LIMIT 1", [share]).fetchone()[0]
                for share in (train, train + params.dev_share)
            ]
            until = [
                sql.execute("SELECT paper_rank FROM cut WHERE place = ?", [place]).fetchone()[0]
                for place in _place_cuts(papers, nearest, bool(params.dev_share), bool(params.test_share))
            ]
        return {
            "quota": quota,
            "counts": dict(sorted(counts.items())),
            "cuts": cuts,
            "train_until": until[0],
            "dev_until": until[1],
        }

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `<split>/<nn>.jsonl.gz`, one paragraph per line, in the order of papers."""
        with (
            out.lines(f"train/{shard:02d}.jsonl.gz") as train,
            out.lines(f"dev/{shard:02d}.jsonl.gz") as dev,
            out.lines(f"test/{shard:02d}.jsonl.gz") as test,
        ):
            files = dict(zip(SPLITS, (train, dev, test), strict=True))
            for batch in job.kept([shard]).to_batches(batch_size=256):
                for row in batch.to_pylist():
                    out.made.funnel.enter("balance")
                    if row["rank"] > choice["cuts"][row["field"]]:
                        out.made.funnel.count("balance", "over_quota")
                        continue
                    split = _split(row["paper_rank"], choice)
                    out.made.funnel.count("balance", split)
                    files[split].write(row["line"])
                    _tally(out.made.tally, orjson.loads(row["line"]), split, row["field"])

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """Write `sheet.csv` and `sheet_key.csv` for the manual evaluation; return the figures of the paper's Table 2."""
        params: CiteWorthParams = job.params  # type: ignore[assignment]
        if params.sheet_sentences:
            method = "naive" if params.naive else "citeworth"
            drawn = sheet.draw(
                params.sheet_sentences, sheet.samples(f"{params.seed}:{method}", _chosen_lines(job, choice))
            )
            out.content("sheet.csv", sheet.sheet(drawn).encode())
            out.content("sheet_key.csv", sheet.key(drawn, method).encode())
        tally = made.tally
        total = sum(tally[f"sentences.{split}"] for split in SPLITS)
        lengths = sorted(
            (int(name.removeprefix("chars.")), n) for name, n in tally.items() if name.startswith("chars.")
        )
        return {
            "sentences": total,
            "check_worthy": tally["check-worthy"],
            "tokens": tally["tokens"],
            "check_worthy_share": tally["check-worthy"] / total if total else 0.0,
            **{f"sentences.{split}": tally[f"sentences.{split}"] for split in SPLITS},
            **{f"paragraphs.{name}": tally[f"field.{name}"] for name in sorted(choice["counts"])},
            "chars.min": lengths[0][0] if lengths else 0,
            "chars.max": lengths[-1][0] if lengths else 0,
            "chars.mean": sum(length * n for length, n in lengths) / total if total else 0.0,
            "chars.median": _median(lengths, total),
        }

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that all fields have the same number of paragraphs, no split is empty, and all ten fields are present."""
        paragraphs = [int(n) for name, n in metrics.items() if name.startswith("paragraphs.")]
        fields = len(job.params.fields)  # type: ignore[attr-defined]
        return [
            DatasetCheck("fields_balanced", len(set(paragraphs)) - 1 if paragraphs else 0, "fields have different numbers of paragraphs",
                  blocks=job.params.paragraphs_per_field is None),  # type: ignore[attr-defined]
            DatasetCheck("splits_present", sum(not metrics[f"sentences.{split}"] for split in SPLITS) if metrics["sentences"] else 0,
                  "sets have no sentence: the sample has fewer papers than there are sets", blocks=False),
            DatasetCheck("fields_present", fields - len(paragraphs), "fields of study have no paragraph", blocks=False),
        ]  # fmt: skip

    def tables(self, params: CiteWorthParams) -> list[DatasetTable]:
        """Return the table of paragraphs."""
        return [DatasetTable("citeworth", LINE, {split: f"{split}/*.jsonl.gz" for split in SPLITS})]


def _chosen_lines(job: Job, choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the paragraphs of all splits."""
    for batch in job.kept().to_batches(columns=["field", "rank", "line"], batch_size=256):
        for row in batch.to_pylist():
            if row["rank"] <= choice["cuts"][row["field"]]:
                yield orjson.loads(row["line"])


def _place_cuts(papers: int, nearest: Sequence[int], has_dev: bool, has_test: bool) -> tuple[int, int]:
    """Return the places of the last papers of the training and the development set.

    The places move so that each requested set contains a paper, if there are enough papers.
    """
    train, dev = nearest
    if papers < 1 + has_dev + has_test:
        return train, dev
    train = max(1, min(train, papers - has_dev - has_test))
    return train, max(train + has_dev, min(dev, papers - has_test))


def _rank(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "big") >> 1


def _split(rank: int, choice: Mapping[str, Any]) -> str:
    return "train" if rank <= choice["train_until"] else "dev" if rank <= choice["dev_until"] else "test"


def _tally(tally: Counter[str], line: Mapping[str, Any], split: str, field: str) -> None:
    tally[f"field.{field}"] += 1
    for sample in line["samples"]:
        tally[f"sentences.{split}"] += 1
        tally[sample["label"]] += 1
        tally["tokens"] += count_tokens(sample["text"])
        tally[f"chars.{len(sample['text'])}"] += 1


def _median(lengths: Sequence[tuple[int, int]], total: int) -> float:
    """Return the median of values that are given with their frequencies."""
    middle, before = [(total - 1) // 2, total // 2], 0
    found = []
    for length, n in lengths:
        found += [length for at in middle if before <= at < before + n]
        before += n
    return sum(found) / len(found) if found else 0.0
