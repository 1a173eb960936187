"""Measure parses of publishers' JATS: `python -m devtools.bench.jats`.

body     F1 of word tokens (letters and digits) of the body against `body//p` outside tables, captions and
         formulas, which this script reads independently
cites    share of the callouts `<xref ref-type="bibr">` that are citation spans with the right text and entry
speed    documents per second on one core (process time), bytes to JSON
"""

from __future__ import annotations

import re
import time
from collections import Counter

from lxml import etree

from devtools.measure import text
from devtools.real_data import REAL_DATA, require
from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse
from s2orc_parse.xml import parse_xml

WORD = re.compile(r"\w+")
OUTSIDE = """contains(' table-wrap table-wrap-group table fig fig-group caption supplementary-material disp-formula inline-formula math
 tex-math media ', concat(' ', local-name(), ' '))""".replace("\n", "")
PARAGRAPHS = etree.XPath(
    f"*[local-name()='body']//*[local-name()='p'][not(ancestor::*[local-name()='p' or {OUTSIDE}])]"
)
CALLOUTS = etree.XPath(
    "*[contains(' body back floats-group ', concat(' ', local-name(), ' '))]//*[local-name()='xref'][@ref-type='bibr']"
)
TEXTS = etree.XPath(f".//text()[not(ancestor::*[{OUTSIDE}])]")


def truth(article: etree._Element) -> Counter[str]:
    """Return the tokens of `body//p`."""
    return Counter(word for paragraph in PARAGRAPHS(article) for word in WORD.findall("".join(TEXTS(paragraph))))


def tokens(parse: Parse) -> Counter[str]:
    """Return the tokens of a parse's body without formulas."""
    words: Counter[str] = Counter()
    for paragraph in parse.body_text:
        content = paragraph.text
        for span in reversed(paragraph.eq_spans):
            content = content[: span.start] + content[span.end :]
        words.update(WORD.findall(content))
    return words


def list_callouts(article: etree._Element) -> Counter[tuple[str, str]]:
    """Return (text, id of the reference) of every callout of the article itself."""
    return Counter((text(xref), rid) for xref in CALLOUTS(article) for rid in (xref.get("rid") or "").split())


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
    require()
    documents: list[bytes] = []
    shared = ours = theirs = wanted = found = 0
    for path in sorted(path for pattern in patterns for path in REAL_DATA.glob(pattern)):
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
