"""Registry of extractor adapters: GROBID is built in; the entry-point group `s2corpus.extractors` adds others."""

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
"""adapter of addresses without a prefix"""
BUILT_IN = (DEFAULT,)
_PREFIX = re.compile(r"([a-z0-9_-]+)\+(?=https?://)")


def adapter_names() -> list[str]:
    """Return the sorted names of all installed adapters."""
    return sorted({*BUILT_IN, *_plugged_in()})


@cache
def adapter(name: str) -> Adapter:
    """Return the adapter with this name. Raises UserError that lists the available names."""
    if name in BUILT_IN:
        return cast(Adapter, importlib.import_module(f"s2corpus.extractors.{name}"))
    if (point := _plugged_in().get(name)) is not None:
        return cast(Adapter, point.load())
    raise UserError(f"no extractor is called {name!r}: expected one of {', '.join(adapter_names())}")


def by_address(addresses: Sequence[str]) -> tuple[str, list[str]]:
    """Split adapter prefixes (`docling+http://host:5001`) off addresses; return the adapter's name and the plain addresses.

    Raises:
        UserError: no address was given, or the addresses have different prefixes.
    """
    addresses = list(dict.fromkeys(address.strip() for address in addresses if address.strip()))
    if not addresses:
        raise UserError("no GROBID server was named: expected addresses such as http://localhost:8070")
    names = {prefix[1] if (prefix := _PREFIX.match(address)) else DEFAULT for address in addresses}
    if len(names) > 1:
        raise UserError(f"all servers of a pool must use the same extractor: found {', '.join(sorted(names))}")
    return names.pop(), [_PREFIX.sub("", address, count=1) for address in addresses]


@cache
def _plugged_in() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="s2corpus.extractors")}
