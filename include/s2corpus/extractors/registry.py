"""The extractors that can be asked: GROBID's API is built in, others are added through the entry-point group `s2corpus.extractors`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from s2corpus.errors import UserError
from s2corpus.extractors.protocol import Adapter

DEFAULT = "grobid"
"""the adapter of addresses that name none"""
BUILT_IN = (DEFAULT,)
_PREFIX = re.compile(r"([a-z0-9_-]+)\+(?=https?://)")


def adapter_names() -> list[str]:
    """Names of all adapters that are installed, sorted."""
    return sorted({*BUILT_IN, *_plugged_in()})


@cache
def adapter(name: str) -> Adapter:
    """The adapter of that name. Raises UserError, naming those there are."""
    if name in BUILT_IN:
        return cast(Adapter, importlib.import_module(f"s2corpus.extractors.{name}"))
    if (point := _plugged_in().get(name)) is not None:
        return cast(Adapter, point.load())
    raise UserError(f"no extractor is called {name!r}: expected one of {', '.join(adapter_names())}")


def by_address(addresses: Sequence[str]) -> tuple[str, list[str]]:
    """The name of the adapter that these addresses have in front (`docling+http://host:5001`), and the addresses without it.

    Raises:
        UserError: they name none at all, or not one and the same.
    """
    given = list(dict.fromkeys(address.strip() for address in addresses if address.strip()))
    if not given:
        raise UserError("no GROBID server was named: expected addresses such as http://localhost:8070")
    named = {found[1] if (found := _PREFIX.match(address)) else DEFAULT for address in given}
    if len(named) > 1:
        raise UserError(
            f"the servers of one pool must be of one extractor, but these are of {', '.join(sorted(named))}"
        )
    return named.pop(), [_PREFIX.sub("", address, count=1) for address in given]


@cache
def _plugged_in() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="s2corpus.extractors")}
