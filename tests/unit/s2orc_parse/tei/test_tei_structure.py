"""Headings give section paths; floats, notes and theorems are entries; mentions link to them (SPEC §3.3–§3.8, §3.16)."""

import pytest

from s2orc_parse.parse_model import EqSpan, Parse, RefType
from tests.unit.s2orc_parse.tei import teis


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
        # Appendices are siblings of the last section, regardless of their numbering.
        (
            [("I", "INTRODUCTION"), ("II", "CONCLUSION"), (None, "APPENDIX A: DATA"), (None, "Sources"), (None, "Appendix B. CODE")],
            [("INTRODUCTION", "I"), ("CONCLUSION", "II"), ("DATA", "A"), ("DATA::Sources", None), ("CODE", "B")],
        ),
        # Not headings.
        ([("1", "A"), (None, "Figure 2"), (None, "Table IV."), (None, "arXiv:2602.19930v1 [cs.AI] 23 Feb 2026")], [("A", "1")] * 4),
    ],
)  # fmt: skip
def test_headings_give_paths(heads: list[tuple[str | None, str]], expected: list[tuple[str, str | None]]) -> None:
    assert paths(*heads) == expected


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        # Among Roman numerals, a letter is a numeral only if it is the next one.
        (("I. A", "II. B", "A. C", "B. D", "C. E", "D. F", "III. G"), ["A", "B", "B::C", "B::D", "B::E", "B::F", "G"]),
        # Numbers below letters.
        (("I. A", "A. B", "1) C", "2) D", "B. E", "1) F"), ["A", "A::B", "A::B::C", "A::B::D", "A::E", "A::E::F"]),
        (("Appendix", "A. Cell", "B. Rest"), ["Appendix", "Cell", "Rest"]),
        # Dotted numbers belong to the section with their prefix.
        (("1. A", "1.1 B", "1.1.1 C", "1.2 D", "2.1 E", "2.2 F"), ["A", "A::B", "A::B::C", "A::D", "E", "F"]),
        # A heading without a number belongs to the last numbered section, if a numbered heading follows.
        (("1. A", "Aims", "Ends", "2. B"), ["A", "A::Aims", "A::Ends", "B"]),
        # Without numbers: two of Methods, Results and Discussion contain the headings after them.
        (("Methods", "Mice", "Discussion", "Odd"), ["Methods", "Methods::Mice", "Discussion", "Discussion::Odd"]),
    ],
)
def test_heading_has_its_parent(heads: tuple[str, ...], expected: list[str]) -> None:
    assert [path for path, _ in paths(*((None, head) for head in heads))] == expected


def test_back_matter_is_outside_the_sections_of_the_body() -> None:
    body = "<div><head>Methods</head><p>a</p></div><div><head>Results</head><p>b</p></div>"
    back = "".join(
        f"<div><head>{head}</head><p>x</p></div>" for head in ("Methods", "Mice", "Results", "A. Rest", "Odd")
    )
    parse = teis.parse(body, back=f'<div type="annex">{back}</div>')
    assert [p.section for p in parse.back_matter] == ["Methods", "Mice", "Results", "Rest", "Odd"]


def test_back_matter_of_grobid_09_has_its_part() -> None:
    """The source is GROBID's documentation of 0.9 (issue 1318): no TEI of that version was available."""
    back = (
        '<div type="acknowledgement"><div><head>Acknowledgements</head><p>We thank the staff.</p></div></div>'
        '<div type="availability"><div><p>Data are at Zenodo.</p></div></div>'
        "<div><p>Of no type.</p></div>"
    )
    parse = teis.parse("<p>x</p>", back=back)
    assert [(p.back_part, p.section, p.text) for p in parse.back_matter] == [
        ("acknowledgement", "Acknowledgements", "We thank the staff."),
        ("availability", "availability", "Data are at Zenodo."),
        (None, "", "Of no type."),
    ]


def test_abstract_has_all_its_paragraphs() -> None:
    parse = teis.parse("<p>x</p>", abstract="<div><head>Aims</head><p>One.</p><p>Two.</p></div><p>Three.</p>")
    assert [(p.section, p.text) for p in parse.abstract] == [("Abstract", text) for text in ("One.", "Two.", "Three.")]


def figure(head: str, label: str, caption: str, *, kind: str = "", xml_id: str = "fig_0", inside: str = "") -> str:
    return f'<figure{kind} xml:id="{xml_id}"><head>{head}</head><label>{label}</label><figDesc>{caption}</figDesc>{inside}</figure>'


@pytest.mark.parametrize(
    ("language", "expected"), [(' xml:lang="pt"', ["We study bats."]), ("", ["We study bats.", "Estudamos morcegos."])]
)
def test_translation_of_the_abstract_is_left_out(language: str, expected: list[str]) -> None:
    """TEI P5 names the language of an element in `xml:lang` (SPEC §3.31)."""
    second = f"</abstract><abstract{language}><p>Estudamos morcegos.</p>"
    found = teis.parse("<p>Text.</p>", abstract=f"<p>We study bats.</p>{second}")
    assert [paragraph.text for paragraph in found.abstract] == expected


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ("<row><cell>a</cell><cell>b</cell></row><row><cell>1</cell><cell/></row>", (("a", "b"), ("1", ""))),
        ('<row><cell cols="2">a</cell></row><row><cell rows="2">1</cell><cell>2</cell></row><row><cell>3</cell></row>',
         (("a", ""), ("1", "2"), ("", "3"))),
        ("<row><cell>a<lb/>b</cell></row>", (("a b",),)),
    ],
)  # fmt: skip
def test_table_has_cells_and_is_not_body_text(rows: str, cells: tuple[tuple[str, ...], ...]) -> None:
    table = f"<table>{rows}</table>"
    parse = teis.parse(
        "<p>x</p>" + figure("Table 1", "1", "Counts.", kind=' type="table"', xml_id="tab_0", inside=table)
    )
    (entry,) = parse.ref_entries
    assert (entry.key, entry.type, entry.cells) == ("TABREF0", RefType.TABLE, cells)
    assert [p.text for p in parse.body_text] == ["x"]


def test_formula_and_caption_have_their_spans() -> None:
    cite = '<ref type="bibr" target="#b0">(Jones, 2011)</ref>'
    body = f'<p>{cite}</p><formula xml:id="formula_0">E = m c 2 <label>(3)</label></formula><p>Eq. (3) of {cite}.</p>'
    parse = teis.parse(
        f"<div>{body}</div>" * 2 + figure("Figure 1", "1", f"After {cite}."), (teis.make_entry("Jones", 2011),)
    )
    assert [p.text for p in parse.body_text[:2]] == ["(Jones, 2011) EQUATION", "Eq. (3) of (Jones, 2011)."]
    assert parse.body_text[0].eq_spans == (EqSpan(14, 22, "EQUATION", "EQREF0", raw_text="E = m c 2", label="3"),)
    assert [(s.text, s.ref_id) for s in parse.body_text[1].ref_spans] == [("Eq. (3)", "EQREF0")]
    caption = next(entry for entry in parse.ref_entries if entry.type is RefType.FIGURE)
    assert [(s.text, s.ref_id) for s in caption.cite_spans] == [("(Jones, 2011)", "BIBREF0")]


def test_footnotes_are_removed_from_text_and_linked() -> None:
    note = '<note place="foot" n="1" xml:id="foot_0"><p>See there.</p></note>'
    parse = teis.parse(f'<div><p>So it is.<ref type="foot" target="#foot_0">1</ref> And</p></div>{note}')
    assert [p.text for p in parse.body_text] == ["So it is.1 And"]
    assert [(s.text, s.ref_id) for s in parse.body_text[0].ref_spans] == [("1", "FOOTREF0")]
    assert [(e.key, e.num, e.text) for e in parse.ref_entries] == [("FOOTREF0", "1", "See there.")]


FLOATS = (
    figure("Figure 1", "1", "One.")
    + figure("Figure 2", "2", "Two.", xml_id="fig_1")
    + '<formula xml:id="formula_0">a<label>(1)</label></formula>'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Fig. <ref type="figure" target="#fig_1">2</ref>', [("2", "FIGREF1")]),
        ('<ref type="figure">(Fig. 2a)</ref>', [("(Fig. 2a)", "FIGREF1")]),
        ('Eq. ( <ref type="formula">1</ref>)', [("1", "EQREF0")]),
        ("§§ 3 and 3.1, § 3", [("§§ 3", "SECREF0"), ("3.1", "SECREF1"), ("§ 3", "SECREF0")]),
    ],
)
def test_mentions_link_by_their_numbers(text: str, expected: list[tuple[str, str | None]]) -> None:
    parse = teis.parse(f'<div><head n="3">A</head></div><div><head n="3.1">B</head><p>{text}</p></div>{FLOATS}')
    assert [(s.text, s.ref_id) for s in parse.body_text[0].ref_spans] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>a<hi>b</hi>c</p>", ["abc"]),
        ("<p><s>a.</s><s>b.</s></p>", ["a. b."]),
        ("<p>a<figure><figDesc>n</figDesc></figure>b</p>", ["ab"]),
        ("a<div>b</div>c", ["a", "b", "c"]),
        ("<div>We have <formula>x</formula> and</div>", ["We have EQUATION and"]),
        # GROBID 0.8.0 divides a sentence at its formulas (Lim et al., Temporal Fusion Transformers) …
        ("<p>takes the form:</p><formula>f q</formula><formula>( )</formula><p>where q is a quantile</p><p>The</p>",
         ["takes the form: EQUATION EQUATION where q is a quantile", "The"]),
        ("<p>It ends.</p><formula>x</formula><p>Then a new paragraph begins.</p>",
         ["It ends.", "EQUATION", "Then a new paragraph begins."]),
        ("<div><head>A</head><p>as in:</p></div><div><head>B</head><formula>x</formula></div>", ["as in:", "EQUATION"]),
        # … and writes white space where the font changes.
        ("<p>given (𝑋 , 𝑌 ) and c h . So f( . ) = . . .</p>", ["given (𝑋, 𝑌) and c h. So f(.) = . . ."]),
        # A callout that prints its target's id is removed; no space remains before a punctuation mark.
        ('<p>a <ref target="#foot_0">foot_0</ref>, b</p>', ["a, b"]),
        # TEI P5 of other programs: the page has one form of a choice, and no notes of the encoding
        ("<p>The <choice><corr>the</corr><sic>teh</sic></choice> <choice><abbr>Dr</abbr><expan>Doctor</expan></choice></p>",
         ["The teh Dr"]),
        ("<p>a <subst><del>old</del><add>new</add></subst><gap><desc>torn</desc></gap> <app><lem>b</lem><rdg>d</rdg></app></p>",
         ["a new b"]),
        ("<p>frog<index><term>frogs</term></index></p><fw>HEAD</fw><p>字<ruby><rb>漢</rb><rt>kan</rt></ruby></p>", ["frog", "字漢"]),
        ('<p>foo\n<lb break="no"/>bar<pb break="no"/>s in<lb/>line</p>', ["foobars in line"]),
        ("<p>He said <quote>to be</quote> and <cit><quote>not</quote> <bibl>(Lee)</bibl></cit> so.</p>",
         ["He said to be and not (Lee) so."]),
        ('<p>He said <quote rend="block">to be</quote> so.</p>', ["He said", "to be", "so."]),
        ("<list><head>Aims</head><label>AB</label><item>alpha</item></list>", ["Aims", "AB alpha"]),
        ("<list><label>AB</label><item/></list>", ["AB"]),
        ("<sp><speaker>ANN.</speaker><l>Yes</l></sp>", ["ANN. Yes"]),
        ("<div><byline>by X</byline><epigraph><quote>Q</quote><bibl>Y</bibl></epigraph><p>a</p><closer><signed>Me</signed></closer></div>",
         ["by X", "Q", "Y", "a", "Me"]),
        ('<p>Let <formula notation="TeX" rend="inline">x_1</formula> be.</p>', ["Let x1 be."]),
    ],
)  # fmt: skip
def test_each_character_appears_once_with_single_spaces(body: str, expected: list[str]) -> None:
    assert [paragraph.text for paragraph in teis.parse(body).body_text] == expected


ENTRIES: list[tuple[str, list[tuple[str, str, str | None, str]]]] = [
    # A formula's number is its label.
    *((f'<formula xml:id="formula_0">x<label>{label}</label> <hi>y</hi></formula>', [("EQREF0", "formula", num, "x y")])
      for label, num in (("[A.2]", "A.2"), ("(a quite long label)", None), ("( 12 ) ,", "12"))),
    # A float's number is the printed one. The text joins heading and caption.
    (figure("Figure 1: A cat", "1", "on a mat."), [("FIGREF0", "figure", "1", "A cat on a mat.")]),
    # The text of a figure, and the notes of a header
    ("<figure><graphic/><p>A cat.</p></figure>", [("FIGREF0", "figure", None, "A cat.")]),
    ('<div><head>Aims<note n="1">New.</note></head><p>x</p></div>', [("FOOTREF0", "footnote", "1", "New.")]),
    # The order is figures, tables, formulas, notes.
    ('<note place="foot" n="2" xml:id="foot_4"><p>Note.</p></note><formula xml:id="formula_3">x</formula>'
     '<figure type="table" xml:id="tab_2"><head>Table 1</head></figure>'
     '<figure xml:id="fig_9"><head>TABLE 5</head><figDesc>Rows.</figDesc></figure>'
     '<figure xml:id="fig_8"><figDesc>Cat.</figDesc></figure><table><head>Table 7</head><row><cell>a</cell></row></table>',
     [("FIGREF8", "figure", None, "Cat."), ("TABREF0", "table", "1", ""), ("TABREF1", "table", "5", "Rows."),
      ("TABREF2", "table", "7", ""), ("EQREF3", "formula", None, "x"), ("FOOTREF4", "footnote", "2", "Note.")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), ENTRIES)
def test_floats_formulas_and_notes_are_entries(body: str, expected: list[tuple[str, str, str | None, str]]) -> None:
    assert [(one.key, one.type, one.num, one.text) for one in teis.parse(f"<p>x</p>{body}").ref_entries] == expected


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
        ("<p>Theorem 1. All are odd. Lemma 2. Some are even. Lemma 3. None is both.</p>",
         [("Theorem 1. All are odd.", "1"), ("Lemma 2. Some are even.", "2"), ("Lemma 3. None is both.", "3")], []),
        # The first statement of a number is the target.
        ("<p>Theorem 1. One.</p><p>Theorem 1. Again.</p><p>Lemma 1. Other.</p><p>By Lemma 1.</p>",
         [("Theorem 1. One.", "1"), ("Lemma 1. Other.", "1")], [("Lemma 1", "1")]),
        ("<p>Theorem 3 implies that x is odd.</p><p>Lemma 2.1 of [83] says so.</p>", [], []),
        # Statements of other papers and other numbers are not linked.
        *((f"<p>We use {mention}, as said.</p><p>Theorem 3. All holds.</p>", [("Theorem 3. All holds.", "3")], []) for mention in
          ("[18, Theorem 3]", "Theorem 3 in Lee et al. (2001)", "Lee (2001, Theorem 3)", "Lemma 3")),
    ],
)  # fmt: skip
def test_mention_links_to_its_statement(
    body: str, statements: list[tuple[str, str]], linked: list[tuple[str, str]]
) -> None:
    found = teis.parse(f"<div>{body}</div>", teis.NUMBERED)
    assert theorems(found) == [(f"THMREF{n}", text, number) for n, (text, number) in enumerate(statements)]
    assert links(found) == linked


BACK = "".join(f"<div><head>{head}</head><p>x</p></div>" for head in ("A. Proofs", "Appendix 2. Questions"))


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("See Appendix A, or not.", [("Appendix A", "A")]),
        ("See Appendix 2", [("Appendix 2", "Appendix 2. Questions")]),
        ("Appendix S2: Fig. and Appendix As", []),
    ],
)  # fmt: skip
def test_appendix_mention_links_to_its_section(text: str, linked: list[tuple[str, str]]) -> None:
    found = teis.parse(f"<div><head n='2'>Main</head><p>{text}</p></div>", back=f"<div type='annex'>{BACK}</div>")
    assert links(found) == linked
