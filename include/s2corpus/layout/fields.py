"""A reference string into its fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .authors import Author

_YEAR = re.compile(r"\(?\b((?:1[6-9]|20)\d\d)[a-z]?\b\)?")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+", re.I)
_ARXIV = re.compile(
    r"arxiv[:\s.]*(?:preprint\s+arxiv:)?\s*(\d{4}\.\d{4,5}|[a-z\-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.I
)
_URL = re.compile(r"https?://\S+")


@dataclass(slots=True)
class Reference:
    """The fields of a reference, as printed."""

    title: str = ""
    authors: list[Author] = field(default_factory=list)
    journal: str = ""
    booktitle: str = ""
    publisher: str = ""
    location: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year: str = ""
    doi: str = ""
    arxiv: str = ""
    url: str = ""


def parse(raw: str) -> Reference:
    """The fields of a reference string."""
    reference = Reference()
    if match := _DOI.search(raw):
        reference.doi = match.group().rstrip(".,;)")
    if match := _ARXIV.search(raw):
        reference.arxiv = match.group(1)
    if match := _URL.search(raw):
        reference.url = match.group().rstrip(".,;)")
    years = list(_YEAR.finditer(raw))
    if years:
        reference.year = years[0].group(1)
    if quoted := re.search(r"[“\"‘]{1,2}(.{8,}?)[,.]?[”\"’]{1,2}", raw):
        reference.title = quoted.group(1).strip(" ,.")
    elif years and years[0].start() > 5 and years[0].start() < len(raw) * 0.6:
        reference.title = raw[years[0].end() :].lstrip(" .,:)").split(". ")[0].strip(" .")
    else:
        parts = raw.split(". ")
        reference.title = max(parts[:3], key=len).strip(" .") if parts else ""
    return reference
