"""Parse dates in all notations of the sources into an ISO date and its precision."""

from __future__ import annotations

import datetime
import re
from enum import StrEnum


class Precision(StrEnum):
    """The precision of a date."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"


FIRST_YEAR, LAST_YEAR = 1400, 2100  # values outside are typing errors
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), start=1
    )
    for name in names.split()
}  # fmt: skip
_ISO = re.compile(r"^\s*(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T ].*)?)?)?\s*$")
_COMPACT = re.compile(r"^\s*(\d{4})(\d{2})(\d{2})\s*$")
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)")
_DAY_MONTH = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?", re.ASCII)
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d)", re.ASCII)

# (ISO date with the known precision: 1999, 1999-05, 1999-05-31; precision), or NO_DATE
PlainDate = tuple[str | None, str | None]
NO_DATE: PlainDate = (None, None)


def make_date(year: int | None, month: int | None = None, day: int | None = None) -> PlainDate:
    """Return the date of separate numbers; ignore an impossible part ("2001-02-31" is February 2001)."""
    if year is None or not FIRST_YEAR <= year <= LAST_YEAR:
        return NO_DATE
    if month is None or not 1 <= month <= 12:
        return f"{year:04d}", Precision.YEAR
    if day is not None and day >= 1:
        try:
            return datetime.date(year, month, day).isoformat(), Precision.DAY
        except ValueError:
            pass
    return f"{year:04d}-{month:02d}", Precision.MONTH


def parse_date(value: object) -> PlainDate:
    """Parse a date in any notation of the sources; return NO_DATE for anything else.

    Examples: 1999, "1999", "1999-05", "1999-05-31T10:00Z", "May 1999", "31 May 1999", "1999 May-Jun", "(1999),",
    "19990531", [1999, 5, 31]. "Winter 1999" gives only the year: a season is not a month and may begin in the previous
    year.
    """
    if isinstance(value, bool) or value is None:
        return NO_DATE
    if isinstance(value, int):
        return make_date(value)
    if isinstance(value, float):
        return make_date(int(value)) if value == int(value) else NO_DATE
    if isinstance(value, datetime.date):
        return make_date(value.year, value.month, value.day)
    if isinstance(value, tuple):  # a result of this function
        return parse_date(value[0])
    if isinstance(value, list):
        numbers = [to_int(part) for part in value[:3]]
        return make_date(*numbers) if numbers else NO_DATE
    if not isinstance(value, str):
        return NO_DATE
    text = value[:200]
    if match := _ISO.match(text) or _COMPACT.match(text):
        return make_date(*(int(part) if part else None for part in match.groups()))
    years = _YEAR.findall(text)
    if not years:
        return NO_DATE
    year, words = int(years[0]), text.casefold()
    for pattern, day_group, month_group in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        for match in pattern.finditer(words):
            if month := to_month(match.group(month_group)):
                return make_date(year, month, int(match.group(day_group)))
    for word in re.findall(r"[a-z]+", words):
        if month := _MONTHS.get(word):
            return make_date(year, month)
    return make_date(year)


def to_month(text: str | None) -> int | None:
    """Return the number of a month such as "5", "05", "May" or "Sept.", or None."""
    if not text:
        return None
    word = text.strip().rstrip(".").casefold()
    if word.isdecimal():
        return int(word) if 1 <= int(word) <= 12 else None
    return _MONTHS.get(word)


def first_month(text: str | None) -> int | None:
    """Return the number of the first month in a text such as "10–12 August", "July 28 – August 2", "Jul/Aug" or "8", or
    None.
    """
    if not text:
        return None
    words = re.findall(r"[a-z]+", text[:200].casefold())
    return to_month(text) or next((month for word in words if (month := _MONTHS.get(word))), None)


def to_int(value: object) -> int | None:
    """Return an integer with at most nine digits, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= 9:
        return int(value.strip())
    return None


def extract_year(date: str | None) -> int | None:
    """Return the year of an ISO date."""
    return int(date[:4]) if date else None
