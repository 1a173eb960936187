"""Parse author names in all usual notations into {first, middle[], last, suffix}.

A list is parsed as a unit, because the meaning of its commas depends on the other names. "Last, First" uses two parts;
"First Last" and "Last FM" use one. Each reading of the parts has a cost; a change of notation within the
list adds to it. The cheapest reading is chosen.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from s2orc_parse.bibliography import name_words as words
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.name_costs import list_costs
from s2orc_parse.bibliography.person import NameStyle, detect_style, parse_inverted, parse_natural
from s2orc_parse.bibliography.tex import decode_accents
from s2orc_parse.words import to_letters

MAX_CHARACTERS = 100_000  # maximum length of an author string; the rest is ignored
MAX_NAME = 1_000  # maximum length of one name in characters; the rest is ignored
_ET_AL = re.compile(
    r"(?:\b(?:and|with)\s+)?(?:\b[Ee]t\.?\s+[Aa]l(?:ii|ia|\.|\b(?![-'’\w]|\s+[^\W\d_]))\.?|\b(?:and|&)\s+(?:\d+\s+)?(?:others|coworkers|colleagues)\b)"
    r"|…|\.\.\.",
    re.IGNORECASE,
)
CONJUNCTION = re.compile(r"\s*(?:[,;]\s*|\s|^)(?:and|und|et|og|och|&)\s+(?=\S)|\s*&\s*", re.IGNORECASE)
_AND_OF_NAMES = re.compile(r"(?<=\S)\s+[ye]\s+(?=\S)")
_WIDE = str.maketrans(
    {"，": ",", "、": ",", "،": ",", "；": ";", "؛": ";", "\u00a0": " ", "’": "’"} | dict.fromkeys("‐‑", "-")
)
_HYPHENS = str.maketrans("‐‑", "--")
_EDGES = " ,;:&*|/"
_MARKS = re.compile(r"[*†‡§¶#∗⁎]+|(?<=[^\W\d_])\d{1,2}(?=$|[\s,;])|[¹²³⁰-⁹]+")
_SPACE = re.compile(r"\s+")
_SPLIT_INITIALS = re.compile(r"(?<=\b[^\W\d_]\.) ?- ?(?=[^\W\d_]\.)")  # IEEE prints J. -P. Serre
_PERSON = re.compile(r"[^\W\d_]\.(?:-[^\W\d_]\.)? [^,]*[^\W\d_]{2}[^.,]*")
_ENCLOSED = re.compile("\ue000(\\d+)\ue001")
_BRACED = re.compile(r"\{[^{}]*[\s,][^{}]*\}")  # braces enclose one name


def parse_authors(text: str) -> tuple[Author, ...]:
    """Return the authors in a string.

    Supported notations: BibTeX ("Last, First and Last, First", braces and accents), "Last, First; Last, First", "First
    Last, First Last and First Last", APA ("Last, F. M., Last, F., & Last, F."), Vancouver ("Last FM, Last F"), "Last
    F.M., Last F.", "Last, F.M., Last, F.", lists that invert only the first author, and a trailing "et al." or "and
    others". Names of groups are not split. Character entities are resolved. An empty string gives no authors. No
    exception is raised.
    """
    text = _ET_AL.sub(" , ", _clean(text[:MAX_CHARACTERS])).strip(_EDGES)
    if not text:
        return ()
    if ";" in text:
        pieces = [_split_blocks(piece) for piece in text.split(";")]
        blocks = [_Block(block.parts, len(found) == 1) for found in pieces for block in found]
    else:
        blocks = _split_blocks(text)
        most = max((len(block.parts) for block in blocks), default=0)
        pairs = sum(len(block.parts) == 2 for block in blocks)
        if len(blocks) > 1 and most == 2 and (pairs == len(blocks) or len(blocks) > 2):
            firsts = [block.parts[0].split() for block in blocks]
            natural = [words.are_initials(t[:1]) and len(t) > 1 and not words.are_initials(t[1:]) for t in firsts]
            blocks = [_Block(block.parts, not is_natural) for block, is_natural in zip(blocks, natural, strict=True)]
    people = [block for block in blocks if not block.is_group]
    style = detect_style([part for block in people for part in block.parts if len(block.parts) != 2 or not block.one])
    return tuple(author for block in blocks for author in _parse_block(block, style))


def parse_names(names: Iterable[str]) -> list[Author | None]:
    """Parse the names of a list that the source separates; the list's style resolves ambiguous names.

    For example, "Weinan E" next to "Jiequn Han" and "Arnulf Jentzen" has a surname of one letter. A name without a
    letter gives None.
    """
    cleaned = [_ET_AL.sub("", _clean(name[:MAX_CHARACTERS])) for name in names]
    split = [
        [part for part in map(_strip_part, [name] if words.is_group(name) else name.split(",")) if part]
        for name in cleaned
    ]
    style = detect_style([parts[0] for parts in split if len(parts) == 1])
    return [next(iter(_parse_block(_Block(parts, True), style)), None) for parts in split]


def parse_name(text: str) -> Author | None:
    """Parse one name, "Last, First Middle, Suffix" or "First Middle Last Suffix"; return None if it contains no letter."""
    return parse_names([text])[0]


def make_author(given: str | None, family: str | None, suffix: str | None = None) -> Author | None:
    """Build an author from separate given and family names; return None if both are empty.

    Crossref sometimes puts the complete name into one of the two; such names are parsed as one string.
    """
    texts = (_MARKS.sub("", html.unescape((part or "")[:MAX_NAME]).translate(_HYPHENS)) for part in (given, family))
    given, family = (decode_accents(_SPLIT_INITIALS.sub("-", _SPACE.sub(" ", text))).strip(" ,;") for text in texts)
    given = given if any(map(str.isalpha, given)) else ""
    if not family:
        return parse_name(given)
    if not given and not suffix:
        if not any(map(str.isalnum, family)):
            return None
        is_person = "," in family and not words.is_group(family)
        return parse_name(family) if is_person else Author("", (), family.strip(" ."), "")
    if words.is_hyphenated_given(family) and words.is_eastern_surname(given, family):
        given, family = family, given
    return parse_inverted(family, given, _SPACE.sub(" ", (suffix or "")[:MAX_NAME]).strip(), has_separate_fields=True)


def make_group(name: str) -> Author | None:
    """Return the author that is a group. Its name has no parts: "Department of Health, Odd State"."""
    name = (
        _SPACE.sub(" ", decode_accents(html.unescape(name[:MAX_CHARACTERS])))
        .replace("{", "")
        .replace("}", "")
        .strip(" ,;:")
    )
    return Author("", (), name, "") if any(map(str.isalnum, name)) else None


def surname_key(author: Author) -> str:
    """Return the comparison key of a surname: letters only, without case and accents ("Garcia-Molina" → garciamolina)."""
    return to_letters(author.last or author.first)


@dataclass(frozen=True, slots=True)
class _Block:
    """The comma-separated parts between two semicolons or conjunctions; `one` means that they belong to one author."""

    parts: list[str]
    one: bool = False
    is_group: bool = False  # BibTeX's braces enclose the name


def _clean(text: str) -> str:
    text = decode_accents(html.unescape(text).translate(_WIDE))
    text = text.replace('"', "") if text.count('"') % 2 else text
    return _SPLIT_INITIALS.sub("-", _SPACE.sub(" ", _MARKS.sub("", text))).strip(_EDGES)


def _strip_part(part: str) -> str:
    """Return a part without enclosing braces and brackets and without prefixes that are not part of a name."""
    part = re.sub(
        r"^(?:\(?on behalf of|for)\s+(?=the\b|[A-Z])", "", part[:MAX_NAME].replace("{", "").replace("}", "").strip(" :")
    )
    if part[:1] in "[(" and part[-1:] in "])":
        part = part[1:-1]
    if part.startswith("-") and part.count("-") > 1:  # some exports write groups as "-ALTS-Study-Group"
        part = part.replace("-", " ")
    return part.strip(" :|/") if any(character.isalpha() for character in part) else ""


def _split_blocks(text: str) -> list[_Block]:
    """Split a text at conjunctions and then at commas, but not inside braces or names of groups."""
    braced = _BRACED.findall(text)
    numbers = iter(range(len(braced)))
    text = _BRACED.sub(lambda _: f"\ue000{next(numbers)}\ue001", text)
    pieces = [piece for piece in CONJUNCTION.split(text) if piece.strip(_EDGES)]
    joined: list[str] = []
    for piece in pieces:
        before = joined[-1].rsplit(",", 1)[-1] if joined else ""
        first, _, rest = piece.partition(",")
        is_person = words.are_initials(rest.split(",")[0].split())  # CMS Collaboration and Smith, J.
        if before and words.is_group(before) and " " not in first.strip() and not is_person:
            joined[-1] += f" and {piece}"  # Centers for Disease Control and Prevention
        else:
            joined.extend(_AND_OF_NAMES.split(piece) if _separates_people(piece) else [piece])
    blocks = []
    for piece in joined:
        if (enclosed := _ENCLOSED.fullmatch(piece.strip(_EDGES))) is not None:
            blocks += _split_braced(braced[int(enclosed.group(1))][1:-1])
            continue
        restored = re.sub("\ue000(\\d+)\ue001", lambda m: braced[int(m.group(1))].replace(",", "\ue002"), piece)
        parts = [part.replace("\ue002", ",") for part in map(_strip_part, restored.split(",")) if part]
        if len(parts) == 2 and words.is_unit(parts[0]):
            blocks.append(_Block([", ".join(parts)], is_group=True))
        elif parts:
            blocks.append(_Block(parts))
    return blocks


def _split_braced(text: str) -> list[_Block]:
    """Return the blocks of a text in braces: the name of a group, unless it is "Last, F. M.", "F. Last" or a list of people."""
    parts = [part for part in map(_strip_part, text.split(",")) if part]
    if len(parts) == 2 and words.are_initials(parts[1].split()):
        return [_Block(parts, True)]
    if not words.is_group(text) and (" and " in text or _PERSON.fullmatch(text)):
        return _split_blocks(text)
    return [_Block([text], is_group=True)]


def _separates_people(piece: str) -> bool:
    """Return whether a Spanish "y" or Portuguese "e" separates two people, not two surnames of one person."""
    sides = _AND_OF_NAMES.split(piece)
    if len(sides) != 2:
        return False
    left, right = sides[0].rsplit(",", 1)[-1].split(), sides[1].split(",")[0].split()
    return bool(left) and ((words.are_initials(left[-1:]) and "." in left[-1]) or (len(left) > 1 and len(right) > 1))


def _parse_block(block: _Block, style: NameStyle) -> list[Author]:
    parts = block.parts
    if block.is_group:
        return [group] if (group := make_group(parts[0])) else []
    if block.one and len(parts) > 1:
        found = [part for part in parts if not words.is_certain_suffix(part.split())]
        if len(found) == 3 and words.are_initials(found[0].split()) and found[2].startswith(found[0][0]):
            parts = found = found[1:]  # Scopus: "A. M., Lovelace, Ada Maria"
        # "John Smith, MD" has a degree in a list of that style, but not "García Márquez, M.D.".
        if len(found) == 2 and (style.inverted or len(found[0].split()) < 2 or not words.is_suffix(found[1].split())):
            suffix = next((part for part in parts if part not in found), "")
            return [author] if (author := parse_inverted(found[0], found[1], suffix)) else []
    return [author for author in _choose_reading(parts, style) if author is not None]


@dataclass(frozen=True, slots=True)
class _Reading:
    """The cheapest reading of the parts up to one part."""

    cost: float
    before: int  # start of the last author
    paired: bool  # whether the last author is "Last, First"


def _choose_reading(parts: Sequence[str], style: NameStyle) -> list[Author | None]:
    """Return the authors in comma-separated parts, using the cheapest reading (dynamic programming)."""
    split = [part.split() for part in parts]
    suffixed = [words.is_suffix(part) for part in split]
    readings: list[dict[bool, _Reading]] = [{} for _ in range(len(parts) + 1)]
    readings[0] = {False: _Reading(0.0, 0, False)}
    for at in range(len(parts)):
        current = sorted(readings[at].items())
        for length in range(1, min(4, len(parts) - at) + 1 if current else 0):
            rest = suffixed[at + 1 : at + length]
            if sum(rest) < len(rest) - 1:  # the other parts cannot be paired
                continue
            for paired, added_cost in list_costs(split[at : at + length], rest):
                for previous_is_paired, reading in current:
                    change = 0.0
                    if at and previous_is_paired != paired:
                        change = 4.0 if paired else 0.5 if reading.before == 0 else 1.5
                    cost = reading.cost + added_cost + change
                    after = readings[at + length].get(paired)
                    if after is None or cost < after.cost - 1e-9:
                        readings[at + length][paired] = _Reading(cost, at, previous_is_paired)
    authors, at = list[Author | None](), len(parts)
    paired = min(readings[at], key=lambda form: (readings[at][form].cost, form))
    while at:
        reading = readings[at][paired]
        authors.append(_make_author(parts[reading.before : at], paired, style))
        at, paired = reading.before, reading.paired
    return authors[::-1]


def _make_author(parts: Sequence[str], paired: bool, style: NameStyle) -> Author | None:
    if not paired:
        return parse_natural(parts[0], style, " ".join(parts[1:]))
    suffixes = [at for at in range(1, len(parts)) if words.is_suffix(parts[at].split())]
    given = next(at for at in range(1, len(parts)) if at not in suffixes or len(suffixes) == len(parts) - 1)
    return parse_inverted(parts[0], parts[given], " ".join(parts[at] for at in suffixes if at != given))
