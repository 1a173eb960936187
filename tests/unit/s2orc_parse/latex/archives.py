"""Source archives for tests."""

import gzip
import io
import tarfile

from pdf2tei.references.fields import parse_bibliography_item
from s2orc_parse.latex import convert
from s2orc_parse.parse_model import CiteSpan, Parse, RefType
from tests.unit.parse_laws import check_laws

ENTRIES = r"""\begin{thebibliography}{9}
\bibitem[Lo and Wang(2020)]{lo} Kyle Lo and Lucy Lu Wang. 2020.
\newblock A corpus of papers. \newblock In \emph{Proceedings of ACL}, pages 1--9.
\bibitem[Saier et~al.(2019)Saier, F{\"a}rber, and Roe]{saier} Tarek Saier, Michael F{\"a}rber, and R. Roe. 2019.
\newblock Bibliometrics. \newblock \emph{JCDL}, 3:4--5.
\bibitem[Doe(2001)]{doe} Jane Doe. 2001. \newblock On tests. \newblock \emph{J. Test.}, 7(2):1--3.
\end{thebibliography}"""


def tar(files: dict[str, str | bytes]) -> bytes:
    """Return a tar.gz of these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def gz(text: str) -> bytes:
    """Return one gzipped file."""
    return gzip.compress(text.encode(), mtime=0)


def article(body: str, preamble: str = "", entries: str = "") -> str:
    """Return the LaTeX source of an article, unless the preamble names another class."""
    document_class = "" if preamble.startswith("\\documentclass") else "\\documentclass{article}\n"
    return f"{document_class}{preamble}\n\\begin{{document}}\n{body}\n{entries}\n\\end{{document}}\n"


def parse(body: str, preamble: str = "", *, entries: str = "", **files: str | bytes) -> Parse:
    """Return the parse of an article, which obeys the laws, alone or with other files. A file's name has `_` instead of the period."""
    main = article(body, preamble, entries)
    data = tar({"main.tex": main, **{n.replace("_", "."): c for n, c in files.items()}}) if files else gz(main)
    return check_laws(convert(data, sha1="0" * 40, parse_reference=parse_bibliography_item))


def texts(found: Parse) -> list[tuple[str, str]]:
    """Return (section, text) of the body's paragraphs."""
    return [(paragraph.section, paragraph.text) for paragraph in found.body_text]


def list_citations(found: Parse) -> list[tuple[str, str | None]]:
    """Return (surface text, key of the source) of the body's citations."""
    keys = {entry.key: entry.ref_id for entry in found.bib_entries}
    spans: list[CiteSpan] = [span for paragraph in found.body_text for span in paragraph.cite_spans]
    return [(span.text, keys.get(span.ref_id or "")) for span in spans]


def list_entries(found: Parse, kind: RefType) -> list[tuple[str | None, str]]:
    """Return (number, text) of the reference entries of a kind."""
    return [(entry.num, entry.text) for entry in found.ref_entries if entry.type is kind]
