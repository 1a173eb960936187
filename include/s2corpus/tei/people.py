"""`author` elements → authors `{first, middle[], last, suffix}`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author
from s2corpus.tei.read import local_name
from s2corpus.tei.text import Element, plain

_NOBODY = frozenset(("others", "al", "et al", "and others", "others et al"))
_SUFFIXED = re.compile(r"(.+?)[, ]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def read_authors(elements: Iterable[Element]) -> tuple[Author, ...]:
    """The authors of some `author` elements, in order; "and others" is none, and neither is a bare affiliation."""
    authors: list[Author] = []
    for element in elements:
        given: list[str] = []
        family = suffix = ""
        name = next((child for child in element if local_name(child) in ("persName", "name")), element)
        for part in name:
            tag = local_name(part)
            if tag == "forename":
                given.append(plain(part))
            elif tag == "surname" or tag == "nameLink":
                family = f"{family} {plain(part)}" if family else plain(part)
            elif tag == "genName":
                suffix = plain(part)
        if not family and not given and not len(name):
            family = plain(name)
        if family.casefold().strip(" .,") in _NOBODY:
            continue
        if not suffix and " " in family and (match := _SUFFIXED.fullmatch(family)):
            family, suffix = match.groups()
        if not suffix and given and _plain_words(family.replace(" ", "")) and all(map(_plain_words, given)):
            authors.append(Author(given[0], tuple(given[1:]), family, ""))  # as make_author, sooner
            continue
        if (author := make_author(" ".join(given), family, suffix)) is not None:
            authors.append(author)
    return tuple(authors)


def _plain_words(text: str) -> bool:
    return text.isalpha() or text.replace("-", "").isalpha()
