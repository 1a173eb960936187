"""Which links a changed set of papers can change: what an incremental release links again (all else stays as it was).

An entry's link depends on the papers it shares an identifier or title with, or the beginning of a title, or a place in print; on the
titles that share enough keys with its own; and on which keys are over_full. If none of these came, went or changed, neither did the link.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import text_of
from s2corpus.titles.candidates import Search, candidates
from s2corpus.titles.equal import EqualStrings, hash_strings
from s2corpus.titles.partial import partial_keys_of
from s2corpus.titles.postings import keys_of
from s2corpus.titles.targets import IDENTIFIERS, Facts, Targets, partial_keys

_BANDS = 8
"""Bands of all entries' titles made at once."""


def fingerprints(rows: pa.Table) -> np.ndarray:
    """A 64-bit hash of each row over all its columns, strings and integers; null and empty are the same."""
    total = np.zeros(len(rows), np.uint64)
    for column in rows.columns:
        if pa.types.is_integer(column.type):
            column = column.cast(pa.string())
        total = (total ^ hash_strings(*text_of(column))) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    return total


def touched(
    entries: pa.Table, removed: Targets, added: Targets, crowded_otherwise: np.ndarray, search: Search
) -> np.ndarray:
    """Which entries may link otherwise than before, boolean: given the papers that went, those that came (a changed paper is in both),
    and the keys that are over_full now or were before but not both.
    """  # fmt: skip
    mask = np.zeros(len(entries), np.bool_)
    facts = Facts.of(entries)
    titles = EqualStrings.of(facts.normalised)
    distinct = facts.normalised.take(pa.array(titles.first))
    keys_of_entries = partial_keys_of(facts)
    similar = np.zeros(len(titles), np.bool_)
    for papers in (removed, added):
        for name, groups in zip(IDENTIFIERS, papers.identifiers, strict=True):
            mask |= groups.find(entries[name]) >= 0
        for keys in partial_keys(papers.facts):
            mask |= (keys_of_entries != 0) & np.isin(keys_of_entries, keys)
        theirs = EqualStrings.of(papers.facts.normalised)
        similar[theirs.find(distinct) >= 0] = True
        similar[candidates(distinct, theirs.distinct, search.threshold, search).a] = True
    if len(crowded_otherwise):
        for low in range(0, search.bands, _BANDS):
            some = range(low, min(low + _BANDS, search.bands))
            keys = keys_of(distinct, some, search.rows).keys
            for i, band in enumerate(some):
                similar |= np.isin(np.uint64(band << 32) | keys[i], crowded_otherwise)
    mask |= np.append(similar, False)[titles.groups]
    return mask


def rows_only_in(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows of one table that the other does not have."""
    return rows.filter(pc.invert(pc.is_in(pa.array(fingerprints(rows)), pa.array(fingerprints(others)))))
