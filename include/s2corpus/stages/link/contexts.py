"""Write inline citations with their paragraphs (SPEC §7), and count the figures of table 4 in S2ORC."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables.texts import CONTEXTS, FILTERED, FULLTEXTS, ContextRow


def contexts_of(run: Run, bucket: int, links: pa.Table, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield the inline citations of the open, kept papers of a bucket, in order, in batches of the schema of `CONTEXTS`.

    `links` are the links of the bucket. The figures of table 4 in S2ORC are added to `counts`, complete after the last batch.
    """
    kept = run.table(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")
    where = pc.field("open_access") & pc.field("paper_id").isin(kept["paper_id"].combine_chunks())
    citing = run.table(FULLTEXTS).read(["paper_id"], shard=bucket, where=where)
    links = links.filter(pc.is_in(links["paper_id"], citing["paper_id"].combine_chunks()))
    cited_by = defaultdict[tuple[str, str], dict[str, str | None]](dict)
    names = ("paper_id", "parse_kind", "ref_id", "cited_paper_id")
    for id_, kind, ref_id, paper_id in zip(*(links[name].to_pylist() for name in names), strict=True):
        cited_by[id_, kind][ref_id] = paper_id
    for batch in run.table(FULLTEXTS).batches(["paper_id", "parse_kind", "parse"], shard=bucket, where=where, rows=64):
        rows: list[ContextRow] = []
        for fulltext in batch.to_pylist():
            id_, kind = fulltext["paper_id"], fulltext["parse_kind"]
            cited = cited_by[id_, kind]
            parse = orjson.loads(fulltext["parse"])
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
                        paper_id=id_,
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
