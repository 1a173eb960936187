"""Read the authors' names from the lines between title and abstract; affiliations are read elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from unicodedata import normalize

from pdf2tei.pages.model import Line, Token
from pdf2tei.pages.text import clean
from pdf2tei.words import read_pattern, read_words
from s2orc_parse.bibliography.author import Author as Person
from s2orc_parse.bibliography.names import parse_names

_AFFILIATION_OR_IMPRINT = read_pattern("authors", "affiliation_or_imprint", re.NOFLAG)
"""Patterns for lowercase text; with re.I, matching takes three times as long."""
PARTICLES = read_words("authors", "particles")
_LOWERCASE_PARTICLES = read_words("authors", "lowercase_particles")  # in capitals they are initials or names
_NOT_NAME_WORDS = read_words("authors", "not_name_words")
"""Words that are not part of a person's name: fields of study, parts of papers and journals, months, function words in capitals."""
_NOT_NAME_ENDING = read_pattern("authors", "not_name_ending")
_AMBIGUOUS_NAMES = re.compile(r"\b(?:(?<=-)France|Doi|Israel|Poland|Uk|DOI(?= [A-Z]{2})|ISRAEL|POLAND)\b")
"""Words of affiliations and imprints that are also people's names."""
SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
_TITLES = read_words("authors", "titles")
_INSTITUTES = read_words("authors", "institutes")  # abbreviated, in capitals
SEPARATOR = re.compile(r"\s*(?:[,;،·•|&、，；]|(?<=\s)[./–—-](?=\s|$)|\band\b|\bund\b|\bet\b|\bwith\b)\s*", re.I)
LABEL = read_pattern("authors", "label")
_PAIR = re.compile(r"(\S+ .*\S) (?:e|i|y|и|og|och|ve) (\S+ .*\S)")  # a surname may contain the conjunction
_MARK = read_pattern("authors", "mark", re.NOFLAG)
_NAME_WORD = re.compile(r"(?:[^\W\d_]\.[-‐]?)+|(?:[^\W\d_]\.[-‐])?[^\W\d_][^\W\d_'’‐\-]*(?:[-‐'’][^\W\d_]+)*\.?")
_MAX_CASELESS_WORDS = 4  # of a name in a script without capitals
_CJK_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}")
_ICONS = re.compile("awesome|academicon|icomoon|ionicon|marvosym|bbding")  # fonts of pictures, such as an envelope
_ORCID = re.compile(r"(?<=[a-zà-ÿ])(?:ID|iD)$")
_HYPHENATED = re.compile(r"(?<=\w)-\s(?=[a-zß-ÿ])|(?<=-)\s")  # a hyphen before a capital belongs to the name
_CONJUNCTION = re.compile(r"[\s,;]*(?:and|und|et|with|&)\b", re.I)
_NAME_ENDS = re.compile(r"(?:[,;·•|&*†‡§¶∗\d)]|\s\.|\b(?:and|und|et|with))$", re.I)
_GROUP = read_pattern("authors", "group")  # printed among the authors
_INVERTED = read_pattern("authors", "inverted", re.NOFLAG)
DEGREES = read_words("authors", "degrees")
AUTHOR_DETAILS = re.compile(r"(?:author|authors.?)\s+(?:details|information|affiliations?)|affiliations?$", re.I)
_INVISIBLE = str.maketrans(
    dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "") | {"\u2011": "-", "\u2010": "-", "`": "\u0300"}
)
"""Translation that removes invisible joiners, unifies hyphens, and combines a grave accent that is printed after its letter."""
_ELISION = re.compile(r"(?:d|dall|degli|dell|l)['’](?=[A-ZÀ-Þ])")
_GENERATIONS = read_words("authors", "generations")
_ENCLOSED_ADDRESS = re.compile(r"[(<\[][^\s()<>\[\]]+@[^\s()<>\[\]]+[)>\]]")
_ENCLOSED_AFFILIATION = re.compile(r"\s\((?=[^()]*(?:[\s,]|\)?\s*(?:$|[,;])))")  # not Ada (Countess) Byron
_RAISED_C = re.compile(r"\bM ?c (?=[A-Z])")
_MC = re.compile(r"(?<=\bMc)(?=[A-Z])")
_MISSING_SPACE_BEFORE_INITIAL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ]\.)")
_JOINED_NAMES = re.compile(r"(?<=[a-zß-ÿ]{3})(?=[A-ZÀ-Þ][a-zß-ÿ]{2})")
_MISSING_SPACES = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])|(?<=\.)(?=[A-ZÀ-Þ])")


@dataclass(frozen=True, slots=True)
class PrintedAffiliation:
    """An author's affiliation as printed, and the mark before it (empty if it has no mark)."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class FrontAuthor:
    """A parsed name, and the author's affiliations, e-mail address and marks on the front."""

    forenames: tuple[str, ...]
    surname: str
    affiliations: tuple[PrintedAffiliation, ...] = ()
    email: str = ""
    marks: tuple[str, ...] = ()
    """Numbers, letters and signs that are printed after the name and before affiliations."""


@lru_cache(maxsize=1 << 12)
def affiliation_words(text: str) -> int:
    """Count the words in a text that occur in affiliations and imprints but not in names."""
    return len(_AFFILIATION_OR_IMPRINT.findall(text.lower()))


def read_authors(lines: list[Line], *, are_cited: bool = False) -> list[FrontAuthor]:
    """Return the authors named in the lines of a byline. If a citation begins so (`are_cited`), one name may be inverted.

    All names have the font of the first line with names; lines in another font are skipped. On a line with names and
    affiliations, the names come first. A name may continue on the next line. Before most bare initials (`Jianu C`), surnames
    come first.
    """
    found: list[str] = []
    names_font: tuple[str, int] | None = None
    unfinished_name = ""
    above: Line | None = None
    affiliated = False
    for line in sorted(lines, key=lambda x: (round(x.y0 / 4), x.x0)):
        tokens = select_names(line, names_font) if names_font else line.tokens
        if above is not None and not (0.5 * line.size < line.y0 - above.y0 < 2.5 * line.size and line.overlaps(above)):
            unfinished_name = ""  # another column, or affiliations between the lines
        above = line
        if not tokens:
            unfinished_name = ""
            continue
        names: list[str] = []
        was_affiliated, affiliated = affiliated, False
        parts = split_names(tokens, min_inverted=1 if are_cited else 2)
        if unfinished_name and parts and tokens is line.tokens and not SEPARATOR.match(line.text):
            named = found[-1:] == [unfinished_name]
            joined = _HYPHENATED.sub("", f"{unfinished_name} {parts[0]}")
            is_institute = named and parts[0].isupper() and not unfinished_name[-1].isupper()  # KAIST below names
            if not is_institute and parse_printed_name(joined) is not None:
                parts[0] = joined
                if named:
                    found.pop()
        capitals = begins_with_name_in_capitals(parts)
        for part in parts:
            affiliated |= capitals and not part.isupper()
            if not affiliated and (parse_printed_name(part) is not None or _INVERTED.fullmatch(part)):
                # Berg K. L., OIST KB: initials and capitals are like those before
                before = names[-1] if names else part
                is_alike = has_initials_last(part) >= has_initials_last(before) and part.isupper() <= before.isupper()
                names += [part] if is_alike else []
            elif len(part) > 3 and affiliation_words(part) and not _GROUP.search(part):
                affiliated = True
        affiliated = affiliated or begins_with_name(line, parts)
        is_cut = not affiliated and (names or not was_affiliated) and ends_within_name(line, parts)
        unfinished_name = parts[-1] if is_cut else ""
        if names and names_font is None:
            names_font = get_names_type(line)
        found.extend(names)
    if are_inverted(found):
        parsed = zip(found, parse_names(map(_strip_titles, found)), strict=True)
        people = [_build_author(name, person) for name, person in parsed]
    else:
        people = [parse_printed_name(name) for name in found]
    return list(dict.fromkeys(name for name in people if name is not None))


def get_names_type(line: Line) -> tuple[str, int]:
    """Return the family and size of a line, or of the name at its start if only the name is in capitals or in another family."""
    first = line.tokens[0]
    is_apart = len(first.text) > 2 and first.text.isupper() and not line.text.isupper()
    if not is_apart and first.font.family != line.font.family and not first.font.raised:
        is_apart = begins_with_name(line, split_names(line.tokens))
    font = first.font if is_apart or line.font.raised else line.font
    return font.family, round(font.size)


def select_names(line: Line, kind: tuple[str, int]) -> list[Token]:
    """Return the tokens of a line that may name people, in the type of the names.

    These are all tokens of a line in this type, or of a line in nearly this size that begins with a name in capitals. Of a line in
    another type, these are the tokens at its start or after a conjunction: `Technical Union, and Ada Byron`.
    """
    family, size = get_names_type(line)
    if family == kind[0] and abs(size - kind[1]) <= begins_with_name_in_capitals(split_names(line.tokens)):
        return line.tokens
    own = [(x.font.family, round(x.font.size)) == kind for x in line.tokens]
    after = next((i for i, x in enumerate(line.tokens) if i and _CONJUNCTION.fullmatch(x.text)), len(own)) + 1
    found = [x for x, is_own in zip(line.tokens, own, strict=True) if is_own][0 if own[0] else sum(own[:after]) :]
    return found if any(parse_printed_name(x) for x in split_names(found)) else []


def are_inverted(names: list[str]) -> bool:
    """Return whether most names have the surname first and bare initials (`Jianu C`)."""
    return sum(bool(_INVERTED.fullmatch(name)) for name in names) > 0.6 * len(names)


def begins_with_name_in_capitals(parts: list[str]) -> bool:
    """Return whether a line begins with a name in capitals and continues in lowercase: `ADA BYRON, Analytical Society`."""
    is_named = bool(parts) and parts[0].isupper() and parse_printed_name(parts[0]) is not None
    return is_named and any(not part.replace("Mc", "").isupper() for part in parts)


def begins_with_name(line: Line, parts: list[str]) -> bool:
    """Return whether a line begins with a name in capitals, or before an affiliation: `Ada Byron, Academy of Numbers, London`."""
    if begins_with_name_in_capitals(parts) or len(parts) < 2 or has_initials_last(parts[0]):
        return len(parts) > 1
    is_apart = parts[0].isupper() and line.tokens[0].font.family != line.tokens[-1].font.family  # ADA BYRON, AN, UK
    is_affiliated = is_apart or affiliation_words(parts[1]) > 0 or "@" in parts[-1]
    return is_affiliated and parse_printed_name(parts[0]) is not None


def has_initials_last(text: str) -> bool:
    """Return whether a text is a surname with the initials after it, each with a period: `Jianu C. D.`."""
    return text.endswith(".") and not text.endswith("D.C.") and are_inverted([text])


def _strip_titles(text: str) -> str:
    """Return a name without titles; after a single surname they are initials (`Denver DR`)."""
    words = _ORCID.sub("", text).replace("(", " ").replace(")", " ").split()
    kept = [w for w in words if w.lower() not in _TITLES]
    return " ".join(kept if len(kept) > 1 else words)


def _build_author(text: str, person: Person | None) -> FrontAuthor | None:
    """Return the author that the name parser found; if the result is incomplete, parse the text with first names first."""
    if person is None or len(person.last.strip(".")) < 2 or not person.first:
        return parse_printed_name(text)
    return FrontAuthor((person.first, *person.middle), person.last)


def ends_within_name(line: Line, parts: list[str]) -> bool:
    """Return whether a line of names ends within a name."""
    last = line.tokens[-1]
    if not parts or last.font.raised or parts[-1] in DEGREES or _NAME_ENDS.search(line.text.rstrip()):
        return False
    is_word = parts[-1].endswith("-") or len(parts[-1].split()) == 1
    return is_word or (len(parts) > 1 and bool(SEPARATOR.search(line.text)))


def split_names(tokens: list[Token], *, min_inverted: int = 2) -> list[str]:
    """Split a line's text at separators, marks and gaps; an inverted list has at least `min_inverted` names."""
    runs: list[list[str]] = [[]]
    before: Token | None = None
    space = min((y.x0 - x.x1 for x, y in pairwise(tokens) if y.space), default=0.0)  # all words may be wide apart
    for token in tokens:
        size = max(token.font.size, 6)
        if before is not None and token.x0 - before.x1 > max(2 * space, min(1.2 * size, max(0.85 * size, 3.5 * space))):
            runs.append([])
        is_raised_c = token.text == "c" and before is not None and before.text == "M"  # M c KAY
        if (token.font.raised and not is_raised_c) or _ICONS.search(token.font.family):
            runs.append([])
        else:
            runs[-1].append((" " if token.space else "") + token.text)
        before = token
    out: list[str] = []
    for run in runs:
        text = _ENCLOSED_AFFILIATION.sub(" , ", _ENCLOSED_ADDRESS.sub("", clean("".join(run))))
        text = LABEL.sub("", _MARK.sub(" , ", _RAISED_C.sub("Mc", text)))
        if " " not in "".join(run).strip():  # the spaces between words may be missing
            text = (_MISSING_SPACES if len(text) > 12 else _JOINED_NAMES).sub(" ", text)
        text = _MISSING_SPACE_BEFORE_INITIAL.sub(" ", text)
        for part in _parse_inverted_list(text, min_inverted) or SEPARATOR.split(text):
            pair = _PAIR.fullmatch(part.strip())
            if pair and all(parse_printed_name(name) is not None for name in pair.groups()):
                out += pair.groups()
            elif part.strip(" ."):
                out.append(part.strip())
    return out


def _parse_inverted_list(text: str, least: int) -> list[str]:
    """Return the names of a list like `Smith, John; Berg, Kees` as `John, Smith`; an affiliation after them is left out.

    Return an empty list if the text is not such a list of at least `least` names.
    """
    listed = takewhile(lambda part: not affiliation_words(part), text.split(";"))
    whole = [[half.strip() for half in part.split(",") if half.strip()] for part in listed if part.strip(" ,")]
    if len(whole) < least or not all(len(halves) == 2 and len(" ".join(halves).split()) < 6 for halves in whole):
        return []
    return [f"{first}, {last}" for last, first in whole]


def _is_particle(word: str) -> bool:
    return word in _LOWERCASE_PARTICLES or word.lower() in PARTICLES


def parse_printed_name(text: str) -> FrontAuthor | None:
    """Parse a name that is printed with first names first; return None if the text does not look like a name.

    A name has two to eight words, capitalized except for particles. Names in capitals are converted to title case.
    """
    first, _, last = text.partition(", ")
    if last:  # of an inverted list, which shows where the surname begins
        author = parse_printed_name(f"{first} {last}")
        longer = author is not None and len(last) > len(author.surname) and not text.isupper()
        return FrontAuthor(tuple(first.split()), last) if longer else author
    text = _ORCID.sub("", text if text.isascii() and "`" not in text else normalize("NFC", text.translate(_INVISIBLE)))
    if _CJK_NAME.fullmatch(text):
        return FrontAuthor((text[1:],), text[0])
    words = [w for w in text.replace("(", " ").replace(")", " ").split() if w.lower() not in _TITLES]
    while len(words) > 2 and words[-1] in DEGREES and not text.isupper():
        words = words[:-1]
    if not 2 <= len(words) <= 8 or len(text) > 60 or affiliation_words(_AMBIGUOUS_NAMES.sub("", text)):
        return None
    is_sentence = len(words) > _MAX_CASELESS_WORDS and not any(map(str.isupper, text))  # in a script without capitals
    if is_sentence or not all(_NAME_WORD.fullmatch(w) or w in _LOWERCASE_PARTICLES for w in words):
        return None
    significant = [w for w in words if not _is_particle(w)]
    if (
        not significant
        or (not _INSTITUTES.isdisjoint(words) and (not text.isupper() or _INSTITUTES.issuperset(words)))
        or (words[-1] not in significant and words[-1].islower())  # a date: Junho de 2010
        or not _NOT_NAME_WORDS.isdisjoint(map(str.lower, words))
        or any(map(_NOT_NAME_ENDING.match, words))
        or not all(w[0].isupper() or w[0].lower() == w[0].upper() or _ELISION.match(w) for w in significant)
    ):
        return None
    if text.replace("Mc", "").isupper():
        words = [w if len(w) < 3 and w.endswith(".") else "".join(map(str.title, _MC.split(w))) for w in words]
    words = [w.title() if len(w) > 3 and w.isupper() and "." not in w else w for w in words]  # Ada BYRON
    if len(words) > 2 and words[-1].lower() in SUFFIXES:
        words = words[:-1]
    cut = len(words) - 1
    cut -= words[cut] in _GENERATIONS and cut > 2 and _is_particle(words[cut - 2])  # da Silva Filho
    while cut > 1 and _is_particle(words[cut - 1]):
        cut -= 2 if words[cut - 1] in ("e", "y") and cut > 2 else 1  # Ortega y Gasset
    surname = " ".join(words[cut:])
    return FrontAuthor(tuple(words[:cut]), surname) if len(surname.strip(".")) > 1 else None
