"""`author` elements → authors `{first, middle[], last, suffix}`."""

from __future__ import annotations

import re

from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author
from s2corpus.tei.read import local_name
from s2corpus.tei.text import Element, plain

_NOBODY = frozenset(("others", "al", "et al", "and others", "others et al"))
_SUFFIXED = re.compile(r"(.+?)[, ]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def read_author(element: Element) -> Author | None:
    """The author of one `author` element; None if it names nobody: "and others", a bare affiliation."""
    given: list[str] = []
    family = suffix = ""
    for child in element:
        tag = local_name(child)
        if tag != "persName" and tag != "name":
            continue
        for part in child:
            tag = local_name(part)
            if tag == "forename":
                given.append(plain(part))
            elif tag == "surname" or tag == "nameLink":
                family = f"{family} {plain(part)}" if family else plain(part)
            elif tag == "genName":
                suffix = plain(part)
        if not given and not family:
            given = [plain(child)]
        break
    else:
        if not len(element):
            given = [plain(element)]
    if (family or " ".join(given)).casefold().strip(" .,") in _NOBODY:
        return None
    if not suffix and " " in family and (match := _SUFFIXED.fullmatch(family)):
        family, suffix = match.groups()
    if given and not suffix and _is_plain(family.replace(" ", "")) and _is_plain("".join(given)):
        return Author(given[0], tuple(given[1:]), family, "")  # as make_author, sooner
    return make_author(" ".join(given), family, suffix)


def _is_plain(text: str) -> bool:
    return text.isalpha() or text.replace("-", "").isalpha()
