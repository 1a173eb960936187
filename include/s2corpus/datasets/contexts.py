"""Citation contexts for recommendation and intent: one row per citation, with negatives (S2ORC §6; GORC §6)."""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from s2corpus.datasets.citations import cited_sentences, remove_formulas, remove_formulas_around
from s2corpus.datasets.protocol import DatasetCheck, DatasetTable, Made, Number, Params, Positive, Row
from s2corpus.text import sentences
from s2corpus_reader.files import file_number
from s2orc_parse.parse_model import ParseKind

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import SnapshotPaper


_TRIES = 8
"""draw papers one by one if the pool is larger than the number of negatives by this factor"""


class CitationOutcome(StrEnum):
    """The outcome of an entry that a citation mark names."""

    KEPT = "kept"
    UNLINKED = "entry_not_linked"
    ITSELF = "cites_itself"


class ContextsParams(Params):
    """Parameters of citation contexts."""

    kinds: tuple[ParseKind, ...] = (ParseKind.PDF, ParseKind.LATEX, ParseKind.JATS, ParseKind.ELSEVIER)
    """kinds of full text in order of preference; the first available kind is used"""
    window: Number = 2
    """number of neighboring sentences on each side, within the paragraph"""
    negatives: Number = 4
    """number of uncited papers of the same field and of a similar year"""
    years: Number = 2
    """largest difference between the years of a negative and the cited paper; ignored if too few papers match"""
    pool: Positive = 100_000
    """largest number of papers to draw negatives from: in order of id, this shard first"""
    seed: int = 2020
    """seed of the draw"""


SCHEMA = pa.schema([
    ("paper_id", pa.string()), ("parse_kind", pa.string()), ("paragraph", pa.int32()), ("section", pa.string()),
    ("sentence", pa.string()), ("start", pa.int32()), ("end", pa.int32()), ("before", pa.list_(pa.string())),
    ("after", pa.list_(pa.string())), ("ref_id", pa.string()), ("cited_paper_id", pa.string()), ("cited_title", pa.string()),
    ("cited_abstract", pa.string()), ("cited_field", pa.string()), ("cited_year", pa.int32()), ("negatives", pa.list_(pa.string())),
])  # fmt: skip
"""a row of the files: `sentence[start:end]` is the citation mark"""
_OF_CITED = ("cited_title", "cited_abstract", "cited_field", "cited_year", "negatives")
_KEPT = pa.schema([
    *(column for column in SCHEMA if column.name not in _OF_CITED), ("cited_number", pa.int32()), ("citing_cites", pa.list_(pa.string())),
])  # fmt: skip


Pool = dict[str, list[tuple[int, str]]]
"""papers to draw negatives from: field → (year, paper id), sorted"""


class Contexts:
    """The dataset. A citation is processed in the shard of the cited paper, which contains the cited title and abstract."""

    name = "contexts"
    version = f"4.{sentences.VERSION}"
    about = (
        "One row a citation: the sentence, its neighbours, the section, the cited paper's title and abstract, and papers of the same "
        "field and years that are not cited, for citation recommendation and intent (S2ORC §6, GORC §6)."
    )
    params = ContextsParams
    schema = _KEPT
    order: tuple[str, ...] = ("cited_number", "cited_paper_id", "paper_id", "paragraph", "start", "ref_id", "sentence")
    needs: tuple[str, ...] = ()
    paper: Mapping[str, float] = {}
    """neither paper counts contexts"""

    def rows(self, params: ContextsParams, paper: SnapshotPaper, made: Made) -> Iterator[Row]:
        """Yield a row for each linked entry that a citation mark names."""
        text = paper.full_text(params.kinds)
        if text is None:
            return
        kind, parse = text
        links = {ref: entry["link"] for ref, entry in parse["bib_entries"].items() if entry.get("link")}
        cites = sorted(set(links.values()))
        for place, paragraph in enumerate(parse["body_text"]):
            spans = list(cited_sentences(paragraph))
            texts = [paragraph["text"][s.start : s.end] for s in spans]
            neighbors = list(map(remove_formulas, texts))
            for at, sentence in enumerate(spans):
                for mark in sentence.marks:
                    for ref_id in mark.ref_ids:
                        outcome = _outcome(links.get(ref_id), paper.id)
                        made.funnel.enter("citations")
                        made.funnel.count("citations", outcome)
                        if outcome is not CitationOutcome.KEPT:
                            continue
                        cited, start, end = remove_formulas_around(
                            texts[at], mark.start - sentence.start, min(mark.end, sentence.end) - sentence.start
                        )
                        before, after = (
                            list(filter(_has_words, side)) for side in (neighbors[:at], neighbors[at + 1 :])
                        )
                        yield {
                            "paper_id": paper.id,
                            "parse_kind": kind,
                            "paragraph": place,
                            "section": paragraph["section"],
                            "sentence": cited,
                            "start": start,
                            "end": end,
                            "before": before[max(0, len(before) - params.window) :],
                            "after": after[: params.window],
                            "ref_id": ref_id,
                            "cited_paper_id": links[ref_id],
                            "cited_number": file_number(links[ref_id], paper.files),
                            "citing_cites": cites,
                        }

    def choose(self, job: Job) -> dict[str, Any]:
        """Return no decision: the shards are independent."""
        return {}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `contexts/<nn>.parquet`: the citations of this shard's papers, sorted by cited paper."""
        params: ContextsParams = job.params  # type: ignore[assignment]
        pool, known = _pool(job, shard, params.pool), _Known(job, shard)
        columns = ", ".join(f'"{name}"' for name in (*SCHEMA.names[:11], "citing_cites"))
        order = ", ".join(f'"{name}"' for name in self.order[1:])
        with out.parquet(f"contexts/{shard:02d}.parquet", SCHEMA) as file, job.sql() as sql:
            found = sql.execute(f"SELECT {columns} FROM kept WHERE cited_number = {shard} ORDER BY {order}")
            for batch in found.to_arrow_reader(1024):
                for row in batch.to_pylist():
                    cites = {*row.pop("citing_cites"), row["paper_id"]}
                    if (cited := known.at(row["cited_paper_id"])) is None:
                        continue
                    negatives = _negatives(params, pool, row, cited, cites)
                    out.made.tally["negatives"] += len(negatives)
                    out.made.tally["fewer_negatives"] += len(negatives) < params.negatives
                    cited["abstract"] = cited["abstract"] and remove_formulas(cited["abstract"])
                    row |= {f"cited_{name}": cited[name] for name in ("title", "abstract", "field", "year")}
                    size = (
                        len(row["sentence"])
                        + sum(map(len, (*row["before"], *row["after"])))
                        + len(cited["abstract"] or "")
                    )
                    file.write({**row, "negatives": negatives}, size)
            out.made.tally["contexts"] += file.count

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """Return the counts."""
        return {name: float(made.tally[name]) for name in ("contexts", "negatives", "fewer_negatives")}

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that every selected citation is written to the shard of the cited paper."""
        lost = abs(made.funnel.outcomes["citations", CitationOutcome.KEPT] - int(metrics["contexts"]))
        return [
            DatasetCheck(
                "citations_arrive", lost, "citations name papers that the snapshot has not, or were written twice"
            )
        ]

    def tables(self, params: ContextsParams) -> list[DatasetTable]:
        """Return the table of contexts."""
        return [DatasetTable("contexts", SCHEMA, {"train": "contexts/*.parquet"})]


def _has_words(text: str) -> bool:
    """Return whether a sentence has a letter or digit. A sentence that was only a formula has none."""
    return any(map(str.isalnum, text))


def _outcome(cited: str | None, citing: str) -> CitationOutcome:
    if cited is None:
        return CitationOutcome.UNLINKED
    return CitationOutcome.ITSELF if cited == citing else CitationOutcome.KEPT


class _Known:
    """Metadata of a shard's papers, read in order of id with one paper in memory."""

    def __init__(self, job: Job, shard: int) -> None:
        self._rows = job.source.known(shard, ("paper_id", "title", "abstract", "fields_of_study", "year"))
        self._row: Row | None = next(self._rows, None)

    def at(self, paper_id: str) -> Row | None:
        """Return title, abstract, field and year of a paper, or None if the shard does not contain it.

        Call it in ascending order of id.
        """
        while self._row is not None and self._row["paper_id"] < paper_id:
            self._row = next(self._rows, None)
        if (row := self._row) is None or row["paper_id"] != paper_id:
            return None
        return {**row, "field": (row["fields_of_study"] or [None])[0]}


def _pool(job: Job, shard: int, size: int) -> Pool:
    """Return at most `size` papers to draw negatives from. Shards follow hashes of ids, so each shard is a random sample."""
    pool: Pool = {}
    columns = ("paper_id", "fields_of_study", "year")
    shards = (job.source.known((shard + step) % job.source.shards, columns) for step in range(job.source.shards))
    for row in itertools.islice(itertools.chain.from_iterable(shards), size):
        pool.setdefault((row["fields_of_study"] or [""])[0], []).append((row["year"] or 0, row["paper_id"]))
    for found in pool.values():
        found.sort()
    return pool


def _negatives(params: ContextsParams, pool: Pool, row: Row, cited: Row, cites: set[str]) -> list[str]:
    """Draw uncited papers of the cited paper's field, from similar years if these contain enough."""
    of_field = pool.get(cited["field"] or "", [])
    year = cited["year"] or 0
    near = range(bisect_left(of_field, (year - params.years, "")), bisect_left(of_field, (year + params.years + 1, "")))
    key = f"{params.seed}:{row['paper_id']}:{row['paragraph']}:{row['start']}:{row['ref_id']}"
    found = _drawn(of_field, near, key, cites, params.negatives)
    return (
        found
        if len(found) == params.negatives
        else _drawn(of_field, range(len(of_field)), key, cites, params.negatives)
    )


def _drawn(papers: list[tuple[int, str]], places: range, key: str, cites: set[str], wanted: int) -> list[str]:
    """Draw `wanted` different uncited papers at these places, or return all if fewer exist."""
    if len(places) <= len(cites) + wanted * _TRIES:
        left = [papers[place][1] for place in places if papers[place][1] not in cites]
        return sorted(left, key=lambda id_: hashlib.sha256(f"{key}:{id_}".encode()).digest())[:wanted]
    found: list[str] = []
    for draw in itertools.count():
        digest = hashlib.sha256(f"{key}:{draw}".encode()).digest()
        _, id_ = papers[places[int.from_bytes(digest[:8], "big") % len(places)]]
        if id_ not in cites and id_ not in found:
            found.append(id_)
            if len(found) == wanted:
                break
    return found
