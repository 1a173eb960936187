"""Split one person's name in natural order ("First Last", "Last FM") or with the surname first ("Last, First")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from s2orc_parse.bibliography import name_words as words
from s2orc_parse.bibliography.author import Author
from s2orc_parse.words import read_table

_GLUED = re.compile(r"^((?:[^\W\d_]\.[-‐‑]?)+)([^\W\d_][^\W\d_].*)$")
_GLUED_AFTER = re.compile(r"^([^\W\d_]{3,})\.((?:[^\W\d_]\.)+)$")
_MIDDLE_INITIAL = re.compile(r"[BCF-KMNP-XZ]\.?")
"""an initial that some publishers store before the surname; not A, D, E, L, O or Y, which begin surnames: O Brien, D Silva"""
_HAN = re.compile(r"[\u3400-\u9fff]{2,4}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,4}")
EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_PATRONYMIC = re.compile(r"\w+(?:[аеоії]вич|[ао]віч|ьич|[аеоії]вна|[ае]ўна|инична)", re.IGNORECASE)
_COMPOUND_SURNAMES = tuple(read_table("bibliography/words")["compound_surnames"].split())


@dataclass(frozen=True, slots=True)
class NameStyle:
    """The conventions of a list of names, which resolve ambiguous names."""

    initials_last: bool = True
    """Capitals at the end of a name are initials ("Smith JA"), not a short surname ("Yuji LI")."""
    vancouver: bool = False
    """The list certainly contains names such as "Smith JA", so "Rama Leal II" has initials too."""
    surname_first: bool = False
    """A capitalized word at the start is the surname: "DUPONT Jean"."""
    only_initials: bool = False
    """All given names are initials. "M. Hadi Kiapour" does not fit this style; "M. García Márquez" does."""
    inverted: bool = False
    """Names have the form "Last, First"."""
    eastern: bool = False
    """A name ends in a Chinese or Korean given name, and none begins with one: "Ma Pei-bei"."""


def detect_style(parts: Sequence[str]) -> NameStyle:
    """Determine the style of the separated names of a list."""
    vancouver = natural = surname_first = initials_first = named = 0
    pairs = sum(words.are_initials(part.split()) and not words.is_suffix(part.split()) for part in parts)
    names = [part.split() for part in parts]
    for part in parts:
        tokens = part.split()
        while len(tokens) > 2 and (words.is_generation(tokens[-1]) or words.is_degree(tokens[-1])):
            tokens.pop()
        if len(tokens) < 2 or words.are_initials(tokens) or words.is_group(part):
            continue
        last, first = tokens[-1], tokens[0]
        named += 1
        initials_first += bool(_GLUED.match(first)) or bool(words.split_initials(first))
        if words.is_capitals(last) and not (words.split_initials(first) and not first.isalpha()):
            vancouver += 1
        elif first.isupper() and len(first) > 2 and not words.split_initials(first) and not last.isupper():
            surname_first += 1
        elif len(last) > 1 and "." not in last:
            natural += 1
    return NameStyle(
        vancouver=vancouver > max(natural, 1),
        initials_last=vancouver > natural + surname_first or vancouver + natural + surname_first == 0,
        surname_first=surname_first > natural,
        only_initials=named > 1 and initials_first == named,
        inverted=pairs > 0,
        eastern=any(map(_ends_with_given, names))
        and not any(words.is_hyphenated_given(name[0]) for name in names if name),
    )


def _ends_with_given(name: Sequence[str]) -> bool:
    return len(name) == 2 and words.is_hyphenated_given(name[1]) and words.is_eastern_surname(*name)


def parse_inverted(surname: str, given: str, suffix: str = "", *, has_separate_fields: bool = False) -> Author | None:
    """Parse "Last, First". A generation next to either part becomes the suffix; "van" after the given names joins the
    surname.

    `has_separate_fields` means that the source has separate fields, which are used as they are.
    """
    if not has_separate_fields and words.is_group(f"{given} {surname}") and not words.are_initials(given.split()):
        return Author("", (), f"{given} {surname}".strip(" .,"), "")  # "Group, ALTS"
    family, names = surname.replace(",", " ").split(), given.split()
    while len(family) > 1 and (words.is_degree(family[-1]) or words.is_generation(family[-1])):
        suffix = f"{family.pop()} {suffix}"
    while has_separate_fields and len(names) > 1 and words.is_title(names[0]):
        names = names[1:]
    if len(names) > 1 and not suffix and (words.is_certain_suffix(names[-1:]) or words.is_generation(names[-1])):
        suffix = names.pop()
    if (
        has_separate_fields
        and names
        and len(family) > 1
        and _MIDDLE_INITIAL.fullmatch(family[0])
        and len(family[1]) > 2
    ):
        names.append(family.pop(0))
    if not has_separate_fields:
        moved: list[str] = []
        while len(names) > 1 and words.is_lower_particle(names[-1]):
            moved.insert(0, names.pop())
        family = moved + family
    last = " ".join(family)
    if words.are_initials(names) and not (
        len(names) == 1 and ("." not in given) and words.is_uppercase_given_name(names[0], last)
    ):
        return _build_author([initial for name in names for initial in words.split_initials(name)], last, suffix)
    return _build_author(names, last, suffix)


def parse_natural(text: str, style: NameStyle, suffix: str = "") -> Author | None:
    """Parse a name without a comma: "First Middle Last Suffix", "Last FM", "Last F.M.", or the name of a group."""
    if not any(character.isalpha() for character in text):
        return None
    if words.is_group(text):
        return Author("", (), text.strip(" .,"), "")
    tokens, parts = _tokenize(text), text.split(maxsplit=1)
    while len(tokens) > 2 and len(parts) > 1 and words.is_title(parts[0]):
        tokens, parts = _tokenize(parts[1]), parts[1].split(maxsplit=1)
    while len(tokens) > 2 and (_is_degree(tokens, style) or (not suffix and _is_generation(tokens, style))):
        suffix = f"{tokens.pop()} {suffix}"
    if len(tokens) == 1:
        return _parse_single_word(tokens[0], suffix)
    is_eastern = len(tokens) == 2 and style.eastern and words.is_eastern_surname(*tokens)
    if is_eastern or (len(tokens) == 2 and all(map(EAST_ASIAN.fullmatch, tokens))):
        return _build_author(tokens[1:], tokens[0], suffix)
    if len(tokens) == 3 and [_PATRONYMIC.fullmatch(token) is not None for token in tokens[1:]] == [False, True]:
        return _build_author(tokens[1:], tokens[0], suffix)  # Иванов Пётр Ильич
    if (cut := _trailing_initials(tokens, style)) < len(tokens):
        family = tokens[:cut]
        if len(family) > 1 and words.is_generation(family[-1]):
            suffix = suffix or family.pop()
        given = [initial for token in tokens[cut:] for initial in words.split_initials(token)]
        return _build_author(given, " ".join(family), suffix)
    if style.surname_first and tokens[0].isupper() and not words.split_initials(tokens[0]) and not tokens[-1].isupper():
        cut = next(at for at, token in enumerate(tokens) if not token.isupper())
        return _build_author(tokens[cut:], " ".join(tokens[:cut]), suffix)
    cut = _surname_start(tokens, style)
    given = [name for token in tokens[:cut] for name in words.split_initials(token) or [token]]
    return _build_author(given, " ".join(tokens[cut:]), suffix)


def _tokenize(text: str) -> list[str]:
    tokens: list[str] = []
    for token in text.split():
        if match := _GLUED.match(token) or _GLUED_AFTER.match(token):
            tokens.extend(match.groups())
        elif not tokens or any(map(str.isalpha, token)):  # DBLP and OpenAlex number persons and affiliations
            tokens.append(token)
    if len(tokens) > 2 and tokens[-1][:1] == "(" and tokens[-1][-1:] == ")":
        tokens.pop()
    return tokens


def _is_degree(tokens: Sequence[str], style: NameStyle) -> bool:
    """Return whether the last word is a degree: "PhD", or "MD" if the list does not put initials last."""
    is_possible = not style.initials_last or bool(words.split_initials(tokens[0]))
    return words.is_certain_suffix(tokens[-1:]) or (is_possible and words.is_degree(tokens[-1]))


def _is_generation(tokens: Sequence[str], style: NameStyle) -> bool:
    """Return whether "JR", "II" or "III" at the end is a generation: after initials, or if the list does not put initials last."""
    if not words.is_generation(tokens[-1]):
        return False
    surnames = sum(not words.is_lower_particle(token.casefold()) for token in tokens[:-1])
    return bool(words.split_initials(tokens[-2])) or not tokens[-1].isupper() or (surnames > 1 and not style.initials_last) or (
        surnames > 1 and tokens[-1].rstrip(".") in ("II", "III", "IV") and not style.vancouver
    )  # fmt: skip


def _parse_single_word(token: str, suffix: str) -> Author | None:
    """Parse a name of one word; East Asian names begin with the surname."""
    if _HAN.fullmatch(token) or _HANGUL.fullmatch(token):
        cut = 2 if token.startswith(_COMPOUND_SURNAMES) or (len(token) == 4 and _HAN.fullmatch(token)) else 1
        if len(token) > cut:
            return _build_author([token[cut:]], token[:cut], suffix)
    return _build_author([], token, suffix)


def _trailing_initials(tokens: Sequence[str], style: NameStyle) -> int:
    """Return the index of the trailing initials ("de Vries H.J."), or the number of tokens if there are no initials."""
    cut = len(tokens)
    while cut > 1 and words.split_initials(tokens[cut - 1]) and not words.joins_surnames(tokens[cut - 1]):
        if tokens[cut - 1] in ("II", "III", "IV") and cut < len(tokens):
            break  # Ruffin IV M.T.
        cut -= 1
    if cut == len(tokens) or (words.split_initials(tokens[0]) and not _starts_with_short_surname(tokens, cut)):
        return len(tokens)
    dotted = any("." in token for token in tokens[cut:])
    return cut if dotted or style.initials_last else len(tokens)


def _starts_with_short_surname(tokens: Sequence[str], cut: int) -> bool:
    """Return whether the name begins with a short surname: "E W.", "MA DQ", "YIN Z"."""
    if cut != 1 or "." in tokens[0]:
        return False
    return "." in tokens[1] if len(tokens[0]) == 1 else len(tokens[-1]) <= len(tokens[0]) or "." in tokens[-1]


def _surname_start(tokens: Sequence[str], style: NameStyle) -> int:
    """Return the index of the surname in a name in natural order."""
    start = len(tokens) - 1
    while start > 1 and words.joins_surnames(tokens[start - 1]):  # Ortega y Gasset
        start -= 2
    start = max(start, 1)
    first_word = next((at for at, token in enumerate(tokens) if not words.split_initials(token)), start)
    if 0 < first_word < start and (style.only_initials or first_word > 1):
        return first_word  # C. Martinez Barricarte, J. M. García Márquez
    if start > 1 and words.is_first_surname(tokens[start - 1]) and not words.is_capitals(tokens[start]):
        start -= 1
    while start > 1 and words.is_particle(tokens[start - 1], tokens[-1]):
        start -= 1
    if start == 1 and not words.split_initials(tokens[0]) and words.is_surname_only(tokens[0], tokens[-1]):
        return 0  # "de Vries", "Van Gogh", "Van Der Maaten" alone
    return start


def _build_author(given: Sequence[str], last: str, suffix: str) -> Author | None:
    names: list[str] = []
    for token in given:
        initials = words.split_initials(token) if "." in token else ()
        names.extend(initials or ([token.strip(",")] if token.strip(".,") else []))
    last = last.strip(" .,")
    if not last and not names:
        return None
    return Author(names[0] if names else "", tuple(names[1:]), last, suffix.strip(" .,"))
