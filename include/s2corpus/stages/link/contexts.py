"""Write inline citations with their paragraphs (SPEC §7), and count the figures of table 4 in S2ORC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables.texts import CONTEXTS, FILTERED, FULLTEXTS, ContextRow


def contexts_of(run: Run, bucket: int, links: pa.Table, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield the inline citations of the open, kept papers of a bucket, in order, in batches of the schema of `CONTEXTS`.

    `links` are the links of the bucket, sorted by paper and parse. The figures of table 4 in S2ORC are added to `counts` by kind of
    parse; they are complete after the last batch.
    """
    where = pc.field("open_access")
    filtered = run.table(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")
    kept, by_parse = set(filtered["paper_id"].to_pylist()), _by_parse(links)
    for batch in run.table(FULLTEXTS).batches(["paper_id", "parse_kind", "parse"], shard=bucket, where=where, rows=64):
        rows: list[ContextRow] = []
        for fulltext in batch.to_pylist():
            if fulltext["paper_id"] not in kept:
                continue
            key = {"paper_id": fulltext["paper_id"], "parse_kind": fulltext["parse_kind"]}
            own_links = links.slice(*by_parse.get((key["paper_id"], key["parse_kind"]), (0, 0)))
            cited = dict(zip(own_links["ref_id"].to_pylist(), own_links["cited_paper_id"].to_pylist(), strict=True))
            parse = orjson.loads(fulltext["parse"])
            kind = key["parse_kind"]
            counts[f"{kind}.parses"] += 1
            counts[f"{kind}.bib_entries"] += len(cited)
            counts[f"{kind}.linked_bib_entries"] += sum(1 for paper in cited.values() if paper)
            paragraphs = [(part, p) for part in ("abstract", "body_text", "back_matter") for p in parse.get(part) or ()]
            found = []
            for number, (part, paragraph) in enumerate(paragraphs):
                counts[f"{kind}.paragraphs_{part}"] += 1
                counts[f"{kind}.cite_spans_{part}"] += len(paragraph["cite_spans"])
                found += [
                    ContextRow(
                        paper_id=key["paper_id"],
                        parse_kind=kind,
                        paragraph=number,
                        start=span["start"],
                        end=span["end"],
                        ref_id=span["ref_id"],
                        cited_paper_id=cited.get(span["ref_id"]),
                        text=paragraph["text"],
                    )
                    for span in paragraph["cite_spans"]
                    if span["ref_id"]
                ]
            found.sort(key=lambda row: (row["paragraph"], row["start"], row["end"], row["ref_id"]))
            rows += found
        if rows:
            yield from pa.Table.from_pylist(rows, schema=CONTEXTS.schema).to_batches()


def _by_parse(links: pa.Table) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the rows of each parse in sorted links: (paper_id, parse_kind) → (first row, number of rows)."""
    where: dict[tuple[str, str], tuple[int, int]] = {}
    first = 0
    parses = links.group_by(["paper_id", "parse_kind"], use_threads=False).aggregate([([], "count_all")])
    for parse in parses.to_pylist():
        where[parse["paper_id"], parse["parse_kind"]] = (first, parse["count_all"])
        first += parse["count_all"]
    return where
