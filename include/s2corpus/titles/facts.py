"""Read the facts that the linking rules compare: from bibliography entries and from papers, one row each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import hash_distinct, hash_strings, one_chunk, text_of
from s2corpus.titles.journals import journal_key
from s2corpus.titles.rules import are_uninformative
from s2corpus.titles.threegrams import normalize

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")
"""Columns with identifiers of papers: an entry links to the paper with an equal one (SPEC §7.5)."""
PLACES = ("journal", "volume", "pages")
"""Columns that locate a paper in print (journal, volume, pages), unparsed; optional."""
OPENING_BYTES = 6
"""Length of the opening of a normalized title. A cut title has at least this length (SPEC §7.7)."""
FACTS = pa.schema(
    [
        ("normalised", pa.string()),  # null without a title
        ("opening", pa.binary()),  # the first bytes of `normalised`; null if it is shorter
        ("is_uninformative", pa.bool_()),  # generic, or fewer than 3 words (SPEC §7.6)
        ("surname_key", pa.uint64()),  # hash of the normalized surname of the first author
        ("journal_key", pa.uint32()),  # hash of the initials that all abbreviations of a journal share
        ("volume_key", pa.uint32()),  # hash
        ("page_key", pa.uint32()),  # hash of the first page
    ]
)
"""Null means unknown."""


def add_facts(rows: pa.Table) -> pa.Table:
    """Append the columns of FACTS, and missing columns of PLACES, to rows with `title` and `surname` (of the first author, as printed)."""
    for name in PLACES:
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), pa.string()))
    normalised = normalize(rows["title"])
    is_long = pc.greater_equal(pc.binary_length(normalised), OPENING_BYTES)
    opening = pc.binary_slice(normalised.cast(pa.binary()), 0, OPENING_BYTES)
    columns = [
        pc.if_else(pc.equal(normalised, ""), pa.scalar(None, pa.string()), normalised),
        pc.if_else(is_long, opening, pa.scalar(None, pa.binary())),
        are_uninformative(rows["title"], normalised),
        _unless_zero(hash_strings(*text_of(normalize(rows["surname"])))),
        _unless_zero(journal_keys(rows["journal"])),
        _unless_zero(first_numbers(rows["volume"])),
        _unless_zero(first_numbers(rows["pages"])),
    ]
    for field, column in zip(FACTS, columns, strict=True):
        rows = rows.append_column(field, pa.array(column) if isinstance(column, np.ndarray) else column)
    return rows


def first_surname(authors: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the last name of the first author of each row, or the first name if the last name is empty."""
    authors = one_chunk(authors)
    offsets = authors.offsets.to_numpy()
    has_author = authors.is_valid().to_numpy(zero_copy_only=False) & (offsets[1:] > offsets[:-1])
    first = pa.array(offsets[:-1], mask=~has_author)
    last = pc.struct_field(authors.values, "last").take(first)
    is_empty = pc.and_(pc.is_valid(first), pc.equal(pc.fill_null(last, ""), ""))
    return pc.replace_with_mask(last, is_empty, pc.struct_field(authors.values, "first").take(first.filter(is_empty)))


def _unless_zero(hashes: np.ndarray) -> pa.Array:
    return pa.array(hashes, mask=hashes == 0)


_LEADING = r"^\W*(?:(?:vol(?:ume)?|pp?|pages?|art(?:icle)?|s)\b\W*)*0*"
_FIRST = _LEADING + r"([\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*).*$|^[^\p{L}\p{N}]*$"


def journal_keys(names: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the 32-bit hash of `journal_key` of each row (uint32), or 0."""
    return hash_distinct(
        names, lambda different: pa.array([journal_key(name) for name in different.to_pylist()], pa.string())
    )


def first_numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the hash of the first number or word of each volume or range of pages (uint32), or 0.

    Examples: "58(6)" → 58, "pp. 0985–990" → 985.
    """
    return hash_distinct(column, lambda different: pc.replace_substring_regex(pc.utf8_lower(different), _FIRST, r"\1"))
