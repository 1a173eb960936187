"""Papers with the full text that belongs to them (S2ORC §2.4).

The parse of a paper's canonical PDF, and those of its LaTeX source and publishers' files where there are any, are brought together
with the paper, in the paper's bucket: every later stage reads one part. Text of closed papers is marked; their bibliographies are
used, their text never leaves.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.row_types import Access, EntryRow, FulltextRow, Json
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables import ARTICLE_PARSES, ENTRIES, FULLTEXTS, LATEX_PARSES, PAPERS, PARSES, STORED_PARSES

_PARSES = 64
"""Parses held in memory at a time."""


class Assemble:
    """Papers and parses → full texts and bibliography entries by paper."""

    name = "assemble"
    reads = (PAPERS, PARSES, LATEX_PARSES, ARTICLE_PARSES)
    writes = (FULLTEXTS, ENTRIES)

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each bucket of papers."""
        return paper_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Fetch the parses of one bucket's papers, in bounded memory: they come in the order of files and are sorted on disk."""
        by_file = {
            one["sha1"]: (paper["paper_id"], one)
            for paper in run.table(PAPERS).rows(("paper_id", "canonical_pdf", "access"), shard=shard.index)
            for one in paper["access"]
            if one["sha1"] == paper["canonical_pdf"] or one["kind"] != "pdf"
        }
        with tempfile.TemporaryDirectory(prefix="s2corpus-assemble-", dir=run.scratch) as folder:
            scratch = Path(folder)
            found = {table: scratch / f"{table.name}.parquet" for table in self.writes}
            with (
                pq.ParquetWriter(found[FULLTEXTS], FULLTEXTS.schema, compression="zstd") as fulltexts,
                pq.ParquetWriter(found[ENTRIES], ENTRIES.schema, compression="zstd") as entries,
            ):
                parses = _parses(run, by_file)
                while rows := list(islice(parses, _PARSES)):
                    texts = [text for text, _ in rows]
                    fulltexts.write_table(pa.Table.from_pylist(texts, FULLTEXTS.schema))
                    cited = [entry for text, entries_of in rows for entry in _entries(text, entries_of)]
                    entries.write_table(pa.Table.from_pylist(cited, ENTRIES.schema))
            for table, path in found.items():
                # One thread: the same batches, and so the same bytes, every time.
                memory = run.spec.resources.memory_mb
                with duckdb_connection(memory_mb=memory, scratch=scratch, threads=1) as connection:
                    ordered = f"FROM read_parquet(?) ORDER BY {', '.join(table.key)}"
                    run.table(table).write(
                        shard.index, connection.execute(ordered, [str(path)]).to_arrow_reader(_PARSES)
                    )

    def finish(self, run: Run) -> Metrics:
        """Commit."""
        return commit_all(run, self.writes, run.paper_shards)


def _parses(run: Run, by_file: dict[str, tuple[str, Access]]) -> Iterator[tuple[FulltextRow, Json]]:
    """The stored parses of these files as rows of FULLTEXTS, each with its bibliography, one store part after the other."""
    parse_ids: dict[str, dict[str, str]] = defaultdict(dict)
    files = pa.array(sorted(by_file), pa.string())
    for table in (PARSES, LATEX_PARSES, ARTICLE_PARSES):
        key = "pdf_sha1" if table is PARSES else table.key[0]
        where = (pc.field("outcome") == "ok") & pc.field(key).isin(files)
        for batch in run.table(table).batches([key, "parse_id", "stored"], where=where):
            for row in batch.to_pylist():
                parse_ids[row["stored"]][row[key]] = row["parse_id"]
    for part, ids in sorted(parse_ids.items()):
        store = run.store(STORED_PARSES, *part.split("/")[1:-1])
        for found in store.fetch(part, ids, ["pdf_sha1", "parse"]):
            sha1, (paper_id, access) = found["pdf_sha1"], by_file[found["pdf_sha1"]]
            parse = orjson.loads(found["parse"] or b"")
            text = FulltextRow(
                paper_id=paper_id,
                parse_kind=access["kind"],
                parse_id=ids[sha1],
                pdf_sha1=sha1,
                open_access=access["open_access"],
                oa_evidence=access["oa_evidence"],
                licence=access["licence"],
                parse=orjson.dumps({**parse, "paper_id": paper_id}),
            )
            yield text, parse["bib_entries"]


def _entries(text: FulltextRow, bib_entries: Json) -> Iterator[EntryRow]:
    """The bibliography of a parse as rows of ENTRIES."""
    for ref_id, entry in bib_entries.items():
        ids = {kind: values[0] for kind, values in entry["other_ids"].items() if values}
        yield EntryRow(
            paper_id=text["paper_id"],
            parse_kind=text["parse_kind"],
            parse_id=text["parse_id"],
            ref_id=ref_id,
            title=entry["title"] or None,
            authors=entry["authors"],
            year=entry["year"],
            venue=entry["venue"] or None,
            volume=entry.get("volume") or None,
            issue=entry.get("issue") or None,
            pages=entry.get("pages") or None,
            doi=ids.get("DOI"),
            arxiv_id=ids.get("arXiv"),
            pubmed_id=ids.get("PMID"),
            pmc_id=ids.get("PMCID"),
            raw_text=entry["raw_text"] or None,
        )
