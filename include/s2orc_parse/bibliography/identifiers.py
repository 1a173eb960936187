"""Normalize identifiers of papers. All other code uses these functions.

Each `normalise_*` accepts an identifier with resolver, prefix, version or capitals. It returns the form of all tables,
or None if the text is not such an identifier. No function raises an exception.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

MAX_CHARACTERS = 2_000  # longer texts are cut: no identifier is longer
ARXIV_DOI = "10.48550/arxiv."
ACL_DOIS = ("10.18653/v1/", "10.3115/")

_DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:\w+\.)*doi\.org/|info:doi/|urn:doi:|doi\s*[:=]?\s*)+", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\x00-\x1f]+")
_DOI_TAIL = ".,;:'\"*>»”’|\\"
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_PLACEHOLDER = re.compile(
    r"(?<![a-z0-9])(?:x{3,}|n{4,}|y{4,}|z{4,}|\?{2,}|0{5,}|tbd|tba)(?![a-z0-9])"  # nnnnnnn.nnnnnnn, xxx, 0000000.0000000
    r"|x{4,}|n{7,}|(?<=\.)doi$"  # fmicb.20xx.xxxxx, ACCESS.2017.DOI
)
_TEMPLATE_DOIS = frozenset(
    (
        "10.1145/1122445.1122456", "10.1145/1122445.1122457", "10.1145/1122445.1122458",  # acmart's samples
        "10.1145/8888888.7777777", "10.1145/9999997.9999999", "10.1145/1235", "10.1145/123_4", "10.1145/1234567.1234567",
        "10.1145/1234567890", "10.5555/1234567.1234567", "10.5555/12345678", "10.1000/xyz123", "10.1000/182",
        "10.1007/s00000-000-0000-0", "10.1007/978-3-000-00000-0", "10.1016/j.procs.2000.00.000",
        "10.1093/bioinformatics/btxxxxx", "10.1017/s0000000000000000", "10.1080/01621459.yyyy.zzzzzz",
    )
)  # fmt: skip
_TEMPLATE_PREFIXES = ("10.0000/", "10.1234/", "10.12345/", "10.9999/")

_ARXIV_NEW = re.compile(r"(?<!\d)(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5})(?:v\d+)?(?!\d)")
_ARXIV_OLD = re.compile(
    r"(?<![a-z])((?:acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat"
    r"|cs|dg-ga|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math-ph|math|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics"
    r"|plasm-ph|q-alg|q-bio|quant-ph|solv-int|supr-con))(?:\.[a-z-]{2,7})?/(\d{2}(?:0[1-9]|1[0-2])\d{3})(?:v\d+)?(?!\d)",
    re.IGNORECASE,
)
_PMID = re.compile(r"^(?:(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/(?:pubmed|m/pubmed)/)"
                   r"|pmid\s*:?\s*|pubmed\s*:?\s*|medline:)?0*([1-9]\d{0,8})(?:\.0)?/?$", re.IGNORECASE)  # fmt: skip
_PMCID = re.compile(r"^(?:.*/)?(?:pmcid\s*:?\s*)?(?:pmc)?\s*0*([1-9]\d{0,8})(?:\.\d+)?/?$", re.IGNORECASE)
_JSTOR = re.compile(
    r"(?:(?:https?://)?(?:www\.)?jstor\.org/stable/(?:pdf/)?)?(?:10\.2307/)?(\d{4,10})(?:\.pdf)?/?", re.IGNORECASE
)
_ISSN = re.compile(r"(\d{4})-?(\d{3}[\dX])", re.IGNORECASE)
_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])(?![\dA-Z])", re.IGNORECASE)
_ROR = re.compile(r"ror\.org/(0[a-hj-km-np-tv-z0-9]{6}\d{2})(?![a-z0-9])", re.IGNORECASE)
_ACL = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]\d{2}-\d{4,5}|\d{4}\.[a-z][a-z0-9_]*-[a-z0-9]+\.\d+)(?:v\d+)?(?:\.pdf|/)?$", re.IGNORECASE
)

_ADDRESS = re.compile(r"(?:(?:https?:)?//)?(?P<host>[a-z][\w-]*(?:\.[\w-]+)+)(?::\d+)?/+(?P<path>\S*)", re.IGNORECASE)
_RESOLVER = re.compile(
    r"(?:[\w-]+\.)*doi\.org|(?:dx\.)?doi\.[\w.-]+|(?:[\w-]+\.)*doi-org\.[\w.-]+|hdl\.handle\.net|chooser\.crossref\.org"
)
_PUBLISHER_HOSTS = re.compile(
    r"(?:[\w-]+\.)*(?:springer|springerlink|springeropen|biomedcentral|aps|iop|frontiersin|biorxiv|medrxiv|plos)\.(?:com|org)"
)
"""Hosts with DOIs of articles in their addresses, after words other than `doi`."""
_START = r"(?=10\.\d{4,9}(?:\.\d+)*/)"
_DOI_IN_PATH = re.compile(rf"(?:[\w.-]{{1,40}}/){{0,5}}?(?:doi[:/]\s*)?{_START}", re.IGNORECASE)
_DOI_AFTER_WORD = re.compile(rf"(?:[\w.-]{{1,40}}/){{0,4}}?doi/(?:[a-z]+/){{0,2}}?{_START}", re.IGNORECASE)
_DOI_IN_QUERY = re.compile(rf"[?&](?:doi|id|uri)=(?:https?://(?:dx\.)?doi\.org/|doi:)?{_START}", re.IGNORECASE)
_AFTER_DOI = re.compile(
    r"(?:/(?:abstract|full|fulltext|full-text|pdf|epdf|summary|meta|references|html?))?(?:\.(?:full|abstract))?(?:\.(?:pdf|html?))?/?$"
    r"|(?<=\d)v\d{1,2}(?:\.full|\.abstract)?(?:\.pdf)?/?$",
    re.IGNORECASE,
)
_STEM = re.compile(r"(?:\.(?:pdf|tar|tgz|gz|tex|zip|nxml|xml))+$", re.IGNORECASE)
_ARXIV_NAME = re.compile(
    r"(?:.*/)?(?:arxiv[-_.: ]?)?(?:(\d{4}\.\d{4,5})|([a-z]+(?:-[a-z]+)?)(?:\.[a-z-]{2,7})?[/_-]?(\d{7}))(?:v\d+)?",
    re.IGNORECASE,
)
_PMC_NAME = re.compile(r"(?:.*/)?PMC0*([1-9]\d{0,8})(?:\.\d+)?", re.IGNORECASE)
_ACL_NAME = re.compile(r"(?:[a-z]\d{2}-\d{4,5}|\d{4}\.[a-z][a-z0-9_]*-[a-z0-9]+\.\d+)(?:v\d+)?", re.IGNORECASE)


def normalise_doi(text: str) -> str | None:
    """Return a DOI in lower case without resolver; return None for other text, template DOIs and placeholder DOIs.

    URL escapes are decoded and surrounding punctuation is removed. Balanced brackets remain
    ("10.1016/s0022-0000(05)80002-1").
    """
    text = _DOI_PREFIX.sub("", text[:MAX_CHARACTERS].strip())
    if "%" in text:
        text = unquote(text)
    match = _DOI.search(text)
    if match is None or (match.start() > 0 and text[match.start() - 1].isalnum()):
        return None
    doi = match.group().lower()
    while True:
        trimmed = doi.rstrip(_DOI_TAIL)
        if trimmed and trimmed[-1] in _CLOSING and trimmed.count(trimmed[-1]) > trimmed.count(_CLOSING[trimmed[-1]]):
            trimmed = trimmed[:-1]
        if trimmed == doi:
            break
        doi = trimmed
    suffix = doi.partition("/")[2]
    if not suffix or doi in _TEMPLATE_DOIS or doi.startswith(_TEMPLATE_PREFIXES) or _PLACEHOLDER.search(suffix):
        return None
    return doi if any(character in "123456789" or character.isalpha() for character in suffix) else None


def doi_of_jstor(text: str) -> str | None:
    """Return the DOI that JSTOR registered for its id or stable address: 2346178 → 10.2307/2346178."""
    match = _JSTOR.fullmatch(text[:MAX_CHARACTERS].strip())
    return f"10.2307/{match.group(1)}" if match else None


def doi_key(text: str) -> str:
    """Return a DOI in the form of record ids: normalized, or in lower case if it is malformed or a placeholder."""
    return normalise_doi(text) or text.strip().lower()


def doi_of_url(url: str) -> str | None:
    """Return the DOI in an address of a resolver (doi.org, doi.acm.org, hdl.handle.net, …) or of a publisher's article
    page.

    A path counts only if it contains a DOI, optionally with words before (`/doi/full/10.…`) and after (`.pdf`,
    `/abstract`). A relative address or other text is passed to `normalise_doi` if it begins with a DOI.
    """
    url = url[:MAX_CHARACTERS].strip()
    match = _ADDRESS.match(url)
    if match is None:
        return normalise_doi(url) if url.casefold().startswith(("10.", "doi:", "info:doi/", "urn:doi:")) else None
    host, path = match["host"].casefold(), unquote(match["path"])
    is_resolver = _RESOLVER.fullmatch(host) is not None
    if is_resolver or _PUBLISHER_HOSTS.fullmatch(host):
        found = _DOI_IN_QUERY.search(path) or _DOI_IN_PATH.match(path)
    else:
        found = _DOI_AFTER_WORD.match(path)
    if found is None:
        return None
    doi = re.split(r"[?&#]", path[found.end() :])[0]
    return normalise_doi(doi if is_resolver else _AFTER_DOI.sub("", doi))


def normalise_arxiv(text: str) -> str | None:
    """Return an arXiv id without version, new ("1706.03762") or old ("hep-th/9711200", without subject class), or None."""
    text = text[:MAX_CHARACTERS]
    if match := _ARXIV_OLD.search(text):
        return f"{match.group(1).lower()}/{match.group(2)}"
    match = _ARXIV_NEW.search(text)
    return match.group(1) if match else None


def arxiv_of_doi(doi: str | None) -> str | None:
    """Return the arXiv id in a normalized DOI of arXiv's prefix: 10.48550/arxiv.1706.03762 → 1706.03762."""
    return normalise_arxiv(doi[len(ARXIV_DOI) :]) if doi and doi.startswith(ARXIV_DOI) else None


def doi_of_arxiv(arxiv_id: str) -> str:
    """Return the DOI that arXiv registers for an id."""
    return ARXIV_DOI + arxiv_id


def acl_of_doi(doi: str | None) -> str | None:
    """Return the ACL Anthology id in a normalized DOI of the Anthology: 10.18653/v1/p19-1001 → P19-1001.

    Older DOIs that contain no id, such as 10.3115/1073083.1073135, are returned unchanged.
    """
    if not doi or not doi.startswith(ACL_DOIS):
        return None
    return normalise_acl(doi.rpartition("/")[2]) or doi


def normalise_pmid(text: str) -> str | None:
    """Return a PubMed id (digits without leading zeros), or None."""
    match = _PMID.match(text[:MAX_CHARACTERS].strip())
    return match.group(1) if match else None


def normalise_pmcid(text: str) -> str | None:
    """Return a PubMed Central id ("PMC" and digits without version), or None."""
    match = _PMCID.match(text[:MAX_CHARACTERS].strip())
    return f"PMC{match.group(1)}" if match else None


def normalise_issn(text: str) -> str | None:
    """Return an ISSN, "1932-6203"; None if it is not one, or its check digit (ISO 3297, modulus 11) is wrong."""
    match = _ISSN.fullmatch(text.strip()[:20])
    if match is None:
        return None
    digits = "".join(match.groups()).upper()
    total = sum(int(digit) * weight for digit, weight in zip(digits, range(8, 1, -1), strict=False))
    check = -total % 11
    return f"{digits[:4]}-{digits[4:]}" if digits[-1] == ("X" if check == 10 else str(check)) else None


def normalise_orcid(text: str) -> str | None:
    """Return an ORCID such as "0000-0002-1825-0097", or None if it is malformed or its check digit (ISO 7064, 11-2) is
    wrong.
    """
    match = _ORCID.search(text[:MAX_CHARACTERS])
    if match is None:
        return None
    digits = "".join(match.groups()).upper()
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return "-".join(match.groups()).upper() if digits[-1] == ("X" if check == 10 else str(check)) else None


def normalise_ror(text: str) -> str | None:
    """Return an id of the Research Organization Registry such as "02jx3x895" from its address, or None."""
    match = _ROR.search(text[:MAX_CHARACTERS])
    return match.group(1).lower() if match else None


def normalise_acl(text: str) -> str | None:
    """Return an ACL Anthology id without version ("N18-3011", "2020.acl-main.207"), or None."""
    match = _ACL.search(text[:MAX_CHARACTERS].strip())
    if match is None:
        return None
    found = match.group(1)
    return found.lower() if found[0].isdigit() else found.upper()


def arxiv_id_of_name(name: str) -> str | None:
    """Return the arXiv id that is a complete file name (`1911.02782v3.pdf`, `hep-th9711200.gz`), or None."""
    match = _ARXIV_NAME.fullmatch(_STEM.sub("", name))
    if match is None:
        return None
    return normalise_arxiv(match.group(1) or f"{match.group(2)}/{match.group(3)}")


def acl_id_of_name(name: str) -> str | None:
    """Return the ACL Anthology id that is a complete file name (`P19-1001.pdf`, `2020.acl-main.207.pdf`), or None."""
    stem = _STEM.sub("", name).rpartition("/")[2]
    return normalise_acl(stem) if _ACL_NAME.fullmatch(stem) else None


def pmc_id_of_name(name: str) -> str | None:
    """Return the PubMed Central id that is a complete file name (`PMC4391421.pdf`), or None."""
    match = _PMC_NAME.fullmatch(_STEM.sub("", name))
    return f"PMC{match.group(1)}" if match else None


def plain(value: object) -> str:
    """Return a string or an integer as text without surrounding white space; return "" for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
