"""Find the commands and environments that hold front and back matter in a class: `classes.toml` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from s2orc_parse.words import read_table


class Role(StrEnum):
    """The meaning of a name."""

    TITLE = "title"
    AUTHOR = "author"
    ABSTRACT = "abstract"
    KEYWORDS = "keywords"
    NOTE = "note"  # notes, affiliations, classifications, running heads: not text
    DATE = "date"  # received, accepted, … : not text
    BIOGRAPHY = "biography"  # of an author: back matter
    BACK = "back"  # acknowledgments and statements: back matter
    HEADING = "heading"
    LAYOUT = "layout"  # only its content counts


@dataclass(frozen=True, slots=True)
class Form:
    """The role of a name, its number of mandatory arguments as a command, how many of them are text, and printed headers."""

    role: Role
    arguments: int = 1
    shown: int = 1
    headings: tuple[str, ...] = ()


def _read_row(row: Mapping[str, str]) -> Mapping[str, Form]:
    found: dict[str, Form] = {}
    for role, names in row.items():
        for written in names.split() if role not in ("pattern", "source") else ():
            left, _, headers = written.partition("=")
            left, _, shown = left.partition(":")
            name, _, count = left.partition("/")
            arguments = int(count or 1)
            headings = tuple(header.replace("_", " ") for header in headers.split(",") if header)
            found[name] = Form(Role(role), arguments, int(shown or arguments), headings)
    return found


CLASSES = {row["pattern"]: _read_row(row) for row in read_table("latex/classes")["class"]}
"""forms by name, by the pattern of the names of classes and packages"""
_ALL = {name: form for row in reversed(CLASSES.values()) for name, form in row.items()}
"""the forms of all rows, which apply to an unknown class"""


def find_forms(packages: Iterable[str]) -> dict[str, Form]:
    """Return the forms of a document by name: those of its class and packages, then those of all others."""
    found = dict(_ALL)
    for package in packages:
        for pattern, row in CLASSES.items():
            if re.fullmatch(pattern, package.rpartition("/")[2]):
                found |= row
    return found


def name_back_matter(environment: str) -> str | None:
    """Return the header of the back-matter part that an environment contains, or None."""
    form = _ALL.get(environment) or _ALL.get(environment.lower())
    if form is None or form.role not in (Role.BACK, Role.BIOGRAPHY):
        return None
    return form.headings[0] if form.headings else "Biography"
