"""Small TEI documents for tests, in the form that GROBID writes."""

from xml.sax.saxutils import escape

from s2orc_parse import tei
from s2orc_parse.parse_model import Parse
from tests.unit.parse_laws import check_laws

NUMBERED = tuple(
    f'<biblStruct xml:id="b{n}"><analytic><title level="a">Work {n + 1}</title></analytic></biblStruct>'
    for n in range(30)
)


def make_entry(surname: str, year: int, raw: str = "", first: str = "A") -> str:
    """Return a bibliography entry with one author and a year; `document` assigns its id by position."""
    note = f'<note type="raw_reference">{escape(raw)}</note>' if raw else ""
    return (
        f'<biblStruct xml:id="b@"><analytic><title level="a">On {surname} {year}</title><author><persName><forename type="first">'
        f'{first}</forename><surname>{surname}</surname></persName></author></analytic><monogr><imprint><date when="{year}"/></imprint>'
        f"</monogr>{note}</biblStruct>"
    )


def document(
    body: str, bibliography: tuple[str, ...] = (), *, header: str = "", back: str = "", abstract: str = ""
) -> bytes:
    """Return a complete TEI document with this content of the body."""
    entries = "".join(entry.replace("b@", f"b{n}") for n, entry in enumerate(bibliography))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0">'
        f'<teiHeader xml:lang="en"><fileDesc><titleStmt><title level="a" type="main">A title</title></titleStmt>{header}</fileDesc>'
        '<encodingDesc><appInfo><application version="0.8.0" ident="GROBID" when="2024-01-01T00:00+0000"/></appInfo></encodingDesc>'
        f"<profileDesc><abstract>{abstract}</abstract></profileDesc></teiHeader>"
        f'<text xml:lang="en"><body>{body}</body><back>{back}<div type="references"><listBibl>{entries}</listBibl></div>'
        "</back></text></TEI>"
    ).encode()


def parse(body: str, bibliography: tuple[str, ...] = (), **parts: str) -> Parse:
    """Return the parse of such a document, which obeys the laws."""
    return check_laws(tei.convert(document(body, bibliography, **parts), file_sha1="0" * 40))
