"""Link: find the kept paper that each bibliography entry cites, and where the text cites it (SPEC §7).

1. One task links all entries by `link.sql`, on the engine that ENGINE names, and measures recall and precision on samples.
2. Read the links of each bucket, and write the contexts of its inline citations.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import MAX_PYTHON_ROWS, interpret_if_small
from s2corpus.pipeline.engines import BUCKETS, find_buckets, open_engine
from s2corpus.pipeline.gold import GOLD_SAMPLE, Gold
from s2corpus.pipeline.run import OF_RUN, Metrics, Run, Shard, Stage, commit_all
from s2corpus.rules import LinkRules
from s2corpus.sources.preprints import is_preprint_doi
from s2corpus.sources.record import RecordKind, WorkType
from s2corpus.storage.engine import Engine, Functions, make_tables
from s2corpus.storage.statements import Statement
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import CONTEXTS, ENTRIES, FILTERED, FULLTEXTS, LINKS, ContextRow
from s2corpus.titles import contained, linking, similarity
from s2corpus.titles.facts import IDENTIFIERS, same_journal
from s2corpus.titles.rules import is_cut
from s2corpus.titles.threegrams import BANDS, ROWS

SAMPLE = 500
"""number of titles that are compared with all titles, to measure recall"""
MAX_GROUP = 64
"""Papers of one title or identifier that are compared with an entry. A larger group is narrowed first."""
MAX_PARTIAL = 256
"""Papers with one opening, or at one place in print, that are compared with an entry. An entry with more does not link."""
STATEMENTS = Path(__file__).with_suffix(".sql")
_PRINTED = ("paper_id", "title", "authors", "venue", "volume", "pages", *IDENTIFIERS)
_PAPER = (*_PRINTED, "journal", "date", "preprints")
_ENTRY = (*_PRINTED, "parse_kind", "ref_id", "year", "raw_text")
OF_PAPERS = ("papers", "titles", "title_keys")
_FOUND = ("groups", "few", "crowded")
OF_ENTRIES = (
    *("proposals: by_identifier", "members: members_by_identifier", *_FOUND, "candidates_id: once"),
    *("proposals: by_title", "members: members_by_title", *_FOUND, "candidates_exact: all_found"),
    *("without_exact", "searched", "searched_keys", "pairs", "scored"),
    *("proposals: by_similar_title", "members: members_by_title", *_FOUND, "candidates_fuzzy: all_found"),
    *("candidates_prefix", "candidates_locator", "printed", "heads", "candidates_contained"),
    *("judged", "chosen"),
)
"""The tables in the order of their making: of all papers, then of the entries in `entries`."""
_SEARCH = ("searched", "pairs", "scored")


class LinkStage(Stage):
    """The link stage. It reads entries and kept papers, and writes links and the contexts of inline citations, in two rounds."""

    name = "link"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Link all entries, or write the contexts of a bucket."""
        counts = Counter[str]()
        if round:
            links = run.table(LINKS).read_shard(shard.index)
            run.table(CONTEXTS).write(shard.index, _read_contexts(run, shard.index, links, counts))
        else:
            with interpret_if_small(_comparisons(run)), open_engine(run) as engine:
                counts.update(_write_links(run, engine))
        run.lake.put(_counts_key(run, shard, round), orjson.dumps(counts))

    def finish(self, run: Run) -> Metrics:
        """Commit; return recall and precision on samples, and the figures of S2ORC's table 4."""
        counts = Counter[str]()
        for round in (0, 1):
            for shard in self.plan(run, round):
                counts.update(orjson.loads(run.lake.get(_counts_key(run, shard, round))[0]))
        metrics = commit_all(run, self.name, run.paper_shards)
        if counts["similar"]:
            metrics["recall"] = counts["found"] / counts["similar"]
        if counts["tried"]:
            metrics["precision"] = counts["agreed"] / counts["tried"]
        for name, value in counts.items():
            kind, dot, statistic = name.partition(".")  # a statistic of a kind of parse becomes a mean
            if not dot or kind in ("gold", "run") or statistic == "parses":
                metrics[name] = float(value)
            else:
                metrics[f"{name}_mean"] = value / counts[f"{kind}.parses"]
        return metrics


def _comparisons(run: Run) -> int:
    """Return an upper bound of the compared characters. Ten more rows on each side account for the work per title."""
    papers, entries = run.table(PAPERS).committed().rows, run.table(ENTRIES).committed().rows
    if max(papers, entries) > MAX_PYTHON_ROWS:
        return sys.maxsize
    of_papers, of_entries = (int(run.table(table).read(["title"]).nbytes) for table in (PAPERS, ENTRIES))
    return (entries + 10) * of_papers + (papers + 10) * of_entries


def _counts_key(run: Run, shard: Shard, round: int) -> str:
    return f"{run.folder}/_counts/link-{round}-{shard.index:05d}.json"


def _write_links(run: Run, engine: Engine) -> dict[str, int]:
    """Write LINKS; return the counts of the search and of the samples."""
    read = {
        "given_papers": (PAPERS, _PAPER),
        "filtered": (FILTERED, ("paper_id", "outcome")),
        "bibliography": (ENTRIES, _ENTRY),
    }
    for name, (table, columns) in read.items():
        schema = pa.schema([table.schema.field(column) for column in columns])
        engine.load(name, run.lake, run.table(table).keys(), schema)
    rules = run.spec.link
    make_link_tables(engine, rules, (*OF_PAPERS, "entries", *OF_ENTRIES), (*OF_PAPERS, *_SEARCH, "chosen"))
    citing = Statement("SELECT DISTINCT paper_id FROM bibliography", None, ())
    engine.map("buckets", citing, partial(find_buckets, buckets=run.paper_shards), BUCKETS)
    make_link_tables(engine, rules, ("links",), ("links",))
    engine.write(run.table(LINKS), "SELECT * FROM links", "paper_id, parse_kind, ref_id", run.paper_shards)
    return _measure_search(engine, rules) | _measure_title_links(run, engine)


def make_link_tables(engine: Engine, rules: LinkRules, names: Sequence[str], kept: Sequence[str]) -> None:
    """Make tables by `link.sql`; see `make_tables`."""
    by_title, threshold = rules.evidence == "title", rules.min_score
    functions: Functions = {
        "read_papers": (partial(linking.read_papers, by_title=by_title), linking.PAPER),
        "read_entries": (partial(linking.read_entries, by_title=by_title), linking.ENTRY),
        "compute_title_keys": (partial(similarity.add_keys, bands=BANDS, band_rows=ROWS), linking.KEY),
        "score_titles": (partial(similarity.add_scores, threshold=threshold), linking.SCORED),
        "keep_cut": (partial(linking.keep_same, is_same=is_cut), linking.CANDIDATE),
        "keep_same_journal": (partial(linking.keep_same, is_same=same_journal), linking.CANDIDATE),
        "split_references": (contained.split_references, contained.REFERENCE),
        "choose_contained": (contained.choose_contained, linking.CANDIDATE),
        "judge": (partial(linking.judge, threshold=threshold, by_title=by_title), linking.JUDGED),
    }
    make_tables(
        engine, STATEMENTS, functions, names, kept, only_titles=int(by_title), max_group=MAX_GROUP, max_partial=MAX_PARTIAL,
        min_keys=similarity.MIN_KEYS, max_titles=similarity.MAX_TITLES_PER_KEY, most=similarity.MAX_PAIRS_PER_TITLE,
        head=contained.HEADS[0], long_head=contained.HEADS[1], sample=SAMPLE, gold_sample=GOLD_SAMPLE,
    )  # fmt: skip


def _measure_search(engine: Engine, rules: LinkRules) -> dict[str, int]:
    """Measure the recall of the similarity search on at most SAMPLE titles, and its effort:

    - `sampled`: titles compared with the titles of all papers;
    - `similar`: sampled titles with an S above the threshold;
    - `found`: similar titles for which the search found the highest S.
    """
    make_link_tables(engine, rules, ("sampled",), ("sampled",))
    sample = engine.fetch("SELECT normalized FROM sampled ORDER BY normalized")["normalized"].combine_chunks()
    titles = Statement("SELECT normalized FROM titles", None, ())
    function = partial(linking.find_best_scores, sample=sample, threshold=rules.min_score)
    engine.map("best", titles, function, linking.BEST)
    query = "SELECT title_a, max(score) AS score FROM {} SEMI JOIN sampled ON normalized = title_a GROUP BY title_a"
    best, reported = (
        {row["title_a"]: row["score"] for row in engine.fetch(query.format(name)).to_pylist()}
        for name in ("best", "scored")
    )
    found = sum(reported.get(title) == score for title, score in best.items())
    effort = engine.fetch(
        "SELECT (SELECT count(*) FROM searched) AS titles_searched, (SELECT count(*) FROM pairs) AS pairs_verified"
    ).to_pylist()[0]
    return {
        "sampled": len(sample), "similar": len(best), "found": found, **{f"{OF_RUN}{name}": n for name, n in effort.items()}
    }  # fmt: skip


def _measure_title_links(run: Run, engine: Engine) -> dict[str, int]:
    """Link a sample of the entries that have a title and an identifier, with their identifiers and without; return counts.

    - `known`: entries with a link by identifier, which is the truth;
    - `tried`: known entries with a link by title;
    - `right`: tried entries with a link to the same paper;
    - `agreed`: tried entries with a link to the same paper, or to one with an equal title;
    - `predicted`: tried entries, and wrong links of other entries: the entry's published DOI belongs to no paper but the linked paper has
      one.
    """
    names = "gold_sample", "entries: gold_entries", *OF_ENTRIES, "gold_links"
    make_link_tables(engine, LinkRules(), names, ("gold_sample", "gold_links"))
    truth = {row["entry"]: row for row in engine.fetch("SELECT * FROM gold_links WHERE reason = 'id'").to_pylist()}
    make_link_tables(
        engine, run.spec.link, ("entries: gold_entries_without_ids", *OF_ENTRIES, "gold_links"), ("gold_links",)
    )
    links = {row["entry"]: row for row in engine.fetch("SELECT * FROM gold_links").to_pylist()}
    pairs = [(link, truth[entry]) for entry, link in links.items() if entry in truth]
    others = [link for entry, link in links.items() if entry not in truth]
    dois = _published_dois(run, [link["paper_id"] for link in others])
    wrong = sum(bool(link["doi"] and link["paper_id"] in dois and not is_preprint_doi(link["doi"])) for link in others)
    right, agreed = (sum(link[name] == known[name] for link, known in pairs) for name in ("paper_id", "normalized"))
    # Only an entry with a link by identifier can be right, so all right links are found.
    gold = Gold(len(truth), right, len(pairs) + wrong, right).metrics("links")
    return {name: int(n) for name, n in gold.items()} | {"tried": len(pairs), "agreed": agreed}


def _published_dois(run: Run, paper_ids: list[str]) -> dict[str, str]:
    """Return the DOIs of papers, without DOIs of preprints. As in the vote, the types of records take precedence over DOI prefixes."""
    if not paper_ids:
        return {}
    where = pc.field("paper_id").isin(paper_ids)
    papers = run.table(PAPERS).rows(["paper_id", "doi"], where=where)
    typed = where & pc.field("type").is_valid() & pc.field("arxiv_id").is_null()
    members = list(run.table(MEMBERS).rows(["doi", "kind", "type"], where=typed))
    published = {row["doi"] for row in members if row["kind"] == RecordKind.PUBLISHER}
    preprints = {row["doi"] for row in members if row["type"] == WorkType.PREPRINT}
    return {
        row["paper_id"]: doi
        for row in papers
        if (doi := row["doi"]) and doi not in preprints and (doi in published or not is_preprint_doi(doi))
    }


def _read_contexts(run: Run, bucket: int, links: pa.Table, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
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
