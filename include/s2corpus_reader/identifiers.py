"""Normalize identifiers and titles to the form of the look-up keys of a snapshot."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import unquote

from s2corpus_reader.errors import SnapshotError

_DOI = re.compile(r"(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|(?:info|urn):?doi[:/]|doi\s*[:=]?\s*", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:.*arxiv\.org/(?:abs|pdf)/|arxiv\s*:\s*)?(?:(\d{4}\.\d{4,5})|([a-z-]+)(?:\.[a-z-]+)?/(\d{7}))(?:v\d+)?(?:\.pdf)?/?",
    re.IGNORECASE,
)
_PMID = re.compile(r"(?:.*pubmed[^/\s]*/|pmid\s*:?\s*)?0*([1-9]\d{0,8})/?", re.IGNORECASE)
_PMCID = re.compile(r"(?:.*/)?(?:pmcid\s*:?\s*)?(?:pmc)?\s*0*([1-9]\d{0,8})(?:\.\d+)?/?", re.IGNORECASE)
_ACL = re.compile(
    r"(?:.*/)?([a-z]\d{2}-\d{4,5}|\d{4}\.[a-z][a-z0-9_]*-[a-z0-9]+\.\d+)(?:v\d+)?(?:\.pdf|/)?", re.IGNORECASE
)


def normalize(kind: str, value: str) -> str:
    """Return the stored form of an identifier, SHA-1 or title.

    `kind` is `doi`, `arxiv_id`, `pubmed_id`, `pmc_id`, `acl_id`, `sha1` or `title`.

    Raises:
        SnapshotError: the value is not an identifier of this kind.
    """
    normalized = _NORMALIZERS[kind](value.strip())
    if not normalized:
        raise SnapshotError(f"{value!r} is not a valid {_NAMES[kind]}")
    return normalized


def normalize_title(title: str) -> str:
    """Return a title without case, accents, white space and punctuation."""
    return "".join(filter(_is_kept, unicodedata.normalize("NFKD", title).casefold()))


def _is_kept(char: str) -> bool:
    return char.isalnum() or (unicodedata.category(char) in ("Mc", "Mn") and unicodedata.combining(char) == 0)


def _normalize_doi(text: str) -> str:
    text = unquote(_DOI.sub("", text, count=1) if _DOI.match(text) else text).lower().rstrip(".,;")
    return text if text.startswith("10.") else ""


def _normalize_arxiv(text: str) -> str:
    match = _ARXIV.fullmatch(text)
    return "" if match is None else match[1] or f"{match[2].lower()}/{match[3]}"


def _normalize_pmid(text: str) -> str:
    match = _PMID.fullmatch(text)
    return "" if match is None else match[1]


def _normalize_pmcid(text: str) -> str:
    match = _PMCID.fullmatch(text)
    return "" if match is None else f"PMC{match[1]}"


def _normalize_acl(text: str) -> str:
    match = _ACL.fullmatch(text)
    return "" if match is None else match[1].lower() if match[1][0].isdigit() else match[1].upper()


_NAMES = {
    "doi": "DOI", "arxiv_id": "arXiv id", "pubmed_id": "PubMed id", "pmc_id": "PubMed Central id",
    "acl_id": "ACL Anthology id", "sha1": "SHA-1", "title": "title",
}  # fmt: skip
_NORMALIZERS: dict[str, Callable[[str], str]] = {
    "doi": _normalize_doi,
    "arxiv_id": _normalize_arxiv,
    "pubmed_id": _normalize_pmid,
    "pmc_id": _normalize_pmcid,
    "acl_id": _normalize_acl,
    "sha1": str.lower,
    "title": normalize_title,
}
