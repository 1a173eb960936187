"""docs/explorer.md: the explorer's counts are those of the tables, and each filter, bar and page shows the documents that it names."""

import hashlib
import html
import re
import resource
import shutil
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uvicorn

from s2corpus.outcomes import CleanOutcome
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.sealed import seal
from s2corpus.storage.lake import open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.schema import paper_shard, pdf_shard
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, LINKS, SPLITS
from tests.releases import PUBLISHED, Built
from tests.s3_store import s3_store
from tests.ui.conftest import page_over
from tests.ui.pages import AT as PAGES
from tests.ui.pages import INJECTED, read, words
from tests.unit.s2corpus.pdf import bad_pdfs
from tests.unit.s2corpus.snapshot.test_removed import make
from tests.unit.s2corpus.storage.test_lakes import use_server

AT = "corpus_release__small/20230101"
OF = f"{AT}/documents"
IDS = re.compile(r'<li><a dir="auto" href="[^"]*/text/([0-9a-f]{15})">')


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a release of 80 papers with every outcome of clean and split."""
    made = make(tmp_path_factory.mktemp("explorer") / "plain", citations="drop")
    seal(made)
    return made


@pytest.fixture(scope="module")
def page(run: Run) -> Any:
    return page_over(run.scratch / "lake")


def decisions(run: Run, set_: str) -> list[dict[str, Any]]:
    """Return the decisions of clean and split about the papers that passed the filter, with their outcome as the page names it."""
    passed = {r["paper_id"] for r in run.table(FILTERED).read().to_pylist() if r["outcome"] == "kept"}
    papers = {r["paper_id"]: r for r in run.table(PAPERS).read().to_pylist()}
    splits = {(r["set"], r["paper_id"]): r["split"] for r in run.table(SPLITS).read().to_pylist()}
    found = []
    for row in run.table(DOCUMENTS).read().to_pylist():
        if row["set"] == set_ and row["paper_id"] in passed:
            split = splits.get((set_, row["paper_id"]), "")
            held_back = f"split.{split}" if split.startswith("held_back") else split
            outcome = held_back if row["outcome"] == CleanOutcome.KEPT else f"clean.{row['outcome']}"
            found.append(papers[row["paper_id"]] | row | {"outcome": outcome})
    return found


def list_ids(page: Any, address: str) -> list[str]:
    """Return the ids of the listed documents on all pages."""
    ids: list[str] = []
    for number in range(1, 100):
        text = read(page, f"{address}&page={number}")
        ids += IDS.findall(text)
        if 'rel="next"' not in text:
            return ids
    raise AssertionError("more than 100 pages")


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_explorer_counts_and_lists_each_decision(set_: str, page: Any, run: Run) -> None:
    rows = decisions(run, set_)
    counts = Counter(row["outcome"] for row in rows)
    text = read(page, f"{OF}/{set_}")
    options = re.search(r'<select name="outcome">(.*?)</select>', text)
    assert options and dict(re.findall(r"<option value=\"([^\"]+)\">[^<]* \((\d+)\)", options[1])) == {
        outcome: str(n) for outcome, n in counts.items()
    }
    assert f"{len(rows)} of {len(rows)} documents" in words(text) and len(counts) > 4
    for outcome, n in counts.items():
        ids = list_ids(page, f"{OF}/{set_}?outcome={outcome}")
        assert Counter(ids) == Counter(row["paper_id"] for row in rows if row["outcome"] == outcome) and len(ids) == n


def test_each_filter_limits_the_documents(page: Any, run: Run) -> None:
    rows = decisions(run, "s2orc")
    years = sorted(int(row["date"][:4]) for row in rows if row["date"])
    middle = str(years[len(years) // 2])
    field = next(row["fields_of_study"][0] for row in rows if row["fields_of_study"])
    filters: list[tuple[dict[str, object], Callable[[dict[str, Any]], object]]] = [
        ({"first": middle}, lambda row: (row["date"] or "0000")[:4] >= middle),
        ({"last": middle}, lambda row: row["date"] and row["date"][:4] <= middle),
        ({"field": field}, lambda row: field in (row["fields_of_study"] or ())),
        ({"rule": "clean.min_log_prob"}, lambda row: row["removed_sections"]),
        ({"source": "pdf", "outcome": "train"}, lambda row: row["outcome"] == "train" and row["sha1"] == row["canonical_pdf"]),
        ({"by": "words", "low": 567}, lambda row: row["words"] is not None and row["words"] >= 567),
        ({"by": "words", "high": 567}, lambda row: row["words"] is not None and row["words"] < 567),
    ]  # fmt: skip
    for query, is_chosen in filters:
        expected = {row["paper_id"] for row in rows if is_chosen(row)}
        assert set(list_ids(page, f"{OF}/s2orc?{urlencode(query)}")) == expected, query
    licenses = re.findall(r'<option value="([^"]+)">', read(page, f"{OF}/s2orc").partition('name="license"')[2])
    found = [list_ids(page, f"{OF}/s2orc?{urlencode({'license': license})}") for license in licenses[:2]]
    assert found[0] and not set(found[0]) & set(found[-1] if len(found) > 1 else ())


def test_histogram_counts_documents_and_its_bars_lead_to_them(page: Any, run: Run) -> None:
    text = read(page, f"{OF}/s2orc?by=words&order=descending")
    table = text.partition("<tbody>")[2].partition("</tbody>")[0]
    bins = re.findall(r'<a href="\?([^"]+)">[^<]*</a></th><td>([^<]*)</td>', table)
    counted = [sum(map(int, re.findall(r"(\d+)(?:,|$)", counts))) for _, counts in bins]
    with_words = [row for row in decisions(run, "s2orc") if row["words"] is not None]
    assert sum(counted) == len(with_words) > 40
    shown = [len(list_ids(page, f"{OF}/s2orc?{html.unescape(query)}")) for query, _ in bins]
    assert shown == counted
    assert f"<title>clean.min_words: {run.spec.clean.min_words}</title>" in text
    threshold = run.spec.clean.text_rules.threshold
    sections = text.partition("<figcaption>section_log_probs</figcaption>")[2].partition("</figure>")[0]
    assert f"<title>clean.min_log_prob: {threshold:g}</title>" in sections
    n = sum(len(row["section_log_probs"] or ()) for row in with_words)
    assert f'aria-label="section_log_probs: {n:,} values"' in sections


def test_scores_of_filter_and_link_are_counted_by_outcome(page: Any, built: Built) -> None:
    page, run = page_over(built.lake), built.runs[PUBLISHED]
    scores = (
        ("filter", "characters", "min_characters"), ("filter", "english", "min_english"), ("link", "score", "min_score"),
    )  # fmt: skip
    for stage, score, rule in scores:
        table, column = (FILTERED, "outcome") if stage == "filter" else (LINKS, "reason")
        rows = [row for row in run.table(table).read().to_pylist() if row[score] is not None]
        text = read(page, f"{PAGES[PUBLISHED]}/scores/{stage}")
        shown = text.partition(f'aria-label="{score}"')[2].partition("</table>")[0]
        counted = Counter[str]()
        for counts in re.findall(r'<th scope="row">[^<]*</th><td>([^<]*)</td>', shown):
            for word, n in re.findall(r"(\w+) ([\d,]+)(?:, |$)", counts):
                counted[word] += int(n.replace(",", ""))
        assert counted == Counter(row[column] for row in rows) and counted, (stage, score)
        threshold = getattr(getattr(run.spec, stage), rule)
        assert f"<title>{stage}.{rule}: {threshold:g}</title>" in text
        assert f'aria-label="{score}: {len(rows):,} values"' in text
    assert page.get(f"{PAGES[PUBLISHED]}/scores/clean").status_code == 422


def test_explorer_of_a_lake_on_s3(run: Run, page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_store() as store:
        use_server(monkeypatch, store.port)
        root = run.scratch / "lake"
        lake = open_lake("s3://corpus")
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            lake.put(path.relative_to(root).as_posix(), path.read_bytes())
        remote, paper = page_over("s3://corpus"), decisions(run, "s2orc")[0]["paper_id"]
        for address in (
            f"{OF}/s2orc",
            f"{OF}/s2ag?by=log_prob",
            f"{AT}/scores/filter",
            f"{AT}/scores/link",
            f"{AT}/text/{paper}",
        ):
            assert read(remote, address) == read(page, address), address


def test_list_is_sorted_by_the_chosen_value(page: Any, run: Run) -> None:
    values = {row["paper_id"]: row["words"] for row in decisions(run, "s2orc")}
    ids = [id_ for id_ in list_ids(page, f"{OF}/s2orc?by=words&order=descending") if values[id_] is not None]
    assert [values[id_] for id_ in ids] == sorted((values[id_] for id_ in ids), reverse=True) and len(ids) > 2


def test_release_without_snapshot_or_scores_states_the_reason(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    manifest = lake / "snapshots" / str(run.snapshot_id) / "manifest.json"
    manifest.write_text(manifest.read_text().replace("tables/scores/", "tables/others/"))
    assert "without tables/scores" in words(read(page_over(lake), f"{OF}/s2orc"))
    manifest.unlink()
    assert "This release has no complete snapshot." in words(read(page_over(lake), f"{OF}/s2orc"))


def copied(run: Run, to: Path) -> Path:
    """Copy the lake to a folder where a test may change it."""
    return Path(shutil.copytree(run.scratch / "lake", to / "lake"))


def test_markup_in_scores_and_parameters_is_escaped(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    for path in (lake / "snapshots" / str(run.snapshot_id) / "tables" / "scores").glob("*.parquet"):
        table = pq.read_table(path)
        for name in ("outcome", "source", "title", "license", "rules", "fields_of_study"):
            at = table.schema.get_field_index(name)
            value = [INJECTED] if pa.types.is_list(table.schema.types[at]) else INJECTED
            table = table.set_column(at, table.field(name), pa.array([value] * len(table)))
        pq.write_table(table, path)
    page = page_over(lake)
    for query in (
        {},
        {"outcome": INJECTED},
        {"field": INJECTED, "rule": INJECTED, "license": INJECTED},
        {"source": "'; DROP TABLE x --"},
    ):
        text = read(page, f"{OF}/s2orc?{urlencode(query)}")
        bare = re.sub(r'<script src="[^"]*" defer></script>', "", text)
        assert "<script" not in bare and "<img" not in bare and "&lt;script&gt;alert(1)" in bare


# The view of a document


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


# Pages of the PDF, and the browser


@pytest.fixture(scope="module")
def address(built: Built) -> Iterator[str]:
    """Serve the page of a release of real PDFs; yield the address of the release."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(page_over(built.lake).app, log_level="warning")
        served = uvicorn.Server(config)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/corpus-releases/{PAGES[PUBLISHED]}"
        served.should_exit = True
        thread.join()


def find_open_pdf(built: Built) -> dict[str, Any]:
    rows = built.runs[PUBLISHED].table(FULLTEXTS).read().to_pylist()
    return next(row for row in rows if row["open_access"] and row["parse_kind"] == "pdf")


def test_only_pages_of_open_pdfs_are_drawn(built: Built) -> None:
    page, run = page_over(built.lake), built.runs[PUBLISHED]
    found = find_open_pdf(built)
    (selection,) = run.of_pdf(SELECTIONS, found["file_sha1"])
    last = page.get(f"{PAGES[PUBLISHED]}/text/{found['paper_id']}/page/{selection['pages']}")
    assert last.headers["content-type"] == "image/png" and last.content.startswith(b"\x89PNG")
    size = tuple(int.from_bytes(last.content[at : at + 4], "big") for at in (16, 20))
    assert size == pytest.approx((selection["width_pt"] * 100 / 72, selection["height_pt"] * 100 / 72), abs=2)
    assert page.get(f"{PAGES[PUBLISHED]}/text/{found['paper_id']}/page/{selection['pages'] + 1}").status_code == 404
    closed = next(row for row in run.table(FULLTEXTS).read().to_pylist() if not row["open_access"])
    assert "<img" not in read(page, f"{PAGES[PUBLISHED]}/text/{closed['paper_id']}")
    assert "no open PDF" in words(read(page, f"{PAGES[PUBLISHED]}/text/{closed['paper_id']}/page/1", 404))


def test_missing_or_damaged_pdf_gives_a_sentence(built: Built, tmp_path: Path) -> None:
    lake = Path(shutil.copytree(built.lake, tmp_path / "lake"))
    found = find_open_pdf(built)
    (delivered,) = built.runs[PUBLISHED].of_pdf(PDFS, found["file_sha1"])
    path = lake / "drops" / delivered["places"][0]["drop"] / delivered["places"][0]["name"]
    at = f"{PAGES[PUBLISHED]}/text/{found['paper_id']}/page/1"
    for change in (lambda: path.write_bytes(b"%PDF-1.4 other"), path.unlink):
        change()
        assert "The lake no longer contains this PDF." in words(read(page_over(lake), at, 404))


HOSTILE: dict[str, tuple[Callable[[], bytes], int, bool]] = {
    "huge page": (lambda: bad_pdfs.assemble(bad_pdfs.paper(box=b"[0 0 1000000 1000000]")), 1, True),
    "page without width": (lambda: bad_pdfs.assemble(bad_pdfs.paper(box=b"[0 0 14400 0.001]")), 1, True),
    "page after the last": (lambda: bad_pdfs.assemble(bad_pdfs.pages([bad_pdfs.A4] * 3)), 4, False),
    "many pages": (lambda: bad_pdfs.assemble(bad_pdfs.pages([bad_pdfs.A4] * 20_000)), 100, True),
    "compressed content": (bad_pdfs.KINDS["stream_bomb"][0], 1, False), "compressed objects": (bad_pdfs.object_stream_bomb, 1, False),
    "endless drawing": (lambda: bad_pdfs.drawn_forever(b"q Q"), 1, False), "giant image": (bad_pdfs.giant_image, 1, True),
}  # fmt: skip
"""PDFs, each with a page, and whether the page can be drawn"""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pdf_gives_a_small_image_or_a_sentence(name: str, built: Built, tmp_path: Path) -> None:
    make_pdf, number, is_drawn = HOSTILE[name]
    lake, run = Path(shutil.copytree(built.lake, tmp_path / "lake")), built.runs[PUBLISHED]
    found = find_open_pdf(built)
    shard = pdf_shard(found["file_sha1"], run.pdf_shards)
    pdf = next(
        pdf
        for n in range(1000)
        if pdf_shard(hashlib.sha1(pdf := make_pdf() + b"%%%d" % n).hexdigest(), run.pdf_shards) == shard
    )
    sha1 = hashlib.sha1(pdf).hexdigest()
    for table, values in ((PDFS, {"bytes": len(pdf)}), (SELECTIONS, {"pages": number}), (FULLTEXTS, {})):
        ref = TableRef(open_lake(str(lake)), f"releases/{run.release_id}/{table.name}", table)
        at = shard if table.shards == "pdf" else paper_shard(found["paper_id"], run.paper_shards)
        shards, facts = sorted({int(part.name[5:10]) for part in ref.committed().parts}), ref.committed().facts
        rows = ref.read(shard=at).to_pylist()
        for row in rows:
            if row["file_sha1"] == found["file_sha1"]:
                row |= {"file_sha1": sha1, **values}
                places = row.get("places") or ()
        ref.write(at, sorted(rows, key=lambda row: str(row[table.key[0]])))
        ref.commit(shards, facts)
        if table is PDFS:
            for place in places:
                (lake / "drops" / place["drop"] / place["name"]).write_bytes(pdf)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    answer = page_over(lake).get(f"{PAGES[PUBLISHED]}/text/{found['paper_id']}/page/{number}")
    if is_drawn:
        assert answer.status_code == 200
        width, height = (int.from_bytes(answer.content[at : at + 4], "big") for at in (16, 20))
        assert 0 < width * height <= 3_100_000
    else:
        assert answer.status_code == 404 and "cannot be drawn within the limits" in words(answer.text)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < max(before, 1024 << 10), "1 GB of memory"


@pytest.mark.parametrize(("width", "script"), [(1280, True), (400, False)])
def test_reader_goes_from_a_bar_to_a_document_and_its_pages(
    width: int, script: bool, browser: Any, address: str, built: Built
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 1200}, java_script_enabled=script)
    context.set_default_timeout(120_000)
    page, noise = context.new_page(), list[str]()
    page.on("console", lambda m: noise.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(f"{address}/documents/s2orc?outcome=train")
    counted = len(
        [
            row
            for row in built.runs[PUBLISHED].table(SPLITS).read().to_pylist()
            if (row["set"], row["split"]) == ("s2orc", "train")
        ]
    )
    assert page.inner_text("main p").startswith(f"{counted} of ")
    page.select_option("select[name=by]", "paragraphs")
    page.click("form.filters button")
    assert "outcome=train" in page.url and page.locator(".list > li").count() == counted
    bar = page.locator("svg.histogram a").first
    expected = sum(int(n) for n in re.findall(r"(\d+) train", bar.locator("title").text_content() or ""))
    bar.click()
    assert page.locator(".list > li").count() == expected > 0
    page.click(".list > li > a")
    image = page.get_by_alt_text("Page 1 of the PDF")
    image.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    box = image.bounding_box()
    text = page.locator("article.text").bounding_box()
    assert box and text and (box["x"] >= text["x"] + text["width"] if width > 1024 else box["y"] > text["y"])
    mention = page.locator("article.text p a[href^='#r-']").first
    target = (mention.get_attribute("href") or "").removeprefix("#")
    mention.click()
    assert page.url.endswith(target) and page.locator(f"[id='{target}']").bounding_box()
    if script:
        assert page.evaluate("document.images[0].naturalWidth") > 500
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert noise == []
    context.close()
