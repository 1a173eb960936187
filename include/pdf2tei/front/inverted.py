"""Find names that are printed as `Byron, Ada`: below a label, as a citation, or above an affiliation."""

from __future__ import annotations

import re

from pdf2tei.front.authors import (
    DEGREES,
    LABEL,
    PARTICLES,
    affiliation_words,
    get_names_type,
    parse_printed_name,
    split_names,
)
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.pages.model import Line
from pdf2tei.words import read_pattern

ROLE = read_pattern("byline", "role")
"""The role of a person who is not an author, such as a supervisor."""
BY = re.compile(r"\W*(?:(?:\w+ )?(?:by|par|por|von)|di|przez)\W*", re.I)
_INVERTED_NAME = re.compile(r"[^\W\d_][^,;:.()]*, [^\W\d_](?=[^,:]*(?:;|$|\(ORCID))")


def is_label(line: Line) -> bool:
    """Return whether a line announces the authors on the lines below it: `Autores:`, `by`."""
    text = line.text.rstrip(" :")
    return bool(LABEL.fullmatch(f"{text}:") or BY.fullmatch(text)) and not ROLE.match(text)


def is_inverted(parts: list[str]) -> bool:
    """Return whether all parts of a line are names such as `Ada, Byron`, printed as `Byron, Ada`."""
    return bool(parts) and all(", " in x and parse_printed_name(x) and DEGREES.isdisjoint(x.split(", ")) for x in parts)


def find_listed(front: Front, under: list[Line]) -> list[Line]:
    """Return the lines `Surname, Given` above e-mail addresses or affiliations, if the first line under the title is one of them.

    Every name is above an address if the first is; else every name is below an address, so that no place counts as a name.
    """
    parts = [split_names(x.tokens, min_inverted=1) for x in under]
    names = [x for x, own in zip(under, parts, strict=True) if is_inverted(own)]
    surnames = [name.split(", ")[1].split() for own in parts if is_inverted(own) for name in own]
    if (
        not names
        or next(filter(names[0].overlaps, under)) is not names[0]
        or all(sum(x.lower() not in PARTICLES for x in words) > 1 for words in surnames)
    ):
        return []  # Ada Byron, Kees Berg
    others = [x for x in under if x not in names]
    found: list[Line] = []
    is_above = False
    for line in (x for x in names if get_names_type(x) == get_names_type(names[0])):
        below = next((x for x in others if x.y0 > line.y0 and x.overlaps(line)), line)
        above = next((x for x in reversed(others) if x.y0 < line.y0 and x.overlaps(line)), None)
        is_above = is_above if found else "@" in below.text
        is_apart = is_above or above is None or "@" in above.text or not any("@" in x.text for x in others)
        is_affiliation = (
            affiliation_words(f"{line.text} {below.text}") > 0 or front.label(below) is FrontLabel.AFFILIATION
        )
        if is_apart and ("@" in below.text if is_above else is_affiliation):
            found.append(line)
    return found if names[:1] == found[:1] else []


def is_cited(front: Front, line: Line) -> bool:
    """Return whether a line begins with `Surname, Given`, as a citation does, below `Autores:`, or above an affiliation."""
    match = _INVERTED_NAME.match(line.text)
    if match is None:
        return False
    place = front.lines.index(line)
    above = next((x for x in reversed(front.lines[:place]) if not _INVERTED_NAME.match(x.text)), line)
    halves = [[x for x in half.split() if x.lower() not in PARTICLES] for half in line.text.split(",")]
    is_two_names = min(map(len, halves)) > 1 and ";" not in line.text  # Ada Byron, Kees van Berg
    is_printed_twice = any(x is not line and x.text.startswith(match[0]) for x in front.lines)
    is_cited_here = is_printed_twice and not is_two_names
    return is_label(above) or is_cited_here or bool(find_listed(front, front.lines[place:]))
