"""Clean titles, abstracts, venues and locators in the same way for every source."""

from __future__ import annotations

import html
import re

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.markup import ATTRIBUTE, resolve_formulas, space_formulas
from s2orc_parse.words import read_table, unify_characters

_WORDS = read_table("bibliography/words")
MAX_TITLE = 3_000  # characters; a longer title belongs to a broken entry
MAX_ABSTRACT = 100_000  # characters
MAX_LOCATOR = 60  # maximum length of a volume, issue or pages
_LOCATOR_WORD = re.compile(r"^(?:vol(?:ume)?|no|nr|number|issue|pp?|pages?|s)\b\.?\s*(?=\w)", re.IGNORECASE)
_UNPUBLISHED = re.compile(rf"\W*(?:{'|'.join(_WORDS['unpublished'])})\W*", re.IGNORECASE)
_SHORT_RANGE = re.compile(r"([A-Za-z]{0,2})(\d+)-(?:\1)?(\d+)")
_CATALOG = re.compile(
    r"\s+[:=/]\s.*$|\s*\((?:[^()]*[,:][^()]*|[^()]*\bed\.?|online|print|internet|electronic(?: resource)?)\)(?=\s*$)",
    re.IGNORECASE,
)
"""the title proper of a journal ends here (ISBD)"""
_NOTE = re.compile(
    r"\.?\s*\[(?:erratum|corrigendum|correction|comment|retraction|republished|summary for|original|reprint|see comment)s?\b.*$|"
    r"\.?\s*(?:\[(?:\d+ refs?|(?:systematic )?review|letter|abstract|editorial|commentary|news|case reports?|article in [a-z, ]+|"
    rf"(?:{'|'.join(_WORDS['title_languages'].split())})(?:, [a-z]+)*)\]\.?)+\s*$",
    re.IGNORECASE,
)
"""notes that MEDLINE and EMBASE append to a title: [Review] [33 refs], [Erratum appears in …], [Spanish]"""
_MISSING_TITLE = re.compile(rf"\W*(?:{'|'.join(_WORDS['missing_titles'])})\W*", re.IGNORECASE)
_COMMENTED_ARTICLE = re.compile(
    r"\s*[^\W\d_][^;]*\b(?:19|20)\d\d\b[^;]{0,20};\s*\d+\s*(?:\([^()]*\))?\s*:\s*[A-Za-z]?\d+(?:-[A-Za-z]?\d+)?\W*"
)
"""the article that a comment refers to; CINAHL appends it to the title: N Engl J Med. 2009 Jan 29;360(5):544-6"""
_TAG = re.compile(rf"</?[a-zA-Z][\w:.-]*(?:{ATTRIBUTE})*\s*/?>|<!--[^<>]*-->|<!\[CDATA\[|\]\]>|<\?[^<>]*\?>")
_BLOCK = re.compile(
    rf"</?(?:\w+:)?(?:p|title|sec|br|list|list-item|div|li|ul|ol|tr|td|th|h[1-6])(?:{ATTRIBUTE})*\s*/?>", re.IGNORECASE
)
# The header of a part stays on the line of its text.
_TITLE_END = re.compile(
    r"(?<!\s)\s*+(?:([?!])|[.:])?\s*+</(?:\w+:)?(?:title|h[1-6])\s*>(?:\s|</?(?:\w+:)?(?:p|sec)\s*>)*+", re.IGNORECASE
)
_TAGS = r"(?:\s*+<[^<>]{1,200}+>){1,8}+\s*+"
_INDENTATION = re.compile(
    rf"(?<=[(\[/“‘«]){_TAGS}|(?<!\s){_TAGS}(?=[)\]/”’».,;:?!%]|-\w)|(?<!\s)\s*+(?=<(?:\w+:)?su[bp]\s*>)"
)
"""line breaks that Crossref puts around markup: "(\\n  <i>E. coli</i>\\n  )\""""
_ABBREVIATED = re.compile(r"\b[^\W\d_]\.[^\W\d_]\.?$")
"""abbreviations at the end of a title, where the last full stop does not end the sentence: U.S., U.S.A."""
_FINAL_MARKS = re.compile(r"(?<![\s†‡§¶])(?:\s*+[†‡§¶]|\s++[*∗⁎]|(?<=[a-zà-öø-ÿ.?!)\]\"”’*∗⁎†‡§¶])[*∗⁎])++$")
"""Marks of footnotes at the end of a title, but not the star of A* and LPA*."""
_WORD_BEFORE_MARK = r"([^\W\d_]{4}[)\]\"”’?!.]*)\s*"
"""Exponents and charges follow shorter words: m², R², Ca²⁺, cm<sup>3</sup>."""
_RAISED_NOTE = re.compile(
    rf"{_WORD_BEFORE_MARK}<((?:\w+:)?(?:sup|xref|fn))(?:{ATTRIBUTE})*\s*>\s*(?:\d{{1,2}}|[a-z]|[*∗†‡§¶#,;\s])+</\2\s*>\W*$",
    re.IGNORECASE,
)
_NUMBERED_NOTE = re.compile(
    rf"{_WORD_BEFORE_MARK}(?:[¹²³⁰⁴-⁹][¹²³⁰⁴-⁹,*∗ ]*|\{{\s*\d{{1,2}}\s*\}}|\[\d{{1,2}}\]|\$?\s*\^\s*\{{?\d{{1,2}}\}}?\s*\$?|"
    r"\\(?:footnote(?:mark|text)?|thanks)\b.*)\s*$"
)
_GLUED_NOTE = re.compile(
    r"(?<![\w-])((?:[A-Z]?[a-z]{6,}|[A-Z]{7,}|[A-Z]?[a-z]+(?:ory|ing|ers|ies|ion|ent|ity|ics|ess|ure|ism|ist|ems|ets))[)\]?!.]*)"
    r"1(?:\s*,\s*[2-9*∗†])*$|"
    r"(?<![\w-])([A-Z]?[a-z]{3,}(?:tion|ment|ness|ship|ances?|ences?|ology|ities|isms?)s?[)\]?!.]*)[2-9](?:\s*,\s*[2-9*∗†])*$"
)
_NUMBERED_WORD = re.compile(rf"(?:{'|'.join(_WORDS['numbered_words'].split())})$", re.IGNORECASE)
_MIN_REPEATED = 4  # words of a title that a source gives twice
_TRANSLATED = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]\.*")
_AMPERSANDS = re.compile(r"&(?:amp;)+")
_BARE_ENTITY = re.compile(
    r"(?: (?=#(?:39|8217|x0*27|x2019);)|(?<![&\w;]))(#x[0-9A-Fa-f]{2,5}|#(?:3[489]|\d{3,5})|amp);"
)
"""an entity that lost its ampersand, as in titles of IEEE Xplore: Software amp; Services, Customer #x0027;s"""
_MAX_ROUNDS = 10  # of removing tags and unescaping; real texts need fewer
_PART_MARK = "\x1e"
PARTS = " ::: "
"""The separator between the parts of an abstract, as in S2ORC. Adapters join parts with it; it becomes a line break."""
_PART_BREAK = re.compile(r"\x1e|(?<!\S):::(?!\S)")
_FUNCTION_WORD = r"(?:The|An?|In|This|These|We|On|For|To|Our|It|With|By|As)\b"
_ABSTRACT_HEAD = re.compile(
    r"\s*(?:(?i:abstract|summary)(?:\s*[:.—–-]|[^\S\n]*\n)|ABSTRACT|SUMMARY|"
    rf"(?:Abstract|Summary)(?=\s+(?:{_FUNCTION_WORD}|[A-Z]\S*(?:(?<=[:.])|\s+(?![A-Z])|\s+{_FUNCTION_WORD}|$))))\s+(?=\S)"
    rf"|\s*(?:Abstract(?=[A-Z])|ABSTRACT(?=[A-Z][a-z]|A\s)|(?:Summary|SUMMARY)(?={_FUNCTION_WORD}))"
)
"""The head of an abstract, perhaps without a space after it.

Without punctuation, a sentence follows it, not a term: Abstract Meaning Representation, summary statistics."""
_YEAR = r"(?:19|20)\d\d\b"
_SIGN = r"(?:©|\(c\)|copyright\b)"
_RIGHTS = (
    rf"(?:{_SIGN}\s*:?\s*(?:{_SIGN}\s*)?(?:{_YEAR}|the authors?\b)|{_YEAR}\s*(?:©|\(c\)\s)"
    r"|all rights reserved|this article is protected by copyright|this is an open[- ]access article)[^\n]{0,400}"
    r"|©[^\n.]{0,80}\.?|published by (?:elsevier|(?:john )?wiley|springer|oxford|lippincott|mosby|academic press|wolters|taylor|blackwell|"
    r"cambridge|"
    r"sage|the american|s\. karger|georg thieme)\b[^\n]{0,80}"
)
_COPYRIGHT = re.compile(
    rf"(?:(?<=[.!?:)\]”\"])|\n)\s*(?:{_RIGHTS})\Z|\s+(?:copyright\s*)?©\s*{_YEAR}[^\n]{{0,150}}\Z|\A(?:{_RIGHTS})\n|\A(?:copyright\s*)?©[^\n.]{{0,80}}\.?\Z",
    re.I,
)
"""a copyright line at the end, or as the first line"""
_TRUNCATED = re.compile(r"\s*\(abstract truncated(?: at \d+ words)?\)\W*\Z", re.IGNORECASE)
"""the mark of MEDLINE at the end of a cut abstract"""
_SENTENCE = r"(?:[^\n.]|\.(?=\S))*\.?"
_SUPPLEMENT = re.compile(
    r"\s*(?:\b(?:electronic )?supplementary (?:information|materials?|data)\b\s*[:.]?\s*)?"
    rf"(?:{'|'.join(_WORDS['supplement_notices'])}){_SENTENCE}",
    re.I,
)
_CORRECTION = re.compile(
    rf"\W*(?:{'|'.join(_WORDS['correction_notices'])})[^\n]{{0,300}}|\W*(?:{'|'.join(_WORDS['missing_abstracts'])})\W*",
    re.I,
)
"""a notice in the place of an abstract"""
_APPENDED = re.compile(
    r"(?<=[.!?])\s*an? (?:author |publisher )?(?:correction|amendment|erratum|corrigendum) to this (?:paper|article) has been published\b"
    r"[^\n]{0,250}\Z",
    re.I,
)
_NOTICES = (
    (_SUPPLEMENT, ("supplementary",)),
    (_COPYRIGHT, ("©", "(c)", "copyright", "rights reserved", "open access", "open-access", "published by")),
    (_APPENDED, ("has been published",)),
    (_TRUNCATED, ("abstract truncated",)),
)
"""the patterns, and words without which they cannot match"""
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def clean_text(value: object, limit: int = MAX_TITLE) -> str | None:
    """Return the plain text of a title or venue, with markup and entities resolved and normalized white space; None if it is empty."""
    text = " ".join(_clean_parts(value, limit))[:limit]
    return text or None


def clean_abstract(value: object) -> str | None:
    """Return the plain text of an abstract with one line per part, without a leading "Abstract" and notices; None if it is empty.

    Parts are separated by `:::` (S2ORC, PubMed's structured abstracts) or by markup, not by line breaks of the source.
    """
    text = "\n".join(_clean_parts(value, MAX_ABSTRACT))[:MAX_ABSTRACT].rstrip()
    if head := _ABSTRACT_HEAD.match(text):
        text = text[head.end() :]
    folded = text.casefold()
    for pattern, marks in _NOTICES:
        if any(mark in folded for mark in marks):
            text = pattern.sub("", text)
    return text.strip() or None if any(map(str.isalnum, text)) and not _CORRECTION.fullmatch(text) else None


def _clean_parts(value: object, limit: int) -> list[str]:
    """Return the parts of a text with normalized white space.

    Entities are resolved and markup is removed until nothing changes, because some sources escape repeatedly
    (`&amp;lt;i&amp;gt;`).
    """
    if not isinstance(value, str):
        return []
    text = _replace_controls(value[: 4 * limit])
    if ";" in text:
        text = _BARE_ENTITY.sub(r"&\1;", text)
    for _ in range(_MAX_ROUNDS):
        before = text
        if "<" in text:
            text = resolve_formulas(_INDENTATION.sub(_remove_line_breaks, text) if "\n" in text else text)
            text = _TITLE_END.sub(lambda end: f"{end[1]} " if end[1] else ": ", text)
            text = _TAG.sub("", _BLOCK.sub(_PART_MARK, text))
        if "&" in text:
            text = html.unescape(_AMPERSANDS.sub("&", text))
        if text == before:
            break
    text = space_formulas(text)
    parts = (" ".join(_replace_controls(part).split()) for part in _PART_BREAK.split(unify_characters(text)))
    return [part for part in parts if part]


def _remove_line_breaks(markup: re.Match[str]) -> str:
    """Return tags without the white space around them if it has a line break."""
    return re.sub(r"\s+(?=<|$)|(?<=>)\s+", "", markup[0]) if "\n" in markup[0] else markup[0]


def _replace_controls(text: str) -> str:
    return text if text.isprintable() else CONTROL.sub(" ", text)


def clean_title(value: object) -> str | None:
    """Return a title without a final full stop (PubMed, DBLP) and without PubMed's brackets around translated titles."""
    if isinstance(value, str) and ">" in (marked := html.unescape(html.unescape(value[: 4 * MAX_TITLE]))):
        raised = _RAISED_NOTE.search(marked.rstrip())  # a mark of a footnote at its end: <sup>1</sup>
        value = marked[: raised.end(1)] if raised else value
    text = _remove_note_marks(clean_text(value) or "")
    words = text.split()
    if (
        len(words) >= 2 * _MIN_REPEATED and words[: len(words) // 2] == words[len(words) // 2 :]
    ):  # of a cover and the first page
        text = " ".join(words[: len(words) // 2])
    if not any(map(str.isalnum, text)) or _MISSING_TITLE.fullmatch(text):
        return None
    head, _, cited = text.rpartition("...")
    if head and _COMMENTED_ARTICLE.fullmatch(cited):
        text = head.rstrip(". ")
    text = _NOTE.sub("", text) or text
    if _TRANSLATED.fullmatch(text):
        text = text.rstrip(".")[1:-1].removesuffix("(author's transl)").strip()
    if text.endswith(".") and not text.endswith("..") and not _ABBREVIATED.search(text):
        text = text[:-1]
    return text.strip() or None


def _remove_note_marks(title: str) -> str:
    """Return a title without the marks of footnotes at its end, but with a number that belongs to it: COVID-19, CD4, Part 2."""
    before = None
    while before != title:
        before, title = title, _NUMBERED_NOTE.sub(r"\1", _FINAL_MARKS.sub("", title))
        match = _GLUED_NOTE.search(title)
        if (
            match
            and " " in title[: match.start()]
            and not _NUMBERED_WORD.search((match[1] or match[2]).rstrip(")]?!."))
        ):
            title = title[: match.end(1 if match[1] else 2)]
    return title


def join_titles(title: str, subtitle: str) -> str:
    """Return a title and a subtitle as one title: "On rivers." and "A survey" become "On rivers: A survey"."""
    title, subtitle = title.strip(), subtitle.strip()
    if not (title and subtitle) or subtitle.casefold() in title.casefold():
        return title or subtitle
    if title.endswith(("?", "!", ":", "–", "—", "…")):
        return f"{title} {subtitle}"
    return f"{_FINAL_MARKS.sub('', title).removesuffix('.')}: {subtitle}"


def clean_journal(value: object) -> str | None:
    """Return the name of a journal without the additions of library catalogs, or None if it is empty.

    "Langmuir : the ACS journal of surfaces and colloids", "Science (New York, N.Y.)" and "Planta = Archiv" become their first name.
    """
    text = clean_text(value)
    return text and (_CATALOG.sub("", text).strip() or text)


def clean_pages(value: object) -> str | None:
    """Return pages as `clean_locator` does, with the complete last page: "1285-90" becomes "1285-1290"."""
    text = clean_locator(value)
    if text is None or not (match := _SHORT_RANGE.fullmatch(text)):
        return text
    letters, first, last = match.groups()
    complete = first[: len(first) - len(last)] + last
    return f"{letters}{first}-{letters}{complete}" if len(last) < len(first) and int(complete) > int(first) else text


def clean_locator(value: object) -> str | None:
    """Return a volume, an issue or pages without words before the number and with plain hyphens.

    None if it is empty, or states that the paper has none ("no pagination", "ahead-of-print").
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = clean_text(value, MAX_LOCATOR)
    if text is None or _UNPUBLISHED.fullmatch(text) or not any(character.isalnum() for character in text):
        return None
    return re.sub(r"\s*[-‐‑–—−]+\s*", "-", _LOCATOR_WORD.sub("", text)).strip(" ,.;:-") or None


def clean_words(values: object) -> tuple[str, ...]:
    """Return the distinct non-empty strings of a list, or of one string, in order."""
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, list | tuple):
        return ()
    return tuple(dict.fromkeys(text for value in values if (text := clean_text(value, 200))))


def clean_issns(values: object) -> tuple[str, ...]:
    """Return the distinct valid ISSNs of a list, or of one string, in order."""
    found = map(identifiers.normalize_issn, clean_words(values))
    return tuple(dict.fromkeys(issn for issn in found if issn))
