"""Read the abstract of a JATS article."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from lxml import etree

from s2orc_parse.bibliography.fields import PARTS
from s2orc_parse.bibliography.tex import read_formula_text
from s2orc_parse.jats.header import rank_abstract
from s2orc_parse.mathml import normalize_math, read_math
from s2orc_parse.xml import MATHML, extract_text, local_name

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_NOT_TEXT = tuple(
    f"{{*}}{name}"
    for name in (
        "xref", "fn", "author-notes", "object-id", "inline-graphic", "graphic", "label", "index-term", "glyph-data", "rp", "rt",
    )
)  # fmt: skip
_SEPARATE = tuple(f"{{*}}{name}" for name in ("break", "hr", "list-item", "def", "p"))

_BLOCKS = frozenset(("title", "label", "p", "sec", "list", "def-list", "fig", "table-wrap", "boxed-text"))


def article_language(meta: Any) -> str | None:
    """Return the language that the `article` element of an `article-meta` declares."""
    article = meta.getparent().getparent()
    return None if article is None else article.get(LANGUAGE)


def find_abstract(meta: Any) -> Any:
    """Return the main abstract, or None: in the article's language, else another one, else a translation."""
    own = (article_language(meta) or "")[:2]
    ranked = [
        (element.tag.endswith("trans-abstract"), rank, bool(language) and language != own, at)
        for at, element in enumerate(meta.iterfind("*"))
        if str(element.tag).endswith("abstract") and (rank := rank_abstract(element.get("abstract-type"))) is not None
        for language in ((element.get(LANGUAGE) or "")[:2],)
    ]
    return _wrap_text(meta[min(ranked)[-1]]) if ranked else None


def _wrap_text(given: Any) -> Any:
    """Return an element with its own text, and the elements in it, in paragraphs."""
    if not any((text or "").strip() for text in (given.text, *(child.tail for child in given))):
        return given
    whole = etree.Element(given.tag)
    name = f"{given.tag.rpartition('abstract')[0].removesuffix('trans-')}p"
    paragraph = etree.SubElement(whole, name)
    paragraph.text = given.text
    for child in list(deepcopy(given)):
        if local_name(child) in _BLOCKS:
            tail, child.tail = child.tail, None
            whole.append(child)
            paragraph = etree.SubElement(whole, name)
            paragraph.text = tail
        else:
            paragraph.append(child)
    return whole


def read_abstract(meta: Any) -> str:
    """Return the text of the abstract, including the headings of its parts."""
    abstract = find_abstract(meta)
    parts, head = [], ""
    for element in abstract.iter("{*}title", "{*}p") if abstract is not None else ():
        if next(element.iterancestors("{*}fig", "{*}table-wrap", "{*}boxed-text", "{*}p"), None) is not None:
            continue  # a caption, or part of a paragraph
        text = read_plain_text(element)
        if local_name(element) == "title":
            head = "" if text.casefold().rstrip(":.") in ("", "abstract", "summary") else f"{text.rstrip(':')}: "
        elif text:
            parts.append(f"{head}{text}")
            head = ""
    return PARTS.join(parts)


def read_plain_text(element: Any) -> str:
    """Return the text without footnote marks, with one form of each formula."""
    if element is None:
        return ""
    if len(element):
        element = deepcopy(element)  # the caller needs the article unchanged
        etree.strip_elements(element, *_NOT_TEXT, with_tail=False)
        for separate in element.iter(*_SEPARATE):
            separate.text, separate.tail = f" {separate.text or ''}", f" {separate.tail or ''}"
    for formula in [*element.iter("{*}tex-math", "{*}textual-form", f"{MATHML}math")]:
        name, forms = local_name(formula), formula.getparent()
        is_other = name != "math" and forms.find("{*}math") is not None
        is_other = is_other or (name == "textual-form" and forms.find("{*}tex-math") is not None)
        text = "" if is_other else normalize_math(read_math(formula)) if name == "math" else "".join(formula.itertext())
        formula.clear(keep_tail=True)
        formula.text = read_formula_text(text) if name == "tex-math" else text
    return extract_text(element)
