# ruff: noqa: E501 - strings as printed
"""The fields of reference strings in real papers are the fields that a human reader finds.

Reference lists are found under any heading, are complete, and are split into the entries that a reader sees.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf2tei.models.segmentation import SegmentLabel
from pdf2tei.pages.model import Document, Font, Kind, Line
from pdf2tei.pages.text import Joiner
from pdf2tei.references import reference_list as references
from pdf2tei.references.crf import TokenLabel, label_references
from pdf2tei.references.dois import find_doi
from pdf2tei.references.fields import parse_reference, parse_reference_authors
from pdf2tei.references.splitting import split
from pdf2tei.references.tokens import columns, pieces
from tests.unit.pdf2tei.samples import HEAD, Row, all_lines, draw, draw_line


@pytest.mark.parametrize(
    ("raw", "title", "journal"),
    [
        ("[1]J. D. Achelis, “Untersuchungen über die Hautsensibilität,” Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere, vol. 242, no. 5, pp. 644–664, Nov. 1939.",
         "Untersuchungen über die Hautsensibilität", "Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere"),
        ("A. M. Polyakov, Phys. Lett. B 103, 207 (1981).",
         "", "Phys. Lett. B"),
        # The title ends before the beginning of its journal.
        ("Pirbalouti AG, Hashemi M, Ghahfarokhi FT. Essential oil and chemical compositions of wild and cultivated Thymus daenensis Celak and Thymus vulgaris L. Industrial Crops and Products. 2013; 48: 43-48.",
         "Essential oil and chemical compositions of wild and cultivated Thymus daenensis Celak and Thymus vulgaris L", "Industrial Crops and Products"),
        # The title begins after the authors.
        ("Thompson, J.D.; Higgins, D.G.; Gibson, T.J. CLUSTAL W: Improving the sensitivity of progressive multiple sequence alignment through sequence weighting. Nucleic Acids Res. 1994, 22, 4673–4680.",
         "CLUSTAL W: Improving the sensitivity of progressive multiple sequence alignment through sequence weighting", "Nucleic Acids Res"),
        # The title continues to the end of its sentence.
        ("Zhu, X., Rottkamp, C. A., Perry, G., and Smith, M. A. (2001). Activation of MKK6, an upstream activator of p38, in Alzheimer's disease. J. Neurochem. 79, 311-318.",
         "Activation of MKK6, an upstream activator of p38, in Alzheimer's disease", "J. Neurochem"),
    ],
)  # fmt: skip
def test_title_is_a_sentence_and_ends_before_its_journal(raw: str, title: str, journal: str | None) -> None:
    found = parse_reference(raw)
    assert (found.title, found.journal if journal is not None else None) == (title, journal)


@pytest.mark.parametrize(
    ("raw", "title", "is_book"),
    [
        ("Reische D, Lillard D and Eitenmiller R. Antioxidants in food lipids. In: Ahoh CC and Min DB (ed). Chemistry, nutrition and biotechnology. New York, Marcel Dekker (1998) 423- 48.",
         "Antioxidants in food lipids", False),  # a chapter
        ("M. Najork, J. L. Wiener, Breadth-first crawling yields high-quality pages, in: Proc. WWW, 2001, pp. 114–118.",
         "Breadth-first crawling yields high-quality pages", False),  # a paper of a conference
        ("H. Lorenzi, Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil, 2nd edition, 2008.",
         "Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil", True),  # a book with an edition
    ],
)  # fmt: skip
def test_part_of_a_book_is_no_book(raw: str, title: str, is_book: bool) -> None:
    found = parse_reference(raw)
    assert (found.title, found.monograph) == (title, is_book)


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        ("Jian Wu, Kyle Williams, and C. Lee Giles. 2014. CiteSeerX: AI in a digital library search engine. In AAAI, pages 2930–2937.",
         {"title": "CiteSeerX: AI in a digital library search engine", "booktitle": "AAAI", "pages": "2930–2937", "year": "2014"}),
        ("Gallego JÁ, Pons JL. A neuroprosthesis for tremor management. J Neuroeng Rehabil. 2013;10(1):36. doi:10.1186/1743-0003-10-36",
         {"title": "A neuroprosthesis for tremor management", "volume": "10", "issue": "1", "doi": "10.1186/1743-0003-10-36"}),
        ("Lei Ba, J., Kiros, J. R., & Hinton, G. E. (2016). Layer normalization. arXiv:1607.06450.",
         {"title": "Layer normalization", "arxiv": "1607.06450", "year": "2016", "monograph": False}),
        ("Field A. Discovering statistics using IBM SPSS statistics. Los Angeles: SAGE; 2017.",
         {"title": "Discovering statistics using IBM SPSS statistics", "location": "Los Angeles", "publisher": "SAGE", "monograph": True}),
    ],
)  # fmt: skip
def test_reference_has_its_fields(raw: str, fields: dict[str, str | bool]) -> None:
    found = parse_reference(raw)
    assert {name: getattr(found, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "surnames"),
    [
        ("J. Q. Smith, K. van der Berg, and A.-L. Müller", ["Smith", "van der Berg", "Müller"]),
        ("Smith, J. Q., van der Berg, K., & Müller, A.-L.", ["Smith", "van der Berg", "Müller"]),
        ("Smith, John, Kees Berg, and Ann Doe", ["Smith", "Berg", "Doe"]),
        ("A. R. BATTERSBY, S. G. HARTLEY et M. D. TURNBULL", ["BATTERSBY", "HARTLEY", "TURNBULL"]),
    ],
)
def test_authors_of_a_reference_are_read(text: str, surnames: list[str]) -> None:
    assert [a.surname for a in parse_reference_authors(text)] == surnames


@pytest.mark.parametrize(
    ("raw", "doi"),
    [
        ("Med J. 2015; 202:267. https://doi.org/10.5694/ mja14.01522 PMID: 25758699", "10.5694/mja14.01522"),
        ("Biol. doi: 10.1016/j.biologicals.2012.09. 005 PMID: 23034357", "10.1016/j.biologicals.2012.09.005"),
        ("Food Chem 2000;71.doi:10.1016/s0308-8146(00) 00211-9", "10.1016/s0308-8146(00)00211-9"),
        ("Stat. 10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
         "10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2"),
        ("A title. doi:10.1000/ab\u2011cd\u201112", "10.1000/ab-cd-12"),
        ("A title. doi:10.1000/abc.12. Accessed 12 May 2020.", "10.1000/abc.12"),
        ("A title. doi:10.1000/abc12. 15. Smith J.", "10.1000/abc12"),
        ("No identifier at all, 10.5 of 12/13.", ""),
        ("Smith J. Cells. Cell 2010. doi:10.1016/j.\u200bcell.\u200b2010.01.001.", "10.1016/j.cell.2010.01.001"),
        ("Mon. Wea. Rev. 97, 163–172. doi:10.1175/1520-0493(1969)097 <0163:ANT> 2.3.CO;2", "10.1175/1520-0493(1969)097<0163:ANT>2.3.CO;2"),
    ],
)  # fmt: skip
def test_doi_is_complete_or_omitted(raw: str, doi: str) -> None:
    assert find_doi(raw) == doi


@given(st.text(max_size=200))
def test_fields_are_substrings_of_any_string(raw: str) -> None:
    assert {len(codes) for codes, _ in columns([pieces(raw)])} == {len(pieces(raw))}
    for kind, value in label_references([raw])[0]:
        assert value in raw and kind is not TokenLabel.OTHER
    parse_reference(raw)


TYPE = Font("times", 9.0)


def line(text: str, row: int, x: float = 50.0) -> Line:
    """Return a line of nine-point type in a row of a page."""
    return draw_line((text, TYPE), x=x, y=11.0 * row)


def entries(texts: list[str]) -> list[str]:
    lines = [line(text, row) for row, text in enumerate(texts)]
    return [" ".join(x.text for x in group) for group in split(lines)]


HEADS = """References|■ REFERENCES|Notes and references|R E F E R E N C E S|6. Literature cited|Références bibliographiques|
Literaturverzeichnis|7. Literatur / Verweise|Quellen- und Literaturverzeichnis|Literatur- und Quellenverzeichnis|Weiterführende Literatur|Verwendete Literatur|L I T E R A T U R|Literatur (Auswahl)|参考文献|VI. REFERENCES|Список литературы|Referencias bibliográficas"""
OTHERS = ["in the table for reference only", "Reference values were measured at rest.", "Results"]


def test_head_of_reference_list_is_found() -> None:
    heads = HEADS.replace("\n", "").split("|")
    assert [text for text in [*heads, *OTHERS] if references.is_head(line(text, 1))] == heads


PRINTED = {
    "a label that was not read": """1 Ammar W, Groeneveld D. Construction of the literature graph. 2018;3:84–91.
2 Lo K, Wang LL. S2ORC: the Semantic Scholar open research corpus. 2020;1:4969–83.
van der Sluis I. Predictors that follow litter. J Ecol 2011; +
12: 4–9. +
4 van Dijk J. Beetles of three forests. Oikos 2012;4:1–9.
5 Xiong C. Explicit semantic ranking. WWW 2017;2:1271–9.""",
    "a year like a label": """1. Ammar W. Construction of the literature graph.
2018. Proceedings of NAACL, pages 84–91. +
2. Lo K. S2ORC: the open research corpus. ACL,
2020. pages 4969–83. +
3. Xiong C. Explicit semantic ranking. 2017.""",
}
KEYS = """[CW96] W. Chen and D. S. Warren. Tabled Evaluation with Delaying for General
Logic Programs. Journal of the ACM, 43(1):20–74, 1996. +
[DRR+ 95] S. Dawson, C. R. Ramakrishnan, I. V. Ramakrishnan, K. Sagonas, S.
Skiena, T. Swift, and D. S. Warren. Unification factoring for efficient +
[DS99] B. Demoen and K. Sagonas. CHAT: The Copy-Hybrid Approach to Tabling. 1999."""
PRINTED["keys with a raised plus"] = KEYS
"""Lists; a plus sign ends the lines that continue an entry."""


@pytest.mark.parametrize("name", PRINTED)
def test_line_within_entry_begins_none(name: str) -> None:
    whole = re.sub(r"\n(.*) \+$", r" \1", PRINTED[name], flags=re.M)
    assert entries(PRINTED[name].replace(" +", "").split("\n")) == whole.split("\n")


WITH_YEARS = [
    ("Ammar, W., & Groeneveld, D. (2018). Construction of the literature", "graph in Semantic Scholar. NAACL, 84–91."),
    ("Lo, K., & Wang, L. L. (2020). S2ORC: The Semantic Scholar open", "research corpus. ACL, 4969–4983."),
    ("Weihs, L., & Etzioni, O. (2017). Learning to predict citation-based", "impact measures. JCDL, 1–10."),
    ("Xiong, C. (2017). Explicit semantic ranking for academic", "search via knowledge graphs. WWW, 1271–1279."),
]


@pytest.mark.parametrize(("first", "rest"), [(50.0, 62.0), (62.0, 50.0), (50.0, 50.0)])
def test_reference_lists_without_labels_are_split(first: float, rest: float) -> None:
    """Entries may hang, have indented first lines, or have no indent."""
    lines = [
        line(text, 2 * i + k, (first, rest)[k]) for i, pair in enumerate(WITH_YEARS) for k, text in enumerate(pair)
    ]
    assert [" ".join(x.text for x in group) for group in split(lines)] == [" ".join(pair) for pair in WITH_YEARS]


BODY = [Row("The models that we trained learn from few examples and do not forget them.")] * 30


def write_list(years: range) -> list[Row]:
    """Return the body, the head of the list, and two rows for each entry."""
    rows = [*BODY, Row("References", HEAD, block=True)]
    for year in years:
        rows.append(Row(f"J. Wu, K. Williams, and C. L. Giles. {year}. Searching", block=True))
        rows.append(Row("for papers. Journal of Libraries, 12(3):4–19.", left=60))
    return rows


def list_found_entries(document: Document, labeled: range | list[int]) -> list[str]:
    """Return the entries if only these lines of the document are labeled as references."""
    lines = all_lines(document)
    labels = {id(line): SegmentLabel.BODY for line in lines} | {id(lines[i]): SegmentLabel.REFERENCE for i in labeled}
    return [e.raw for e in references.take_references(document, labels, Joiner(lines))]


@pytest.mark.parametrize("labeled", [range(30, 45), range(51, 71)], ids=["tail", "start"])
def test_missed_part_belongs_to_list(labeled: range) -> None:
    found = list_found_entries(draw(write_list(range(1990, 2010))), labeled)
    assert len(found) == 20 and "1990" in found[0] and "2009" in found[-1]


SHAPES = {
    "slashes": "Adler, Anna / Beck, Jonas: Die Formen des Lebens. In: Archiv {n} (19{y}), S. 4–17.",
    "capitals": "ADLER Anna, BECK Jonas, « Les formes de la vie », Annales, vol. {n}, 19{y}, p. 4–17.",
    "full names": "Adler, Anna; Beck, Jonas: As formas da vida. Revista {n} (19{y}) 2, p. 4–17.",
}


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("head", ["", "Verwendete Literatur", "Obras citadas"])
def test_list_is_found_by_the_shape_of_its_entries(form: str, head: str) -> None:
    names = ["Adler", "Brandt", "Conti", "Duarte", "Evers", "Fischer", "Garcia", "Huber", "Ibarra", "Jansen"]
    entries = [
        SHAPES[form].format(n=n + 3, y=60 + n).replace("Adler", name).replace("ADLER", name.upper())
        for n, name in enumerate(names)
    ]
    rows = [*BODY, *([Row(head, HEAD, block=True)] if head else []), *(Row(x, block=True, gap=6.0) for x in entries)]
    document = draw(rows)
    assert list_found_entries(document, range(0)) == entries
    assert {line.kind for line in all_lines(document)[: len(BODY)]} == {Kind.BODY}


def test_list_continues_after_a_line_like_back_matter() -> None:
    rows = write_list(range(1990, 2010))
    rows[52] = Row("open access. Global Change Biology, 26 (1), 119-188.", left=60)
    document = draw(rows)
    assert len(list_found_entries(document, [*range(30, 45), *range(60, 71)])) == 20


def test_prose_under_head_of_reference_list_is_not_its_start() -> None:
    document = draw([Row("References", HEAD), *BODY, *write_list(range(1990, 2010))[31:]])
    assert len(list_found_entries(document, range(31, 71))) == 20
    assert all(line.kind is Kind.BODY for line in all_lines(document)[:31])


def test_list_begins_at_its_head() -> None:
    credits = [Row("Writing: Elvina V. Brown, Helen M. Faddy.", block=True) for _ in range(12)]
    rows = [*BODY, *credits, *write_list(range(2000, 2010))[30:]]
    document = draw(rows)
    assert len(list_found_entries(document, range(30, len(rows)))) == 10
    assert all(line.kind is Kind.BODY for line in all_lines(document)[30:42])


HANGING_LIST = """Baltagi, B. (2008). Distributed lags and dynamic models. In Econometrics
>(pp. 129–145).
Böse, J.-H., et al. (2017). Probabilistic demand forecasting at scale.
>Proceedings in VLDB Endowment, 10(12), 1694–1705.
Capistran, C., Constandse, C., & Ramos-Francia, M. (2010). Multi-horizon
>inflation forecasts using disaggregated data. Economic Modelling,
>27(3), 666–677.
Choi, E., et al. (2016). RETAIN: An interpretable predictive model for
>healthcare using reverse time attention mechanism. In NIPS.
van Hoek, M., Hogeweg, P., 2006. In silico evolved lac operons. Biophys J
>91, 2833–2843."""


def test_layout_corrects_starts_of_entries() -> None:
    rows = HANGING_LIST.split("\n")
    lines = [line(row.lstrip(">"), i, 62.0 if row.startswith(">") else 50.0) for i, row in enumerate(rows)]
    assert [" ".join(x.text for x in group) for group in split(lines)] == HANGING_LIST.replace("\n>", " ").split("\n")


SMALL = Font("times", 9.0)


def write_entries(text: str, font: Font = SMALL) -> list[Row]:
    """Return the rows of entries; a line that begins with `>` hangs."""
    rows = text.split("\n")
    return [Row(row.lstrip(">"), font, left=62.0 if row.startswith(">") else 50.0) for row in rows]


INTERVIEWS = """Plato, Alexander von (2000): Zeitzeugen und die historische Zunft. Erinnerung, kommunikative
>Tradierung und kollektives Gedächtnis, in: BIOS 13, 5-29.
Portelli, Alessandro (1981): The Peculiarities of Oral History, in: History Workshop 12,
>96-107.
Rosenthal, Gabriele (1995): Erlebte und erzählte Lebensgeschichte, Frankfurt a.M.
Sabrow, Martin (2012): Der Zeitzeuge als Wanderer zwischen zwei Welten, in: Martin Sabrow
>und Norbert Frei (Hg.): Die Geburt des Zeitzeugen nach 1945, Göttingen, 13-32."""
BIOGRAPHIES = """Schütze, Fritz (1983a): Biographieforschung und narratives Interview, in: Neue Praxis 13,
>283-293.
Schütze, Fritz (1996): Verlaufskurven des Erleidens als Forschungsgegenstand, in: Krüger,
>Heinz-Hermann/Marotzki, Winfried (Hg.): Erziehungswissenschaftliche
>Biographieforschung, Opladen, S. 116–157.
Thompson, Paul (1975): The Edwardians: The Remaking of British Society, London.
Thompson, Paul (2000): The Voice of the Past. Oral History, 3rd edition, New York.
Welzer, Harald (2002): Das kommunikative Gedächtnis. Eine Theorie der Erinnerung, München."""
GAMES = """Capcom: Resident Evil, 1996.
Konami: Silent Hill, 1999.
Konami: Silent Hill 2, 2001.
Nintendo: Super Mario World, 1991.
Tecmo: Project Zero, 2001."""


def join_entries(text: str) -> list[str]:
    return text.replace("\n>", " ").split("\n")


@pytest.mark.parametrize("labeled", [range(40), range(31, 38)], ids=["whole", "first page"])
def test_list_goes_on_under_a_running_head_in_larger_type(labeled: range) -> None:
    first = [*BODY, Row("LITERATUR", block=True, gap=12.0), *write_entries(INTERVIEWS)]
    top = [
        Row("52", block=True),
        Row("Franka Maubach", Font("times", 10.0, italic=True), block=True, gap=-10.0, left=390.0),
    ]
    document = draw(first, [*top, *write_entries(BIOGRAPHIES)])
    labels = [i for i in labeled if i > 30 and not all_lines(document)[i].text.startswith(("52", "Franka"))]
    assert list_found_entries(document, labels) == [*join_entries(INTERVIEWS), *join_entries(BIOGRAPHIES)]
    kinds = {line.text: line.kind for line in all_lines(document)}
    assert (kinds["52"], kinds["Franka Maubach"], kinds["LITERATUR"]) == (Kind.FURNITURE, Kind.FURNITURE, Kind.LABEL)


def test_head_of_a_part_does_not_end_the_list_but_another_list_does() -> None:
    series = """No. 1/1988 Zum Anspruch einer evolutionsbiologischen Fundierung der Moral.
>Fritz Rudolph
No. 2/1988 Moralische Institutionen und die Ordnung des Handelns in der Gesellschaft.
>Hans J. Hummell
No. 3/1988 Selbstreferentielle Technologiepolitik. Theoretische und theologische
>Dieter Urban"""
    other = Row("Bisher sind in der Reihe „Duisburger Beiträge“ erschienen:", HEAD, block=True, gap=20.0)
    rows = [
        *BODY,
        Row("Literatur", HEAD, block=True),
        *write_entries(INTERVIEWS),
        Row("Games", HEAD, block=True, gap=12.0),
    ]
    document = draw([*rows, *write_entries(GAMES), other, *write_entries(series)])
    found = list_found_entries(document, range(30, len(all_lines(document))))
    assert found == [*join_entries(INTERVIEWS), *GAMES.split("\n")]


@pytest.mark.parametrize("head", ["7. Literatur / Verweise", "Literaturhinweise", "Literatur"])
def test_short_list_under_a_head_is_found_without_labels(head: str) -> None:
    texts = """Bolte, Annegret; Neumer, Judith; Porschen, Stephanie (2008): Die alltägliche Last
der Kooperation - Abstimmung als Arbeit und das Ende der Meeting-Euphorie, Berlin.
Böhle, Fritz (2008): Die Integration von unten. In: Böhle, Fritz; Bolte, Annegret
(Hrsg.): Der Schlüssel zum Erfolg organisatorischen Wandels, Heidelberg, S. 7-20.
Kühl, Stefan (2002): Sisyphos im Management. Die vergebliche Suche nach der op-
timalen Organisationsstruktur, Wiley-VCH Verlag, Weinheim."""
    rows = [Row(text, block=i % 2 == 0, gap=12.0 if i % 2 == 0 else 2.0) for i, text in enumerate(texts.split("\n"))]
    found = list_found_entries(draw([*BODY, Row(head, HEAD, block=True), *rows]), range(0))
    assert [raw[:6] for raw in found] == ["Bolte,", "Böhle,", "Kühl, "]


def test_column_of_citations_is_no_list() -> None:
    cells = [
        Row(text, block=True)
        for text in ("Smith et al. 2010", "Berg and Lo 2011", "Nakamura et al. 2012", "Walter 2016")
    ]
    document = draw([*BODY, Row("Reference", HEAD, block=True), *cells, *BODY])
    assert list_found_entries(document, range(0)) == []


def test_list_goes_on_after_a_box() -> None:
    box = [Row("To what extent does the context of decision affect the processes of", SMALL) for _ in range(16)]
    heads = [Row("References", block=True), Row("Box 5. Outstanding questions", HEAD, block=True)]
    items = [
        f"{n} Zebrowitz, L.A. et al. (19{80 + n}) Wide-eyed and crooked-faced. Pers. Soc. Psychol. Bull. 22, {n}58–{n}69"
        for n in range(1, 13)
    ]
    rows = [*BODY, heads[0], Row(items[0], SMALL), heads[1], *box]
    document = draw(rows, [Row(item, SMALL) for item in items[1:]])
    found = list_found_entries(document, [30, 31, *range(len(rows), len(rows) + 11)])
    assert found == [item.split(" ", 1)[1] for item in items]


def test_imprint_below_a_list_is_no_part_of_its_last_entry() -> None:
    imprint = [
        Row(
            "Das GIGA German Institute of Global and Area Studies – Leibniz-Institut in Hamburg gibt Focus-Reihen zu",
            Font("arial", 8.0),
            block=True,
            gap=40.0,
        ),
        Row("Afrika, Asien, Lateinamerika, Nahost und zu globalen Fragen heraus.", Font("arial", 8.0)),
    ]
    rows = [*BODY, Row("Literatur", HEAD, block=True), *write_entries(INTERVIEWS, Font("times", 10.0)), *imprint]
    document = draw(rows)
    assert list_found_entries(document, range(30, len(rows))) == join_entries(INTERVIEWS)


@pytest.mark.parametrize(
    "begin",
    [
        "Jia-Lien Hsu received the B.S. degree in computer", "Chen Liang (S’19) received the B.E. degree in automation",
        "RENZO ANGLES is associate professor in the De-",
    ],
)  # fmt: skip
def test_biography_ends_the_list(begin: str) -> None:
    """IEEE prints the authors' biographies under the last entry, in its type."""
    rest = [
        "science from National Tsing Hua University,",
        "Hsinchu, Taiwan, R.O.C, in 1994, where he is",
        "currently pursuing the Ph.D. degree.",
    ]
    biography = [Row(begin, SMALL, block=True, gap=9.0), *(Row(text, SMALL) for text in rest)]
    rows = [*BODY, Row("References", HEAD, block=True), *write_entries(HANGING_LIST), *biography]
    document = draw(rows)
    assert list_found_entries(document, range(30, len(rows))) == join_entries(HANGING_LIST)


def test_bold_authors_head_no_part_of_the_list() -> None:
    texts = """Bovenschulte, Andreas/Fisahn, Andreas,
>Fiskalpakt entmachtet Bundestag, Bremen/
>Bielefeld, März 2012 (Diskussionspapier).
Buschmann, Marco/Daiber, Birgit,
>Subsidiaritätsrüge und Grundsatz der
>begrenzten Einzelermächtigung, in:
>DÖV, 64 (2011) 13, S. 504–510.
Cooper, Ian, A Virtual Third Chamber
>for the European Union? National Parlia-
>ments after the Treaty of Lisbon, in:
>West European Politics, 35 (2012) 3."""
    rows = write_entries(texts)
    rows = [Row(row.text, Font("times", 9.0, bold=i in (0, 3)), left=row.left) for i, row in enumerate(rows)]
    document = draw([*BODY, Row("Literatur", HEAD, block=True), *rows])
    found = list_found_entries(document, range(30, 30 + len(rows)))
    assert [raw[:8] for raw in found] == ["Bovensch", "Buschman", "Cooper, "]


def test_entry_without_a_year_is_in_a_short_list() -> None:
    texts = """Jagodzinski, Wolfgang und Kazufumi Manabe, 2004: How to Measure Interpersonal Trust? A
>Comparison of two Different Measures. In: ZA-Information 55: S. 85-98.
Rosenberg, Morris, 1956: Misanthropy and Political Ideology. American Sociological Review,
>21/1-6: S. 690-695.
Rost, Jürgen, Messen wird immer einfacher! In diesem Heft, S. 6-7.
Saris, Willem E. und Irmtraud Gallhofer (o. J.): Report on the MTMM Experiments in the Pilot
>Studies and Proposals for Round 1 of the ESS (www.europeansocialsurvey.org)."""
    document = draw([*BODY, Row("Literatur:", HEAD, block=True), *write_entries(texts, Font("times", 10.0)), *BODY])
    assert [raw[:5] for raw in list_found_entries(document, range(0))] == ["Jagod", "Rosen", "Rost,", "Saris"]
