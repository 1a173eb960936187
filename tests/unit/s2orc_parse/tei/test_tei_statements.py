"""Mentions of theorems and appendices link to their entries by the printed number."""

from __future__ import annotations

import pytest

from s2orc_parse.parse_model import Parse, RefType
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.tei import teis


def links(found: Parse) -> list[tuple[str, str]]:
    """Return (surface, number or heading of the entry) for the references of all texts."""
    entries = {entry.key: entry for entry in found.ref_entries}
    paragraphs = [*found.body_text, *found.back_matter]
    return [
        (span.text, entries[span.ref_id].num or entries[span.ref_id].text)
        for paragraph in paragraphs
        for span in paragraph.ref_spans
        if span.ref_id
    ]


def theorems(found: Parse) -> list[tuple[str, str, str | None]]:
    return [(entry.key, entry.text, entry.num) for entry in found.ref_entries if entry.type is RefType.THEOREM]


@pytest.mark.parametrize(
    ("body", "statements", "linked"),
    [
        ("<head n='1'>Intro</head><p>By Theorem 3 and Lemma 2.1, and Lemmas 2.1, 7 and 9, it holds.</p>"
         "<p>Theorem 3. Every odd thing is odd.</p><p>Lemma 2.1 (Of Hu). It is.</p><p>Lemma 7: It was.</p>",
         [("Theorem 3. Every odd thing is odd.", "3"), ("Lemma 2.1 (Of Hu). It is.", "2.1"), ("Lemma 7: It was.", "7")],
         [("Theorem 3", "3"), ("Lemma 2.1", "2.1"), ("Lemmas 2.1", "2.1"), ("7", "7")]),
        # A heading may be the label of a statement.
        ("<head>Assumption 3 (Regularity):</head><p>x is odd.</p></div><div><p>By Assumption 3.</p>",
         [("Assumption 3 (Regularity): x is odd.", "3")], [("Assumption 3", "3")]),
        # The first statement of a number is the target.
        ("<p>Theorem 1. One.</p><p>Theorem 1. Again.</p><p>Lemma 1. Other.</p><p>By Lemma 1.</p>",
         [("Theorem 1. One.", "1"), ("Lemma 1. Other.", "1")], [("Lemma 1", "1")]),
        # Statements of other papers and other numbers are not linked.
        *((f"<p>We use {mention}, as said.</p><p>Theorem 3. All holds.</p>", [("Theorem 3. All holds.", "3")], []) for mention in
          ("[18, Theorem 3]", "Theorem 3 of [18]", "Theorem 3 in Lee et al. (2001)", "Lee (2001, Theorem 3)", "Theorem 30", "Lemma 3")),
        # A Roman section is not an appendix.
        ("<head n='I.'>INTRO</head><p>See Appendix I.</p></div><div><head n='II.'>MAIN</head><p>x</p>", [], []),
    ],
)  # fmt: skip
def test_mention_links_to_its_statement(
    body: str, statements: list[tuple[str, str]], linked: list[tuple[str, str]]
) -> None:
    found = teis.parse(f"<div>{body}</div>", teis.NUMBERED)
    check_laws(found)
    assert theorems(found) == [(f"THMREF{n}", text, number) for n, (text, number) in enumerate(statements)]
    assert links(found) == linked


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Definition 3.2 Let x be odd.", "3.2"),
        ("Proposition A.1. All holds.", "A.1"),
        ("Corollary 4 (of Lee [3]). All holds.", "4"),
        ("THEOREM 2. All holds.", "2"),
        ("Theorem B: All holds.", "B"),
        ("It ends. □ Assumption 1. Given x, all holds.", "1"),
        ("It holds [3]. Remark 5 (On x). All holds.", "5"),
        ("Example IV. All holds.", "IV"),
        ("Lemma 4 . 6 (Of x). All holds.", "4.6"),
        ("Theorem 3 implies that x is odd.", None),
        ("We see Theorem 3. Let x be odd.", None),
        ("Lemma 2.1 of [83] says so.", None),
        ("In general, Property rights. 3. Theorem", None),
    ],
)
def test_statement_begins_paragraph_or_sentence(text: str, number: str | None) -> None:
    assert [num for *_, num in theorems(teis.parse(f"<div><p>{text}</p></div>"))] == ([number] if number else [])


BACK = (
    "<div type='annex'><div><head n='A'>Proofs</head><p>One.</p></div><div><head n='A.2'>More proofs</head><p>Two.</p></div>"
    "<div><head>B. Data</head><p>Three.</p></div><div><head>Appendix C</head><p>Four.</p></div>"
    "<div><head>Appendix 2. Questions</head><p>Five.</p></div></div>"
)


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("See Appendix A, or not.", [("Appendix A", "A")]),
        ("See Appendix A.2.", [("Appendix A.2", "A.2")]),
        ("See Appendices A and B.", [("Appendices A", "A"), ("B", "B")]),
        ("See appendix C", [("appendix C", "Appendix C")]),
        ("See App. A; APPENDIX B", [("App. A", "A"), ("APPENDIX B", "B")]),
        ("See Appendix 2", [("Appendix 2", "Appendix 2. Questions")]),
        ("See Section 2 and Appendix D", [("Section 2", "2")]),
        ("Appendix S2: Fig. and Appendix As", []),
    ],
)  # fmt: skip
def test_appendix_mention_links_to_its_section(text: str, linked: list[tuple[str, str]]) -> None:
    found = teis.parse(f"<div><head n='2'>Main</head><p>{text}</p></div>", back=BACK)
    assert links(found) == linked
    check_laws(found)
