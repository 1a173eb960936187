"""Parse dates in all notations of the sources into an ISO date and its precision."""

from __future__ import annotations

import datetime
import re
from enum import StrEnum

from s2orc_parse.words import fold, read_table, write_numeral


class Precision(StrEnum):
    """The precision of a date."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"


FIRST_YEAR, LAST_YEAR = 1400, 2100  # values outside are typing errors
_WORDS = read_table("bibliography/words")
_MONTHS = {fold(name): number for number, names in enumerate(_WORDS["months"], 1) for name in names.split()}
_ISO = re.compile(
    r"^\s*(\d{4})(?:\s*[-/.年년]\s*(\d{1,2})(?:\s*[-/.月월]\s*(\d{1,2})(?:[日일]|[T ].*|/.*)?|[月월])?|[年년]|-\d{2}/.*)?\.?\s*$"
)
_ROMAN = {write_numeral("Roman", month): month for month in range(1, 13)}
_ROMAN_MONTH = re.compile(r"^\s*(\d{1,2})[-./ ]+([IVX]{1,4})[-./ ]+(\d{4})\s*$")
_COMPACT = re.compile(r"^\s*(\d{4})(\d{2})(\d{2})\s*$")
_YEAR_LAST = re.compile(r"^\s*(?:(\d{1,2})\s*([-/.])\s*)?(\d{1,2})\s*[-/.]\s*(\d{4})\s*$")
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|[oaºª])?\.?\s*(?:de\s+|of\s+|-(?=[a-z]+-\d{4}))?([^\W\d_]{3,14})\.?"
)
_MONTH_DAY = re.compile(r"([^\W\d_]{3,14})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d)")
_ACCESS_DATE = re.compile(
    rf"(?<!\w)(?:{'|'.join(_WORDS['access_words'])})(?![a-z]).{{0,40}}?(?<!\d)(?:1[4-9]\d\d|20\d\d)(?!\d)"
)
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+|(?<![\w.])10\.\d{4,9}/\S+")
_PRINTED_YEAR = re.compile(r"(?<![\d.])(?<!\d[–-])(1[5-9]\d\d|20\d\d)[a-z]?(?![\d-]|\.\d|[–-]\d)")

_ENCLOSED_YEAR = re.compile(r"(?:\b[A-Z]\.|\bal\.|\d[,.]?) ?\((1[5-9]\d\d|20\d\d)[a-z]?\)")
"""a year in parentheses after the initials of an author, or after a page"""

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

    Examples: 1999, "1999", "1999-05", "1999-05-31T10:00Z", "May 1999", "31. Mai 1999", "1999 May-Jun", "(1999),",
    "19990531", "31.5.1999", [1999, 5, 31]. Of an interval, the first date counts: "1991-92", "1999-05/1999-07". "Winter
    1999" gives only the year: a season is not a month and may begin in the previous year. "5/6/1999" is ambiguous.
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
    if len(value) == 4 and value.isdecimal():
        return make_date(int(value))
    text = value[:200]
    if match := _ISO.match(text) or _COMPACT.match(text):
        return make_date(*(int(part) if part else None for part in match.groups()))
    if match := _YEAR_LAST.match(text):
        first, separator, second, year = match.groups()
        if first is None or separator == "." or int(first) > 12:
            return make_date(int(year), int(second), int(first) if first else None)
        return make_date(int(year), int(first), int(second)) if int(second) > 12 else make_date(int(year))
    if match := _ROMAN_MONTH.match(text):
        return make_date(int(match.group(3)), _ROMAN.get(match.group(2)), int(match.group(1)))
    years = _YEAR.findall(text)
    if not years:
        return NO_DATE
    year_found, words = int(years[0]), fold(text)
    for pattern, day_group, month_group in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        for match in pattern.finditer(words):
            if month := _MONTHS.get(match.group(month_group)):
                return make_date(year_found, month, int(match.group(day_group)))
    return make_date(year_found, first_month(words))


def join_date(year: str, month: str = "", day: str = "") -> PlainDate:
    """Return the date of separate texts. The month and the day may be intervals: "Jul/Aug", "3-5"."""
    found, days = extract_year(parse_date(year)[0]), re.match(r"\s*(\d{1,2})(?!\d)", day)
    return make_date(found, first_month(month), int(days.group(1)) if days else None)


def find_year(printed: str) -> int | None:
    """Return the only year of a printed reference, except in dates of access, addresses, identifiers and page ranges; else None.

    Among several, the year in parentheses after the authors or pages: "Ohba, M. (2001). Biochem. Biophys. Acta, 1547, 57".
    """
    if not any(century in printed for century in ("15", "16", "17", "18", "19", "20")):
        return None
    text = _ADDRESS.sub(" ", printed)
    if (folded := fold(text)) and _ACCESS_DATE.search(folded):
        text = _ACCESS_DATE.sub(" ", folded)
    years = {year for year in _PRINTED_YEAR.findall(text) if int(year) <= LAST_YEAR}
    years = years if len(years) == 1 else set(_ENCLOSED_YEAR.findall(text)) & years
    return int(years.pop()) if len(years) == 1 else None


def to_month(text: str | None) -> int | None:
    """Return the number of a month such as "5", "05", "May" or "Sept.", or None."""
    if not text:
        return None
    word = fold(text.strip().rstrip("."))
    if word.isdecimal():
        return int(word) if len(word) < 3 and 1 <= int(word) <= 12 else None
    return _MONTHS.get(word)


def first_month(text: str | None) -> int | None:
    """Return the number of the first month in a text ("10–12 August", "July 28 – August 2", "Jul/Aug", "8"), or None."""
    if not text:
        return None
    words = re.findall(r"[^\W\d_]+", fold(text[:200]))
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
