"""SPEC §7.1, §7.14, §7.15: the stage `link` writes links, contexts and metrics, and measures its recall."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from s2corpus.errors import QualityBlocked
from s2corpus.outcomes import LinkReason
from s2corpus.pipeline import quality, runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage import engine
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.schema import Table, paper_shard
from s2corpus.tables.texts import CONTEXTS, ENTRIES, FILTERED, FULLTEXTS, LINKS
from tests.unit.s2corpus.clustering.test_engines import SPARK

Row = dict[str, Any]
BUCKETS = 3
WORDS = [
    "deep graph neural networks learning for of the with sparse attention language models protein folding quantum error",
    "correction climate ocean dynamics bayesian inference causal discovery robot control vision transformers speech",
]


def author(last: str) -> list[Row]:
    return [{"first": "A.", "middle": [], "last": last, "suffix": ""}]


def paper(paper_id: str, title: str, **more: Any) -> Row:
    empty: Row = {"access": [], "provenance": {}, "record_ids": [], "editorial_by": []}
    return {"paper_id": paper_id, "title": title, "open_access": True, **empty, **more}


def entry(paper_id: str, number: int, title: str | None, **more: Any) -> Row:
    key = {"paper_id": paper_id, "parse_kind": "pdf", "ref_id": f"BIBREF{number}", "parse_id": f"{paper_id}:pdf:-:1"}
    return {**key, "title": title, **more}


def write(run: Run, table: Table, rows: list[Row], **facts: Any) -> None:
    for bucket in range(BUCKETS):
        mine = [row for row in rows if paper_shard(row["paper_id"], BUCKETS) == bucket]
        run.table(table).write(bucket, sorted(mine, key=lambda row: [row[name] for name in table.key]))
    run.table(table).commit(range(BUCKETS), facts)


def release(
    lake: Lake,
    scratch: Path,
    papers: list[Row],
    entries: list[Row],
    *,
    day: int = 1,
    dropped: tuple[str, ...] = (),
    fulltexts: tuple[Row, ...] = (),
    members: tuple[Row, ...] = (),
    **spec: Any,
) -> Run:
    run = Run(ReleaseSpec(name="tiny", **spec), datetime(2023, 1, day, tzinfo=UTC), lake, scratch)
    run.table(DELIVERIES).write(0, [])
    run.table(DELIVERIES).commit([0], {"parent": None})
    write(run, MEMBERS, list(members), paper_shards=BUCKETS)
    write(run, PAPERS, papers)
    outcomes = {p["paper_id"]: "no_title" if p["paper_id"] in dropped else "kept" for p in papers}
    write(run, FILTERED, [{"paper_id": id_, "outcome": outcome} for id_, outcome in outcomes.items()])
    write(run, FULLTEXTS, list(fulltexts))
    write(run, ENTRIES, entries)
    return run


def run_link(run: Run) -> dict[tuple[str, str], Row]:
    runner.run_stage(run, "link")
    return {(row["paper_id"], row["ref_id"]): row for row in run.table(LINKS).read().to_pylist()}


ATTENTION, GRAPHS = "Attention is all you need", "Inductive representation learning on large graphs"


def make_parse(paper_id: str, spans: list[tuple[int, int, str | None]], *, open_access: bool = True) -> Row:
    text = "As shown in [1] and in [2], and elsewhere."
    cite_spans = [{"start": s, "end": e, "text": text[s:e], "ref_id": ref} for s, e, ref in spans]
    paragraph = {"text": text, "cite_spans": cite_spans, "ref_spans": [], "section": "Body"}
    parse = {"abstract": [{**paragraph, "cite_spans": []}], "body_text": [paragraph], "back_matter": [paragraph]}
    key = {"paper_id": paper_id, "parse_kind": "pdf", "parse_id": f"{paper_id}:pdf:-:1", "file_sha1": "a" * 40}
    return {**key, "open_access": open_access, "parse": orjson.dumps(parse)}


def test_every_entry_has_a_row_and_every_open_citation_a_context(lake: Lake, tmp_path: Path) -> None:
    papers = [
        paper("p1", ATTENTION, date="2017-06", authors=author("Vaswani"), doi="10.1/a"),
        paper("p2", GRAPHS, date="2017"),
        paper("p3", "A closed paper about nothing", open_access=False),
        paper("p4", "A paper that was filtered out"),
    ]
    entries = [
        entry("p2", 0, "Attention is all you needd", year=2017, authors=author("Vaswani")),
        entry("p2", 1, "A paper that was filtered out"),
        entry("p2", 2, GRAPHS),  # The citing paper itself.
        entry("p3", 0, None, doi="10.1/a"),
        entry("p4", 0, GRAPHS),
    ]
    spans = [(12, 15, "BIBREF0"), (23, 26, "BIBREF1"), (30, 33, None)]
    closed = make_parse("p3", spans[:1], open_access=False)
    fulltexts = (make_parse("p2", spans), closed, make_parse("p4", spans[:1]))
    run = release(lake, tmp_path, papers, entries, dropped=("p4",), fulltexts=fulltexts)
    found = {key: (row["cited_paper_id"], row["reason"]) for key, row in run_link(run).items()}
    assert found == {
        ("p2", "BIBREF0"): ("p1", "fuzzy"),
        ("p2", "BIBREF1"): (None, "none"),  # Only kept papers are cited.
        ("p2", "BIBREF2"): (None, "none"),
        ("p3", "BIBREF0"): ("p1", "id"),
        ("p4", "BIBREF0"): ("p2", "exact"),
    }
    contexts = run.table(CONTEXTS).read().to_pylist()
    assert [(c["paper_id"], c["paragraph"], c["start"], c["ref_id"], c["cited_paper_id"]) for c in contexts] == [
        ("p2", paragraph, start, ref, cited)  # Closed and filtered papers provide no text.
        for paragraph in (1, 2)
        for start, ref, cited in ((12, "BIBREF0", "p1"), (23, "BIBREF1", None))
    ]
    assert all(c["text"][c["start"] : c["end"]] in ("[1]", "[2]") for c in contexts)
    metrics = quality.read_metrics(run)["link"]
    assert (metrics["rows"], metrics["linked"]) == (4, 2)  # The entries of a filtered paper are not counted.
    assert (metrics["reason.id"], metrics["reason.fuzzy"], metrics["reason.none"], metrics["recall"]) == (1, 1, 2, 1.0)
    # S2ORC, table 4: averages over open papers.
    means = ("bib_entries_mean", "linked_bib_entries_mean", "cite_spans_body_text_mean")
    assert [metrics[f"pdf.{name}"] for name in ("parses", *means)] == [1, 3, 1, 3]


def _corpus(rng: np.random.Generator, papers: int, entries: int) -> tuple[list[Row], list[Row]]:
    """Return papers of random words, of which some share titles, and entries with typos, cut titles and identifiers."""
    titles = [" ".join(rng.choice(" ".join(WORDS).split(), rng.integers(2, 9))) for _ in range(papers)]
    titles = [title if i % 9 else titles[i - 1] for i, title in enumerate(titles)]
    made = [paper(f"p{i:04d}", title, date=str(2000 + i % 20), doi=f"10.1/{i}") for i, title in enumerate(titles)]
    cited = []
    for i in range(entries):
        target = made[int(rng.integers(papers))]
        title = target["title"] if i % 11 else " ".join(target["title"].split()[:2])
        for at in rng.integers(0, len(title), rng.integers(0, 4)):
            title = title[:at] + "q" + title[at + 1 :]
        more = {"year": int(target["date"]), "doi": target["doi"] if i % 5 == 0 else None}
        cited.append(entry(f"p{i % papers:04d}", i // papers, title, **more if i % 3 else {}))
    return made, cited


@pytest.mark.parametrize(("work_type", "judged"), [("article", 4), ("preprint", 3)])
def test_links_without_identifiers_are_measured(work_type: str, judged: int, lake: Lake, tmp_path: Path) -> None:
    posted = "Posted on a server before it was printed"
    papers = [
        paper("p1", ATTENTION, doi="10.1/a"), paper("p2", GRAPHS, doi="10.1/b"), paper("p3", "Citing paper of the three others"),
        paper("p4", posted, doi="10.7/posted"),
    ]  # fmt: skip
    entries = [
        entry("p3", 0, ATTENTION, doi="10.1/a"),  # Found.
        entry("p3", 1, GRAPHS, doi="10.1/a"),  # The title of another paper.
        entry("p3", 2, "Advances in neural information processing", doi="10.1/b"),  # The journal's title: not found.
        entry("p3", 3, ATTENTION, doi="10.9/other"),  # Another work with this title.
        entry("p3", 4, ATTENTION, doi="10.48550/arxiv.1706.03762"),  # Possibly its preprint: not judged.
        entry("p3", 5, ATTENTION),  # No identifier.
        entry("p3", 6, None, doi="10.1/a"),  # No title.
        entry("p3", 7, posted, doi="10.8/printed"),  # Possibly its published version.
    ]
    member = {
        "paper_id": "p4", "record_id": "crossref:1", "source": "crossref", "kind": "publisher", "doi": "10.7/posted", "type": work_type,
        "delivery": "d", "ready_at": "2023-01-01T00:00:00Z", "authors": [], "subjects": [],
    }  # fmt: skip
    run = release(lake, tmp_path, papers, entries, members=(member,))
    run_link(run)
    metrics = quality.read_metrics(run)["link"]
    counts = {name: metrics[f"gold.links.{name}"] for name in ("known", "found", "predicted", "right")}
    assert counts == {"known": 3, "found": 1, "predicted": judged, "right": 1}
    assert metrics["precision"] == 0.5, "of what an identifier links"


def test_low_recall_blocks_the_release(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.titles.similarity.MIN_KEYS", 30)
    papers, entries = _corpus(np.random.default_rng(5), 300, 900)
    run = release(lake, tmp_path, papers, entries)
    with pytest.raises(QualityBlocked, match="recall"):
        runner.run_stage(run, "link")


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["here", pytest.param("local[2]", marks=SPARK)])
def test_engine_and_memory_do_not_change_links(
    name: str, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers, entries = _corpus(np.random.default_rng(6), 200, 900)
    title = "Report of the annual meeting of the society"  # More papers share it than are compared.
    papers += [paper(f"r{i:04d}", title, date=str(2000 + i % 5), authors=author(f"Author {i % 3}")) for i in range(300)]
    entries += [entry(f"r{i:04d}", 0, title + "s" * (i % 2), year=1999 + i % 7) for i in range(60)]
    entries += [
        entry("p0001", 800 + i, None, raw_text=f"Lee, A. ({p['date']}). {p['title']}. Lancet, 4, 1.")
        for i, p in enumerate(papers[:40])
    ]
    entries += [entry("p0002", 900, None, venue="J Biol Chem", volume="4", pages="7-9", year=2001)]
    cut, given = "Random walks on trees", {"authors": author("Lee")}
    entries += [entry("p0002", 901, cut, year=2001, **given)]
    papers += [paper("q2", f"{cut}: a survey of methods and proofs with examples", date="2001", **given)]
    papers += [paper("q1", "Of a place", journal="Journal of Biological Chemistry", volume="4", pages="7", date="2001")]
    whole = run_link(release(lake, tmp_path, papers, entries))
    assert sum(row["reason"] == "exact" and row["runner_up_score"] == 1.0 for row in whole.values()) > 20
    assert {row["reason"] for row in whole.values()} == {*LinkReason}
    monkeypatch.setenv("ENGINE", name)
    monkeypatch.setattr(engine, "_ROWS", 50)
    assert run_link(release(lake, tmp_path, papers, entries, day=2, resources={"memory_mb": 64})) == whole
