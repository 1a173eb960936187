"""Typeset papers and drawn documents for the tests of the extractor."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import typst
from lxml import etree

from pdf2tei import extract
from pdf2tei.pages.model import Document, Font, Line, Page, Token
from tests.unit.pdf2tei import typeset as typesetting

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ROMAN = Font("times", 10.0)
BOLD = Font("times", 10.0, bold=True)
HEAD = Font("times", 12.0, bold=True)
SMALL = Font("times", 8.0)
PROSE = (
    "Litter-dwelling predators follow the traits of their prey, and the traits of their prey follow the litter. "
    "We sampled three forests over two summers and measured what could be measured without harm. "
    "The strength of this relation differed between sites, but its direction never did."
)
LAST = "The last sentence of the text stands here."
PLACES = ["the park", "Naples", "the forest of Ulm", "Ghent", "Delft", "the hills near Rome", "Turin", "Bruges", "Lyon"]
FAMILIES = ["first", "second", "largest", "oldest", "darkest", "smallest", "rarest", "seventh", "last"]
TITLE = "Traits of Beetles Follow the Litter They Live In"
ENTRIES = [
    "J. Wu, K. Williams and C. L. Giles, AI Magazine, 2014, 35, 35–48.",
    "M. van der Sluis and K. Berg, Litter of the north, Ecology, 2015, 12, 1–20.",
    "Weihs L, Etzioni O. Learning to predict citation-based impact measures. J Clin. 2018;4(2):11-19.",
    "Xiong, C. Explicit semantic ranking for academic search. Inf. Retr. 2017, 12, 4–19.",
    "P. Ammar, Traits of predators that hunt in litter, J. Anim. Ecol., 2011, 80, 601–610.",
    "H. G. Horhat and A. Jianu, Beetles and their reference. Oecologia, 2009, 7, 299–305.",
    "S. Walter, The summer in three forests of the south, For. Ecol. Manage., 2016, 3, 44–51.",
    "T. Nakamura, Y. Ito and F. Sato, Arthropods in leaf litter, Ecol. Res., 2012, 27, 9–18.",
    "R. Lopes Martins, Diversity of ground beetles along a gradient, 2nd ed., Springer, Berlin, 2010.",
    "D. Gareth Evans, Measuring small things in summer, arXiv:1301.01234, 2013.",
]
CITED = [("Wu", 2014), ("van der Sluis", 2015), ("Weihs", 2018), ("Xiong", 2017), ("Ammar", 2011), ("Horhat", 2009),
         ("Walter", 2016), ("Nakamura", 2012), ("Martins", 2010), ("Evans", 2013)]  # fmt: skip
HANGING = "\n\n".join(f'#par(hanging-indent: 1.2em)[#"{e}"]' for e in ENTRIES)
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

FLOATS = f"""
{PROSE} As @fig shows. #footnote[The data are with the authors.] {PROSE}

$ y_i = alpha + beta x_i + epsilon_i $

where the symbols have their usual meaning. {PROSE}

#figure(rect(width: 60%, height: 3cm)[axis label], caption: [The traits of beetles against those of the litter.]) <fig>

#figure(table(columns: 3, [Site], [Beetles], [Litter], [North], [12], [0.4], [South], [31], [0.9]), caption: [Counts by site.])

{PROSE}
"""
BODY = f"= Abstract\n{PROSE}\n\n= Introduction\n{PROSE} {PROSE}"


def mark(text: str) -> str:
    """Return a raised mark."""
    return f"#super(typographic: false)[{text}]"


def write_prose(number: int) -> str:
    """Return a paragraph; the paragraphs of a paper differ."""
    return " ".join(
        f"In {place} we marked {17 * number + count} beetles of the {family} family and followed them for {count} days."
        for count, (place, family) in enumerate(zip(PLACES[number % 3 :], FAMILIES[number % 2 :], strict=False), 2)
    )


def make_article(look: str) -> typesetting.Article:
    """Return a paper with the entries above; an essay has no abstract."""
    people = [("Waleed", "Ammar"), ("Maria", "van der Lo"), ("Ana Luzia", "Ferreira")]
    first: typesetting.Runs = [(f"{PROSE} Earlier work ", None), ("", 0), (f" agrees. {write_prose(0)}", None)]
    second: typesetting.Runs = [(f"{write_prose(1)} Others ", None), ("", 1), (", ", None), ("", 3), (" do not.", None)]
    return typesetting.Article(
        TITLE,
        people[: 1 if look in ("essay", "thesis") else 3],
        ["Department of Beetles, University of Montreal, Canada", "Institute of Litter, Germany"],
        "" if look == "essay" else f"We relate the traits of beetles to the traits of the litter. {PROSE}",
        [
            (1, "Introduction", [first, second]), (2, "Aims", [[(write_prose(2), None)], [("INSIDE", None)]]),
            (1, "Methods", [[(write_prose(n), None)] for n in range(3, 9)]),
            (1, "Results", [[(write_prose(9), None)], [(f"{write_prose(10)} {LAST}", None)]]),
        ],
        ENTRIES,
        CITED,
    )  # fmt: skip


@cache
def typeset(look: str, inside: str = "", after: str = "", own_front: str = "") -> tuple[bytes, dict[str, list[str]]]:
    """Return a paper in a look, with typst code inside its text, after its list or as its front, and its printed text."""
    article = make_article(look)
    pdf = typesetting.typeset(article, look, inside=inside, after=after, front=own_front)
    return pdf, typesetting.list_printed(article, look)


def read(source: str, folder: Path) -> etree._Element:
    """Return the extractor's TEI of a typst document."""
    return read_pdf(typst.compile(source.encode(), format="pdf"), folder)


def read_pdf(pdf: bytes, folder: Path, *, ocr: bool = False) -> etree._Element:
    """Return the TEI that the extractor makes of a PDF."""
    (folder / "a.pdf").write_bytes(pdf)
    return etree.fromstring(extract(folder / "a.pdf", timeout=300, ocr=ocr) or b"<TEI/>")


def list_texts(tei: etree._Element, path: str) -> list[str]:
    """Return the texts of the elements at an XPath."""
    return [" ".join("".join(e.itertext()).split()) for e in tei.xpath(path, namespaces=NS)]


def find_heads(tei: etree._Element) -> list[str]:
    """Return the headings of the body."""
    return list_texts(tei, ".//t:body/t:div/t:head")


def join_body(tei: etree._Element) -> str:
    """Return the paragraphs of the body as one text."""
    return " ".join(list_texts(tei, ".//t:body/t:div/t:p"))


def list_raws(tei: etree._Element) -> list[str]:
    """Return the bibliography entries as printed."""
    return list_texts(tei, ".//t:listBibl/t:biblStruct/t:note[@type='raw_reference']")


@dataclass(frozen=True)
class Row:
    """A line to draw; `block` starts a new block, `gap` is the space above it."""

    text: str
    font: Font = ROMAN
    block: bool = False
    gap: float = 2.0
    left: float = 50.0


def draw(*pages: list[Row], width: float = 600.0) -> Document:
    """Return a document of pages with these rows from top to bottom."""
    drawn: list[Page] = []
    block = 0
    for number, rows in enumerate(pages, 1):
        y = 60.0
        lines: list[Line] = []
        block += 1
        for row in rows:
            block += row.block
            y += row.gap
            lines.append(draw_line((row.text, row.font), x=row.left, y=y, page=number, block=block))
            y += row.font.size
        drawn.append(Page(number, width, max(800.0, y + 60), lines, []))
    return Document(drawn)


def draw_line(
    *runs: tuple[str, Font], x: float = 0.0, y: float = 0.0, page: int = 1, block: int = 1, width: float = 0.5
) -> Line:
    """Return words in several fonts as one line; `width` is the width of a character, as a share of the font's size."""
    tokens: list[Token] = []
    for text, font in runs:
        for word in text.split():
            end = x + width * font.size * len(word)
            tokens.append(Token(word, x, y, end, y + font.size, font, bool(tokens)))
            x = end + 0.5 * width * font.size
    return Line(tokens, page, block)


def all_lines(document: Document) -> list[Line]:
    """Return the lines of all pages."""
    return [line for page in document.pages for line in page.lines]
