"""Small JATS articles for tests, and the laws of every parse (SPEC §3.3)."""

from s2orc_parse import jats
from s2orc_parse.parse_model import Parse
from tests.unit.parse_laws import check_laws

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN" '
    '"JATS-journalpublishing1.dtd">'
)


def reference(n: int, fields: str = "") -> str:
    """Return the n-th entry of a bibliography, with id `R<n>` and label `<n>`."""
    fields = fields or f"<article-title>Work {n}</article-title><source>Journal</source><year>200{n % 10}</year>"
    return f'<ref id="R{n}"><label>{n}.</label><element-citation publication-type="journal">{fields}</element-citation></ref>'


def article(body: str, references: int = 0, *, meta: str = "", back: str = "", after: str = "") -> bytes:
    """Return a complete article with this content of the body and `references` entries."""
    entries = "".join(reference(n) for n in range(1, references + 1))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{DOCTYPE}\n<article xmlns:xlink="http://www.w3.org/1999/xlink" '
        'xmlns:mml="http://www.w3.org/1998/Math/MathML" dtd-version="1.1"><front><journal-meta><journal-title-group>'
        "<journal-title>Journal of Tests</journal-title></journal-title-group></journal-meta><article-meta>"
        '<article-id pub-id-type="doi">10.5555/tests.1</article-id><title-group><article-title>A title</article-title>'
        f"</title-group>{meta}</article-meta></front><body>{body}</body><back>{back}<ref-list>{entries}</ref-list></back>"
        f"{after}</article>"
    ).encode()


def parse(body: str, references: int = 0, **parts: str) -> Parse:
    """Return the parse of such an article, which obeys the laws."""
    return check_laws(jats.convert(article(body, references, **parts), sha1="0" * 40))


def declare_entities(depth: int, document: str) -> bytes:
    """Return a document in which `@` is an entity that would expand to 10^depth letters."""
    inner = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, depth))
    document = document.replace("@", f"&e{depth - 1};")
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "x">{inner}]>{document}'.encode()


def cite(n: int, text: str | None = None) -> str:
    """Return a callout of the n-th entry."""
    return f'<xref ref-type="bibr" rid="R{n}">{n if text is None else text}</xref>'


def list_citations(parse: Parse) -> list[list[tuple[str, str | None]]]:
    """Return (surface, the file's id of the entry or None) for the citations of every paragraph of the body."""
    ids = {entry.key: entry.ref_id for entry in parse.bib_entries}
    return [[(span.text, ids.get(span.ref_id or "")) for span in paragraph.cite_spans] for paragraph in parse.body_text]
