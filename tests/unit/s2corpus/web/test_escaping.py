"""External text in Markdown, CSV and terminals is shown, and none of it is executed."""

import csv
import io
from typing import Any

import lxml.html
import pytest
from markdown_it import MarkdownIt

from s2corpus.evaluation import sheet
from s2corpus.evaluation.sample import EvaluationTask, Item, Side
from s2corpus.snapshot.report import data_card
from s2corpus.spec import ReleaseSpec
from s2corpus_datasets.elsevier.dataset import _format_table
from s2corpus_reader.cards import funnel_csv
from s2corpus_reader.escaping import escape_cell, escape_markdown

MARKUP = (
    "<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=2>", "<!-- hidden", "&lt;script&gt;window.pwned=4&lt;/script&gt;",
    "[click](javascript:window.pwned=5) ![x](https://example.org/pixel.png)", "[x]: javascript:window.pwned=6", "a | b | c",
    "a\n\n# Heading\n\n<iframe srcdoc='<script>window.pwned=8</script>'></iframe>", "```\n<b> back\\`slash` \\<b>",
    "**bold** *em* ~~gone~~",
)  # fmt: skip
FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u3000=1", "\u200b=1", "\ufeff=1", "\uff1d1+1", "\uff0b1",
    "\uff0d1", "\uff20SUM(1)", '=HYPERLINK("https://example.org","x")', "=cmd|' /C calc'!A0",
)  # fmt: skip


def render(markdown: str) -> str:
    """Return HTML from the most trusting renderer: raw HTML is unchanged, and every link is made."""
    renderer = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    renderer.validateLink = lambda url: True  # type: ignore[method-assign]  # replaced as the page does
    return str(renderer.render(markdown))


def list_tags(html: str) -> list[str]:
    return [str(element.tag) for element in lxml.html.fragment_fromstring(html, create_parent=True).iter()][1:]


@pytest.mark.parametrize("text", MARKUP)
def test_markdown_shows_text_as_it_is(text: str) -> None:
    html = render(f"| a | b |\n|---|---|\n| {escape_markdown(text)} | last |\n")
    assert list_tags(html) == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert lxml.html.fromstring(html).text_content().split() == ["a", "b", *text.split(), "last"]


def test_ordinary_text_is_unchanged() -> None:
    for text in ("CC-BY-4.0", "held_back:near_duplicate", "On the Semantic Scholar (2020)", "x^2 + y_1", "naïve: 5 %"):
        assert escape_markdown(text) == text
    for value in (-1, 0.5, None, "", "a=b", "10.1/x", "CC-BY-4.0", "1-2"):
        assert escape_cell(value) is value


@pytest.mark.parametrize("text", MARKUP)
def test_data_card_renders_nothing_from_outside(text: str) -> None:
    counted = {"train": {"documents": 1, "words": 2}, "valid": {"documents": 0, "words": 0}}
    table = {"name": "papers", "title": "T", "source": "x", "columns": [{"name": "n", "unit": "count"}]}

    def card(outside: str) -> list[str]:
        stats = {
            "sets": {"s2orc": counted}, "funnel": [{"stage": "filter", "outcome": outside, "count": 1}], "years": {}, "metrics": {},
            **{name: {outside: 1} for name in ("licenses", "oa_evidence", "editorial", "sources", "fields_of_study")},
            "tables": [table | {"rows": [["S2ORC", 1], [outside, 1]]}],
            "samples": {"s2orc": {"title": outside, "fields_of_study": [outside], "text": f"{outside}\n```\n{outside}"}},
        }  # fmt: skip
        spec = ReleaseSpec(name="s").model_dump(mode="json")
        rules = {
            f"{part}.{name}": value
            for part, values in spec.items()
            if isinstance(values, dict)
            for name, value in values.items()
        }
        rules |= {"drops.x": outside, "clean.profile": "card"}
        manifest: dict[str, Any] = {
            "snapshot": "s-20230101-00000000", "as_of": "2023-01-01", "parent": None, "versions": {"code": "1"}, "rules": rules,
            "files": [], "overrides": {"link.recall": outside},
        }  # fmt: skip
        return list_tags(render(data_card(manifest, stats, "About it.").partition("\n---\n")[2]))

    assert card(text) == card("text")


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_cells_are_no_formulas(text: str) -> None:
    shown = text.replace("\r", "\n")
    assert escape_cell(text) == f"'{shown}"
    side = Side(text, ("Ann", text), text)
    item = Item("clusters:0", EvaluationTask.CLUSTERS, "0", "", "", "", side, side, None, None)
    (row,) = csv.DictReader(io.StringIO(sheet.format_items("r", [item]), newline=""))
    assert [row[name] for name in ("title", "authors", "more")] == [f"'{shown}", f"Ann; '{shown}", f"'{shown}"]
    tally = {"articles": 2, f'articles.subject.{text}, "b"\nc': 1}
    for content, cells in (
        (funnel_csv([("filter", f"{text}\r=2", 1)]), ["filter", f"'{shown}\n=2", "1"]),
        (_format_table("subject", tally, "subject"), [f'\'{shown}, "b"\nc', "1", "50.00", "0"]),
    ):
        assert "\r" not in content
        assert list(csv.reader(io.StringIO(content, newline="")))[1] == cells
