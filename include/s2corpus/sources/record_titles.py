"""Find the title proper in the title of a record, and the kind of document, in one place for all sources (SPEC §0.23, §0.24)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from s2corpus.sources.documents import Document, find_document, is_name_of_series
from s2corpus.sources.editorial import read_title_status, strip_title_status
from s2corpus.sources.record import Editorial
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.fields import clean_text, clean_title

MIN_WORDS = 3
"""words of a title that remain before an author line"""
_MIN_CUT_NAME = 12
"""letters of a journal's name that was cut"""
_SECTION = (
    r"(?:original|regular|full(?:[ -]length)?|invited|contributed) (?:articles?|papers?|research|investigations?|contributions?)|"
    r"(?:research|review|feature|technical|brief|short|rapid|methods?|theory|perspectives?) "
    r"(?:articles?|papers?|notes?|reports?|communications?|essays?|commentary)|"
    r"(?:special )?(?:issue|section) (?:article|paper)|open access|issues and opinions|theory and review|sirs|case report|data descriptor"
)
_HEAD = re.compile(rf"\W*(?:{_SECTION})\W*", re.IGNORECASE)
_HEAD_BEFORE = re.compile(
    rf"\A\W*(?:(?i:{_SECTION}|chapter \d{{1,2}})\s*(?:[:|•·]|[-–—]\s)\s*|(?:{_SECTION.upper()})\s+(?=[A-Z][a-z]))"
)
_APPENDED = re.compile(
    r"\s+(\d\d) [A-Z][A-Za-z ,]+ \1\d\d [A-Z][A-Za-z ,]+$|(?<=\w)\s*\*+\s*This (?:research|work|study|paper|article) (?:is|was|has)\b.*$|"
    r"(?:\s*;\s*\[(?=(?:[^\s\[\]]+\s+){2})(?:[^\[\]]|\[[^\[\]]*\])+\])+\.?$"
)
"""What sources append to a title: fields of research ("06 Biological Sciences 0604 Genetics"), the text of a footnote, and the title in
another language ("Life cycles in ports; [Ciclos de vida nos portos]")."""
_RUNNING_HEAD = re.compile(
    r"\W*(?:vol(?:ume)?\.?\s*\d|issn\b|doi\s*:|https?:|www\.|page \d|downloaded (?:from|by)|received[: ]+\d|contents lists? available|"
    r"available online|journal homepage|copyright\b|©|authors?['’]?s? (?:personal )?cop(?:y|ies)|accepted manuscript|"
    r"this (?:article|document) (?:is|was|has)|please cite)|.{0,60}\bet al\.?\s*(?:/.*|\d*)$",
    re.IGNORECASE,
)
_JOINING = {"and", "und", "et", "y", "e", "by"}
_BEFORE_PERSON = {
    "of", "with", "to", "for", "on", "from", "and", "in", "de", "von", "van", "against", "after", "between", "about", "honor", "honour",
    "the", "a", "an", "is", "as", "at", "by", "dr", "professor", "prof", "sir",
}  # fmt: skip
"""A name after these words belongs to the title: "A tribute to Ada Lovelace"."""
_WORD = re.compile(r"[^\W\d_]+(?:['’.-]+[^\W\d_]+)*\.?")


@dataclass(frozen=True, slots=True)
class RecordTitle:
    """The title of a record for identity and publication, and what its source gave."""

    title: str | None
    original: str | None
    """as delivered, without markup, if it differs from the title by more than a final full stop"""
    document: Document | None
    status: Editorial | None


def read_record_title(
    given: object,
    authors: Sequence[Author],
    journal: str | None,
    venue: str | None,
    *,
    is_header: bool,
    is_notice: bool,
) -> RecordTitle:
    """Return the title proper of a record of a work by `authors` in a journal or at a venue.

    The name of the record's own journal is no title. The header of a PDF (`is_header`) may also have a part of this name, a running
    head or the heading of a section as title: it has none then. A notice (`is_notice`) about another work repeats its title.
    """
    text = clean_text(given)
    title = clean_title(given)
    if title is None:
        return RecordTitle(None, None, Document.ERRATUM if is_notice else None, None)
    status = None if is_notice else read_title_status(title)
    document = Document.ERRATUM if is_notice else find_document(title)
    if status is not None:
        title = strip_title_status(title) or title
    title = _APPENDED.sub("", _HEAD_BEFORE.sub("", title, count=1)) or title
    title = _strip_authors(title, authors)
    names = [name for name in (journal, venue) if name]
    is_journal = journal is not None and _fold(title) == _fold(journal)
    if (
        _HEAD.fullmatch(title)
        or is_journal
        or _is_series(title, names, may_be_cut=is_header)
        or (is_header and _RUNNING_HEAD.match(title))
    ):
        document = document or Document.FRONT_MATTER
        if is_header or is_journal:
            return RecordTitle(None, text, None if is_header else document, status)
    is_changed = text is not None and text.rstrip(". ") != title.rstrip(". ")
    return RecordTitle(title, text if is_changed else None, document, status)


def _is_series(title: str, names: Iterable[str], *, may_be_cut: bool) -> bool:
    """Return whether a title is the name of the record's own journal, perhaps cut, or looks like the name of a journal."""
    compared = _fold(title)
    for name in map(_fold, names):
        if compared == name and (may_be_cut or len(title.split()) >= MIN_WORDS):
            return True
        if may_be_cut and len(compared) >= _MIN_CUT_NAME and name.startswith(compared):
            return True
    return is_name_of_series(title)


def _strip_authors(title: str, authors: Sequence[Author]) -> str:
    """Return a title without the line of the record's authors behind it: "On engines Ada Lovelace and Charles Babbage".

    The line begins with the first author and names the second, too.
    """
    if not authors or not authors[0].last or not authors[0].first:
        return title
    letters = "".join(filter(str.isalpha, _fold(title)))
    if not all("".join(filter(str.isalpha, _fold(author.last))) in letters for author in authors[:2]):
        return title  # most titles, without the comparison of words
    surnames = [_fold(author.last) for author in authors[:2]]
    known = {
        _fold(word)
        for author in authors
        for part in (author.first, *author.middle, author.last)
        for word in _WORD.findall(part)
    }
    known |= {word[0] for word in known if word}
    words = list(_WORD.finditer(title))
    begin = len(words)
    while begin and (_fold(words[begin - 1].group()) in known or words[begin - 1].group().casefold() in _JOINING):
        begin -= 1
    first = _fold(_WORD.findall(authors[0].first)[0]) if _WORD.findall(authors[0].first) else ""
    while begin < len(words) and _fold(words[begin].group()) not in (first, first[:1]):
        begin += 1
    tail = [_fold(word.group()) for word in words[begin:]]
    text = "".join(tail)
    is_line = len(tail) > 1 and all(surname in text for surname in surnames) and (tail[0] == first or len(authors) > 1)
    if not is_line or begin < MIN_WORDS or words[begin - 1].group().casefold().rstrip(".") in _BEFORE_PERSON:
        return title
    if (
        title[words[begin - 1].end() : words[begin].start()].strip() in (":", "–", "—", "-", "(", '"', "“")
        and len(authors) == 1
    ):
        return title
    return title[: words[begin].start()].rstrip(" ,;:–—-*†‡|")


def _fold(text: str) -> str:
    """Return the letters and digits of a text, without case and accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(filter(str.isalnum, plain))
