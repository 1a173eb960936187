"""Read licenses given as addresses, short names or sentences, and compare their strictness.

A license is never read more permissive than it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from s2orc_parse.words import read_table

_WORDS = read_table("bibliography/words")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−\u00ad"), "-")
_SEPARATOR = r"[\s\-_./,:;()\[\]+&]{0,3}"
_CODES = rf"(?:{_SEPARATOR}(?:nc|nd|sa))"
_SHORT = re.compile(
    rf"(?<![a-z])(?:cc|(?:creative)?commons|licen[sc]es){_SEPARATOR}(?P<named>(?:by)?{_CODES}+(?:{_SEPARATOR}by)?|by(?!{_CODES}))(?![a-z])"
    rf"|\b(?P<bare>(?:by|attribution)[-_](?:nc|nd|sa){_CODES}*)(?![a-z])"
    rf"|^\W*(?P<alone>by{_CODES}+)(?=[\W\d]*$)"
)
"""The short name of a license that requires attribution: CC BY-NC-ND, ccbyncnd, licenses/by-nc/, BY-SA."""
_DOTTED = re.compile(r"\b([bcns])\.\s?([acdy])\b\.?")
_ATTRIBUTION = re.compile(
    r"(?:(?:creative ?commons|(?<![a-z])cc)\W{0,3}(?:\w+\W{1,3}){0,3}?|^\W*(?:the )?)"
    rf"(?P<words>{unicodedata.normalize('NFKD', '|'.join(_WORDS['attribution_words'].split()))})\b"
)
"""The name of the license in words, after the name Creative Commons or at the start."""
_NEXT_PART = re.compile(r"\s?-\s?(?!licen|lizen|internat|unported|generic|only|version|type|style)([^\W\d].{0,60})")
"""What follows in the name: a condition, or a word in a language that this module does not read."""
_COMMONS = re.compile(r"creative ?commons|(?<![a-z])cc(?![a-z])")
_ZERO = re.compile(
    rf"(?<![a-z])cc{_SEPARATOR}(?:0|zero)(?![a-z])|publicdomain/zero|creative ?commons\W{{0,3}}(?:zero|public domain)"
    r"|public domain (?:declaration|dedication)"
)
_PUBLIC_DOMAIN_MARK = re.compile(r"publicdomain/mark|public domain mark|(?<![a-z])cc[ -]?pdm(?![a-z])|^\W*pdm\b")
_BOTH = re.compile("|".join(_WORDS["permissions_of_both_uses"]))
"""A permission of both kinds of use."""
_CONDITIONS = {
    name: re.compile(unicodedata.normalize("NFKD", "|".join(patterns)))
    for name, patterns in _WORDS["license_conditions"].items()
}
"""What a license forbids or requires."""
_VERSION = re.compile(r"(?<![\d.])([1-4]\.0|2\.1|2\.5|[1-4])(?!\.?\d)")
_ARXIV = re.compile(r"arxiv\.org/licenses/nonexclusive-distrib/(\d\.\d)")
_PUBLIC_DOMAIN = re.compile(r"(?:CC0|(?:CC-)?PDM|public.?domain|unlicense)", re.IGNORECASE)
_CREATIVE_COMMONS = re.compile(r"(?:CC[ -])?BY((?:-(?:NC|ND|SA))*)(?:-\d[\d.]*)?(?:-[A-Z]{2,4})?", re.IGNORECASE)
_SOFTWARE = re.compile(r"(?:MIT|ISC|Apache-2\.0|BSD-[023]-Clause|ODC-BY)(?:-\d[\d.]*)?", re.IGNORECASE)
_STRICTNESS = ("", "-SA", "-ND", "-NC", "-NC-SA", "-NC-ND")
"""conditions of Creative Commons' attribution licenses, in order of strictness"""
_OTHER = len(_STRICTNESS) + 1
MAX_CHARACTERS = 20_000  # of a statement; the longest license texts in articles have 3,000


def find_license(text: str) -> str | None:
    """Return the SPDX-like id of the license that an address, a short name or a sentence states, or None.

    Of several statements, all conditions apply. The version is from the statements with all conditions, if they
    agree: `CC-BY-NC` means an unknown version. ShareAlike has no effect if there may be no derivatives.
    """
    folded = unicodedata.normalize("NFKD", text[:MAX_CHARACTERS].translate(_DASHES)).casefold()
    plain = " ".join("".join(c for c in folded if not unicodedata.combining(c)).split())
    text = _DOTTED.sub(r"\1\2", plain)
    if match := _ARXIV.search(text):
        return f"arXiv-nonexclusive-{match.group(1)}"
    names = _ATTRIBUTION.finditer(text)
    if any(part and not _read_words(part[1]) for name in names for part in (_NEXT_PART.match(text, name.end()),)):
        return None
    statements = list(_find_statements(text))
    if not statements and not (_COMMONS.search(text) and _read_words(text)):
        if _PUBLIC_DOMAIN_MARK.search(text):
            return "PDM-1.0"
        return "CC0-1.0" if _ZERO.search(text) else None
    conditions = _read_words(text).union(*(found for found, _ in statements))
    versions = {version for found, version in statements if found == conditions and version}
    if "ND" in conditions:
        conditions.discard("SA")
    name = "-".join(("CC-BY", *(condition for condition in ("NC", "ND", "SA") if condition in conditions)))
    return f"{name}-{versions.pop()}" if len(versions) == 1 else name


def parse_license(value: object) -> str | None:
    """Return the license of `find_license`; return other text unchanged, and None if it is empty."""
    if not isinstance(value, str) or not value.strip():
        return None
    return find_license(value) or " ".join(value.split())[:200]


def _find_statements(text: str) -> Iterator[tuple[set[str], str | None]]:
    """Yield the conditions and the version of each short name and each name in words."""
    for match in _SHORT.finditer(text):
        parts = re.findall("nc|nd|sa", match["named"] or match["bare"] or match["alone"])
        yield {part.upper() for part in parts}, _read_version(text[match.end() : match.end() + 30])
    for match in _ATTRIBUTION.finditer(text):
        words = re.split(r"[.;](?= )|, which |https?:", text[match.start("words") :], maxsplit=1)[0]
        yield _read_words(words), _read_version(words)


def _read_words(text: str) -> set[str]:
    text = _BOTH.sub("", text)
    return {condition for condition, words in _CONDITIONS.items() if words.search(text)}


def _read_version(text: str) -> str | None:
    match = _VERSION.search(re.split(r"[.;](?= )|https?:", text, maxsplit=1)[0])
    return None if match is None else match.group(1) if "." in match.group(1) else f"{match.group(1)}.0"


def rank_strictness(license: str) -> int:
    """Return the strictness of a license (an SPDX id or other text), from 0 (public domain) to 7 (unknown)."""
    if _PUBLIC_DOMAIN.match(license):
        return 0
    if match := _CREATIVE_COMMONS.fullmatch(license):
        conditions = match.group(1).upper()
        return 1 + _STRICTNESS.index(conditions) if conditions in _STRICTNESS else _OTHER
    return 1 if _SOFTWARE.fullmatch(license) else _OTHER
