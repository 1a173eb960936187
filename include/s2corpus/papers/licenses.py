"""Select the strictest of conflicting licenses of a paper (SPEC §0.10–0.14), and convert licenses to SPDX ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from s2orc_parse.bibliography.licenses import rank_strictness

NOASSERTION = "NOASSERTION"
"""SPDX's value for an unknown license (SPDX 2.3, §7.15)"""
_REFERENCE = "LicenseRef-"
_OUR_NAMES = {"pdm-1.0": "CC-PDM-1.0"}
_IN_A_NAME = re.compile(r"[^A-Za-z0-9.]+")


def select_strictest(licenses: Iterable[str | None]) -> str | None:
    """Return the strictest license, or None without licenses. Among equally strict licenses, return the smallest text."""
    return min(
        (license for license in licenses if license), key=lambda text: (-rank_strictness(text), text), default=None
    )


@cache
def to_spdx(license: str | None) -> str:
    """Return a license in SPDX notation: its id in the SPDX list, else `LicenseRef-…`; `NOASSERTION` without a license."""
    if license is None or not (name := _IN_A_NAME.sub("-", license.removeprefix(_REFERENCE)).strip("-.")):
        return NOASSERTION
    return _read_spdx_ids().get(license.strip().casefold()) or (
        license if license == NOASSERTION else f"{_REFERENCE}{name}"
    )


@cache
def _read_spdx_ids() -> Mapping[str, str]:
    """Return SPDX's ids by their lower-case form."""
    from license_expression import get_spdx_licensing  # the import reads a list of 2,500 licenses

    ids = (key for key in get_spdx_licensing().known_symbols if not key.startswith(_REFERENCE))
    return {key.casefold(): key for key in ids} | _OUR_NAMES
