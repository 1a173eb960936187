"""docs/explorer.md: the view of a document shows its text, its removed parts with their rules, and its links."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.storage.lake import open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.texts import FULLTEXTS, LINKS
from tests.ui.conftest import page_over
from tests.ui.explorer import AT, copied, decisions
from tests.ui.pages import INJECTED, read, words


@pytest.fixture(scope="module")
def page(run: Run) -> Any:
    return page_over(run.scratch / "lake")


def article(page: Any, paper_id: str) -> str:
    """Return the HTML of a document."""
    return read(page, f"{AT}/text/{paper_id}").partition('<article class="text">')[2].partition("</article>")[0]


def squeeze(text: str) -> str:
    """Return the text without white space: the view has other spaces next to removed parts."""
    return "".join(text.split())


def read_table(run: Run, name: str) -> list[dict[str, Any]]:
    paths = Path(run.lake.uri(f"snapshots/{run.snapshot_id}/{name}")).rglob("*.parquet")
    return [row for path in sorted(paths) for row in pq.read_table(path).to_pylist()]


def test_document_without_removed_parts_is_the_published_text(page: Any, run: Run) -> None:
    documents = read_table(run, "documents/s2orc")
    assert len(documents) > 30
    for document in documents[:12]:
        shown = article(page, document["id"])
        head, _, rest = shown.partition('<section class="abstract">')
        body = re.sub(r'<del\b.*?</del>|<p class="why">.*?</p>', "", rest, flags=re.DOTALL).partition("<h2>Figures")[0]
        title, _, text = document["text"].partition("\n\n")
        assert f'<h1 dir="auto">{title}</h1>' in head
        assert squeeze(words(body)) == squeeze(f"Abstract{text}")


def test_removed_parts_are_marked_with_their_rule(page: Any, run: Run) -> None:
    removed = read_table(run, "tables/removed")
    (paper_id, *_) = [row["id"] for row in read_table(run, "documents/s2orc")]
    rows = [row for row in removed if row["paper_id"] == paper_id and row["set"] == "s2orc"]
    shown = article(page, paper_id)
    marked = [(rule, words(text)) for rule, text in re.findall(r'<del title="([^"]*)">(.*?)</del>', shown, re.DOTALL)]
    for kind in ("paragraph", "formula", "reference_mark", "figure", "footnote"):
        of_kind = [row for row in rows if row["kind"] == kind]
        assert of_kind and all((row["rule"], " ".join(row["text"].split())) in marked for row in of_kind), kind
    assert '<td dir="auto"><del>0.5</del></td>' in shown, "a cell of the table"
    (section,) = [row for row in rows if row["kind"] == "section"]
    reason = f"Removed by clean.min_log_prob: {section['value']:.2f} is below {section['threshold']:g}"
    assert f"<del>{section['section']}</del>" in shown and reason in words(shown)
    text = section["text"].partition("\n")[2]
    assert ("clean.min_log_prob", " ".join(text.split())) in marked
    for rule, n in Counter(row["rule"] for row in rows).items():
        total = sum(row["words"] for row in rows if row["rule"] == rule)
        assert f"{rule} {n} ({total} words)" in words(shown)


def test_mentions_lead_to_entries_and_entries_to_cited_papers(page: Any, run: Run) -> None:
    ids = {row["id"] for row in read_table(run, "documents/s2orc")}
    link = next(row for row in run.table(LINKS).read().to_pylist() if row["cited_paper_id"] and row["paper_id"] in ids)
    shown = article(page, link["paper_id"])
    mentions = re.findall(r'href="#(r-[^"]+)"', shown)
    assert mentions and all(shown.count(f'id="{mention}"') == 1 for mention in mentions)
    entry = shown.partition('id="r-BIBREF0"')[2].partition("</li>")[0]
    assert "A title" in entry and f'/text/{link["cited_paper_id"]}"' in entry


def test_dropped_document_shows_its_outcome(page: Any, run: Run) -> None:
    dropped = next(row for row in decisions(run, "s2orc") if row["outcome"] == "clean.before_min_year" and row["sha1"])
    assert "s2orc clean.before_min_year" in words(article(page, dropped["paper_id"]))


def test_closed_text_is_not_shown(page: Any, run: Run) -> None:
    closed = [row for row in run.table(FULLTEXTS).read().to_pylist() if not row["open_access"]]
    assert len(closed) > 5
    for row in closed:
        shown = squeeze(words(read(page, f"{AT}/text/{row['paper_id']}")))
        assert not [
            p for p in orjson.loads(row["parse"])["body_text"] if squeeze(p["text"]) in shown and len(p["text"]) > 20
        ]


def test_markup_and_wrong_places_in_a_parse_do_no_harm(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    ref = TableRef(open_lake(str(lake)), f"releases/{run.release_id}/fulltexts", FULLTEXTS)
    rows = ref.read().to_pylist()
    hostile = next(row for row in rows if row["open_access"])
    parse = orjson.loads(hostile["parse"])
    spans = [
        {"start": a, "end": b, "text": INJECTED, "ref_id": INJECTED}
        for a, b in ((-5, 3), (2, 9), (4, 6), (9, 2), (1, 10**9))
    ]
    for paragraph in parse["body_text"][:4]:
        paragraph |= {
            "section": INJECTED, "text": INJECTED * 2, "cite_spans": spans, "ref_spans": spans, "eq_spans": spans,
        }  # fmt: skip
    parse["bib_entries"] = {INJECTED: parse["bib_entries"]["BIBREF0"] | {"title": INJECTED, "raw_text": INJECTED}}
    parse["ref_entries"] = {"FIGREF0": {"type": "figure", "text": INJECTED, "cells": [[INJECTED]]}}
    hostile["parse"] = orjson.dumps(parse)
    ref.write(0, rows)
    ref.commit([0])
    shown = read(page_over(lake), f"{AT}/text/{hostile['paper_id']}")
    bare = re.sub(r'<script src="[^"]*" defer></script>', "", shown)
    assert "<script" not in bare and "<img" not in bare and bare.count("&lt;script&gt;alert(1)") > 5
