"""CiteWorth's rules agree with the table of citeworth_sentences.txt, and with a reader's decisions on sentences of real papers."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

from s2corpus.datasets.citations import cited_sentences
from s2corpus.datasets.citeworth.rules import (
    SECTIONS,
    CiteworthParagraphOutcome,
    CiteWorthParams,
    classify_paragraph,
    classify_sentence,
)
from tests.snapshots import real_articles

SENTENCES = Path(__file__).with_name("citeworth_sentences.txt")
PARAMS = CiteWorthParams()
FROGS = "We looked at frogs in ponds. They are green and loud. They breed in spring"


def table(first_column: str) -> list[list[str]]:
    """Return the rows of the table with this first column."""
    text = SENTENCES.read_text("utf-8").split(f"| {first_column} | outcome |")[1].partition("\n#")[0]
    lines = [line for line in text.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def paragraph(marked: str, section: str = "Introduction") -> dict[str, object]:
    """Return a paragraph from text that has citation marks in braces."""
    text, spans = "", list[dict[str, object]]()
    for piece in re.split(r"(\{[^}]*\})", marked):
        inner = piece.strip("{}") if piece.startswith("{") else piece
        if piece.startswith("{"):
            place = {"start": len(text), "end": len(text) + len(inner)}
            spans.append({**place, "text": inner, "ref_id": f"BIBREF{len(spans)}"})
        text += inner
    return {"section": section, "text": text, "cite_spans": spans}


@pytest.mark.parametrize("row", table("sentence"), ids=lambda row: row[0])
def test_sentence_has_its_outcome_and_label(row: list[str]) -> None:
    marked, outcome, label, text = row
    given = paragraph(marked)
    (sentence,) = cited_sentences(given)
    what, cleaned = classify_sentence(str(given["text"]), sentence, PARAMS.min_chars)
    assert what == outcome
    if label:
        assert (cleaned, "check-worthy" if sentence.marks else "non-check-worthy") == (text, label)


@pytest.mark.parametrize(
    ("text", "section", "outcome"),
    [
        (f"{FROGS} {{[1]}}.", "Introduction", "kept"),
        (f"{FROGS} {{[1]}}.", "RESULTS AND DISCUSSION", "kept"),
        (f"{FROGS} {{[1]}}.", "Acknowledgements", "section_not_permitted"),
        (f"{FROGS}.", "Introduction", "no_citation"),
        (f"We have EQUATION in ponds. {FROGS} {{[1]}}.", "Introduction", "display_formula"),
        ("We looked at frogs in ponds. They breed in spring {[1]}.", "Introduction", "few_sentences"),
        (f"We looked {{[2]}} at ponds. {FROGS} {{[1]}}.", "Methods", "citation_not_at_end"),
    ],
)
def test_failed_sentence_drops_its_paragraph(text: str, section: str, outcome: str) -> None:
    what, samples = classify_paragraph(PARAMS, paragraph(text, section))
    assert what == outcome
    assert bool(samples) == (what is CiteworthParagraphOutcome.KEPT)


@pytest.mark.parametrize("heading", ["Study area", "Study area:"])
def test_run_in_heading_is_not_part_of_a_sentence(heading: str) -> None:
    _, samples = classify_paragraph(PARAMS, paragraph(f"{heading} {FROGS} {{[1]}}."))
    assert samples[0]["text"] == "We looked at frogs in ponds."


def test_there_are_40_sentences_and_36_section_titles() -> None:
    assert (len(table("sentence")), len({*SECTIONS})) == (40, 36)


def test_long_list_of_numbers_takes_linear_time() -> None:
    """Check an input on which the published regular expression does not terminate."""
    given = paragraph("This is a list of numbers [" + "1, " * 5_000 + "x].")
    (sentence,) = cited_sentences(given)
    assert classify_sentence(str(given["text"]), sentence, 21)[0] is CiteworthParagraphOutcome.KEPT


@pytest.mark.usefixtures("shared_data")
def test_sentences_of_real_papers_match_a_readers_judgment() -> None:
    truth = {start: list(rows) for start, rows in groupby(table("paragraph begins"), key=itemgetter(0))}
    assert sum(map(len, truth.values())) >= 30
    paragraphs = [one for paper in real_articles() for one in paper["parses"]["jats"]["body_text"]]
    found = {start: one for one in paragraphs for start in truth if one["text"].startswith(start)}
    assert found.keys() == truth.keys()
    for start, one in found.items():
        for sentence, (_, expected, cites, end) in zip(cited_sentences(one), truth[start], strict=True):
            outcome, text = classify_sentence(one["text"], sentence, PARAMS.min_chars)
            # A reader sees a citation that was not extracted.
            assert (outcome, bool(sentence.marks) or outcome == "citation_missed") == (expected, cites == "yes"), start
            assert outcome != "kept" or (text.endswith(end) and not re.search(r"\[\d|\d\]", text))
