"""Each JATS construct, as publishers write it, gives the expected parse (SPEC §3.23, JATS Tag Library 1.3)."""

from __future__ import annotations

import pytest

from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse, RefEntry, RefType
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.jats.articles import cite, list_citations, parse


def entry(found: Parse, kind: RefType, at: int = 0) -> RefEntry:
    return [e for e in found.ref_entries if e.type is kind][at]


def test_sections_nest_as_in_the_file_and_have_numbers() -> None:
    found = parse(
        "<p>Before.</p><sec id='s1'><label>2.</label><title>Methods</title><p>One.</p><sec><title>2.1. Data</title><p>Two.</p></sec>"
        "<p>Three.</p></sec><sec><title>IV. Results</title><p>See <xref ref-type='sec' rid='s1'>Section 2</xref>.</p></sec>"
        "<boxed-text><label>Box 1.</label><caption><title>Terms</title></caption><p>Six.</p></boxed-text>"
    )
    assert [(p.section, p.sec_num, p.text) for p in found.body_text] == [
        ("", None, "Before."), ("Methods", "2", "One."), ("Methods::Data", "2.1", "Two."), ("Methods", "2", "Three."),
        ("Results", "IV", "See Section 2."), ("Box 1. Terms", None, "Six."),
    ]  # fmt: skip
    assert [(s.text, s.ref_id) for s in found.body_text[4].ref_spans] == [("Section 2", "SECREF0")]
    assert entry(found, RefType.SECTION) == RefEntry("SECREF0", RefType.SECTION, "Methods", "2")


@pytest.mark.parametrize(
    ("body", "spans"),
    [
        (f"[{cite(1)}, {cite(3)}]", [("1", "R1"), ("3", "R3")]),
        (f"[{cite(1)}–{cite(4)}]", [("1", "R1"), ("1–4", "R2"), ("1–4", "R3"), ("4", "R4")]),
        (f"{cite(2, '[2]')}-{cite(4, '[4]')}", [("[2]", "R2"), ("[2]-[4]", "R3"), ("[4]", "R4")]),
        (f"{cite(4)}–{cite(2)}", [("4", "R4"), ("2", "R2")]),  # The range does not ascend.
        (f"{cite(1, '7')}–{cite(4, '9')}", [("7", "R1"), ("9", "R4")]),  # The numbers differ from the bibliography's.
        ('<xref ref-type="bibr" rid="R1 R3">1,3</xref>', [("1,3", "R1"), ("1,3", "R3")]),
        ('<xref ref-type="bibr" rid="R99">99</xref>', [("99", None)]),
    ],
)
def test_callouts_become_citation_spans(body: str, spans: list[tuple[str, str]]) -> None:
    found = parse(f"<p>As shown {body}.</p>", 5)
    assert sorted(list_citations(found)[0]) == sorted(spans)
    check_laws(found)


def test_figures_are_entries_and_mentions_link_to_them() -> None:
    found = parse(
        '<p>See <xref ref-type="fig" rid="F2">Fig. 2A</xref>.<fig id="F2"><label>Figure 2.</label><caption><title>All.</title>'
        f"<p>By group {cite(1, '[1]')}.</p></caption><graphic/></fig> It grows.</p>"
        '<fig-group><fig id="F3"><label>Fig. 3</label></fig><fig id="F4"><label>Figure 3—figure supplement 1.</label></fig></fig-group>',
        1,
    )
    (paragraph,) = found.body_text
    assert paragraph.text == "See Fig. 2A. It grows."
    assert [(s.text, s.ref_id) for s in paragraph.ref_spans] == [("Fig. 2A", "FIGREF0")]
    figure = entry(found, RefType.FIGURE)
    assert (figure.num, figure.text) == ("2", "All. By group [1].")
    assert [(s.text, s.ref_id) for s in figure.cite_spans] == [("[1]", "BIBREF0")]
    assert [e.num for e in found.ref_entries] == ["2", "3", "3—figure supplement 1"]


def test_tables_have_rows_of_cells() -> None:
    found = parse(
        '<p>x</p><table-wrap id="T1"><label>TABLE II</label><caption><p>Sizes.</p></caption><alternatives><graphic/><table><thead><tr>'
        f'<th colspan="2">Both <italic>n</italic></th><th>Ref</th></tr></thead><tbody><tr><td>1</td><td/><td>{cite(1)}</td></tr></tbody>'
        f"</table></alternatives><table-wrap-foot><fn><label>a</label><p>From {cite(2)}.</p></fn></table-wrap-foot></table-wrap>",
        2,
    )
    table = entry(found, RefType.TABLE)
    assert (table.num, table.text) == ("II", "Sizes. a From 2.")
    assert table.cells == (("Both n", "", "Ref"), ("1", "", "1"))
    assert [(c.row, c.column, c.span.text, c.span.ref_id) for c in table.cell_cites] == [(1, 2, "1", "BIBREF0")]
    assert [s.ref_id for s in table.cite_spans] == ["BIBREF1"]


def test_display_formula_is_token_and_inline_formula_is_text() -> None:
    math = "<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>"
    tex = r"\documentclass{minimal}\begin{document}$$x^{2}=1$$\end{document}"
    found = parse(
        f"<p>Let <inline-formula>{math}</inline-formula> be <disp-formula id='E1'><label>(1)</label><alternatives><graphic/>"
        f"<tex-math>{tex}</tex-math>{math}</alternatives></disp-formula> as in "
        "<xref ref-type='disp-formula' rid='E1'>Equation 1</xref>.</p>"
    )
    (paragraph,) = found.body_text
    assert paragraph.text == "Let x2 be EQUATION as in Equation 1."
    line, displayed = paragraph.eq_spans
    assert (line.text, line.ref_id, line.latex) == ("x2", None, None)
    assert (displayed.text, displayed.ref_id, displayed.latex, displayed.label) == (
        "EQUATION",
        "EQREF0",
        "x^{2}=1",
        "1",
    )
    assert (displayed.mathml or "").startswith("<math ")
    assert [(s.text, s.ref_id) for s in paragraph.ref_spans] == [("Equation 1", "EQREF0")]


def test_footnotes_are_entries_and_back_matter_has_sections() -> None:
    found = parse(
        '<p>A claim<xref ref-type="fn" rid="N1">a</xref>.</p>',
        back="<ack><p>Thanks.</p></ack><ack><title>Funding</title><p>None.</p></ack>"
        '<fn-group><title>Notes</title><fn id="N1"><label>a</label><p>Not proved.</p></fn><fn fn-type="conflict"><p>No interests.</p></fn>'
        "</fn-group><app-group><app><title>Appendix A</title><sec><title>A.1. Proofs</title><p>Proof.</p></sec></app></app-group>",
    )
    note = entry(found, RefType.FOOTNOTE)
    assert (note.num, note.text) == ("a", "Not proved.")
    assert [(s.text, s.ref_id) for s in found.body_text[0].ref_spans] == [("a", "FOOTREF0")]
    assert [(p.section, p.text) for p in found.back_matter] == [
        ("acknowledgement", "Thanks."), ("Funding", "None."), ("Notes", "No interests."), ("Appendix A::Proofs", "Proof."),
    ]  # fmt: skip


def test_lists_and_theorems_have_their_labels() -> None:
    found = parse(
        "<p>Two things: <list><list-item><label>(i)</label><p>one,</p></list-item>"
        "<list-item><p>two.</p><p>More.</p></list-item></list> Then.</p>"
        "<statement><label>Lemma 2</label><p>It holds.</p></statement>"
        "<def-list><def-item><term>CI</term><def><p>interval</p></def></def-item></def-list>"
    )
    assert [p.text for p in found.body_text] == [
        "Two things:", "(i) one,", "two.", "More.", "Then.", "Lemma 2 It holds.", "CI interval",
    ]  # fmt: skip


def test_sub_articles_are_not_part_of_the_article() -> None:
    letter = (
        '<sub-article id="A"><body><p>A letter.</p></body><back><ref-list><ref id="B"/></ref-list></back></sub-article>'
    )
    found = parse("<p>Mine.</p>", 1, after=letter)
    assert [p.text for p in found.body_text] == ["Mine."]
    assert [e.ref_id for e in found.bib_entries] == ["R1"]


def test_header_equals_the_record_of_source_jats() -> None:
    found = parse(
        "<p>x</p>",
        meta='<contrib-group><contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann B</given-names></name></contrib>'
        "</contrib-group><pub-date pub-type='epub'><day>3</day><month>4</month><year>2019</year></pub-date>"
        f"<abstract><title>Abstract</title><sec><title>Aims</title><p>We ask {cite(1)}.</p></sec></abstract>",
    )
    assert (found.header.title, found.header.doi, found.header.date) == ("A title", "10.5555/tests.1", "2019-04-03")
    assert [(a.first, a.last) for a in found.header.authors] == [("Ann", "Lee")]
    assert [(p.section, p.text) for p in found.abstract] == [("Abstract::Aims", "We ask 1.")]


CALS = 'xmlns:oasis="http://docs.oasis-open.org/ns/oasis-exchange/table"'


def rows(table: str) -> list[list[str]]:
    found = parse(f'<p>x</p><table-wrap id="t"><label>Table 1</label>{table}</table-wrap>', 3)
    check_laws(found)
    (entry,) = found.ref_entries
    return [list(row) for row in entry.cells or ()]


def oasis(content: str) -> str:
    for name in ("tgroup", "colspec", "thead", "tbody", "tfoot", "row", "entry"):
        content = content.replace(f"<{name}", f"<oasis:{name}").replace(f"</{name}", f"</oasis:{name}")
    return f"<oasis:table {CALS}>{content}</oasis:table>"


COLUMNS = "".join(f'<colspec colname="c{n}" colnum="{n}"/>' for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("group", "cells"),
    [
        (COLUMNS + '<tbody><row><entry namest="c1" nameend="c2">AB</entry><entry>C</entry></row><row><entry>1</entry><entry/>'
         "<entry>3</entry></row></tbody>", [["AB", "", "C"], ["1", "", "3"]]),
        ('<colspec colname="x"/><colspec colname="y"/><tbody><row><entry namest="x" nameend="y" morerows="1">XY</entry><entry>Z</entry>'
         "</row><row><entry>z</entry></row></tbody>", [["XY", "", "Z"], ["", "", "z"]]),
    ],
)  # fmt: skip
def test_oasis_table_has_its_cells(group: str, cells: list[list[str]]) -> None:
    assert rows(oasis(f'<tgroup cols="3">{group}</tgroup>')) == cells


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("<tr><td rowspan='2'>A</td><td>B</td></tr><tr><td>2</td></tr><tr><td>3</td><td>4</td></tr>",
         [["A", "B"], ["", "2"], ["3", "4"]]),
        ("<tr><td rowspan='x' colspan='-1'>A</td><td colspan='0'>B</td></tr>", [["A", "B"]]),
    ],
)  # fmt: skip
def test_cell_over_rows_leaves_empty_cells_below(table: str, cells: list[list[str]]) -> None:
    assert rows(f"<table>{table}</table>") == cells


HEAD = """<article xmlns:xlink="http://www.w3.org/1999/xlink" xml:lang="en"><front><journal-meta>{journal}</journal-meta><article-meta>
<article-id pub-id-type="doi">10.1371/journal.pone.1</article-id><title-group><article-title>Frogs</article-title></title-group>
<contrib-group>{authors}</contrib-group><author-notes>{notes}</author-notes>{keywords}</article-meta></front>
<body><sec><title>Aims</title><p>We saw frogs.</p></sec></body></article>"""


def author(name: str, inside: str = "") -> str:
    return f"<contrib contrib-type='author'><name><surname>{name}</surname><given-names>A</given-names></name>{inside}</contrib>"


SEE = "<xref ref-type='corresp' rid='c1'>*</xref>"
NOTE = "<corresp id='c1'>Mail: <email>ada@example.org</email></corresp>"


@pytest.mark.parametrize(
    ("field", "parts", "expected"),
    [
        # Keywords of the publisher, in the article's language.
        ("keywords", {"keywords": "<kwd-group><kwd>frogs</kwd><kwd><italic>Rana</italic> sylvatica</kwd><kwd>frogs</kwd></kwd-group>"},
         ["frogs", "Rana sylvatica"]),
        ("keywords", {"keywords": "<kwd-group kwd-group-type='abbreviations'><kwd>DNA</kwd></kwd-group>"}, None),
        ("keywords", {"keywords": "<kwd-group xml:lang='pt'><kwd>sapos</kwd></kwd-group>"
                      "<kwd-group xml:lang='en'><kwd>frogs</kwd></kwd-group>"}, ["frogs"]),
        # The electronic ISSN is preferred.
        ("issn", {"journal": "<issn pub-type='ppub'>0028-0836</issn><issn pub-type='epub'>1932-6203</issn>"}, "1932-6203"),
        # An email address belongs to one author.
        ("emails", {"authors": author("Lee", SEE) + author("Hu"), "notes": NOTE}, ["ada@example.org", None]),
        ("emails", {"authors": author("Lee", SEE) + author("Hu", SEE), "notes": NOTE}, None),  # The note names no author.
    ],
)  # fmt: skip
def test_front_matter_gives_the_field(field: str, parts: dict[str, str], expected: object) -> None:
    text = HEAD.format(**{"journal": "", "authors": author("Lee"), "notes": "", "keywords": ""} | parts)
    assert tei.to_s2orc(jats.CONVERTERS["jats"](text.encode(), sha1="0" * 40)).get(field) == expected
