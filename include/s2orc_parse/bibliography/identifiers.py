"""Normalize identifiers of papers. All other code uses these functions.

Each `normalize_*` accepts an identifier with resolver, prefix, version or capitals. It returns the form of all tables,
or None if the text is not such an identifier. No function raises an exception.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

from s2orc_parse.words import read_table

_WORDS = read_table("bibliography/words")
MAX_CHARACTERS = 2_000  # longer texts are cut: no identifier is longer
ARXIV_DOI = "10.48550/arxiv."
ACL_DOIS = ("10.18653/v1/", "10.3115/")

_DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:\w+\.)*doi\.org/|info:doi/|urn:doi:|doi\s*[:=]?\s*)+", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\x00-\x1f]+")
_NEXT_LABEL = re.compile("|".join(_WORDS["labels_after_dois"]), re.IGNORECASE)
"""text that a missing space joins to a DOI: 10.1126/science.adj5957arXiv:https://…"""
_DOI_TAIL = ".,;:'\"*>»”’|\\"
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff")) | dict.fromkeys(map(ord, "‐‑"), "-")
_TEX_SIGN = re.compile(
    r"\{?\$?\{?\\(?:text|ensuremath\{?\\?)?(?P<name>less|greater|lt|gt|underscore|slash)(?![a-z])(?:\{\}|\s)?\}?\$?\}?|\$\s*(?P<math>[<>_])\s*\$"
)
_TEX_NAMES = {"less": "<", "lt": "<", "greater": ">", "gt": ">", "underscore": "_", "slash": "/"}
_TEX_LINK = re.compile(r"\\(?:href|url|doi|nolinkurl|path|texttt)\s*\{([^{}]*)\}(?:\s*\{[^{}]*\})?")
_TEX_ESCAPE = re.compile(r"\\(?:allowbreak(?![a-z])\s*|[-/](?=.)|(?=[_%&#$~{}]))|[{}]")
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_PLACEHOLDER = re.compile(
    r"(?<![a-z0-9])(?:x{3,}|n{4,}|y{4,}|z{4,}|\?{2,}|(?<!\d-)0{5,}|tbd|tba)(?![a-z0-9])"  # nnnnnnn.nnnnnnn, xxx, 0000000.0000000
    r"|x{4,}|n{7,}|(?<=\.)doi$"  # fmicb.20xx.xxxxx, ACCESS.2017.DOI
)
_TEMPLATE_DOIS = frozenset(_WORDS["template_dois"].split())
_TEMPLATE_PREFIXES = ("10.0000/", "10.1234/", "10.12345/", "10.9999/")

_ARXIV_NEW = re.compile(r"(?<!\d)(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5})(?:v\d+)?(?!\d)")
_ARXIV_OLD = re.compile(
    rf"(?<![a-z])((?:{'|'.join(_WORDS['arxiv_archives'].split())}))(?:\.[a-z-]{{2,7}})?/(\d{{2}}(?:0[1-9]|1[0-2])\d{{3}})(?:v\d+)?(?!\d)",
    re.IGNORECASE,
)
_PMID = re.compile(
    r"(?:(?:info:|urn:)?(?:pmid|pubmed(?: id)?|medline)\s*[:/=]?\s*)?0*([1-9]\d{0,8})(?:\.0)?"
    r"|(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov/|pubmed\.gov/|(?:www\.)?ncbi\.nlm\.nih\.gov/(?:m/)?(?:pubmed/|entrez/\S{0,80}list_uids=)(?:\?term=)?"
    r"|europepmc\.org/(?:article|abstract)/med/|identifiers\.org/pubmed[:/])0*([1-9]\d{0,8})(?:[/?&#]\S*)?",
    re.IGNORECASE,
)
_PMCID = re.compile(
    r"(?:(?:info:|urn:)?pmc\s?id\s*[:=]?\s*)?(?:pmc)?\s*[:-]?\s*0*([1-9]\d{0,8})(?:\.\d+)?"
    r"|(?:https?://)?(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:labs/)?pmc|europepmc\.org|(?:www\.)?pubmedcentral\.nih\.gov)"
    r"/(?:articles?/|articlerender\.fcgi\?(?:\S{0,40}&)?artid=)?(?:pmc/)?(?:pmc)?0*([1-9]\d{0,8})(?:\.\d+)?(?:[/?&#]\S*)?",
    re.IGNORECASE,
)
_JSTOR = re.compile(
    r"(?:(?:https?://)?(?:www\.)?jstor\.org/stable/(?:pdf/)?)?(?:10\.2307/)?(\d{4,10})(?:\.pdf)?/?", re.IGNORECASE
)
_ISSN = re.compile(r"(\d{4})-?(\d{3}[\dX])", re.IGNORECASE)
_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])(?![\dA-Z])", re.IGNORECASE)
_ROR = re.compile(r"ror\.org/(0[a-hj-km-np-tv-z0-9]{6}\d{2})(?![a-z0-9])", re.IGNORECASE)
_ACL = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]\d{2}-\d{4,5}|\d{4}\.[a-z][a-z0-9_]*-[a-z0-9]+\.\d+)(?:v\d+)?(?:\.pdf|/)?$", re.IGNORECASE
)


def normalize_doi(text: str) -> str | None:
    """Return a DOI in lower case without resolver; return None for other text, template DOIs and placeholder DOIs.

    Escapes of URLs, HTML and TeX are decoded; exports of dblp and Mendeley contain them. Surrounding punctuation is
    removed. Balanced brackets remain ("10.1016/s0022-0000(05)80002-1").
    """
    text = _DOI_PREFIX.sub("", decode_escapes(text))
    match = _DOI.search(text)
    if match is None or (match.start() > 0 and text[match.start() - 1].isalnum()):
        return None
    doi = _NEXT_LABEL.split(match.group().lower(), maxsplit=1)[0]
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


def decode_escapes(text: str) -> str:
    """Return an identifier or address without the escapes of URLs, HTML and TeX: `%3C`, `&lt;`, `\\_`, `{\\textless}`."""
    text = text[:MAX_CHARACTERS].strip()
    if not text.isascii():
        text = text.translate(_INVISIBLE)
    if "%" in text:
        text = unquote(text.replace("\\%", "%"))
    for _ in range(3):
        if "&" not in text:
            break
        text = html.unescape(text)
    if "\\" in text or "{" in text or "$" in text:
        text = _TEX_LINK.sub(r"\1 ", text).strip()
        text = _TEX_SIGN.sub(lambda match: match["math"] or _TEX_NAMES[match["name"]], text)
        text = _TEX_ESCAPE.sub("", text)
    return text


def doi_of_jstor(text: str) -> str | None:
    """Return the DOI that JSTOR registered for its id or stable address: 2346178 → 10.2307/2346178."""
    match = _JSTOR.fullmatch(text[:MAX_CHARACTERS].strip())
    return f"10.2307/{match.group(1)}" if match else None


def doi_key(text: str) -> str:
    """Return a DOI in the form of record ids: normalized, or in lower case if it is malformed or a placeholder."""
    return normalize_doi(text) or text.strip().lower()


def normalize_arxiv(text: str) -> str | None:
    """Return an arXiv id without version, new ("1706.03762") or old ("hep-th/9711200", without subject class), or None."""
    text = text[:MAX_CHARACTERS]
    if match := _ARXIV_OLD.search(text):
        return f"{match.group(1).lower()}/{match.group(2)}"
    match = _ARXIV_NEW.search(text)
    return match.group(1) if match else None


def arxiv_of_doi(doi: str | None) -> str | None:
    """Return the arXiv id in a normalized DOI of arXiv's prefix: 10.48550/arxiv.1706.03762 → 1706.03762."""
    return normalize_arxiv(doi[len(ARXIV_DOI) :]) if doi and doi.startswith(ARXIV_DOI) else None


def doi_of_arxiv(arxiv_id: str) -> str:
    """Return the DOI that arXiv registers for an id."""
    return ARXIV_DOI + arxiv_id


def acl_of_doi(doi: str | None) -> str | None:
    """Return the ACL Anthology id in a normalized DOI of the Anthology: 10.18653/v1/p19-1001 → P19-1001.

    Older DOIs that contain no id, such as 10.3115/1073083.1073135, are returned unchanged.
    """
    if not doi or not doi.startswith(ACL_DOIS):
        return None
    return normalize_acl(doi.rpartition("/")[2]) or doi


def normalize_pmid(text: str) -> str | None:
    """Return a PubMed id (digits without leading zeros), or None."""
    match = _PMID.fullmatch(text[:MAX_CHARACTERS].strip())
    return match.group(1) or match.group(2) if match else None


def normalize_pmcid(text: str) -> str | None:
    """Return a PubMed Central id ("PMC" and digits without version), or None."""
    match = _PMCID.fullmatch(text[:MAX_CHARACTERS].strip())
    return f"PMC{match.group(1) or match.group(2)}" if match else None


def normalize_issn(text: str) -> str | None:
    """Return an ISSN, "1932-6203"; None if it is not one, or its check digit (ISO 3297, modulus 11) is wrong."""
    match = _ISSN.fullmatch(text.strip()[:20])
    if match is None:
        return None
    digits = "".join(match.groups()).upper()
    total = sum(int(digit) * weight for digit, weight in zip(digits, range(8, 1, -1), strict=False))
    check = -total % 11
    return f"{digits[:4]}-{digits[4:]}" if digits[-1] == ("X" if check == 10 else str(check)) else None


def normalize_orcid(text: str) -> str | None:
    """Return an ORCID, "0000-0002-1825-0097", or None for a wrong form or check digit (ISO 7064, 11-2)."""
    match = _ORCID.search(text[:MAX_CHARACTERS])
    if match is None:
        return None
    digits = "".join(match.groups()).upper()
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return "-".join(match.groups()).upper() if digits[-1] == ("X" if check == 10 else str(check)) else None


def normalize_ror(text: str) -> str | None:
    """Return an id of the Research Organization Registry such as "02jx3x895" from its address, or None."""
    match = _ROR.search(text[:MAX_CHARACTERS])
    return match.group(1).lower() if match else None


def normalize_acl(text: str) -> str | None:
    """Return an ACL Anthology id without version ("N18-3011", "2020.acl-main.207"), or None."""
    match = _ACL.search(text[:MAX_CHARACTERS].strip())
    if match is None:
        return None
    found = match.group(1)
    return found.lower() if found[0].isdigit() else found.upper()


def plain(value: object) -> str:
    """Return a string or an integer as text without surrounding white space; return "" for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
