"""Map the subjects of sources to the 19 fields of study of the Microsoft Academic Graph (MAG).

Each table in `classifications/` covers one scheme:

- `arxiv`: all arXiv categories, including retired ones;
- `asjc`: Elsevier's 27 subject areas and 334 codes, as used by Crossref and Scopus;
- `openalex`: the 26 fields of OpenAlex's topics;
- `mesh`: MeSH's top-level trees and the headings of disciplines;
- `subjects`: other names that publishers and Semantic Scholar use.

A subject without an entry has no field.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources

FIELDS = (
    "Art", "Biology", "Business", "Chemistry", "Computer Science", "Economics", "Engineering", "Environmental Science", "Geography",
    "Geology", "History", "Materials Science", "Mathematics", "Medicine", "Philosophy", "Physics", "Political Science", "Psychology",
    "Sociology",
)  # fmt: skip
"""MAG's top level, as S2ORC 20200705 writes it (`mag_field_of_study`)."""

_TREE_NUMBER = re.compile(r"([A-NVZ])(\d{2})?(?:\.\d{3})*")
_QUALIFIER = re.compile(r"\s*\((?:all|general|miscellaneous)\)\s*$|^general\s+", re.IGNORECASE)
_BROADER = re.compile(r"\s*(?:/|::|\s[-–—]\s)\s*")  # PLOS: Virology/Diagnosis; arXiv's Dublin Core: Physics - Optics


def fields_of_study(subjects: Sequence[str]) -> tuple[str, ...]:
    """Return the MAG fields of a paper's subjects from one source, the primary field first.

    The primary field has the most subjects; ties go to the first in order. An arXiv paper's primary category and an OpenAlex
    work's primary topic are first in their lists and decide the primary field.
    """
    votes: Counter[str] = Counter()
    for subject in subjects:
        votes.update(fields_of(subject))
    ranked = sorted(votes, key=lambda field: -votes[field])  # stable: first named first
    if subjects and (subjects[0] in _table("arxiv") or subjects[0].startswith(("fields/", "subfields/"))):
        primary = fields_of(subjects[0])
        ranked.sort(key=lambda field: primary.index(field) if field in primary else len(primary))
    return tuple(ranked)


@lru_cache(maxsize=1 << 16)
def fields_of(subject: str) -> tuple[str, ...]:
    """Return the MAG fields of one subject: an arXiv category, an ASJC code or name, a MeSH heading or tree number, a publisher's name."""
    text = subject.strip()
    if (found := _codes().get(text)) is not None:
        return found
    if (number := _TREE_NUMBER.fullmatch(text)) and number.group(2):
        return _trees().get(text[:3]) or _trees().get(text[:1], ())
    for name in (text, _BROADER.split(text, maxsplit=1)[0]):
        if (found := _names().get(_normalize_name(name))) is not None:
            return found
    return ()


def asjc_codes(subject: str) -> tuple[str, ...]:
    """Return the ASJC codes of a subject: a code, an area's letters, an id of OpenAlex (`subfields/1702`, `fields/17`), or a name.

    Crossref writes "General Medicine" for "Medicine (all)". A name has several codes if several areas contain it, such as
    "Ecology".
    """
    code = subject.strip().removeprefix("subfields/")
    if code.startswith("fields/"):
        code = f"{code.removeprefix('fields/')}00"
    return (code,) if code in _table("asjc") else _asjc_names().get(_normalize_asjc(subject), ())


_GENERAL = re.compile(r"general (.+)")


def _normalize_asjc(name: str) -> str:
    text = _GENERAL.sub(r"\1 (all)", name.strip().casefold())
    return "".join(filter(str.isalnum, text.replace("&", "and")))


@cache
def _asjc_names() -> dict[str, tuple[str, ...]]:
    """Return letters of a name → codes of ASJC. Area names without "(all)" stand for the area's letters."""
    names: dict[str, tuple[str, ...]] = {}
    for row in read_classification("asjc"):
        key = _normalize_asjc(row["name"])
        names[key] = (*names.get(key, ()), row["code"])
    return names


def _normalize_name(name: str) -> str:
    plain = _QUALIFIER.sub("", name).casefold().replace("&", "and")
    return "".join(filter(str.isalnum, plain.replace("palaeo", "paleo").replace("gynaeco", "gyneco")))


def read_classification(table: str) -> list[dict[str, str]]:
    """Return the rows of a table in `classifications/`."""
    text = resources.files(__package__).joinpath("classifications", f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _parse_fields(fields: str) -> tuple[str, ...]:
    return tuple(fields.split(";")) if fields else ()


@cache
def _table(name: str, key: str = "code") -> dict[str, tuple[str, ...]]:
    return {row[key]: _parse_fields(row["fields"]) for row in read_classification(name)}


@cache
def _codes() -> dict[str, tuple[str, ...]]:
    """Return code → fields of arXiv, ASJC and OpenAlex. The numbers of OpenAlex's subfields are ASJC codes."""
    subfields = {f"subfields/{code}": fields for code, fields in _table("asjc").items()}
    return {**subfields, **_table("openalex", "id"), **_table("asjc"), **_table("arxiv")}


@cache
def _trees() -> dict[str, tuple[str, ...]]:
    # the first row of a tree is its top heading
    return {row["tree"]: _parse_fields(row["fields"]) for row in reversed(read_classification("mesh"))}


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Return letters of a name → fields. MAG's names have priority, then publishers' and Semantic Scholar's, ASJC's, MeSH's."""
    names: dict[str, tuple[str, ...]] = {_normalize_name(field): (field,) for field in FIELDS}
    for table, column in (("subjects", "name"), ("asjc", "name"), ("mesh", "heading")):
        for row in read_classification(table):
            names.setdefault(_normalize_name(row[column]), _parse_fields(row["fields"]))
    return names
