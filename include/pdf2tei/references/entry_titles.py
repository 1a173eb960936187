"""Correct the labeled fields of a reference string if the CRF begins or ends the title at a wrong place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pdf2tei.references.crf import TokenLabel
from pdf2tei.words import read_pattern

Field = tuple[TokenLabel, str]

TRIMMED = " ,.;:“”\"'‘’«»()[]"
CONTAINERS = frozenset((TokenLabel.JOURNAL, TokenLabel.BOOKTITLE))
_NUMBERS = frozenset((TokenLabel.VOLUME, TokenLabel.ISSUE, TokenLabel.PAGES))
_NEVER_IN_TITLE = frozenset((TokenLabel.AUTHOR, TokenLabel.EDITOR, TokenLabel.TITLE))
_MIN_TITLE = 10  # minimum length of a title before `In`, in characters
_MIN_TITLE_AFTER_GROUP = 20  # minimum length of a title after the name of a group, in characters
_MAX_BEFORE_BRACKET = 40  # maximum length of a title's beginning before its first bracket, in characters

_LEADING_YEAR = re.compile(r"((?:1[6-9]|20)\d\d[a-z]?)[.,:]?\s+(?=[^\W\d_])")
_BEFORE_YEAR = re.compile(r"\s*(?:\[\d+\]\s*)?([^()]+?)\.\s*\((?:1[6-9]|20)\d\d[a-z]?(?:,[^)]*)?\)\.\s")
_QUOTE = re.compile(r"[“«]([^“”«»]{4,}?)[”»](?![^\W_])|(?<![^\W_])»([^“”«»]{4,}?)«|„([^„“”«»]{4,}?)[“”]")
_LOWERCASE_WORD = re.compile(r"\b[a-zß-ÿ]{5,}\b(?!\.)")
_QUOTE_END = re.compile(r"(?<=[^\W\d_]{2}[.,?!])[”\"»](?=\s*[^\W_])|(?<=[^\W\d_]{3})[”\"»«“][.,]?(?=\s+[A-Z0-9])")
_SENTENCE = read_pattern("entry_titles", "sentence", re.NOFLAG)
_QUESTION_END = re.compile(r"[?!]\s+(?=[A-Z0-9À-Þ])(?!.*[?!])")

_STOP = re.compile(r"\.\s+(?=[^\W\d_])")
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
_NAMES = re.compile(r"[,&]|\b(?:and|et al|eds?)\b|^[^\W\d_]*[a-z][\w-]* [A-Z]{1,3}\W*$")
_ENDS_SENTENCE = re.compile(r"[.?!][”\"'’)]?\s+$")
_OUTSIDE_TITLE = re.compile(r"\s*\)?[”\"'’]?[.?!]|\s*[(,;:]\W*(?:1[6-9]|20)\d\d[a-z]?\W+$|\W*\[|.*(?:\"|\beds?\b)")
_NO_JOURNAL = r"(?!(?:Part|Pt|Vol|No|An?|The|Et|Re\w+|[IVX]+)\b)"
_ABBREVIATED = read_pattern("entry_titles", "abbreviated", re.NOFLAG)
_CAPITALIZED = re.compile(rf"(?<=[^\W\d_]{{4}})[.?!]\s+{_NO_JOURNAL}((?:(?:[A-Z][\w-]*|and|of|&)(?:\s+|$)){{1,6}})$")
_IN = re.compile(r"(?:[.?!]|\.,)\s+In:?\s+(?=[A-Z])(?!Viv|Vitr|Sit|Silic)")
_AFTER_IN = re.compile(r"\W[iI]n:?\s+$")
_COMMA_IN = re.compile(rf"{_IN.pattern}|,\s+[iI]n:?\s+(?=[A-Z])")
_GROUP = read_pattern("entry_titles", "group", re.NOFLAG)
_NAMES_AND_YEAR = read_pattern("entry_titles", "names_and_year", re.NOFLAG)
_GROUP_AND_YEAR = re.compile(r"([^\d:.?!]{3,90}?),?\s\(?((?:1[6-9]|20)\d\d[a-z]?)\)?\s?:\s")
_BOOK = read_pattern("entry_titles", "book", re.NOFLAG)  # title, place and publisher of a book after its year
_PART = read_pattern("entry_titles", "part", re.NOFLAG)
_PAGES_BEFORE_IN = re.compile(r"[.,]?\s(?:S|pp?)\.\s?\d[\d\s–-]*$")
_EDITION = read_pattern("entry_titles", "edition")
_EDITED = read_pattern("entry_titles", "edited", re.NOFLAG)
_NO_BOOK = read_pattern("entry_titles", "no_book")


def correct_fields(fields: Sequence[Field], raw: str) -> list[Field]:
    """Return the fields of a reference string with wrong borders of the title corrected.

    A title after authors and year goes up to `In`, or up to place and publisher. Another title is moved to the nearest border of
    a sentence. A quoted title is exactly the text between its quotation marks. If the title or the journal is missing, the other
    is split at the end of a sentence. Without authors, text before a year in brackets is a title.
    """
    named = _read_after_year(_name_authors(fields, raw), raw)
    return _cut_editions(_split_joined_fields(_align_title(_relabel_titles(named, raw), raw), raw))


def _name_authors(fields: Sequence[Field], raw: str) -> list[Field]:
    """Return the fields with the authors at the start whom the CRF takes for a title: natural names, or a group before a colon."""
    out = list(fields)
    if not out or any(kind is TokenLabel.AUTHOR for kind, _ in out):
        return out
    if (match := _NAMES_AND_YEAR.match(raw)) and out[0][1] in match[1]:
        return [(TokenLabel.AUTHOR, match[1]), *out[1:]]
    if (match := _GROUP_AND_YEAR.match(raw)) and out[0][1].startswith(match[0]):
        title = (out[0][0], out[0][1][match.end() :])
        return [(TokenLabel.AUTHOR, match[1]), (TokenLabel.DATE, match[2]), title, *out[1:]]
    return out


def _read_after_year(fields: list[Field], raw: str) -> list[Field]:
    """Return the fields with the whole title after authors and year: up to `In`, or up to place and publisher of a book."""
    dated = next((i for i, (kind, _) in enumerate(fields) if kind is TokenLabel.DATE), len(fields))
    if dated == len(fields) or not {kind for kind, _ in fields[:dated]} <= {TokenLabel.AUTHOR, TokenLabel.EDITOR}:
        return fields
    starts = locate(fields, raw)
    begin, named = starts[dated] + len(fields[dated][1]), fields[: dated + 1]
    if part := _PART.match(raw, begin):
        end, title = part.end(), _PAGES_BEFORE_IN.split(part["title"])[0]
        after, until = part.start("title") + len(title), part.end("title")
        places = list(zip(fields, starts, strict=True))
        numbers = [x for x, at in places if x[0] in _NUMBERS and after <= at and at + len(x[1]) <= until]
        rest = ((kind, raw[max(end, at) : at + len(value)]) for (kind, value), at in places)
        return [*named, (TokenLabel.TITLE, title), *numbers, *(field for field in rest if field[1])]
    book = _BOOK.match(raw, begin)
    if book is None or _NO_BOOK.search(book[0]) or (not book["publisher"] and fields[-1][0] is TokenLabel.PUBLISHER):
        return fields
    begin, end = book.span("series")
    kinds = {kind for (kind, _), at in zip(fields, starts, strict=True) if not begin <= at < end}
    is_journal = TokenLabel.JOURNAL in kinds and not book["publisher"] and book["stop"] == "."
    if not _NUMBERS.isdisjoint(kinds) or (is_journal and TokenLabel.TITLE in kinds):
        return fields
    publisher = [(TokenLabel.PUBLISHER, book["publisher"])] if book["publisher"] else []
    return [*named, (TokenLabel.TITLE, book["title"]), (TokenLabel.LOCATION, book["place"]), *publisher]


def _cut_editions(fields: list[Field]) -> list[Field]:
    """Return the fields with editors apart from their book, and titles without the number of the edition and what follows it."""
    out: list[Field] = []
    for kind, value in fields:
        if kind in {TokenLabel.TITLE, *CONTAINERS}:
            edited = _EDITED.match(value) if any(other is TokenLabel.TITLE for other, _ in out) else None
            out += [(TokenLabel.EDITOR, edited[1])] if edited else []
            kind, value = (TokenLabel.BOOKTITLE, value[edited.end() :]) if edited else (kind, value)
            value = _EDITION.split(value)[0] or value
        out.append((kind, value))
    return out


def _relabel_titles(fields: Sequence[Field], raw: str) -> list[Field]:
    """Return the fields with one title: the first of two containers is a title, and the title after editors or `In` is a book."""
    out = list(fields)
    kinds = [kind for kind, _ in out]
    containers = [i for i, kind in enumerate(kinds) if kind in CONTAINERS]
    if TokenLabel.TITLE not in kinds:
        if len(containers) > 1 and kinds[containers[0]] is TokenLabel.BOOKTITLE:
            out[containers[0]] = (TokenLabel.TITLE, out[containers[0]][1])
    elif not containers:
        starts = locate(out, raw)
        for i in range(kinds.index(TokenLabel.TITLE) + 1, len(out)):
            is_within = kinds[i - 1] is TokenLabel.EDITOR or _AFTER_IN.search(raw, 0, starts[i]) is not None
            if kinds[i] is TokenLabel.TITLE and is_within:
                out[i] = (TokenLabel.BOOKTITLE, out[i][1])
    return out


def _align_title(fields: list[Field], raw: str) -> list[Field]:
    """Return the fields with the first title extended to complete sentences, without groups, books and journals in it."""
    at = next((i for i, (kind, _) in enumerate(fields) if kind is TokenLabel.TITLE), None)
    if at is None:
        return fields
    starts = locate(fields, raw)
    start = _find_title_start(fields, at, raw, starts[at])
    end, after = _find_title_end(fields, at, raw, starts)
    before, rest = list(fields[:at]), list(fields[after:])
    if start < starts[at]:
        before[-1] = (before[-1][0], raw[starts[at - 1] : start].rstrip())
    group = _GROUP.match(raw, start, end)
    if group and end - group.end() > _MIN_TITLE_AFTER_GROUP:
        before.append((TokenLabel.COLLABORATION, group[0].rstrip(" .")))
        start = group.end()
    title = raw[start:end]
    is_in_journal = any(kind is TokenLabel.JOURNAL for kind, _ in fields)
    book = (_IN if is_in_journal else _COMMA_IN).search(title, _MIN_TITLE)
    if book:
        return [*before, (TokenLabel.TITLE, title[: book.start()]), (TokenLabel.BOOKTITLE, title[book.end() :]), *rest]
    if rest and rest[0][0] is TokenLabel.JOURNAL:
        is_listed = raw[end : end + 1] in ",:&"
        journal = (_CAPITALIZED if is_listed else _ABBREVIATED).search(title)
        if journal:
            last = starts[after] + len(rest[0][1])
            rest[0] = (TokenLabel.JOURNAL, raw[start + journal.start(1) : last])
            title = title[: journal.start() + 1]
    return [*before, (TokenLabel.TITLE, title), *rest]


def locate(fields: Sequence[Field], raw: str) -> list[int]:
    """Return the position of each field in its string."""
    out: list[int] = []
    end = 0
    for _, value in fields:
        out.append(raw.index(value, end))
        end = out[-1] + len(value)
    return out


def _find_title_start(fields: list[Field], at: int, raw: str, start: int) -> int:
    """Return the start of a title, before words that the CRF adds to the authors.

    Such words follow the last full stop before the title. They end at a colon, open a bracket that the title closes, or precede
    a comma or semicolon before a lower-case word.
    """
    head = raw[:start]
    stop = max((m.end() for m in _STOP.finditer(head)), default=0)
    words = head[stop:].rstrip()
    if at == 0 or fields[at - 1][0] is not TokenLabel.AUTHOR or not stop or not _LONG_WORD.search(words):
        return start
    opens = words.count("(") == 1 and ")" not in words and len(words) < _MAX_BEFORE_BRACKET and ")" in raw[start:]
    continues = raw[start].islower() and words.endswith((",", ";")) and len(words.split()) < 4
    return stop if (words.endswith(":") and not _NAMES.search(words.rstrip(":"))) or opens or continues else start


def _find_title_end(fields: list[Field], at: int, raw: str, starts: list[int]) -> tuple[int, int]:
    """Return the end of a title and the index of the field after it.

    Places and years between the title and its journal belong to the title if a full stop follows them, and none precedes them.
    """
    end = starts[at] + len(fields[at][1])
    journal = next((i for i in range(at + 1, len(fields)) if fields[i][0] is TokenLabel.JOURNAL), None)
    if journal is None or any(kind in _NEVER_IN_TITLE for kind, _ in fields[at + 1 : journal]):
        return end, at + 1
    between = raw[end : starts[journal]]
    is_quoted = "”" in between and "“" not in fields[at][1]
    if len(between) < 5 or not _ENDS_SENTENCE.search(between) or _OUTSIDE_TITLE.match(between) or is_quoted:
        return end, at + 1
    return end + len(between.rstrip(" .")), journal


def _split_joined_fields(fields: list[Field], raw: str) -> list[Field]:
    kinds = {kind for kind, _ in fields}
    before = _BEFORE_YEAR.match(raw)
    if before and len(before[1]) > 3 and kinds & CONTAINERS and kinds.isdisjoint((TokenLabel.TITLE, TokenLabel.AUTHOR)):
        return [(TokenLabel.TITLE, before[1]), *(f for f in fields if f[1] not in before[1])]
    out: list[Field] = []
    for i, (kind, value) in enumerate(fields):
        if kind is TokenLabel.TITLE and (dated := _LEADING_YEAR.match(value)) and kinds.isdisjoint({TokenLabel.DATE}):
            out.append((TokenLabel.DATE, dated[1]))
            value = value[dated.end() :]
        others = CONTAINERS if kind is TokenLabel.TITLE else {TokenLabel.TITLE}
        alone = kind in {TokenLabel.TITLE, *CONTAINERS} and not kinds & others
        cut = _QUOTE_END.search(value) if alone else None
        after = [kind for kind, _ in fields[i + 1 : i + 3]]  # numbers, perhaps after a date
        numbered = after and (after[0] in _NUMBERS or (after[0] is TokenLabel.DATE and after[-1] in _NUMBERS))
        if cut is None and alone and kind is not TokenLabel.JOURNAL and numbered:
            cut = next(reversed([m for m in _SENTENCE.finditer(value) if len(value) - m.end() > 2]), None)
        elif cut is None and alone and kind is TokenLabel.JOURNAL:
            prose = [m for m in _SENTENCE.finditer(value) if _LOWERCASE_WORD.search(value, 0, m.start())]
            cut = prose[-1] if prose else next(iter(_QUESTION_END.finditer(value)), None)
        if cut is None:
            out.append((kind, value))
        else:
            container = kind if kind in CONTAINERS else TokenLabel.JOURNAL
            out += [(TokenLabel.TITLE, value[: cut.end()].rstrip()), (container, value[cut.end() :].lstrip())]
    title = next((value for kind, value in out if kind is TokenLabel.TITLE), None)
    quotes = (m[1] or m[2] or m[3] for m in _QUOTE.finditer(raw))
    quote = next((x for x in quotes if title and title.strip(TRIMMED) in x), None)
    if title is None or quote is None:
        return out
    return [(kind, quote if value == title else value) for kind, value in out if value == title or value not in quote]
