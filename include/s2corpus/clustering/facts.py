"""Facts of records that the clustering rules compare: read from batches as an Arrow table, and as arrays with one node for each record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.sources.documents import Document
from s2corpus.sources.preprints import find_preprints
from s2corpus.sources.record import DECLARED, SCIENCEPARSE, WorkType
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import GIVEN_NAME, KINDS, PART, Descriptions
from s2corpus.titles.facts import hash_surnames, last_pages, list_surnames, number_keys, page_keys
from s2corpus.titles.places import Places, issues
from s2corpus.titles.rules import are_uninformative, find_documents
from s2corpus.titles.similarity import unique_pairs
from s2orc_parse.bibliography.name_words import GROUP

GIVEN = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1")
"""Kinds of identifiers in records, strongest first (SPEC §4, outcomes)."""
IDENTIFIERS = ("declared", *GIVEN)
"""All kinds of identifiers. `declared` links a drop's own record to the headers extracted from the same file, by SHA-1 (SPEC §4.2)."""
_TRANSLATED = (
    r"(?i)^\[|\[(?:article )?(?:in )?(?:english|spanish|french|german|italian|portuguese|russian|chinese|japanese|korean|polish|dutch|"
    r"turkish|hungarian|czech|ukrainian|persian|arabic|hebrew|greek|danish|swedish|norwegian|finnish|croatian|serbian|romanian)\b"
)
"""Delivered titles of translations, and of papers in another language: "[Outcome of grafts]", "Outcome of grafts. [Spanish]"."""
PREPRINT, PUBLISHED = 1, 2
"""Forms of a work."""
FACTS = pa.schema(
    [(name, pa.string()) for name in ("record_id", "ready_at", *IDENTIFIERS, "title", "normalized", "journal")]
    + [
        (name, pa.bool_())
        for name in ("publisher", "trusted", "declares", "second_header", "little", "translated", "preprint_prefix")
    ]
    + [(name, pa.int32()) for name in ("form", "document", "year")]
    + [(name, pa.int64()) for name in ("volume", "issue", "page", "last_page")]
    + [("surnames", pa.list_(pa.int64()))]
)
"""One row for each record. Numbers are 0 if unknown; hashes are signed, as all integers of Spark. `form` is the form of the record
by its type, `preprint_prefix` whether its DOI has a preprint server's prefix."""


def read_facts(batch: pa.RecordBatch) -> pa.Table:
    """Return the facts of a batch with the columns of `records`."""
    title = batch["title"]
    normalized = titles.normalize(title)
    offsets, surnames = surname_keys(batch["authors"])
    is_pdf = _equals(batch["kind"], "pdf")
    declares = _equals(batch["source"], DECLARED)
    facts = {
        **{name: batch[name] for name in ("record_id", "ready_at", *GIVEN, "title", "journal")},
        "declared": pc.if_else(pa.array(is_pdf | declares), batch["file_sha1"], pa.scalar(None, pa.string())),
        "normalized": normalized,
        "publisher": _equals(batch["kind"], "publisher"),
        "trusted": ~is_pdf,
        "declares": declares,
        "second_header": _equals(batch["source"], SCIENCEPARSE),
        "little": are_uninformative(title, normalized),
        "translated": np.asarray(pc.fill_null(pc.match_substring_regex(batch["original_title"], _TRANSLATED), False)),
        "preprint_prefix": find_preprints(pc.fill_null(batch["doi"], "")),
        "form": _forms(batch["type"]),
        "document": _documents(batch["document"], title),
        "year": _years(batch["date"]),
        "volume": number_keys(batch["volume"]),
        "issue": issues(batch["issue"]),
        "page": page_keys(batch["pages"]),
        "last_page": last_pages(batch["pages"]),
        "surnames": pa.ListArray.from_arrays(offsets.astype(np.int32), surnames.view(np.int64)),
    }
    return pa.table(facts).select(FACTS.names).cast(FACTS)


_COMPOUND = r"[^\s\-‐][\s\-‐]+[^\s\-‐]"
_PARTS = (r"^[^\s\-‐]{1,3}[\s\-‐].*|[\s\-‐].*", r"^[^\s\-‐]*[\s\-‐]+", r"^.*[\s\-‐]")
"""Compound surnames, and what their first word of 4 letters or more lacks, the rest after the first word, and the last word."""


_GIVEN_NAME = r"^\p{L}[^\p{Lu}\s.]"
"""given names that are no initials"""


def surname_keys(authors: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets (int64, rows + 1) into the distinct surname keys (uint64, ascending) of each row.

    Surnames are without case, accents, hyphens and spaces (`hash_surnames`). If the last name is empty, the first name counts.
    Group authors have no key, because one source names the group and another its members. A key is a hash of 62 bits: in a corpus of a
    billion records, the expected number of false matches is below one. The low bits of a key are a kind of `count_common`: full surnames
    have even keys. Given names have keys, too, because a source may exchange both names.
    """
    offsets = authors.offsets.to_numpy().astype(np.int64)
    names = authors.values[offsets[0] : offsets[-1]]
    last, first = names.field("last"), names.field("first")
    keys, names, code = _hash_names(list_surnames(names))
    may_be_group = np.flatnonzero(np.asarray(pc.equal(pc.binary_length(first), 0)))
    is_group = pc.match_substring_regex(last.take(pa.array(may_be_group)), rf"(?i){GROUP}.*")
    keys[may_be_group[np.asarray(pc.fill_null(is_group, False))]] = 0
    row = np.repeat(np.arange(len(authors)), np.diff(offsets))
    is_key = (keys != 0) & authors.is_valid().to_numpy(zero_copy_only=False)[row]
    is_compound = np.asarray(pc.match_substring_regex(names.dictionary, _COMPOUND))
    at = np.flatnonzero(is_key & np.append(is_compound, False)[code])
    place = (np.cumsum(is_compound) - 1)[code[at]]
    compound = names.dictionary.filter(is_compound)
    parts = [hash_surnames(pc.replace_substring_regex(compound, other, ""))[place] & ~KINDS | PART for other in _PARTS]
    given = _hash_names(first)[0]
    is_given = is_key & (given != 0) & np.asarray(pc.fill_null(pc.match_substring_regex(first, _GIVEN_NAME), False))
    row = np.concatenate([row[is_key], row[is_given], *[row[at]] * len(parts)])
    keys = np.concatenate([keys[is_key], given[is_given] | GIVEN_NAME, *parts])
    row, keys = unique_pairs(row[keys > KINDS], keys[keys > KINDS])
    return np.searchsorted(row, np.arange(len(authors) + 1)), keys


def _hash_names(names: pa.Array) -> tuple[np.ndarray, pa.DictionaryArray, np.ndarray]:
    """Return the key of each name as a full surname, the distinct names, and the place of each name there; null is behind the last."""
    coded = names.dictionary_encode()
    code = np.asarray(coded.indices.fill_null(len(coded.dictionary)))
    return np.append(hash_surnames(coded.dictionary), np.uint64(0))[code] & ~KINDS, coded, code


def _equals(column: pa.Array, value: str) -> np.ndarray:
    return np.asarray(pc.fill_null(pc.equal(column, value), False))


def _forms(types: pa.Array) -> np.ndarray:
    """Return the form of each type (int8): PREPRINT, PUBLISHED, or 0 without a type."""
    forms = np.where(_equals(types, WorkType.PREPRINT), PREPRINT, PUBLISHED)
    return np.where(np.asarray(types.is_valid()), forms, 0).astype(np.int8)


def _documents(given: pa.Array, titles: pa.Array) -> np.ndarray:
    """Return the code of the kind of each document (uint8), 0 if it is an article or unknown.

    The lowest bit is set if the title names the kind, or the record is a notice: every record of the document shows it then.
    """
    kinds = pc.index_in(given, pa.array([*Document], pa.string()))
    codes = np.asarray(pc.fill_null(pc.add(pc.multiply(kinds, 2), 2), 0)).astype(np.uint8)
    codes |= _equals(given, Document.ERRATUM).astype(np.uint8)
    named = find_documents(titles)
    return np.where(named, named, codes)


def _years(dates: pa.Array) -> np.ndarray:
    """Return the year of each date (int32), or 0 without one."""
    years = pc.utf8_slice_codeunits(dates, 0, 4)
    years = pc.if_else(pc.match_substring_regex(years, "^[0-9]{4}$"), years, pa.scalar("0"))
    return np.asarray(pc.fill_null(pc.cast(years, pa.int32()), 0))


def codes_of(column: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Return a code for each row (int32, −1 for null) and the distinct values by code, in the order of first occurrence."""
    coded = column.dictionary_encode()
    chunks = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]  # They share one dictionary.
    codes = [pc.fill_null(chunk.indices, -1).to_numpy() for chunk in chunks]
    distinct = chunks[0].dictionary if chunks else pa.array([], pa.string())
    return np.concatenate([np.empty(0, np.int32), *codes], dtype=np.int32), distinct


@dataclass(frozen=True)
class Nodes(Descriptions):
    """n records as columns. Codes are small integers for equal values, −1 for a missing value."""

    translated: np.ndarray  # bool: the title may be a translation of the printed one
    title: np.ndarray  # int32 code into `titles`
    titles: pa.Array  # string: the distinct normalized titles
    given_titles: pa.Array  # string: the title as delivered

    def __len__(self) -> int:
        return len(self.year)


def nodes_from(facts: pa.Table) -> Nodes:
    """Return the nodes of records in the order of their rows; the query `facts` in `stages/cluster.sql` has the columns."""
    is_titled = pc.not_equal(facts["normalized"], "")
    title, titles = codes_of(pc.if_else(is_titled, facts["normalized"], pa.scalar(None, pa.string())))
    surnames = one_chunk(facts["surnames"])
    offsets = surnames.offsets.to_numpy().astype(np.int64)
    journal, journals = codes_of(facts["journal"])
    volume, issue, page = (facts[name].to_numpy().astype(np.uint32) for name in ("volume", "issue", "page"))
    return Nodes(
        **{name: np.asarray(facts[name]) for name in ("trusted", "preprint", "translated", "little")},
        document=facts["document"].to_numpy().astype(np.uint8),
        year=facts["year"].to_numpy(),
        title=title,
        titles=titles,
        given_titles=one_chunk(facts["title"]),
        surname_offsets=offsets - offsets[0],
        surnames=surnames.values[offsets[0] : offsets[-1]].to_numpy(zero_copy_only=False).view(np.uint64),
        places=Places(volume, issue, page, facts["last_page"].to_numpy(), journal),
        journals=journals,
    )
