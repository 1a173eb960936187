"""Names in a TEI → authors `{first, middle[], last, suffix}`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author
from s2corpus.tei.read import local_name
from s2corpus.tei.text import Element, plain

_NOBODY = frozenset(("others", "al", "et al", "and others", "others et al"))
_SUFFIXED = re.compile(r"(.+?)[, ]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


class Name:
    """The parts of one name as the TEI has them."""

    __slots__ = ("family", "given", "suffix")

    def __init__(self, whole: str = "") -> None:
        self.given: list[str] = [whole] if whole else []
        self.family = self.suffix = ""


class NameReader:
    """Collects the names of authors from elements that are handed to it in document order."""

    TAGS = frozenset(("author", "editor", "persName", "name", "forename", "surname", "nameLink", "genName"))

    def __init__(self) -> None:
        self.names: list[Name] = []
        self._current = Name()

    def take(self, tag: str, element: Element) -> None:
        """One element of `TAGS`; the parts of an editor's name go nowhere."""
        if tag == "forename":
            self._current.given.append(plain(element))
        elif tag == "surname" or tag == "nameLink":
            current = self._current
            current.family = f"{current.family} {plain(element)}" if current.family else plain(element)
        elif tag == "author":
            self._current = Name("" if len(element) else plain(element))
            self.names.append(self._current)
        elif tag == "editor":
            self._current = Name()
        elif tag == "persName" or tag == "name":
            if not len(element):
                self._current.given = [plain(element)]
        else:
            self._current.suffix = plain(element)


def read_authors(parent: Element) -> tuple[Author, ...]:
    """The authors of an element, in order; "and others" is none, and neither is a bare affiliation."""
    reader = NameReader()
    for element in parent.iter():
        if (tag := local_name(element)) in NameReader.TAGS:
            reader.take(tag, element)
    return to_authors(reader.names)


def to_authors(names: Iterable[Name]) -> tuple[Author, ...]:
    """The authors of some names; what is no person is left out."""
    authors: list[Author] = []
    for name in names:
        given, family, suffix = name.given, name.family, name.suffix
        if (family or " ".join(given)).casefold().strip(" .,") in _NOBODY:
            continue
        if not suffix and " " in family and (match := _SUFFIXED.fullmatch(family)):
            family, suffix = match.groups()
        if given and not suffix and _plain_words(family) and _plain_words("".join(given)):
            authors.append(Author(given[0], tuple(given[1:]), family, ""))  # as make_author, sooner
        elif (author := make_author(" ".join(given), family, suffix)) is not None:
            authors.append(author)
    return tuple(authors)


def _plain_words(text: str) -> bool:
    return text.isalpha() or text.replace("-", "").replace(" ", "").isalpha()
