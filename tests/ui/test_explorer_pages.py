"""docs/explorer.md: pages of open PDFs are drawn within limits, and a reader reaches them in a browser."""

import hashlib
import re
import resource
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from s2corpus.storage.lake import open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.schema import paper_shard, pdf_shard
from s2corpus.tables.texts import FULLTEXTS, SPLITS
from tests.releases import PUBLISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT as PAGES
from tests.ui.pages import read, words
from tests.unit.s2corpus.pdf import bad_pdfs


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
def test_reader_goes_from_bar_to_pages(width: int, script: bool, browser: Any, address: str, built: Built) -> None:
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
