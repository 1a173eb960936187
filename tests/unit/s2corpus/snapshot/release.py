"""A small release in a lake, in the state before the clean stage: generated papers that cover every outcome of the card."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import wordfreq

from s2corpus.pipeline.run import Metrics, Run, Stage, count_outcomes
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.pointer import publish
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.export import ExportStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, PDFS
from s2corpus.tables.papers import ALIASES, CLUSTERS, CORRECTIONS, MEMBERS, PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS
from s2corpus.tables.schema import Table, paper_shard
from s2corpus.tables.texts import CONTEXTS, FILTERED, FULLTEXTS, LINKS

AS_OF = datetime(2023, 1, 1, tzinfo=UTC)
SPEC = ReleaseSpec.model_validate({"name": "small", "export": {"files": 6}})
COUNT = 80


@cache
def _english() -> tuple[str, ...]:
    return tuple(word for word in wordfreq.top_n_list("en", 3000) if word.isalpha() and len(word) > 3)


def paragraph(rng: random.Random, words: int) -> str:
    """Return random English words as a sentence."""
    return " ".join(rng.choices(_english(), k=words)).capitalize() + "."


_EDITORIAL = {1: "retracted", 2: "withdrawn", 3: "expression_of_concern", 4: "corrected"}
"""editorial status of the papers with these numbers"""


@dataclass(frozen=True)
class Paper:
    """One paper: its row in `papers`, its parse if available, and whether the filter kept it."""

    row: dict[str, Any]
    parse: dict[str, Any] | None
    kept: bool
    latex: dict[str, Any] | None = None
    """a second, open full text"""


def papers(count: int, *, seed: int = 0, words: int = 85) -> Iterator[Paper]:
    """Yield papers of every kind in rotation: full text, title and abstract only, closed, filtered out, every split,
    duplicates.

    In the first hundred, paper 41 has the abstract of paper 36, both in train. Paper 85, in valid, has the abstract of
    paper 51.
    """
    rng = random.Random(seed)
    similar = {40: 35, 84: 50}
    dates = ("2011-05-06", "2019", "2022-11", "2022-12-05", "2022-12", "1969-12-31", "2023-01-04", None)
    abstracts: dict[int, str] = {}
    for i in range(count):
        paper_id = f"{rng.getrandbits(60):015x}"
        sha1 = f"{rng.getrandbits(160):040x}" if i % 5 else None
        duplicate = i % 50 == 49  # It repeats the title and author of the previous paper.
        if i % 17:
            abstracts[i] = paragraph(rng, 70)
        row: dict[str, Any] = {
            "paper_id": paper_id, "title": f"On {paragraph(random.Random(seed * 7919 + i - duplicate), 6)}",
            "authors": [{"first": "Ada", "middle": [], "last": f"Author{i - duplicate}", "suffix": ""}],
            "date": dates[0] if i % 3 else dates[i // 3 % len(dates)],
            "abstract": abstracts.get(similar.get(i % 100, i), abstracts[i]) if i % 17 else None, "doi": f"10.1234/{i}",
            "open_access": sha1 is not None and i % 7 != 0, "oa_evidence": "declared" if sha1 and i % 7 else None,
            "license": "CC-BY-4.0" if i % 2 else None, "fields_of_study": ["Biology"] if i % 2 else None, "canonical_pdf": sha1,
            "access": [], "provenance": [("abstract", {"source": "crossref", "record_id": f"crossref:{i}", "rule": "majority"})],
            "editorial": _EDITORIAL.get(i), "editorial_by": [], "record_ids": [f"crossref:{i}"],
            "preprints": [{"doi": f"10.1101/{i}", "arxiv_id": None, "date": "2010"}] if i % 13 == 1 else [], "mag_ids": [],
        }  # fmt: skip
        if sha1:
            rights = {name: row[name] for name in ("open_access", "oa_evidence", "license")}
            row["access"] = [{"sha1": sha1, "kind": "pdf", **rights, "searches": []}]
        yield Paper(row, _parse(rng, paper_id, sha1, words) if sha1 else None, i % 11 != 0)


def _parse(rng: random.Random, paper_id: str, sha1: str, words: int) -> dict[str, Any]:
    heads = ("Introduction", "Methods", "Methods::Data", "Methods::Model", "Results", "Discussion")
    body = [
        {"section": head, "text": paragraph(rng, words), "cite_spans": [], "ref_spans": [], "eq_spans": []}
        for head in heads
    ]
    entry = {"ref_id": "BIBREF0", "title": "A title", "authors": [], "year": 2001, "venue": "", "link": None}
    return {
        "paper_id": paper_id, "_pdf_hash": sha1, "title": "", "authors": [], "abstract": [], "body_text": body, "back_matter": [],
        "bib_entries": {"BIBREF0": entry}, "ref_entries": {},
    }  # fmt: skip


def lay_out(
    lake: Lake, scratch: Path, spec: ReleaseSpec, made: Iterator[Paper], *, buckets: int, parent: str | None = None
) -> Run:
    """Write the tables that clean, split and export read, and commit them."""
    run = Run(spec, AS_OF, lake, scratch)
    run.table(DELIVERIES).write(0, [])
    run.table(DELIVERIES).commit([0], {"inputs": ["drop:one"], "parent": parent})
    _write(run, PDFS, [[]], {"pdf_shards": 1})
    _write(run, SELECTIONS, [[]])
    _write(run, EXTRACTIONS, [[]], {"extractor": "generated 1", "adapter": "grobid"})
    _write(run, PARSES, [[]], {"converter": "1"})
    sharded: list[list[Paper]] = [[] for _ in range(buckets)]
    for paper in made:
        sharded[paper_shard(paper.row["paper_id"], buckets)].append(paper)
    for bucket in sharded:
        bucket.sort(key=_id)
    ordered = [paper for bucket in sharded for paper in bucket]
    kept = sorted(paper.row["paper_id"] for paper in ordered if paper.kept)
    cites = {paper.row["paper_id"]: kept[i * 7 % len(kept)] for i, paper in enumerate(sorted(ordered, key=_id)) if kept}
    _write(
        run,
        MEMBERS,
        [[_member(paper) for paper in bucket] for bucket in sharded],
        {"paper_shards": buckets, "files": spec.export.count_files(len(ordered))},
    )
    _write(run, PAPERS, [[paper.row for paper in bucket] for bucket in sharded])
    _write(run, CORRECTIONS, [[] for _ in sharded])
    outcomes = ([(p.row["paper_id"], "kept" if p.kept else "no_authors") for p in bucket] for bucket in sharded)
    _write(
        run,
        FILTERED,
        [
            [{"paper_id": id_, "outcome": outcome, "characters": 600, "english": 0.95} for id_, outcome in rows]
            for rows in outcomes
        ],
    )
    _write(run, FULLTEXTS, [[row for paper in bucket for row in _fulltexts(paper)] for bucket in sharded])
    _write(run, LINKS, [[_link(p, cites[p.row["paper_id"]]) for p in bucket if p.parse] for bucket in sharded])
    _write(run, CONTEXTS, [[] for _ in sharded])
    _write(run, ALIASES, [[{"alias": "0" * 15, "paper_id": kept[0]}]] if kept else [[]])
    put_metrics(run, "intake", {"pdfs": 0.0, "outcome.taken": 1.0, "run.outcome.not_yet": 1.0})
    put_metrics(run, "assemble", {"entries.with_id": 1.0, "run.tries": 2.0})
    put_metrics(run, "vote", {"rows.papers": float(len(ordered))})
    put_metrics(run, "filter", count_outcomes(run, FILTERED))
    clusters = [{"record_id": p.row["record_ids"][0], "paper_id": p.row["paper_id"]} for p in ordered]
    _write(run, CLUSTERS, [sorted(clusters, key=lambda row: row["record_id"])])
    return run


def through(run: Run, *stages: Stage, backwards: bool = False) -> Run:
    """Run, finish and store the metrics of these stages, as the runner does; return the run."""
    for stage in stages:
        work(run, stage, backwards=backwards)
        put_metrics(run, stage.name, stage.finish(run))
    return run


def build(run: Run, *, backwards: bool = False) -> Run:
    """Run the stages clean, split and export."""
    return through(run, CleanStage(), SplitStage(), ExportStage(), backwards=backwards)


def release(
    folder: Path,
    *,
    count: int = COUNT,
    buckets: int = 1,
    seed: int = 0,
    backwards: bool = False,
    spec: ReleaseSpec = SPEC,
) -> Run:
    """Build a release in a lake below `folder`, including its export."""
    folder.mkdir(parents=True, exist_ok=True)
    run = lay_out(LocalLake(folder / "lake"), folder, spec, papers(count, seed=seed), buckets=buckets)
    return build(run, backwards=backwards)


def snapshot_folder(run: Run) -> Path:
    """Publish the snapshot of a run in a local lake; return its folder."""
    publish(run.lake, run.snapshot_id)
    return Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))


def content(run: Run) -> dict[str, str]:
    """Return path → SHA-256 of every file of the snapshot of a run."""
    prefix = f"snapshots/{run.snapshot_id}/"
    keys = [entry.key for entry in run.lake.list(prefix)]
    return {key.removeprefix(prefix): hashlib.sha256(run.lake.get(key)[0]).hexdigest() for key in keys}


def work(run: Run, stage: Stage, *, backwards: bool = False) -> None:
    """Run all rounds of a stage."""
    step = -1 if backwards else 1
    for number in range(stage_row(stage.name).rounds):
        for shard in stage.plan(run, number)[::step]:
            stage.work(run, shard, number)


def put_metrics(run: Run, stage: str, metrics: Metrics) -> None:
    """Store the metrics of a stage."""
    run.lake.put(f"releases/{run.release_id}/_metrics/{stage}.json", orjson.dumps(metrics))


def _id(paper: Paper) -> str:
    return str(paper.row["paper_id"])


def _write(run: Run, table: Table, parts: list[list[dict[str, Any]]], facts: dict[str, Any] | None = None) -> None:
    for number, rows in enumerate(parts):
        run.table(table).write(number, pa.Table.from_pylist(rows, table.schema))
    run.table(table).commit(range(len(parts)), facts)


def _member(paper: Paper) -> dict[str, Any]:
    return {
        "paper_id": paper.row["paper_id"], "record_id": paper.row["record_ids"][0], "source": "crossref", "kind": "publisher",
        "license": "https://example.org/terms" if paper.row["license"] else None,
    }  # fmt: skip


def _fulltext(paper: Paper) -> dict[str, Any]:
    return {
        "paper_id": paper.row["paper_id"], "parse_kind": "pdf", "parse_id": f"{paper.row['canonical_pdf']}:pdf:-:1",
        "file_sha1": paper.row["canonical_pdf"], **{name: paper.row[name] for name in ("open_access", "oa_evidence", "license")},
        "parse": orjson.dumps(paper.parse),
    }  # fmt: skip


def _fulltexts(paper: Paper) -> list[dict[str, Any]]:
    """Return the full texts by kind: latex before pdf."""
    latex = {"parse_kind": "latex", "open_access": True, "license": "arXiv", "parse": orjson.dumps(paper.latex)}
    return [
        *([{**_fulltext(paper), **latex, "parse_id": f"{'c' * 40}:latex:-:1"}] if paper.latex else []),
        *([_fulltext(paper)] if paper.parse else []),
    ]


def _link(paper: Paper, cited: str) -> dict[str, Any]:
    found = cited != paper.row["paper_id"]
    return {
        "paper_id": paper.row["paper_id"], "parse_kind": "pdf", "ref_id": "BIBREF0", "cited_paper_id": cited if found else None,
        "score": 1.0 if found else None, "reason": "exact" if found else "none", "warning": None, "runner_up_score": None,
    }  # fmt: skip
