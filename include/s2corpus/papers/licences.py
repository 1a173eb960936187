"""Licences: which of two is the stricter, as of conflicting ones a paper has that (SEMANTICS §0, trust); and their SPDX ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

NOASSERTION = "NOASSERTION"
"""What SPDX writes where nobody says which licence it is (SPDX 2.3, §7.15)."""
_REFERENCE = "LicenseRef-"
_OUR_NAMES = {"pdm-1.0": "CC-PDM-1.0"}
_IN_A_NAME = re.compile(r"[^A-Za-z0-9.]+")
_FREE = re.compile(r"(?:CC0|PDM|public.?domain|unlicense)", re.IGNORECASE)
_CREATIVE_COMMONS = re.compile(r"(?:CC[ -])?BY((?:-(?:NC|ND|SA))*)(?:-\d[\d.]*)?(?:-[A-Z]{2,4})?", re.IGNORECASE)
_SOFTWARE = re.compile(r"(?:MIT|ISC|Apache-2\.0|BSD-[023]-Clause|ODC-BY)(?:-\d[\d.]*)?", re.IGNORECASE)
_CONDITIONS = ("", "-SA", "-ND", "-NC", "-NC-SA", "-NC-ND")
"""of Creative Commons' licences by attribution, each with the more said no to"""
_OTHER = len(_CONDITIONS) + 1


def strictness(licence: str) -> int:
    """How much a licence (an SPDX id, or other words) forbids: 0 the public domain, 1 attribution only, …, 7 what is not known."""
    if _FREE.match(licence):
        return 0
    if match := _CREATIVE_COMMONS.fullmatch(licence):
        conditions = match.group(1).upper()
        return 1 + _CONDITIONS.index(conditions) if conditions in _CONDITIONS else _OTHER
    return 1 if _SOFTWARE.fullmatch(licence) else _OTHER


def strictest(licences: Iterable[str | None]) -> str | None:
    """The strictest of the licences that are given; of equally strict ones the smallest text. None if none is given."""
    return min((licence for licence in licences if licence), key=lambda text: (-strictness(text), text), default=None)


@cache
def spdx(licence: str | None) -> str:
    """A licence as SPDX writes it: its id in the SPDX list, `LicenseRef-…` of one that is not there, `NOASSERTION` of none."""
    if licence is None or not (name := _IN_A_NAME.sub("-", licence.removeprefix(_REFERENCE)).strip("-.")):
        return NOASSERTION
    return _listed().get(licence.strip().casefold()) or (licence if licence == NOASSERTION else f"{_REFERENCE}{name}")


@cache
def _listed() -> Mapping[str, str]:
    """SPDX's ids by themselves in lower case."""
    from license_expression import get_spdx_licensing  # reads its list of 2,500 when it is asked

    ids = (key for key in get_spdx_licensing().known_symbols if not key.startswith(_REFERENCE))
    return {key.casefold(): key for key in ids} | _OUR_NAMES
