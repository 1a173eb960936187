"""CiteWorth's rules agree with the table of citeworth_sentences.md, and with a reader's decisions on sentences of real papers."""

from __future__ import annotations

import re
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

SENTENCES = Path(__file__).with_name("citeworth_sentences.md")
PARAMS = CiteWorthParams()
FROGS = "We looked at frogs in ponds. They are green and loud. They breed in spring"


def table() -> list[tuple[str, str, str, str]]:
    lines = SENTENCES.read_text("utf-8").split("| sentence | outcome |")[1].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [(row[0], row[1], row[2], row[3]) for row in rows[:40]]


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


@pytest.mark.parametrize("row", table(), ids=lambda row: row[0])
def test_sentence_has_its_outcome_and_label(row: tuple[str, str, str, str]) -> None:
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


def test_table_has_40_sentences_and_the_paper_36_section_titles() -> None:
    assert (len(table()), len({*SECTIONS})) == (40, 36)


def test_long_list_of_numbers_takes_linear_time() -> None:
    """Check an input on which the published regular expression does not terminate."""
    given = paragraph("This is a list of numbers [" + "1, " * 5_000 + "x].")
    (sentence,) = cited_sentences(given)
    assert classify_sentence(str(given["text"]), sentence, 21)[0] is CiteworthParagraphOutcome.KEPT


K, M, F, E = "kept", "citation_missed", "citation_format", "citation_not_at_end"
TRUTH: dict[str, list[tuple[str, bool, str]]] = {
    "For isolation of marked nuclei, we used": [
        (K, True, "from the INTACT system."), (K, False, "figure supplement 1C)."), (F, True, ""),
    ],
    "HAdVs have been associated with previous": [
        (K, False, "previous outbreaks of ARI."), (K, True, "in the United States."), (K, True, "from 0.8 to 11.30%."), (M, True, ""),
    ],
    "Although schistosomiasis and soil-transmitted": [
        (K, True, "are often still neglected."), (K, True, "of control programs."),
    ],
    "The individual power of discrimination": [
        (K, False, "(Fig 3, S12 Table)."), (K, False, "value of hair shafts."), (K, True, "dependence is likely."),
        (K, False, "genomic datasets."), (K, False, "both are autosomal."),
    ],
    "Until recently, the driving cellular": [
        (K, True, "dynamics of basal cells."), (K, True, "differentiated daughter cells."), (E, True, ""),
    ],
    "Different fats/oils have various": [
        (K, False, "physical properties."), (K, False, "nutritional properties."), (K, False, "essential fatty acids."), (F, True, ""),
    ],
    "Figure 2a shows the XRD patterns": [
        (K, False, "patterns of the HPC."), (K, False, "can be clearly found."), (K, True, "of sp2-hybridized carbon."),
        (K, True, "possess a graphitic structure."), (K, False, "of the HPC material."), (K, True, "and G band, respectively."),
        (E, True, ""), (K, True, "good electrical conductivity."), (K, True, "and rate performance."),
    ],
    "C. neoformans utilizes several transport": [
        (K, True, "have been detected."), (K, True, "contribute to iron acquisition."), (K, True, "from other microorganisms."),
        (K, True, "required for virulence."),
    ],
}  # fmt: skip
"""Beginning of a paragraph → for each sentence: the outcome of CiteWorth's rules, whether it cites, and the end of its text."""


@pytest.mark.usefixtures("shared_data")
def test_sentences_of_real_papers_match_a_readers_judgment() -> None:
    assert sum(map(len, TRUTH.values())) >= 30
    found = {}
    for paper in real_articles():
        for one in paper["parses"]["jats"]["body_text"]:
            for start in TRUTH:
                if one["text"].startswith(start):
                    found[start] = one
    assert found.keys() == TRUTH.keys()
    for start, one in found.items():
        judged = []
        for sentence in cited_sentences(one):
            outcome, text = classify_sentence(one["text"], sentence, PARAMS.min_chars)
            judged.append((str(outcome), bool(sentence.marks), text))
        assert [(outcome, cites if outcome != M else True) for outcome, cites, _ in judged] == [
            (outcome, cites) for outcome, cites, _ in TRUTH[start]
        ], start
        for (given, _, text), (_, _, end) in zip(judged, TRUTH[start], strict=True):
            assert given != K or text.endswith(end)
            assert given != K or not re.search(r"\[\d|\d\]", text)
