"""Each JATS construct, as publishers write it, gives the expected parse (SPEC §3.23, JATS Tag Library 1.3)."""

import pytest

from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse, RefEntry, RefType
from tests.unit.s2orc_parse.jats import articles
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
        (f"{cite(4)}–{cite(2)}", [("4", "R4"), ("2", "R2")]),  # The range does not ascend.
        ('<xref ref-type="bibr" rid="R1 R3">1,3</xref>', [("1,3", "R1"), ("1,3", "R3")]),
        ('<xref ref-type="bibr" rid="R199">99</xref>', [("99", None)]),
        # A printed range may be linked to its first or last entry. It has at most a hundred more.
        (f"{cite(2, '[2–4]')} {cite(5, '4–5')} {cite(1, '2–4')}",
         [*(("[2–4]", f"R{n}") for n in (2, 3, 4)), ("4–5", "R4"), ("4–5", "R5"), ("2–4", "R1")]),
        (f"{cite(1)}–{cite(101)} {cite(1, '1–101')}",
         [("1", "R1"), ("101", "R101"), *(("1–101", f"R{n}") for n in (*range(2, 101), *range(1, 102)))]),
        (f"{cite(1)}–{cite(102)} {cite(1, '1–102')}", [("1", "R1"), ("102", "R102"), ("1–102", "R1")]),
        # Acta Cryst. D60, 2355 marks a citation behind its year; PMC prints a sign for the mark.
        ("(de Maagd <italic>et al.</italic>, 2003<xref ref-type='bibr' rid='R2'/>; Mizuki <italic>et al.</italic>, 1999<xref "
         "ref-type='bibr' rid='R3'> &#9654;</xref>, 2000<xref ref-type='bibr' rid='R4'> &#9654;</xref>)",
         [("2003", "R2"), ("1999", "R3"), ("2000", "R4")]),
        # No range: letters, and other numbers than the bibliography's.
        (f"{cite(1, 'a')}–{cite(4, 'b')} {cite(1, '7')}–{cite(4, '9')}", [("a", "R1"), ("b", "R4"), ("7", "R1"), ("9", "R4")]),
    ],
)  # fmt: skip
def test_callouts_become_citation_spans(body: str, spans: list[tuple[str, str]]) -> None:
    found = parse(f"<p>As shown {body}.</p>", 103)
    assert sorted(list_citations(found)[0]) == sorted(spans)


def test_citation_style_follows_the_printed_callouts() -> None:
    for callout, style in ((cite(1, "[1]"), "BRACKET"), (cite(1, "Ann, 2001"), "NAME_YEAR"), (cite(1), "OTHER")):
        assert parse(f"<p>So {callout}.</p>" * 3, 1).citation_style == style


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
    shown = (displayed.text, displayed.ref_id, displayed.latex, displayed.label)
    assert shown == ("EQUATION", "EQREF0", "x^{2}=1", "1")
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


YBALO = "\n<mml:msub>\n  <mml:mi>YbAlO</mml:mi>\n  <mml:mn>3</mml:mn>\n</mml:msub>\n"
IMAGE = "<inline-graphic xlink:href='inf1'/>"
TEX = "<tex-math>x_1</tex-math>"
DISPLAYED = f"<disp-formula id='E1'><label>(1)</label>{TEX}</disp-formula>"


def math(content: str) -> str:
    return f"<inline-formula><mml:math>{content}</mml:math></inline-formula>"


def fraction(top: str, bottom: str) -> str:
    return f"<mml:mfrac><mml:mrow>{top}</mml:mrow><mml:mrow>{bottom}</mml:mrow></mml:mfrac>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Publishers store soft hyphens, marks of direction and ligatures. "Ã\u00ad" is a letter in a wrong encoding.
        ("<p>A wo&#xad;rd of\u200f the \ufb01rst\ufeff of AsÃ\u00ads.</p>", ["A word of the first of AsÃ\u00ads."]),
        # eLife 14093 ends a paragraph at a display formula; the next begins "therefore giving us …".
        (f"<sec><p>of the processes: {DISPLAYED}</p><p>therefore giving us an estimate.</p><p>where</p></sec>"
         f"<sec><title>B</title><p>as follows</p>{DISPLAYED}<p>Then new.</p></sec>",
         ["of the processes: EQUATION therefore giving us an estimate.", "where", "as follows EQUATION", "Then new."]),
        # eLife 00666: "an equation calling in an inline graphic <inline-graphic/>."; a formula may be an image too.
        (f"<p>an inline graphic {IMAGE}. Let <inline-formula>{IMAGE}</inline-formula> be large ({IMAGE} ).</p>",
         ["an inline graphic. Let be large ( )."]),
        ("<p>Two things: <list><list-item><label>(i)</label><p>one,</p></list-item><list-item><p>two.</p><p>More.</p></list-item></list>"
         " Then.</p>", ["Two things:", "(i) one,", "two.", "More.", "Then."]),
        ("<statement><label>Lemma 2</label><p>It holds.</p></statement>", ["Lemma 2 It holds."]),
        (f"<statement><label>Lemma 2</label><title>On <inline-formula>{TEX}</inline-formula></title><p>It is.</p></statement>",
         ["Lemma 2 On x1 It is."]),
        ("<p>So.</p><list><list-item>bare</list-item></list>", ["So.", "bare"]),
        ("<p>So.</p><speech><speaker>Ann:</speaker><p>Yes.</p><p>No.</p></speech>", ["So.", "Ann: Yes.", "No."]),
        ("<p>So.</p><question-wrap><question><label>1.</label><p>Who?</p><option><label>A</label><p>I</p></option></question>"
         "<answer><label>1.</label><p>A</p></answer></question-wrap>", ["So.", "1. Who?", "A I", "1. A"]),
        # one form of alternatives, and content that is not printed
        (f"<p>Let <alternatives>{IMAGE}{TEX}<mml:math><mml:mi>y</mml:mi></mml:math></alternatives> be.</p>", ["Let y be."]),
        (f"<p>As <alternatives>{IMAGE}<textual-form>FeO</textual-form></alternatives>.</p>", ["As FeO."]),
        ("<p>字<ruby><rb>漢</rb><rp>(</rp><rt>kan</rt><rp>)</rp></ruby>。</p>", ["字漢。"]),
        ("<p>a<private-char><glyph-data>1 0</glyph-data></private-char>b</p>", ["ab"]),
        # text next to a formula, and the shape of MathML
        (f"<p>Let <inline-formula><italic>P</italic> = {TEX} + 1</inline-formula> be.</p>", ["Let P = x1 + 1 be."]),
        (f"<p>{math(fraction('<mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mn>1</mml:mn>', '<mml:mn>2</mml:mn>'))}</p>", ["(a+1)/2"]),
        (f"<p>{math('<mml:mi>f</mml:mi><mml:mfenced><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfenced>')}</p>", ["f(a,b)"]),
        (f"<p>{math('<mml:msqrt><mml:mi>a</mml:mi></mml:msqrt><mml:mo>&#x2062;</mml:mo><mml:mi>b</mml:mi>')}</p>", ["√ab"]),
        # White space between the elements of MathML is none (Phys. Rev. B 109, 214421); units and functions are words
        # (Phys. Rev. C 111, 064913; Nat. Astron. 6, 736).
        (f"<p>of {math(YBALO)}.</p>", ["of YbAlO3."]),
        (f"<p>{math('<mml:mn>5.02</mml:mn><mml:mspace width=`0.28em`/><mml:mi>TeV</mml:mi>'.replace('`', chr(34)))}</p>", ["5.02 TeV"]),
        (f"<p>{math('<mml:msub><mml:mi>e</mml:mi><mml:mi>j</mml:mi></mml:msub><mml:mi>cos</mml:mi><mml:mi>ϖ</mml:mi>')}</p>", ["ej cos ϖ"]),
        (f"<p>{math('<mml:msub><mml:mi>log</mml:mi><mml:mn>10</mml:mn></mml:msub><mml:mi>x</mml:mi>')}</p>", ["log10 x"]),
        (f"<p>{math('<mml:mi>cos</mml:mi><mml:mo>(</mml:mo><mml:msub><mml:mi>v</mml:mi><mml:mi>max</mml:mi></mml:msub><mml:mi>t</mml:mi>')}</p>",
         ["cos(vmaxt"]),
        (f"<p>{math('<mml:mi>a</mml:mi><mml:mspace width=`-0.2em`/><mml:mi>b</mml:mi>'.replace('`', chr(34)))}</p>", ["ab"]),
        ("<p><tex-math>\\sqrt{s}=5.02\\,\\mathrm{TeV}\\,.</tex-math></p>", ["√s = 5.02 TeV."]),
        ("<p>The <chem-struct><label>1</label>CH4</chem-struct> is.</p>", ["The 1 CH4 is."]),
        (f"<p>As <disp-formula-group id='g'><label>(1)</label><disp-formula>{TEX}</disp-formula></disp-formula-group> says.</p>",
         ["As EQUATION says."]),
        ("<p>above<hr/>below</p>", ["above below"]),
        # printed content of links
        ("<p>At <ext-link xlink:href='https://x.org'/>.</p>", ["At https://x.org."]),
        ("<p>See <related-article>Lee 2001</related-article>.</p>", ["See Lee 2001."]),
        ("<p>Fig. <xref ref-type='fig' rid='F'/> of <xref ref-type='bibr' rid='B'/></p><fig id='F'><label>Figure 2.</label></fig>"
         "<ref-list><ref id='B'><label>Lee et al.(2001)Lee, Hu, and Ng</label></ref></ref-list>", ["Fig. 2 of Lee et al., 2001"]),
        ("<p>in §<xref ref-type='sec' rid='s'/>2.</p><sec id='s'><label>2</label></sec>", ["in §2."]),  # IUCr
    ],
)  # fmt: skip
def test_body_has_the_printed_text(body: str, expected: list[str]) -> None:
    assert [p.text for p in parse(body).body_text] == expected


@pytest.mark.parametrize(
    ("float_", "expected"),
    [
        ("<chem-struct-wrap><label>Scheme 1</label><caption><p>Salts.</p></caption></chem-struct-wrap>", ("1", "Salts.", None)),
        ("<media><label>Video 1.</label></media>", ("1", "", None)),
        # Rev. Saude Publica 47, 231
        *((f"<fig><label>{label}</label></fig>", (num, "", None)) for label, num in
          (("Figura", None), ("Tabela 1", "1"), ("Quadro IV", "IV"))),
        ("<fig><label>Fig. 2</label><caption><p>All.</p></caption><list><list-item><p>A: one</p></list-item></list></fig>",
         ("2", "All. A: one", None)),
        ("<table-wrap><table><tr><td>1</td></tr></table><table><tr><td>2</td></tr></table></table-wrap>", (None, "", (("1",), ("2",)))),
        ("<table-wrap><alternatives><table><tr><td>1</td></tr></table><table><tr><td>I</td></tr></table></alternatives></table-wrap>",
         (None, "", (("1",),))),
    ],
)  # fmt: skip
def test_float_has_its_printed_content(float_: str, expected: tuple[object, ...]) -> None:
    for found in (
        parse(f"<p>x</p>{float_}"),
        *(parse("<p>x</p>", after=f"<{n}>{float_}</{n}>") for n in ("floats-group", "floats-wrap")),
    ):
        assert [(one.num, one.text, one.cells) for one in found.ref_entries] == [expected]


def test_box_among_the_floats_is_text_of_the_body() -> None:
    found = parse(
        "<p>x</p>",
        after="<floats-group><boxed-text><caption><title>Box</title></caption><p>y</p></boxed-text></floats-group>",
    )
    assert [(p.section, p.text) for p in found.body_text] == [("", "x"), ("Box", "y")]


def test_header_of_a_section_has_no_notes() -> None:
    title = "<title>Aims<xref ref-type='fn' rid='n'>1</xref><fn id='n'><p>New.</p></fn></title>"
    found = parse(f"<sec>{title}<p>x</p></sec>")
    assert (found.body_text[0].section, [e.text for e in found.ref_entries]) == ("Aims", ["New."])


def test_sub_articles_are_not_part_of_the_article() -> None:
    letter = "<sub-article><body><p>A letter.</p></body><back><ref-list><ref id='B'/></ref-list></back></sub-article>"
    found = parse("<p>Mine.</p>", 1, after=letter)
    assert ([p.text for p in found.body_text], [e.ref_id for e in found.bib_entries]) == (["Mine."], ["R1"])


OASIS = (
    '<table xmlns="http://docs.oasis-open.org/ns/oasis-exchange/table"><tgroup cols="3"><colspec colname="x"/><colspec colname="y"/><tbody>'
    '<row><entry namest="x" nameend="y" morerows="1">XY</entry><entry>Z</entry></row><row><entry>z</entry></row></tbody></tgroup></table>'
)


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        (OASIS, (("XY", "", "Z"), ("", "", "z"))),
        ("<table><tr><td rowspan='2'>A</td><td>B</td></tr><tr><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>",
         (("A", "B"), ("", "2"), ("3", "4"))),
        ("<table><tr><td rowspan='x' colspan='-1'>A</td><td colspan='0'>B</td></tr></table>", (("A", "B"),)),
    ],
)  # fmt: skip
def test_cell_over_rows_leaves_empty_cells_below(table: str, cells: tuple[tuple[str, ...], ...]) -> None:
    found = parse(f"<p>x</p><table-wrap>{table}</table-wrap>")
    assert [one.cells for one in found.ref_entries] == [cells]


def author(name: str, inside: str) -> str:
    return f"<contrib contrib-type='author'><name><surname>{name}</surname><given-names>A</given-names></name>{inside}</contrib>"


SEE = "<xref ref-type='corresp' rid='c1'>*</xref>"
NOTE = "<author-notes><corresp id='c1'>Mail: <email>ada@example.org</email></corresp></author-notes>"


def date(year: int, **attributes: str) -> str:
    written = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<pub-date{written}><month>2</month><year>{year}</year></pub-date>"


ELECTRONIC = date(2020, publication_format="electronic", date_type="pub")


def abstract(text: str, kind: str = "", name: str = "abstract", language: str = "") -> str:
    kind = f' abstract-type="{kind}"' if kind else ""
    return f"<{name}{kind}{f' xml:lang={chr(34)}{language}{chr(34)}' if language else ''}><p>{text}</p></{name}>"


def name(surname: str) -> str:
    return f"<name><surname>{surname}</surname><given-names>A</given-names></name>"


def contribute(group: str = "", contributor: str = "") -> str:
    return f"<contrib-group{group}><contrib{contributor}>{name('Lee')}</contrib></contrib-group>"


PMC_DATES = date(2020, pub_type="epub"), date(2021, pub_type="ppub")
DATES = [  # All are of February 2020.
    PMC_DATES, (ELECTRONIC, date(2021, publication_format="print", date_type="pub")),  # PMC, PLOS; JATS 1.1
    (date(2020, date_type="publication", publication_format="electronic"), date(2021, pub_type="collection")),  # eLife
    (date(2020, pub_type="ppub"), date(2019, pub_type="pmc-release")),  # PMC
    (date(2020, pub_type="collection"), date(2021, date_type="odd")),  # unknown kinds come after the issue
    (date(2020, date_type="odd"), date(2021, pub_type="pmc-release")),
    (date(2020, pub_type="ppub"), date(2019, date_type="update"), date(2018, date_type="received")),  # no publications
    ('<pub-date pub-type="epub" iso-8601-date="2020-02"/>', date(2021, pub_type="ppub")),
]  # fmt: skip
ABSTRACTS: list[tuple[tuple[str, ...], str | None]] = [
    (("graphical", "author-highlights", "", "executive-summary"), ""),  # Elsevier, Wiley
    (("summary", "main"), "main"),  # PLOS, Nature
    (("teaser", "toc", "plain-language-summary", "editor"), None),  # PLOS, Oxford: no abstract of the paper
    (("graphical", "summary"), "summary"), (("odd",), "odd"), (("odd", ""), ""),
]  # fmt: skip
TRANSLATED = abstract("Traduzido.", name="trans-abstract", language="pt")
HEADER: dict[str, list[tuple[str, str, object]]] = {
    "header of the record": [
        (contribute(), "title", "A title"), (contribute(), "doi", "10.5555/tests.1"), (contribute(), "authors", ["Lee"]),
        ("<pub-date pub-type='epub'><day>3</day><month>4</month><year>2019</year></pub-date>", "date", "2019-04-03"),
        (f"<abstract><title>Abstract</title><sec><title>Aims</title><p>We ask {cite(1)}.</p></sec></abstract>", "abstract",
         [("Abstract::Aims", "We ask 1.")]),
    ],
    "keywords": [
        ("<kwd-group><kwd>frogs</kwd><kwd><italic>Rana</italic> sylvatica</kwd><kwd>frogs</kwd></kwd-group>", "keywords",
         ["frogs", "Rana sylvatica"]),
        ("<kwd-group><unstructured-kwd-group>frogs; toads</unstructured-kwd-group></kwd-group>", "keywords", ["frogs", "toads"]),
    ],
    "an email address belongs to one author": [
        (f"<contrib-group>{author('Lee', SEE)}{author('Hu', '')}</contrib-group>{NOTE}", "emails", ["ada@example.org", None]),
        (f"<contrib-group>{author('Lee', SEE)}{author('Hu', SEE)}</contrib-group>{NOTE}", "emails", None),
    ],
    "an author has the name in the language of the article": [
        (f"<contrib-group><contrib>{form}</contrib></contrib-group>", "authors", ["Lee"]) for form in (
            "<name><surname>Lee<xref ref-type='fn' rid='n'>*</xref></surname></name>",
            "<name-alternatives><name xml:lang='ko'><surname>이</surname></name><name xml:lang='en'><surname>Lee</surname></name>"
            "</name-alternatives>",
        )
    ],
    "the date is the best publication in any order": [
        ("".join(order), "date", "2020-02") for dates in DATES for order in (dates, dates[::-1])
    ],
    "the abstract is the main one in any order": [
        ("".join(abstract(f"Text {kind}.", kind) for kind in order), "abstract", [] if text is None else [("Abstract", f"Text {text}.")])
        for abstracts, text in ABSTRACTS for order in (abstracts, abstracts[::-1])
    ],
    "a translated abstract replaces a missing one only": [
        (TRANSLATED, "abstract", [("Abstract", "Traduzido.")]), (TRANSLATED + abstract("Own."), "abstract", [("Abstract", "Own.")]),
    ],
    "a contributor is an author by its type": [
        (contribute(group, contributor), "authors", ["Lee"] if is_author else []) for group, contributor, is_author in (
            ("", "", True), ("", ' contrib-type="author"', True), ("", ' contrib-type="corresponding author"', True),
            ("", ' contrib-type="editor"', False), ("", ' contrib-type="author non-byline"', False), ("", ' contrib-type="odd"', False),
            (' content-type="editors"', "", False), (' content-type="authors"', "", True), (' content-type="collab-list"', "", False),
        )
    ],
}  # fmt: skip


def read_field(found: Parse, field: str) -> object:
    """Return a field of the header or of the S2ORC form, authors by their surnames, and paragraphs of the abstract."""
    if field == "abstract":
        return [(paragraph.section, paragraph.text) for paragraph in found.abstract]
    if field == "authors":
        return [one.last for one in found.header.authors]
    return getattr(found.header, field) if field in ("title", "doi", "date") else tei.to_s2orc(found).get(field)


@pytest.mark.parametrize(
    ("meta", "field", "expected"), [pytest.param(*row, id=rule) for rule, rows in HEADER.items() for row in rows]
)
def test_front_matter_gives_the_field(meta: str, field: str, expected: object) -> None:
    data = articles.article("<p>x</p>", meta=meta).replace(b"<article ", b"<article xml:lang='en' ", 1)
    assert read_field(jats.convert(data, sha1="0" * 40), field) == expected


FRONT = f"<article-meta><title-group><article-title>Odd rivers</article-title></title-group>{contribute()}</article-meta>".encode()
WITHOUT_ID = b"<article><front>%b</front><body><p>Text.</p></body></article>" % FRONT
ISSNS = b"<issn pub-type='ppub'>0028-0836</issn><issn pub-type='epub'>1932-6203</issn></journal-meta>"


@pytest.mark.parametrize(
    ("field", "expected", "data"),
    [
        ("title", "Odd rivers", WITHOUT_ID), ("authors", ["Lee"], WITHOUT_ID),
        ("issn", "1932-6203", articles.article("<p>x</p>").replace(b"</journal-meta>", ISSNS)),  # the electronic one
        *(("title", text, articles.article("<p>x</p>").replace(b"A title", title.encode())) for title, text in (
            ("One<break/>two", "One two"), ("Frogs<index-term><term>frog</term></index-term> swim", "Frogs swim"),
            ("<ruby><rb>漢</rb><rt>kan</rt></ruby>字", "漢字"),
            ("On <alternatives><mml:math><mml:mi>α</mml:mi></mml:math><textual-form>alpha</textual-form></alternatives> decay",
             "On α decay"),
        )),
    ],
)  # fmt: skip
def test_article_gives_the_field(field: str, expected: object, data: bytes) -> None:
    assert read_field(jats.convert(data, sha1="0" * 40), field) == expected
