"""Registry of extractor adapters: GROBID is built in; the entry-point group `s2corpus.extractors` adds others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from s2corpus.errors import UserError
from s2corpus.extractors.protocol import Adapter
from s2orc_parse.registry import Registry

DEFAULT = "grobid"
"""adapter of addresses without a prefix"""
_PREFIX = re.compile(r"([a-z0-9_-]+)\+(?=\w+://)")


EXTRACTORS: Registry[Adapter] = Registry("s2corpus.extractors", "extractor", (DEFAULT,))
"""all installed adapters"""


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
