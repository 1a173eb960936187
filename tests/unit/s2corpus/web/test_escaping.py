"""External text in Markdown, CSV and terminals is shown, and none of it is executed."""

from __future__ import annotations

import csv
import io
import shutil
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from s2corpus.datasets.elsevier.dataset import _format_table
from s2corpus.escaping import escape_cell, escape_markdown
from s2corpus.evaluation import sheet
from s2corpus.evaluation.sample import EvaluationTask, Item, Side
from s2corpus.snapshot.report import card_template, data_card, funnel_csv

MARKUP = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "<svg/onload=window.pwned=3>",
    "<!-- hidden",
    "&lt;script&gt;window.pwned=4&lt;/script&gt;",
    "[click](javascript:window.pwned=5)",
    "![x](https://example.org/pixel.png)",
    "[x]: javascript:window.pwned=6",
    "<javascript:window.pwned=7>",
    "a | b | c",
    "a\n\n# Heading\n\n<iframe srcdoc='<script>window.pwned=8</script>'></iframe>",
    "```\n<b>",
    "`code` and ``code``",
    "back\\`slash` \\<b>",
    "**bold** *em* ~~gone~~",
)
FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u3000=1", "\u200b=1", "\ufeff=1", "\uff1d1+1", "\uff0b1",
    "\uff0d1", "\uff20SUM(1)", '=HYPERLINK("https://example.org","x")', "=cmd|' /C calc'!A0",
)  # fmt: skip


class _Shown(HTMLParser):
    """A parser that collects the tags and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(markdown: str) -> str:
    """Return HTML from the most trusting renderer: raw HTML is unchanged, and every link is made."""
    renderer = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    renderer.validateLink = lambda url: True  # type: ignore[method-assign]  # replaced as the page does
    return str(renderer.render(markdown))


@pytest.mark.parametrize("text", MARKUP)
def test_markdown_shows_text_as_it_is(text: str) -> None:
    found = _Shown(rendered(f"| a | b |\n|---|---|\n| {escape_markdown(text)} | last |\n"))
    assert found.tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert found.text.split() == ["a", "b", *text.split(), "last"]


def test_ordinary_text_is_unchanged() -> None:
    for text in ("CC-BY-4.0", "held_back:near_duplicate", "On the Semantic Scholar (2020)", "x^2 + y_1", "naïve: 5 %"):
        assert escape_markdown(text) == text


@pytest.mark.parametrize("text", MARKUP)
def test_data_card_renders_nothing_from_outside(text: str) -> None:
    counted = {"train": {"documents": 1, "words": 2}, "valid": {"documents": 0, "words": 0}}
    table = {"title": "T", "source": "x", "columns": [{"name": "n", "unit": "count"}], "rows": [["S2ORC", 1]]}

    def html(outside: str) -> list[str]:
        named = {outside: 1}
        stats = {
            "sets": {"s2orc": counted}, "funnel": [{"stage": "filter", "outcome": outside, "count": 1}], "years": {}, "metrics": {},
            "licences": named, "oa_evidence": named, "editorial": named, "sources": named, "tables": [{**table, "rows": [[outside, 1]]}],
            "samples": {"s2orc": {"title": outside, "fields_of_study": [outside], "text": f"{outside}\n```\n{outside}"}},
        }  # fmt: skip
        values = {
            "drops.x": outside, "clean.profile": "card", "export.files": 3, "split.shingle_words": 5, "split.min_jaccard": 0.8,
            "split.near_duplicates": "publish",
        }  # fmt: skip
        manifest: dict[str, Any] = {
            "snapshot": "s-20230101-00000000", "as_of": "2023-01-01", "parent": None, "versions": {"code": "1"}, "rules": values,
            "files": [], "overrides": {"link.recall": outside},
        }  # fmt: skip
        return _Shown(rendered(data_card(manifest, stats, "About it.").partition("\n---\n")[2])).tags

    assert html(text) == html("text")


def test_card_templates_escape_by_default() -> None:
    template = card_template("s2corpus.snapshot")
    assert {"text", "cell"} <= set(template.environment.filters)


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_cells_are_no_formulas(text: str) -> None:
    shown = text.replace("\r", "\n")
    assert escape_cell(text) == f"'{shown}"
    for content in (
        funnel_csv([("filter", text, 1)]),
        _format_table("subject", {"articles": 2, f"articles.subject.{text}": 1}, "subject"),
    ):
        rows = list(csv.reader(io.StringIO(content, newline="")))
        assert len(rows) == 2 and f"'{shown}" in rows[1] and not any(cell.startswith("=") for cell in rows[1])


@pytest.mark.parametrize("value", [-1, 0.5, None, "", "a=b", "10.1/x", "CC-BY-4.0", "1-2"])
def test_other_csv_cells_are_unchanged(value: object) -> None:
    assert escape_cell(value) is value


def test_carriage_return_begins_no_line() -> None:
    written = funnel_csv([("filter", "a\r=1\r\n=2", 1)])
    assert "\r" not in written
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == ["filter", "a\n=1\n=2", "1"]


def test_csv_of_subjects_is_csv() -> None:
    tally = {"articles": 4, 'articles.subject.a, "b"\nc': 1, "sample.subject.d": 2}
    rows = list(csv.reader(io.StringIO(_format_table("subject", tally, "subject"), newline="")))
    assert rows == [
        ["subject", "articles", "articles_percent", "sample"],
        ['a, "b"\nc', "1", "25.00", "0"],
        ["d", "0", "0.00", "2"],
    ]


@pytest.mark.parametrize("text", FORMULAS)
def test_sheet_has_no_formulas_and_is_read_again(text: str) -> None:
    side = Side(title=text, authors=("Ann", text), more=text)
    item = Item(f"clusters:{'0' * 15}", EvaluationTask.CLUSTERS, "0" * 15, "", "", "", side, side, True, None)
    written = sheet.format_items("s2_v2-20230101", [item])
    text = text.replace("\r", "\n")
    (row,) = csv.DictReader(io.StringIO(written, newline=""))
    assert row["title"] == row["against_title"] == row["more"] == f"'{text}"
    assert row["authors"] == f"Ann; '{text}"
    assert all(line.startswith('"') for line in io.StringIO(written.replace(text, "x")))
    marked = written.replace(',"",""\n', ',"right","wrong"\n')
    assert sheet.read_items(marked.encode(), "s2_v2-20230101", [item]) == {item.item: (True, False)}


def test_markdown_runs_no_script_in_chromium() -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright's Python client is not installed")
    chromium = shutil.which("chromium") or pytest.skip("chromium is not installed")
    html = rendered("\n\n".join(f"- {escape_markdown(text)}" for text in MARKUP))
    bare = rendered("\n\n".join(MARKUP))
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.route("**/*", lambda route: route.abort())
        found = []
        for content in (html, bare):
            page.set_content(content)
            page.wait_for_timeout(200)
            found.append(
                page.evaluate("[window.pwned, document.querySelectorAll('script, img, svg, iframe, a').length]")
            )
        browser.close()
    assert found[0] == [None, 0]
    assert found[1][0] is not None, "without escaping, a script runs: the test would notice"
