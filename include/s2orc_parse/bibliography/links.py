"""Read addresses, and collect the identifiers of a bibliography entry from its fields, addresses and printed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.identifiers import decode_escapes, normalize_doi
from s2orc_parse.words import read_table

_ADDRESS = re.compile(r"(?:(?:https?:)?//)?(?P<host>[a-z][\w-]*(?:\.[\w-]+)+)(?::\d+)?/+(?P<path>\S*)", re.IGNORECASE)
_WORDS = read_table("bibliography/words")
_RESOLVER = re.compile("|".join(_WORDS["doi_resolvers"]))
_PUBLISHER_HOSTS = re.compile(rf"(?:[\w-]+\.)*(?:{'|'.join(_WORDS['doi_hosts'].split())})\.(?:com|org)")
"""Hosts with DOIs of articles in their addresses, after words other than `doi`."""
_START = r"(?=10\.\d{4,9}(?:\.\d+)*/)"
_DOI_IN_PATH = re.compile(rf"(?:[\w.-]{{1,40}}/){{0,5}}?(?:doi[:/]\s*)?{_START}", re.IGNORECASE)
_DOI_AFTER_WORD = re.compile(
    rf"(?:[\w.-]{{1,40}}/){{0,4}}?(?:doi|articles?)/(?:[a-z]+/){{0,2}}?{_START}", re.IGNORECASE
)
_DOI_IN_QUERY = re.compile(rf"[?&](?:doi|id|uri)=(?:https?://(?:dx\.)?doi\.org/|doi:)?{_START}", re.IGNORECASE)
_DOI_IN_TARGET = re.compile(rf"[?&](?:url|qurl|u|target|link)=https?://(?:dx\.)?doi\.org/{_START}", re.IGNORECASE)
_AFTER_DOI = re.compile(
    r"(?:/(?:abstract|full|fulltext|full-text|pdf|epdf|summary|meta|references|html?)){0,2}(?:\.(?:full|abstract))?(?:\.(?:pdf|html?))?/?$"
    r"|(?<=\d)v\d{1,2}(?:\.full|\.abstract)?(?:\.pdf)?/?$",
    re.IGNORECASE,
)
_URL = re.compile(r"(?:https?|ftp)://[^\s<>{}\"|\\^]{4,}|www\.[^\s<>{}\"|\\^]{4,}", re.IGNORECASE)
_PRINTED_DOI = re.compile(
    r"(?:doi\.org/|\bdoi\b\s{0,2}[:=]?\s{0,2}|(?<![\w./-]))(10\.\d{4,9}(?:\.\d+)*(?:/|%2F)\S+)", re.IGNORECASE
)
_PRINTED_ARXIV = re.compile(r"\b(?:arxiv\b|abs/)", re.IGNORECASE)
_PRINTED_PMID = re.compile(r"\b(?:PMID\s?:?|PubMed(?: ID)?:)\s*(\d{1,8})\b", re.IGNORECASE)
_PRINTED_PMCID = re.compile(r"\bPMC\s?(\d{4,8})\b")
_ARXIV_REACH = 40  # characters after the word arXiv
_OTHER_IDS = frozenset(_WORDS["other_ids"].split())
_READERS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "doi": ("doi", normalize_doi), "jstor": ("doi", identifiers.doi_of_jstor),
    **dict.fromkeys(("pmid", "pubmed"), ("pubmed_id", identifiers.normalize_pmid)),
    **dict.fromkeys(("pmcid", "pmc"), ("pmc_id", identifiers.normalize_pmcid)),
    "arxiv": ("arxiv_id", identifiers.normalize_arxiv),
}  # fmt: skip


def doi_of_url(url: str) -> str | None:
    """Return the DOI in an address of a resolver (doi.org, doi.acm.org, hdl.handle.net, …) or of a publisher's article
    page.

    A path counts only if it contains a DOI, optionally with words before (`/doi/full/10.…`) and after (`.pdf`,
    `/abstract`). A relative address or other text is passed to `normalize_doi` if it begins with a DOI.
    """
    url = decode_escapes(url)
    match = _ADDRESS.match(url)
    if match is None:
        return normalize_doi(url) if url.casefold().startswith(("10.", "doi:", "info:doi/", "urn:doi:")) else None
    host, path = match["host"].casefold(), match["path"]
    is_resolver = _RESOLVER.fullmatch(host) is not None
    if is_resolver or _PUBLISHER_HOSTS.fullmatch(host):
        found = _DOI_IN_QUERY.search(path) or _DOI_IN_PATH.match(path)
    else:
        found = _DOI_AFTER_WORD.match(path) or _DOI_IN_TARGET.search(path)
    if found is None:
        return None
    doi = re.split(r"[?&#]", path[found.end() :])[0]
    return normalize_doi(doi if is_resolver else _AFTER_DOI.sub("", doi))


def clean_url(text: str) -> str | None:
    r"""Return the first address in a text without escapes, or None: `\url{https://x.org/a\_b}` → https://x.org/a_b."""
    if "://" not in text and "www." not in text.casefold():
        return None
    if "\\" in text:
        text = re.sub(r"\\(?=[_%&#~$])|\\allowbreak\s*", "", text.replace("\\textasciitilde", "~"))
    match = _URL.search(text)
    return match.group().rstrip(".,;:'\")]") if match else None


def collect_identifiers(
    tagged: Iterable[tuple[str, str]], urls: Iterable[str], printed: Iterable[str]
) -> dict[str, str]:
    """Return the first normalized identifier of each kind (`doi, arxiv_id, pubmed_id, pmc_id`) of one entry.

    `tagged` contains types and values, which come first; then addresses, then printed texts. An arXiv id and the DOI
    that arXiv registers for it imply each other.
    """
    found: dict[str, str] = {}

    def take(name: str, identifier: str | None) -> None:
        if identifier:
            found.setdefault(name, identifier)

    for kind, value in tagged:
        if kind in _READERS:
            name, read = _READERS[kind]
            take(name, read(value))
        elif kind not in _OTHER_IDS:
            for name, identifier in _read_untyped(value):
                take(name, identifier)
    for url in urls:
        for name, identifier in _read_address(url):
            take(name, identifier)
    for text in printed:
        if "doi" not in found and "10." in text and (match := _PRINTED_DOI.search(text)):
            suffix = unquote(match.group(1)).partition("/")[2]
            # A space or a line end cut a DOI whose suffix has no digit, or does not end with a letter or digit.
            if not suffix.endswith(("-", "_", "/", "(")) and any(map(str.isdecimal, suffix)):
                take("doi", normalize_doi(match.group(1)))
        if "doi" not in found and "://" in text:
            take("doi", next(filter(None, (doi_of_url(match.group()) for match in _URL.finditer(text))), None))
        if "PM" in text or "ubMed" in text:
            if match := _PRINTED_PMID.search(text):
                take("pubmed_id", match.group(1).lstrip("0"))
            if match := _PRINTED_PMCID.search(text):
                take("pmc_id", f"PMC{match.group(1)}")
        if ("rxiv" in text or "rXiv" in text or "RXIV" in text or "abs/" in text) and (
            match := _PRINTED_ARXIV.search(text)
        ):
            take("arxiv_id", identifiers.normalize_arxiv(text[match.start() : match.end() + _ARXIV_REACH]))
    if (arxiv_id := identifiers.arxiv_of_doi(found.get("doi"))) is not None:
        take("arxiv_id", arxiv_id)
    elif "arxiv_id" in found:
        take("doi", identifiers.doi_of_arxiv(found["arxiv_id"]))
    return found


def _read_untyped(value: str) -> Iterable[tuple[str, str | None]]:
    """Yield the identifiers that a value without a known type contains, detected by their form."""
    if _PRINTED_ARXIV.search(value):
        yield "arxiv_id", identifiers.normalize_arxiv(value)
    if re.match(r"\s*(?:pmid|pubmed)\b", value, re.IGNORECASE):
        yield "pubmed_id", identifiers.normalize_pmid(value)
    elif re.match(r"\s*PMC\s?\d", value, re.IGNORECASE):
        yield "pmc_id", identifiers.normalize_pmcid(value)
    else:
        yield from _read_address(value)


def _read_address(url: str) -> Iterable[tuple[str, str | None]]:
    if doi := doi_of_url(url):
        yield "doi", doi
    elif "jstor.org/stable/" in url:
        yield "doi", identifiers.doi_of_jstor(url)
    elif "arxiv.org/" in url.casefold():
        yield "arxiv_id", identifiers.normalize_arxiv(url)
    elif "://" in url:
        yield "pubmed_id", identifiers.normalize_pmid(url)
        yield "pmc_id", identifiers.normalize_pmcid(url)
