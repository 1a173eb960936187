"""The laws of every parse of any format (SPEC §3.3)."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from hypothesis import strategies as st

from s2orc_parse.parse_model import EQUATION, CiteSpan, EqSpan, Parse, RefSpan, RefType

words = st.text(st.sampled_from("abcXYZ 12,;.[]()–-äß中𝛼\u00a0\n\t&<\u2009"), max_size=12).map(escape)


def nest(leaves: st.SearchStrategy[str], elements: Sequence[str]) -> st.SearchStrategy[str]:
    """Return texts of leaves and nested XML elements."""
    element = "<{0}>{1}</{0}>".format
    inline = st.recursive(
        leaves,
        lambda inner: st.builds(element, st.sampled_from(elements), st.lists(inner, max_size=3).map("".join)),
        max_leaves=5,
    )
    return st.lists(inline, max_size=5).map("".join)


def check_laws(found: Parse) -> Parse:
    """Return a parse that obeys the laws; fail with the violations of another."""
    assert (broken := list(_broken_laws(found))) == [], broken
    return found


def _broken_laws(found: Parse) -> Iterator[str]:
    bib_keys, ref_keys = ([entry.key for entry in entries] for entries in (found.bib_entries, found.ref_entries))
    if len({*bib_keys, *ref_keys}) < len(bib_keys) + len(ref_keys):
        yield "two entries with one key"
    for paragraph in (*found.abstract, *found.body_text, *found.back_matter):
        text = paragraph.text
        if not text or text != " ".join(text.split()):
            yield f"white space: {text!r}"
        if any("\ue000" <= sign <= "\uf8ff" for sign in text + paragraph.section):
            yield f"a private mark: {text!r}"
        yield from _broken_spans(text, paragraph.cite_spans, bib_keys)
        yield from _broken_spans(text, paragraph.ref_spans, ref_keys)
        yield from _broken_spans(text, paragraph.eq_spans, ref_keys)
        for span in paragraph.eq_spans:
            if (span.ref_id is not None) != (span.text == EQUATION):
                yield f"a displayed formula is the token, one in the line its own text: {span}"
    for entry in found.ref_entries:
        if entry.type is not RefType.FORMULA and entry.text != " ".join(entry.text.split()):
            yield f"white space: {entry.text!r}"
        yield from _broken_spans(entry.text, entry.cite_spans, bib_keys)
        for cell in entry.cell_cites:
            yield from _broken_spans((entry.cells or ())[cell.row][cell.column], [cell.span], bib_keys)


def _broken_spans(text: str, spans: Sequence[CiteSpan | RefSpan | EqSpan], keys: list[str]) -> Iterator[str]:
    places = [(span.start, span.end) for span in spans]
    if places != sorted(places):
        yield f"spans out of order: {places}"
    if len({(span.start, span.end, span.ref_id) for span in spans}) < len(spans):
        yield f"a span twice: {places}"
    for span in spans:
        if text[span.start : span.end] != span.text or not span.text or span.text != span.text.strip():
            yield f"{span} is not what {text!r} has there"
        if span.ref_id is not None and span.ref_id not in keys:
            yield f"{span} names no entry"
