"""Classify the words of a name: initials, suffixes, particles, titles, and words that occur only in names of groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from s2orc_parse.words import fold, read_table

_LETTER = r"[^\W\d_]"
_HYPHEN = r"[-‐‑–]"
_DOTTED = re.compile(rf"(?:{_LETTER}{{1,2}}\.\s?{_HYPHEN}?\s?)+(?:{_LETTER}\.?)?|{_LETTER}(?:{_HYPHEN}{_LETTER}\.?)*")
_CAPITALS = re.compile(rf"{_LETTER}(?:{_HYPHEN}?{_LETTER}){{0,2}}")
_INITIAL = re.compile(rf"{_LETTER}{{1,2}}\.?(?:{_HYPHEN}{_LETTER}{{1,2}}\.?)+|{_LETTER}{{1,2}}\.|{_LETTER}\.?")
_GENERATION = re.compile(r"(?:jr|sr|jnr|snr|ii|iii|iv|2nd|3rd|4th)\.?", re.IGNORECASE)
_SYLLABLE = re.compile(r"[^AEIOUY][AEIOUY]\w")
_WORDS = read_table("bibliography/words")
_DEGREE = re.compile(rf"(?:{'|'.join(_WORDS['degrees'].split())})\.?", re.IGNORECASE)
_PARTICLES = frozenset(_WORDS["particles"].split())
_CAPITALISED = frozenset(_WORDS["capitalized_particles"].split())
_AMBIGUOUS_PARTICLES = frozenset(_WORDS["ambiguous_particles"].split())
_PINYIN = re.compile(
    r"(?:[bpmfdtnlgkhjqxrzcsyw]|[zcs]h)?(?:[aeo]|[ae]i|[ao]o|[ao]u|[aei]n|[aeio]ng|i[aeu]|iao|ian|ia?ng|iong|[iu]|ua?n?g?|uo|uai?|ui|un|ue|er)",
    re.IGNORECASE,
)
_HALF = r"[bcdfghj-np-tw-z]{0,2}[aeiouwy]{1,4}(?:ng|[hk-npt])?"
_HYPHENATED_GIVEN = re.compile(
    rf"(?=[A-Z][a-z]*{_HYPHEN}[a-z])(?i:(?!(?:al|ben|bin|el|ou){_HYPHEN}){_HALF}{_HYPHEN}{_HALF})"
)
_GIVEN = re.compile(rf"(?:{_PINYIN.pattern}){{1,2}}", re.IGNORECASE)
_KOREAN = frozenset(_WORDS["korean_surnames"].split())
_SURNAME_CONJUNCTIONS = frozenset(("y", "i"))
_VIETNAMESE = frozenset(_WORDS["vietnamese_surnames"].split())
_SPANISH = frozenset(_WORDS["spanish_surnames"].split())
_TITLE = re.compile(rf"(?:{'|'.join(_WORDS['titles'].split())})\.?", re.IGNORECASE)
GROUP = rf"\b(?:{'|'.join(_WORDS['group_words'])})\b"

_GROUP = re.compile(GROUP, re.IGNORECASE)
_UNIT = re.compile(rf"(?:{'|'.join(_WORDS['offices'])})\b", re.IGNORECASE)


@lru_cache(maxsize=4096)  # the same words recur in every list of references
def split_initials(word: str) -> tuple[str, ...]:
    """Return the initials in a word: "J.Q." and "JQ" contain two, "J.-P." one, other words none."""
    parts = re.findall(rf"{_LETTER}+", word) if _DOTTED.fullmatch(word) and ("." in word or len(word) < 4) else []
    if parts and all(len(part) == 1 or part[0].isupper() for part in parts):
        return _match_initials(word)
    return _match_initials(word) if is_capitals(word) else ()


def _match_initials(word: str) -> tuple[str, ...]:
    found = (match.group() for match in _INITIAL.finditer(word))
    return tuple(initial if re.search(_HYPHEN, initial) else initial.rstrip(".") for initial in found)


def is_capitals(word: str) -> bool:
    """Return whether a word consists of up to three capitals, as initials in Vancouver style: "JA", "J-P"."""
    return word.isupper() and bool(_CAPITALS.fullmatch(word))


def are_initials(words: Sequence[str]) -> bool:
    """Return whether all words are initials, with at most six words: "J. A.", "JA", but not "YIN Z"."""
    if not words or len(words) > 6 or (len(words) == 1 and is_generation(words[0]) and not words[0].isupper()):
        return False
    if len(words) > 1 and any(len(word) > 1 and word.isalpha() for word in words):
        return False
    return all(map(split_initials, words))


def is_generation(word: str) -> bool:
    """Return whether a word is Jr., Sr., II, III, IV, 2nd or similar. "JR" counts too, although it may be initials."""
    return len(word) < 5 and bool(_GENERATION.fullmatch(word))


def is_degree(word: str) -> bool:
    """Return whether a word is an academic degree: "MD", "Ph.D.". "MD" counts too, although it may be initials."""
    return len(word) < 8 and bool(_DEGREE.fullmatch(word))


def is_suffix(words: Sequence[str]) -> bool:
    """Return whether the words between two commas may follow a name: a generation, a degree, or "V" after a full name."""
    return bool(words) and (all(is_generation(word) or is_degree(word) for word in words) or list(words) == ["V"])


def is_certain_suffix(words: Sequence[str]) -> bool:
    """Return whether the words are a suffix that cannot be initials: "Jr.", "PhD", "3rd"."""
    return is_suffix(words) and not are_initials(words)


def is_particle(word: str, surname: str) -> bool:
    """Return whether a word before a surname belongs to it: "van", "de", "Le" ("Minh Le Nguyen" has a middle name)."""
    if word in _PARTICLES:
        return True
    return word in _CAPITALISED and fold(surname) not in _VIETNAMESE and not is_capitals(surname)


def is_surname_only(word: str, surname: str) -> bool:
    """Return whether a name is only a surname because of its particle: "Van Gogh", "de Vries"; not "Al Gore", "De Wang"."""
    return is_lower_particle(word) or (
        word not in _AMBIGUOUS_PARTICLES
        and is_particle(word, surname)
        and (word == "Van" or not _PINYIN.fullmatch(surname))
    )


def is_lower_particle(word: str) -> bool:
    """Return whether a word is a particle that libraries write after the given names: "Beethoven, Ludwig van"."""
    return word in _PARTICLES and len(word) > 1


def joins_surnames(word: str) -> bool:
    """Return whether a word joins two surnames of one person: "Ortega y Gasset"."""
    return word in _SURNAME_CONJUNCTIONS


def is_first_surname(word: str) -> bool:
    """Return whether a word before the last one is the first of two Spanish surnames: "Gabriel García Márquez"."""
    plain = fold(word)
    return plain in _SPANISH or (len(plain) > 4 and plain.endswith("ez") and word[:1].isupper())


def is_hyphenated_given(word: str) -> bool:
    """Return whether a word is two Chinese or Korean syllables with a hyphen, the second in lower case: "Pei-bei", "Jong-un"."""
    return bool(_HYPHENATED_GIVEN.fullmatch(word))


def is_eastern_surname(word: str, given: str) -> bool:
    """Return whether a word may be a Chinese or Korean surname before a given name: "Ma Pei-bei", "Wang Qi", "Kim Jong-un"."""
    is_given = is_hyphenated_given(given) or (len(given) > 1 and bool(_GIVEN.fullmatch(given)))
    return len(word) > 1 and is_given and bool(_PINYIN.fullmatch(word) or word.casefold() in _KOREAN)


def is_title(word: str) -> bool:
    """Return whether a word is a title such as Dr., Prof. or Sir."""
    return bool(_TITLE.fullmatch(word))


@lru_cache(maxsize=4096)
def is_group(text: str) -> bool:
    """Return whether a name belongs to a group: at least two words, including a word that only groups use."""
    return " " in text and bool(_GROUP.search(text))


def is_unit(text: str) -> bool:
    """Return whether a name begins like the name of a public office, which is followed by its place: "Department of Health, Odd State"."""
    return bool(_UNIT.match(text))


def is_uppercase_given_name(word: str, surname: str) -> bool:
    """Return whether a word is a given name in capitals, of one syllable, next to a surname in capitals: "KIM, JIN"."""
    return surname.isupper() and len(surname) > 1 and bool(_SYLLABLE.fullmatch(word))
