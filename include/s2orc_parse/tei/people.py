"""Convert `author` elements to authors `{first, middle[], last, suffix}`."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.fields import add_affiliations
from s2orc_parse.bibliography.names import make_author, make_group
from s2orc_parse.tei.drafts import Element
from s2orc_parse.tei.read import NAMES, local_name
from s2orc_parse.xml import extract_text

_NO_NAMES = frozenset(("others", "al", "et al", "and others", "others et al"))
_PLACES = frozenset(("orgName", "settlement", "region", "country"))
_SUFFIXED = re.compile(r"(.+?)[, ]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def read_author(element: Element) -> Author | None:
    """Return the author of an `author` element, or None if it contains no name ("and others", only an affiliation)."""
    given: list[str] = []
    family = suffix = group = ""
    named = detailed = False
    for child in element:
        tag = NAMES[child.tag]
        if tag == "affiliation" or tag == "idno":
            detailed = True
        elif tag == "orgName":
            group = group or extract_text(child)
        if named or (tag != "persName" and tag != "name"):
            continue
        named = True
        for part in child:
            tag = NAMES[part.tag]
            if tag == "forename":
                given.append(extract_text(part))
            elif tag == "surname" or tag == "nameLink":
                family = f"{family} {extract_text(part)}" if family else extract_text(part)
            elif tag == "genName":
                suffix = extract_text(part)
        if not given and not family:
            given = [extract_text(child)]
    if group and not named:
        return make_group(group)
    if not named and not len(element):
        given = [extract_text(element)]
    if (family or " ".join(given)).casefold().strip(" .,") in _NO_NAMES:
        return None
    if not suffix and " " in family and (match := _SUFFIXED.fullmatch(family)):
        family, suffix = match.groups()
    initials = [name for name in given if len(name) > 1 and name.isupper()]  # "JW" contains two initials
    if given and not (suffix or initials) and _is_plain(family.replace(" ", "")) and _is_plain("".join(given)):
        # shortcut with the result of make_author
        author: Author | None = Author(given[0], tuple(given[1:]), family, "")
    else:
        author = make_author(" ".join(given), family, suffix)
    if not detailed:
        return author
    affiliations = (_read_affiliation(child) for child in element if local_name(child) == "affiliation")
    ids = [extract_text(idno) for idno in element.iter("{*}idno") if (idno.get("type") or "").casefold() == "orcid"]
    return add_affiliations(author, affiliations, ids[0] if ids else "")


def _read_affiliation(element: Element) -> tuple[str, str]:
    """Return name and ROR id: the printed affiliation if the TEI has it, else department, institution, place and
    country.
    """
    for note in element.iter("{*}note"):
        if note.get("type") == "raw_affiliation":
            labels = [extract_text(label) for label in note.iter("{*}label")]
            return extract_text(note).removeprefix(labels[0] if labels else "").strip(), ""
    parts = [part for part in element.iter() if local_name(part) in _PLACES]
    ids = " ".join(extract_text(idno) for idno in element.iter("{*}idno"))
    return ", ".join(dict.fromkeys(filter(None, map(extract_text, parts)))), ids


def _is_plain(text: str) -> bool:
    return text.isalpha() or text.replace("-", "").isalpha()
