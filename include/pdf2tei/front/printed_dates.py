"""Find the publication date that a PDF states on its first page or in its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pdf2tei.words import read_pattern
from s2orc_parse.bibliography.dates import NO_DATE, PlainDate, Precision, make_date, parse_date, to_month

_DAY = read_pattern("printed_dates", "day").pattern
_MONTH = r"[A-Za-z]{3,9}\.?,?\s+(?:19|20)\d\d"
_EVENT = read_pattern("printed_dates", "published").pattern
_PUBLISHED = re.compile(rf"{_EVENT}(?:\s*[:;,–—]|\s+(?:on|at|in))?\s*(?P<date>{_DAY}|{_MONTH})", re.IGNORECASE)
_ISSUE = re.compile(rf"^(?=.*\b(?:vol(?:ume|\.)?|issue|no\.|number)\b).{{0,80}}?(?P<date>{_MONTH})", re.IGNORECASE)
_VOLUME_YEAR = read_pattern("printed_dates", "volume_year", re.NOFLAG)
_COPYRIGHT = read_pattern("printed_dates", "copyright")
_PROCEEDINGS = re.compile(r"\bproceedings of\b.{0,200}?\b((?:19|20)\d\d)\b", re.IGNORECASE)
_XMP_DATES = ("prism:publicationdate", "prism:coverdate", "prism:publishdate", "pdfx:publicationdate")


def publication_date(
    lines: Sequence[str], metadata: Mapping[str, str], arxiv_id: str | None, stamp: tuple[str, bool] | None
) -> PlainDate:
    """Return the date of publication and its precision.

    The first available source is used: the day of an arXiv stamp; a day or month labeled as the date of publication; the month
    of the arXiv id; the XMP date; the month of the issue; a single year next to a volume, in the title of proceedings, or next
    to a copyright sign.

    `stamp` is an arXiv stamp's date and whether it belongs to the first version.
    """
    if stamp and stamp[1]:
        return parse_date(stamp[0])
    texts = [*lines, *(f"{a} {b}" for a, b in pairwise(lines))]
    for text in texts:
        for mention in _PUBLISHED.finditer(text):
            if _has_month(mention["date"]):
                return parse_date(mention["date"])
    if arxiv_id:
        return _find_arxiv_month(arxiv_id)
    for key in _XMP_DATES:
        if (found := parse_date(metadata.get(key)))[0]:
            return found
    for text in lines:
        if (match := _ISSUE.match(text)) and _has_month(match["date"]):
            return parse_date(match["date"])
    for pattern, searched in (
        (_VOLUME_YEAR, [*metadata.get("subject", "").splitlines(), *lines[:12], *lines[-12:]]),
        (_PROCEEDINGS, texts),
        (_COPYRIGHT, lines),
    ):
        years = {year for text in searched for match in pattern.finditer(text) for year in match.groups() if year}
        if len(years) == 1:
            return make_date(int(years.pop()))
    return NO_DATE


def _has_month(text: str) -> bool:
    """Return whether a date contains a month name (unlike "Springer 2019") or is in ISO format."""
    return text[:4].isdecimal() or any(to_month(word) for word in re.findall(r"[A-Za-z]+", text))


def _find_arxiv_month(arxiv_id: str) -> PlainDate:
    """Return the month in which arXiv assigned an id, such as 1706.03762 or hep-th/9711200."""
    digits = arxiv_id.rpartition("/")[2]
    year = int(digits[:2])
    date, precision = make_date(1900 + year if year > 90 else 2000 + year, int(digits[2:4]))
    return (date, precision) if precision == Precision.MONTH else NO_DATE
