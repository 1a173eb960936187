"""Read the identifiers that are complete names of files."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.identifiers import normalize_acl, normalize_arxiv

_STEM = re.compile(r"(?:\.(?:pdf|tar|tgz|gz|tex|zip|nxml|xml))+$", re.IGNORECASE)
_ARXIV_NAME = re.compile(
    r"(?:.*/)?(?:arxiv[-_.: ]?)?(?:(\d{4}\.\d{4,5})|([a-z]+(?:-[a-z]+)?)(?:\.[a-z-]{2,7})?[/_-]?(\d{7}))(?:v\d+)?",
    re.IGNORECASE,
)
_PMC_NAME = re.compile(r"(?:.*/)?PMC0*([1-9]\d{0,8})(?:\.\d+)?", re.IGNORECASE)
_ACL_NAME = re.compile(r"(?:[a-z]\d{2}-\d{4,5}|\d{4}\.[a-z][a-z0-9_]*-[a-z0-9]+\.\d+)(?:v\d+)?", re.IGNORECASE)


def arxiv_id_of_name(name: str) -> str | None:
    """Return the arXiv id that is a complete file name (`1911.02782v3.pdf`, `hep-th9711200.gz`), or None."""
    match = _ARXIV_NAME.fullmatch(_STEM.sub("", name))
    if match is None:
        return None
    return normalize_arxiv(match.group(1) or f"{match.group(2)}/{match.group(3)}")


def acl_id_of_name(name: str) -> str | None:
    """Return the ACL Anthology id that is a complete file name (`P19-1001.pdf`, `2020.acl-main.207.pdf`), or None."""
    stem = _STEM.sub("", name).rpartition("/")[2]
    return normalize_acl(stem) if _ACL_NAME.fullmatch(stem) else None


def pmc_id_of_name(name: str) -> str | None:
    """Return the PubMed Central id that is a complete file name (`PMC4391421.pdf`), or None."""
    match = _PMC_NAME.fullmatch(_STEM.sub("", name))
    return f"PMC{match.group(1)}" if match else None
