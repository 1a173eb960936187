"""Papers with the full text that belongs to them (S2ORC §2.4).

The parse of a paper's canonical PDF, and its LaTeX parse where there is one, are brought together with the paper, in the paper's
bucket: every later stage reads one part. Text of closed papers is marked; their bibliographies are used, their text never leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow.compute as pc

from s2corpus.stages.base import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.tables import ENTRIES, FULLTEXTS, LATEX_PARSES, PAPERS, PARSES, STORED_PARSES


class Assemble:
    """Papers and parses → full texts and bibliography entries by paper."""

    name = "assemble"
    reads = (PAPERS, PARSES, LATEX_PARSES)
    writes = (FULLTEXTS, ENTRIES)

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each bucket of papers."""
        return paper_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Fetch the parses of one bucket's papers."""
        columns = ["paper_id", "canonical_pdf", "latex_parse_id", "open_access"]
        papers = run.table(PAPERS).read(columns, shard=shard.index).to_pylist()
        by_file = {paper["canonical_pdf"]: paper for paper in papers if paper["canonical_pdf"]}
        by_file |= {paper["latex_parse_id"][:40]: paper for paper in papers if paper["latex_parse_id"]}
        fulltexts, entries = [], []
        for row in _parses(run, by_file):
            paper = by_file[row["pdf_sha1"]]
            parse = orjson.loads(row["parse"])
            key = {"paper_id": paper["paper_id"], "parse_kind": row["kind"]}
            fulltexts.append(
                {
                    **key,
                    "parse_id": row["parse_id"],
                    "pdf_sha1": row["pdf_sha1"],
                    "open_access": paper["open_access"],
                    "parse": orjson.dumps({**parse, "paper_id": paper["paper_id"]}),
                }
            )
            entries += [{**key, "parse_id": row["parse_id"], **entry} for entry in _entries(parse)]
        fulltexts.sort(key=lambda row: (row["paper_id"], row["parse_kind"]))
        entries.sort(key=lambda row: (row["paper_id"], row["parse_kind"], row["ref_id"]))
        run.table(FULLTEXTS).write(shard.index, fulltexts)
        run.table(ENTRIES).write(shard.index, entries)

    def finish(self, run: Run) -> Metrics:
        """Commit."""
        return commit_all(run, self.writes, run.paper_shards)


def _parses(run: Run, by_file: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The stored parses of these PDFs and source archives, one store part after the other."""
    by_part: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    where = pc.field("outcome") == "ok"
    for batch in run.table(PARSES).batches(["pdf_sha1", "parse_id", "kind", "stored"], where=where):
        for row in batch.to_pylist():
            if row["pdf_sha1"] in by_file:
                by_part[row["stored"]][row["pdf_sha1"]] = row
    for batch in run.table(LATEX_PARSES).batches(["archive_sha1", "parse_id", "stored"], where=where):
        for row in batch.to_pylist():
            if row["archive_sha1"] in by_file:
                found = {"pdf_sha1": row["archive_sha1"], "kind": "latex", **row}
                by_part[row["stored"]][row["archive_sha1"]] = found
    for part, rows in sorted(by_part.items()):
        store = run.store(STORED_PARSES, *part.split("/")[1:-1])
        for found in store.fetch(part, rows, ["pdf_sha1", "parse"]):
            yield {**rows[found["pdf_sha1"]], "parse": found["parse"]}


def _entries(parse: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The bibliography of a parse as columns of ENTRIES."""
    for ref_id, entry in parse["bib_entries"].items():
        ids = {kind: values[0] for kind, values in entry["other_ids"].items() if values}
        yield {
            "ref_id": ref_id,
            "title": entry["title"] or None,
            "authors": entry["authors"],
            "year": entry["year"],
            "venue": entry["venue"] or None,
            "doi": ids.get("DOI"),
            "arxiv_id": ids.get("arXiv"),
            "pubmed_id": ids.get("PMID"),
            "pmc_id": ids.get("PMCID"),
            "raw_text": entry["raw_text"] or None,
        }
