"""Sections, figures, tables, formulas and notes are parsed, and mentions link to them."""

from __future__ import annotations

import pytest

from s2orc_parse import tei
from s2orc_parse.parse_model import RefType
from tests.unit.parse_laws import check_laws
from tests.unit.tei import teis


def paths(*heads: tuple[str | None, str]) -> list[tuple[str, str | None]]:
    """Return (section, sec_num) of one paragraph under each heading of a flat sequence of divs."""
    body = "".join(f"<div><head{f' n={n!r}' if n else ''}>{head}</head><p>x</p></div>" for n, head in heads)
    return [(p.section, p.sec_num) for p in teis.parse(body).body_text]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        # The number determines the parent of a heading.
        (
            [("1", "Intro"), ("2.", "Model"), ("2.1.", "Gates"), ("2.1.3", "Deep"), ("2.2", "Loss"), ("3", "End")],
            [("Intro", "1"), ("Model", "2"), ("Model::Gates", "2.1"), ("Model::Gates::Deep", "2.1.3"), ("Model::Loss", "2.2"),
             ("End", "3")],
        ),
        # IEEE: I., A. and 1) are printed in the heading itself.
        ([(None, "D.1. Importance"), (None, "Appendix E. Regimes")], [("Importance", "D.1"), ("Regimes", "E")]),
        # Appendices are siblings of the last section, regardless of their numbering.
        (
            [("I", "INTRODUCTION"), ("II", "CONCLUSION"), (None, "APPENDIX A: DATA"), (None, "Sources"), (None, "Appendix B. CODE")],
            [("INTRODUCTION", "I"), ("CONCLUSION", "II"), ("DATA", "A"), ("DATA::Sources", None), ("CODE", "B")],
        ),
        ([("1", "The std::vector class"), ("1.1", "Use")], [("The std:vector class", "1"), ("The std:vector class::Use", "1.1")]),
        ([(None, "2 weeks later")], [("2 weeks later", None)]),  # Not the number of a heading.
        # A heading without a number among numbered headings.
        # Without numbers, the parts of a research article contain the headings that follow.
        # One such part is not enough.
        # Not headings.
        ([("1", "A"), (None, "Figure 2"), (None, "Table IV."), (None, "arXiv:2602.19930v1 [cs.AI] 23 Feb 2026")], [("A", "1")] * 4),
        ([("4", "Model"), ("4.3", "Test"), (None, "4."), (None, "4.3.5")],
         [("Model", "4"), ("Model::Test", "4.3"), ("Model", "4"), ("Model::Test::4.3.5", "4.3.5")]),
    ],
)  # fmt: skip
def test_headings_give_section_paths(
    heads: list[tuple[str | None, str]], expected: list[tuple[str, str | None]]
) -> None:
    assert paths(*heads) == expected


def test_back_matter_of_grobid_09_has_its_part() -> None:
    """The source is GROBID's documentation of 0.9 (issue 1318): no TEI of that version was available."""
    back = (
        '<div type="acknowledgement"><div><head>Acknowledgements</head><p>We thank the staff.</p></div></div>'
        '<div type="funding"><div><head>Funding</head><p>Grant 12.</p><p>And 13.</p></div></div>'
        '<div type="availability"><div><p>Data are at Zenodo.</p></div></div>'
        '<div type="conflict">Conflict of interests: none.</div>'
        '<div type="contribution"><div><head>Author contributions</head><p>AA wrote, BB measured.</p></div></div>'
        '<div type="annex"><div><head>Appendix A</head><p>Proofs.</p></div></div>'
        '<div type="surprise"><p>Of a version to come.</p></div><div><p>Of no type.</p></div>'
    )
    parse = teis.parse("<p>x</p>", back=back)
    assert [(p.back_part, p.section, p.text) for p in parse.back_matter] == [
        ("acknowledgement", "Acknowledgements", "We thank the staff."),
        ("funding", "Funding", "Grant 12."),
        ("funding", "Funding", "And 13."),
        ("availability", "availability", "Data are at Zenodo."),
        ("conflict", "conflict", "Conflict of interests: none."),
        ("contribution", "Author contributions", "AA wrote, BB measured."),
        ("annex", "Appendix A", "Proofs."),
        (None, "surprise", "Of a version to come."),
        (None, "", "Of no type."),
    ]
    assert [p["back_part"] for p in tei.to_s2orc(parse)["back_matter"]][3:5] == ["availability", "conflict"]
    assert "back_part" not in tei.to_s2orc(parse)["body_text"][0]


def test_abstract_has_all_its_paragraphs() -> None:
    parse = teis.parse("<p>x</p>", abstract="<div><head>Aims</head><p>One.</p><p>Two.</p></div><p>Three.</p>")
    assert [(p.section, p.text) for p in parse.abstract] == [
        ("Abstract", "One."),
        ("Abstract", "Two."),
        ("Abstract", "Three."),
    ]


@pytest.mark.parametrize(
    ("body", "sections"),
    [
        ("<head>Alpha</head><p>x</p><div><head>Beta</head><p>y</p><head>Figure 1.</head><p>z</p></div>", "Alpha::Beta"),
        (
            '<head n="1">Alpha</head><p>x</p><head n="1.1">Beta</head><p>y</p><head>Table 2</head><p>z</p>',
            "Alpha::Beta",
        ),
        ("<head>Alpha</head><p>x</p><head>Beta</head><p>y</p><head>Figure 1.</head><p>z</p>", "Beta"),
    ],
)
def test_false_heading_does_not_end_its_section(body: str, sections: str) -> None:
    assert [p.section for p in teis.parse(f"<div>{body}</div>").body_text] == ["Alpha", sections, sections]


def figure(head: str, label: str, caption: str, *, kind: str = "", xml_id: str = "fig_0", inside: str = "") -> str:
    return f'<figure{kind} xml:id="{xml_id}"><head>{head}</head><label>{label}</label><figDesc>{caption}</figDesc>{inside}</figure>'


@pytest.mark.parametrize(
    ("head", "label", "caption", "kind", "num", "text"),
    [
        ("Fig. 2 .Fig. 3 .", "23", "Fig. 2. A cat.", "figure", "2", "Fig. 2. A cat."),
        ("Fig. 2 .Fig. 3 .", "23", "A cat.", "figure", "2", "A cat."),
        ("VOLUME 9, 2021 TABLE 5 .", "20215", "A list.", "table", "5", "A list."),
        ("Lemma 4 . 6 (", "46", "Proof.", "figure", None, "Lemma 4 . 6 ( Proof."),
        ("Fig. S4 .", "4", "A cat.", "figure", "S4", "A cat."),
        ("Figure 1: A cat", "1", "on a mat.", "figure", "1", "A cat on a mat."),
        ("", "7", "A cat.", "figure", "7", "A cat."),
        ("", "", "Figure4. A cat.", "figure", "4", "Figure4. A cat."),
    ],
)
def test_float_number_is_the_printed_one(
    head: str, label: str, caption: str, kind: str, num: str | None, text: str
) -> None:
    (entry,) = teis.parse("<p>x</p>" + figure(head, label, caption)).ref_entries
    assert (entry.type, entry.num, entry.text) == (kind, num, text)


def test_table_has_cells_and_is_not_body_text() -> None:
    rows = "<table><row><cell>a</cell><cell>b</cell></row><row><cell>1</cell><cell/></row></table>"
    parse = teis.parse(
        "<p>x</p>" + figure("Table 1", "1", "Counts.", kind=' type="table"', xml_id="tab_0", inside=rows)
    )
    (entry,) = parse.ref_entries
    assert (entry.key, entry.type, entry.cells) == ("TABREF0", RefType.TABLE, (("a", "b"), ("1", "")))
    assert [p.text for p in parse.body_text] == ["x"]


def test_citation_in_a_caption_is_linked() -> None:
    cite = '<ref type="bibr" target="#b0">(Jones, 2011)</ref>'
    entry = teis.parse(
        f"<p>{cite}</p>" * 4 + figure("Figure 1", "1", f"After {cite}."), (teis.named("Jones", 2011),)
    ).ref_entries[0]
    assert [(s.text, s.ref_id) for s in entry.cite_spans] == [("(Jones, 2011)", "BIBREF0")]


def test_display_formula_is_a_token_with_text_and_label() -> None:
    parse = teis.parse(
        '<div><p>We have</p><formula xml:id="formula_0">E = m c 2 <label>(3)</label></formula><p>as in Eq. (3).</p></div>'
    )
    assert [p.text for p in parse.body_text] == ["We have", "EQUATION", "as in Eq. (3)."]
    (equation,) = parse.body_text[1].eq_spans
    assert (equation.text, equation.raw_text, equation.label, equation.ref_id) == (
        "EQUATION",
        "E = m c 2",
        "3",
        "EQREF0",
    )
    assert [(s.text, s.ref_id) for s in parse.body_text[2].ref_spans] == [("Eq. (3)", "EQREF0")]
    assert [(e.key, e.type, e.text, e.num) for e in parse.ref_entries] == [("EQREF0", "formula", "E = m c 2", "3")]


def test_formula_outside_paragraphs_separates_them() -> None:
    for body in ("We have <formula>x</formula> and", "<div>We have <formula>x</formula> and</div>"):
        assert [p.text for p in teis.parse(body).body_text] == ["We have", "EQUATION", "and"]


def test_footnotes_are_removed_from_text_and_linked() -> None:
    note = '<note place="foot" n="1" xml:id="foot_0"><p>See there.</p></note>'
    parse = teis.parse(f'<div><p>So it is.<ref type="foot" target="#foot_0">1</ref> And</p></div>{note}')
    assert [p.text for p in parse.body_text] == ["So it is.1 And"]
    assert [(s.text, s.ref_id) for s in parse.body_text[0].ref_spans] == [("1", "FOOTREF0")]
    assert [(e.key, e.num, e.text) for e in parse.ref_entries] == [("FOOTREF0", "1", "See there.")]


FLOATS = (
    figure("Figure 1", "1", "One.")
    + figure("Figure 2", "2", "Two.", xml_id="fig_1")
    + figure("Figure S1", "1", "More.", xml_id="fig_2")
    + figure("Table 1", "1", "List.", kind=' type="table"', xml_id="tab_0")
    + figure("Table II", "II", "List.", kind=' type="table"', xml_id="tab_1")
    + '<formula xml:id="formula_0">a<label>(1)</label></formula><formula xml:id="formula_1">b<label>(A.2)</label></formula>'
    + '<formula xml:id="formula_2">c<label>(1.2)</label></formula><formula xml:id="formula_3">d<label>(3.1.2.3)</label></formula>'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Fig. <ref type="figure" target="#fig_1">2</ref>', [("2", "FIGREF1")]),
        ('Fig. <ref type="figure">2</ref>', [("2", "FIGREF1")]),
        ('<ref type="figure">(Fig. 2a)</ref>', [("(Fig. 2a)", "FIGREF1")]),
        ('<ref type="figure">Figure S1</ref>', [("Figure S1", "FIGREF2")]),
        ('Figure <ref type="figure">9</ref>', [("9", None)]),
        ('Table <ref type="table">II</ref>', [("II", "TABREF1")]),
        ('Eq. ( <ref type="formula">1</ref>)', [("1", "EQREF0")]),
        ('Eq. ( <ref type="formula">A</ref>.2)', [("A", "EQREF1")]),
        ('Eq. <ref type="formula">1</ref>. 2 of them', [("1", "EQREF0")]),
        ('Eq. <ref type="formula">1</ref>.2 of', [("1", "EQREF2")]),
        ('Eq. <ref type="formula">1</ref>.9 of', [("1", "EQREF0")]),
        ('Eq. <ref type="formula">3</ref>.1.2.3)', [("3", "EQREF3")]),
        ("Figures 1 and 2", [("Figures 1", "FIGREF0"), ("2", "FIGREF1")]),
        ("Eqs. (1) and (A.2)", [("Eqs. (1)", "EQREF0"), ("(A.2)", "EQREF1")]),
        ("Sections 3 and 3.1", [("Sections 3", "SECREF0"), ("3.1", "SECREF1")]),
        ("Section 8 of another paper", []),
        ("the first figure, 3 cats", []),
        ("see figs. 1, 2 and 9", [("figs. 1", "FIGREF0"), ("2", "FIGREF1")]),
        ("a Figure 9, 2 and (1)", [("2", "FIGREF1"), ("(1)", "FIGREF0")]),
        ("FIG. 1, bigfigure 1 and ffig. 1", [("FIG. 1", "FIGREF0")]),
        ("Figure 1 Figure 2", [("Figure 1", "FIGREF0"), ("Figure 2", "FIGREF1")]),
        ("TABLE II or Tables III, II", [("TABLE II", "TABREF1"), ("II", "TABREF1")]),
        ("Eqs. (A.2)-(1), eq. 1", [("Eqs. (A.2)", "EQREF1"), ("(1)", "EQREF0"), ("eq. 1", "EQREF0")]),
        ("of Sections 3.1, 3", [("Sections 3.1", "SECREF0"), ("3", "SECREF1")]),
        ("§§ 3 and 3.1, § 3", [("§§ 3", "SECREF0"), ("3.1", "SECREF1"), ("§ 3", "SECREF0")]),
        ('Eq. <ref type="formula">A 2</ref> or <ref type="formula">A-2</ref>', [("A 2", "EQREF1"), ("A-2", None)]),
    ],
)
def test_mentions_link_by_their_numbers(text: str, expected: list[tuple[str, str | None]]) -> None:
    parse = teis.parse(f'<div><head n="3">A</head></div><div><head n="3.1">B</head><p>{text}</p></div>{FLOATS}')
    check_laws(parse)
    assert [(s.text, s.ref_id) for s in parse.body_text[0].ref_spans] == expected
