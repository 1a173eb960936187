"""Reference lists are found under any heading, and are complete."""

import pytest

from pdf2tei.models.segmentation import SegmentLabel
from pdf2tei.pages.model import Document, Font, Kind
from pdf2tei.pages.text import Joiner
from pdf2tei.references import reference_list as references
from tests.unit.pdf2tei.samples import HANGING_LIST, HEAD, Row, all_lines, draw

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


SHORT = """Bourdieu, Pierre: Die feinen Unterschiede: Kritik der gesellschaftlichen Urteilskraft. Suhrkamp Verlag,
Frankfurt a. M. (1979), 20. Aufl.
Hitzler, Ronald, und Arne Niederbacher: Leben in Szenen: Formen juveniler Vergemeinschaftung. VS
Verlag, Wiesbaden (2010), 3. Aufl.
Schwanhäußer, Anja: Kosmonauten des Underground: Ethnografie einer Berliner Szene. Campus Verlag,
Frankfurt a. M. (2010).
Thornton, Sarah: Club Cultures: Music, Media and Subcultural Capital. Blackwell Publishers, Oxford
(1995)."""
NOTES = """1 Bourdieu, Pierre: Die feinen Unterschiede. Suhrkamp, Frankfurt a. M. 1979, S. 12–19.
2 Hitzler, Ronald: Leben in Szenen. VS Verlag, Wiesbaden 2010, S. 4–7.
3 Schwanhäußer, Anja: Kosmonauten des Underground. Campus, Frankfurt a. M. 2010, S. 30–41.
4 Thornton, Sarah: Club Cultures. Blackwell Publishers, Oxford 1995, S. 17–25.
5 Hitzler, Ronald: Leben in Szenen. VS Verlag, Wiesbaden 2010, S. 8–9.
6 Bourdieu, Pierre: Die feinen Unterschiede. Suhrkamp, Frankfurt a. M. 1979, S. 30–31.
7 Thornton, Sarah: Club Cultures. Blackwell Publishers, Oxford 1995, S. 40–45.
8 Thornton, Sarah: Club Cultures. Blackwell Publishers, Oxford 1995, S. 46–49."""
LATER = "\n".join(
    f"{n} Hitzler, Ronald: Leben in Szenen. VS Verlag, Wiesbaden 20{n}, S. {n}–{n + 4}." for n in range(9, 15)
)


def write_short_list(font: Font = SMALL) -> list[Row]:
    return [Row(text, font, block=i % 2 == 0, gap=2.0 if i % 2 else 12.0) for i, text in enumerate(SHORT.split("\n"))]


def join_short_list() -> list[str]:
    lines = SHORT.split("\n")
    return [f"{first} {second}" for first, second in zip(lines[::2], lines[1::2], strict=True)]


@pytest.mark.parametrize("head", ["", "Opere citate"])
@pytest.mark.parametrize(
    "form", ["{initial}. {surname}, {rest}", "{given} {surname}, {rest}", "{surname} {given} – {rest}"]
)
def test_list_of_names_in_another_order_is_found(form: str, head: str) -> None:
    people = ["Niccolò Croce", "Maria Eco", "Carlo Ginzburg", "Anna Levi", "Chiara Romano"]
    rest = "La formazione della classe operaia in Piemonte e in Toscana, Einaudi, Torino 19{n}"
    entries = [
        form.format(given=given, initial=given[0], surname=surname, rest=rest.format(n=60 + n))
        for n, (given, surname) in enumerate(x.split() for x in people)
    ]
    rows = [*BODY, *([Row(head, HEAD, block=True)] if head else []), *(Row(x, block=True, gap=6.0) for x in entries)]
    is_found = head != "" or form.startswith(
        "{initial}"
    )  # without a head, only initials show that a line begins with a name
    assert list_found_entries(draw(rows), range(0)) == (entries if is_found else [])


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


SERIES = """No. 1/1988 Zum Anspruch einer evolutionsbiologischen Fundierung der Moral.
>Fritz Rudolph
No. 2/1988 Moralische Institutionen und die Ordnung des Handelns in der Gesellschaft.
>Hans J. Hummell
No. 3/1988 Selbstreferentielle Technologiepolitik. Theoretische und theologische
>Dieter Urban"""
MEETINGS = """Bolte, Annegret; Neumer, Judith; Porschen, Stephanie (2008): Die alltägliche Last
>der Kooperation - Abstimmung als Arbeit und das Ende der Meeting-Euphorie, Berlin.
Böhle, Fritz (2008): Die Integration von unten. In: Böhle, Fritz; Bolte, Annegret
>(Hrsg.): Der Schlüssel zum Erfolg organisatorischen Wandels, Heidelberg, S. 7-20.
Kühl, Stefan (2002): Sisyphos im Management. Die vergebliche Suche nach der op-
>timalen Organisationsstruktur, Wiley-VCH Verlag, Weinheim."""
BOLD_AUTHORS = """Bovenschulte, Andreas/Fisahn, Andreas,
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
WITHOUT_YEAR = """Jagodzinski, Wolfgang und Kazufumi Manabe, 2004: How to Measure Interpersonal Trust? A
>Comparison of two Different Measures. In: ZA-Information 55: S. 85-98.
Rosenberg, Morris, 1956: Misanthropy and Political Ideology. American Sociological Review,
>21/1-6: S. 690-695.
Rost, Jürgen, Messen wird immer einfacher! In diesem Heft, S. 6-7.
Saris, Willem E. und Irmtraud Gallhofer (o. J.): Report on the MTMM Experiments in the Pilot
>Studies and Proposals for Round 1 of the ESS (www.europeansocialsurvey.org)."""
IMPRINT = (
    "Das GIGA German Institute of Global and Area Studies – Leibniz-Institut in Hamburg gibt Focus-Reihen zu",
    "Afrika, Asien, Lateinamerika, Nahost und zu globalen Fragen heraus.",
)
# IEEE prints the authors' biographies under the last entry, in its type.
BIOGRAPHY = (
    "science from National Tsing Hua University,", "Hsinchu, Taiwan, R.O.C, in 1994, where he is", "currently pursuing the Ph.D. degree.",
)  # fmt: skip
GRADUATES = (
    "Jia-Lien Hsu received the B.S. degree in computer", "Chen Liang (S’19) received the B.E. degree in automation",
    "RENZO ANGLES is associate professor in the De-",
)  # fmt: skip
CITATIONS = ("Smith et al. 2010", "Berg and Lo 2011", "Nakamura et al. 2012", "Walter 2016")
LARGE, ARIAL = Font("times", 12.0), Font("arial", 8.0)
ROMAN, BOLD = Font("times", 10.0), Font("times", 9.0, bold=True)


def head(text: str, **more: float) -> Row:
    return Row(text, HEAD, block=True, **more)


def write_notes(text: str, font: Font) -> list[Row]:
    return [Row(line, font, block=not i) for i, line in enumerate(text.split("\n"))]


LISTS: dict[str, tuple[list[Row], bool, list[str]]] = {
    "a part of the list has a head, and another list follows": (
        [head("Literatur"), *write_entries(INTERVIEWS), head("Games", gap=12.0), *write_entries(GAMES),
         head("Bisher sind in der Reihe „Duisburger Beiträge“ erschienen:", gap=20.0), *write_entries(SERIES)],
        True, [*join_entries(INTERVIEWS), *GAMES.split("\n")],
    ),
    **{
        f"a short list under {title}": (
            [head(title), *(Row(row.lstrip(">"), block=row[0] != ">", gap=2.0 if row[0] == ">" else 12.0) for row in MEETINGS.split("\n"))],
            False, [entry.replace("op- timalen", "optimalen") for entry in join_entries(MEETINGS)],
        )
        for title in ("7. Literatur / Verweise", "Literaturhinweise", "Literatur")
    },
    "a short list without a head": (write_short_list(), False, join_short_list()),
    "notes with works after a head": (
        [head("Anmerkungen"), *write_notes(f"{NOTES}\n{LATER}", Font("times", 8.0)), *BODY, head("Literatur"), *write_short_list()],
        False, join_short_list(),
    ),
    "notes in larger type between entries": (
        [head("Literatur"), *write_short_list(), *write_notes("\n".join(NOTES.split("\n")[:2]), ROMAN), *write_entries(INTERVIEWS)],
        True, [*join_short_list(), *join_entries(INTERVIEWS)],
    ),
    "text in larger type under a head after the list": (
        [head("Bibliografía"), *write_short_list(), Row("Sobre el autor", LARGE, block=True, gap=12.0),
         Row("Esta interpretación ha sido confirmada (Quijano 1981: 84) por otros trabajos sobre el campo.", LARGE),
         *[Row("Los resultados contradicen la tesis.", LARGE)] * 2],
        True, join_short_list(),
    ),
    "a column of citations": ([head("Reference"), *(Row(text, block=True) for text in CITATIONS), *BODY], False, []),
    "an imprint below the list": (
        [head("Literatur"), *write_entries(INTERVIEWS, ROMAN), Row(IMPRINT[0], ARIAL, block=True, gap=40.0), Row(IMPRINT[1], ARIAL)],
        True, join_entries(INTERVIEWS),
    ),
    **{
        begin: (
            [head("References"), *write_entries(HANGING_LIST), Row(begin, SMALL, block=True, gap=9.0),
             *(Row(text, SMALL) for text in BIOGRAPHY)],
            True, join_entries(HANGING_LIST),
        )
        for begin in GRADUATES
    },
    "bold authors": (
        [head("Literatur"), *(Row(row.text, BOLD if i in (0, 3) else SMALL, left=row.left)
                              for i, row in enumerate(write_entries(BOLD_AUTHORS)))],
        True, [entry.replace("Parlia- ments", "Parliaments") for entry in join_entries(BOLD_AUTHORS)],
    ),
    "an entry without a year": ([head("Literatur:"), *write_entries(WITHOUT_YEAR, ROMAN), *BODY], False, join_entries(WITHOUT_YEAR)),
}  # fmt: skip
"""rows after the body, whether all are labeled as references, entries"""


@pytest.mark.parametrize("name", LISTS)
def test_list_has_its_entries_only(name: str) -> None:
    rows, is_labeled, entries = LISTS[name]
    document = draw([*BODY, *rows])
    assert list_found_entries(document, range(30, 30 + len(rows) if is_labeled else 30)) == entries
