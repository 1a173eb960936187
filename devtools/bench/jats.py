"""Measure parses of publishers' JATS: `python -m devtools.bench.jats`.

body     F1 of word tokens (letters and digits) of the body against `body//p` outside tables, captions and
         formulas, which this script reads independently
cites    share of the callouts `<xref ref-type="bibr">` that are citation spans with the right text and entry
speed    documents per second on one core (process time), bytes to JSON
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

from lxml import etree

from devtools.real_data import MISSING, REAL_DATA
from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse
from s2orc_parse.xml import parse_xml

WORD = re.compile(r"\w+")
OUTSIDE = frozenset(
    ("table-wrap", "table-wrap-group", "table", "fig", "fig-group", "caption", "supplementary-material", "disp-formula",
     "inline-formula", "math", "tex-math", "media")
)  # fmt: skip


def local(element: etree._Element) -> str:
    tag = getattr(element, "tag", None)
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def text_of(element: etree._Element) -> str:
    """Return the text without elements outside the paper's running text."""
    parts = [element.text or ""]
    for child in element:
        if local(child) and local(child) not in OUTSIDE:
            parts.append(text_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


def truth(article: etree._Element) -> Counter[str]:
    """Return the tokens of `body//p`."""
    words: Counter[str] = Counter()
    body = article.find("{*}body")
    for paragraph in body.iter("{*}p") if body is not None else ():
        above = {local(ancestor) for ancestor in paragraph.iterancestors()}
        if not above & OUTSIDE and "p" not in above:
            words.update(WORD.findall(text_of(paragraph)))
    return words


def tokens(parse: Parse) -> Counter[str]:
    """Return the tokens of a parse's body without formulas."""
    words: Counter[str] = Counter()
    for paragraph in parse.body_text:
        text = paragraph.text
        for span in reversed(paragraph.eq_spans):
            text = text[: span.start] + text[span.end :]
        words.update(WORD.findall(text))
    return words


def list_callouts(article: etree._Element) -> Counter[tuple[str, str]]:
    """Return (text, id of the reference) of every callout of the article itself."""
    found: Counter[tuple[str, str]] = Counter()
    for part in article:
        if local(part) in ("body", "back", "floats-group"):
            for xref in part.iter("{*}xref"):
                if xref.get("ref-type") == "bibr":
                    text = " ".join("".join(xref.itertext()).split())
                    found.update((text, rid) for rid in (xref.get("rid") or "").split())
    return found


def list_citations(parse: Parse) -> Counter[tuple[str, str]]:
    """Return (text, id of the reference) of every citation of a parse."""
    ids = {entry.key: entry.ref_id for entry in parse.bib_entries}
    paragraphs = (*parse.abstract, *parse.body_text, *parse.back_matter)
    spans = [span for paragraph in paragraphs for span in paragraph.cite_spans]
    for entry in parse.ref_entries:
        spans += [*entry.cite_spans, *(cell.span for cell in entry.cell_cites)]
    return Counter((span.text, ids.get(span.ref_id or "", "")) for span in spans)


def main() -> None:
    patterns = ("jats/**/*.xml", "jats/*.nxml", "pmc-with-tei/*.nxml", "pmc-pdf/*.nxml")
    paths = [path for pattern in patterns for path in REAL_DATA.glob(pattern)]
    if not paths:
        sys.exit(MISSING)
    documents: list[bytes] = []
    shared = ours = theirs = wanted = found = 0
    for path in sorted(paths):
        data = path.read_bytes()
        try:
            parse = jats.convert(data, sha1="")
        except jats.BadArticle as bad:
            print(f"{path.name}: {bad.outcome}")
            continue
        documents.append(data)
        article = parse_xml(data)
        words, own, named = truth(article), tokens(parse), list_callouts(article)
        shared, ours, theirs = shared + (own & words).total(), ours + own.total(), theirs + words.total()
        wanted, found = wanted + named.total(), found + (named & list_citations(parse)).total()
    f1 = 2 * shared / (ours + theirs)
    print(f"{len(documents)} articles: body F1 {f1:.4f}; cites {found / max(1, wanted):.4f} of {wanted}")
    times = []
    for _ in range(3):
        start = time.process_time()
        for document in documents:
            tei.to_json_bytes(tei.to_s2orc(jats.convert(document, sha1="")))
        times.append(time.process_time() - start)
    print(f"{len(documents) / min(times):.1f} documents a second on one core")


if __name__ == "__main__":
    main()
