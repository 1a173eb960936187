"""Citation contexts for recommendation and intent: one row per citation, with negatives (S2ORC §6; GORC §6)."""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import pyarrow as pa
from pydantic import NonNegativeInt, PositiveInt

from s2corpus_datasets import sentences
from s2corpus_datasets.citations import cited_sentences, remove_formulas, remove_formulas_outside_mark
from s2corpus_datasets.job import Dataset, Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Row, StepResult, TextParams, hash_number
from s2corpus_datasets.source import SnapshotPaper, SortedRows
from s2corpus_reader.files import file_number

_REJECTION_FACTOR = 8
"""draw papers one by one if the pool exceeds the cited papers by the number of negatives × this factor"""


class CitationOutcome(StrEnum):
    """The outcome of an entry that a citation mark names."""

    KEPT = "kept"
    UNLINKED = "entry_not_linked"
    ITSELF = "cites_itself"


class ContextsParams(TextParams):
    """Parameters of citation contexts."""

    window: NonNegativeInt = 2
    """number of neighboring sentences on each side, within the paragraph"""
    negatives: NonNegativeInt = 4
    """number of negatives per citation: uncited papers of the same field and a similar year"""
    years: NonNegativeInt = 2
    """largest difference between the years of a negative and the cited paper; ignored if too few papers match"""
    pool: PositiveInt = 100_000
    """maximum number of papers from which negatives are drawn; papers of the cited paper's shard come first"""
    seed: int = 2020
    """seed of the draw"""


SCHEMA = pa.schema([
    ("paper_id", pa.string()), ("parse_kind", pa.string()), ("paragraph", pa.int32()), ("section", pa.string()),
    ("sentence", pa.string()), ("start", pa.int32()), ("end", pa.int32()), ("before", pa.list_(pa.string())),
    ("after", pa.list_(pa.string())), ("ref_id", pa.string()), ("cited_paper_id", pa.string()), ("cited_title", pa.string()),
    ("cited_abstract", pa.string()), ("cited_field", pa.string()), ("cited_year", pa.int32()), ("negatives", pa.list_(pa.string())),
])  # fmt: skip
"""a row of the files: `sentence[start:end]` is the citation mark"""
_CITED_COLUMNS = ("cited_title", "cited_abstract", "cited_field", "cited_year", "negatives")
_CACHED_SCHEMA = pa.schema([
    *(column for column in SCHEMA if column.name not in _CITED_COLUMNS),
    ("cited_number", pa.int32()), ("citing_cites", pa.list_(pa.string())),
])  # fmt: skip


Pool = dict[str, list[tuple[int, str]]]
"""papers to draw negatives from: field → (year, paper id), sorted"""


class Contexts(Dataset):
    """The dataset of contexts. A citation is processed in the shard of the cited paper, for its title and abstract."""

    version = f"4.{sentences.VERSION}"
    description = (
        "One row per citation: the sentence, its neighbors, the section, the cited paper's title and abstract, and papers of the same "
        "field and years that are not cited, for citation recommendation and intent (S2ORC §6, GORC §6)."
    )
    params = ContextsParams
    tables = (DatasetTable("contexts", SCHEMA, {"train": "contexts/*.parquet"}),)
    schema = _CACHED_SCHEMA
    sort_columns = ("cited_number", "cited_paper_id", "paper_id", "paragraph", "start", "ref_id", "sentence")

    def rows(self, params: ContextsParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield a row for each linked entry that a citation mark names."""
        text = paper.full_text(params.kinds)
        if text is None:
            return
        kind, parse = text
        links = {ref: entry["link"] for ref, entry in parse["bib_entries"].items() if entry.get("link")}
        cites = sorted(set(links.values()))
        for paragraph_index, paragraph in enumerate(parse["body_text"]):
            spans = list(cited_sentences(paragraph))
            texts = [paragraph["text"][s.start : s.end] for s in spans]
            neighbors = list(map(remove_formulas, texts))
            for index, sentence in enumerate(spans):
                for mark in sentence.marks:
                    for ref_id in mark.ref_ids:
                        outcome = _outcome(links.get(ref_id), paper.id)
                        result.add_input("citations")
                        result.add_outcome("citations", outcome)
                        if outcome is not CitationOutcome.KEPT:
                            continue
                        cited, start, end = remove_formulas_outside_mark(
                            texts[index], mark.start - sentence.start, min(mark.end, sentence.end) - sentence.start
                        )
                        before, after = (
                            list(filter(_has_words, side)) for side in (neighbors[:index], neighbors[index + 1 :])
                        )
                        yield {
                            "paper_id": paper.id,
                            "parse_kind": kind,
                            "paragraph": paragraph_index,
                            "section": paragraph["section"],
                            "sentence": cited,
                            "start": start,
                            "end": end,
                            "before": before[max(0, len(before) - params.window) :],
                            "after": after[: params.window],
                            "ref_id": ref_id,
                            "cited_paper_id": links[ref_id],
                            "cited_number": file_number(links[ref_id], paper.shards),
                            "citing_cites": cites,
                        }

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `contexts/<nn>.parquet`: the citations of this shard's papers, sorted by cited paper."""
        params: ContextsParams = job.params
        pool = _read_pool(job, shard, params.pool)
        papers = job.source.read_rows(shard, ("paper_id", "title", "abstract", "fields_of_study", "year"))
        metadata = SortedRows((paper["paper_id"], _describe_cited(paper)) for paper in papers)
        columns = ", ".join(f'"{name}"' for name in (*SCHEMA.names[:11], "citing_cites"))
        order = ", ".join(f'"{name}"' for name in self.sort_columns[1:])
        with out.open_parquet(f"contexts/{shard:02d}.parquet", SCHEMA) as file, job.sql() as sql:
            found = sql.execute(f"SELECT {columns} FROM cached WHERE cited_number = {shard} ORDER BY {order}")
            for batch in found.to_arrow_reader(1024):
                for row in batch.to_pylist():
                    cites = {*row.pop("citing_cites"), row["paper_id"]}
                    if (cited := metadata.find(row["cited_paper_id"])) is None:
                        continue
                    negatives = _choose_negatives(params, pool, row, cited, cites)
                    out.result.tally["negatives"] += len(negatives)
                    out.result.tally["fewer_negatives"] += len(negatives) < params.negatives
                    size = sum(
                        map(len, (row["sentence"], *row["before"], *row["after"], cited["cited_abstract"] or ""))
                    )
                    file.write({**row, **cited, "negatives": negatives}, size)
            out.result.tally["contexts"] += file.count

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Return the counts."""
        return {name: float(result.tally[name]) for name in ("contexts", "negatives", "fewer_negatives")}

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that every selected citation is written to the shard of the cited paper."""
        lost = abs(result.funnel["citations", CitationOutcome.KEPT] - int(metrics["contexts"]))
        return [DatasetCheck("citations_written", lost, "citations of papers outside the snapshot, or written twice")]


def _has_words(text: str) -> bool:
    """Return whether a sentence has a letter or digit. A sentence that was only a formula has none."""
    return any(map(str.isalnum, text))


def _outcome(cited: str | None, citing: str) -> CitationOutcome:
    if cited is None:
        return CitationOutcome.UNLINKED
    return CitationOutcome.ITSELF if cited == citing else CitationOutcome.KEPT


def _describe_cited(paper: Row) -> Row:
    """Return the columns that describe a cited paper."""
    return {
        "cited_title": paper["title"],
        "cited_abstract": paper["abstract"] and remove_formulas(paper["abstract"]),
        "cited_field": (paper["fields_of_study"] or [None])[0],
        "cited_year": paper["year"],
    }


def _read_pool(job: Job, shard: int, size: int) -> Pool:
    """Return at most `size` papers to draw negatives from. A shard is a random sample, since it is chosen by a hash of the id."""
    pool: Pool = {}
    columns = ("paper_id", "fields_of_study", "year")
    shards = (job.source.read_rows((shard + step) % job.source.shards, columns) for step in range(job.source.shards))
    for row in itertools.islice(itertools.chain.from_iterable(shards), size):
        pool.setdefault((row["fields_of_study"] or [""])[0], []).append((row["year"] or 0, row["paper_id"]))
    for found in pool.values():
        found.sort()
    return pool


def _choose_negatives(params: ContextsParams, pool: Pool, row: Row, cited: Row, cites: set[str]) -> list[str]:
    """Draw uncited papers of the cited paper's field, from similar years if these contain enough."""
    papers = pool.get(cited["cited_field"] or "", [])
    year = cited["cited_year"] or 0
    near = range(bisect_left(papers, (year - params.years, "")), bisect_left(papers, (year + params.years + 1, "")))
    key = f"{params.seed}:{row['paper_id']}:{row['paragraph']}:{row['start']}:{row['ref_id']}"
    drawn = _draw_papers(papers, near, key, cites, params.negatives)
    if len(drawn) == params.negatives:
        return drawn
    return _draw_papers(papers, range(len(papers)), key, cites, params.negatives)


def _draw_papers(papers: list[tuple[int, str]], places: range, key: str, cites: set[str], wanted: int) -> list[str]:
    """Draw `wanted` distinct uncited papers at these places, or return all if there are fewer."""
    if len(places) <= len(cites) + wanted * _REJECTION_FACTOR:
        uncited = [papers[place][1] for place in places if papers[place][1] not in cites]
        return sorted(uncited, key=lambda id_: hashlib.sha256(f"{key}:{id_}".encode()).digest())[:wanted]
    found: list[str] = []
    for draw in itertools.count():
        _, id_ = papers[places[hash_number(f"{key}:{draw}") % len(places)]]
        if id_ not in cites and id_ not in found:
            found.append(id_)
            if len(found) == wanted:
                break
    return found


DATASET = Contexts()
