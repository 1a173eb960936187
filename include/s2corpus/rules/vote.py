"""How canonical metadata are chosen."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Rules


class Vote(Rules):
    """Canonical metadata (S2ORC §2.3)."""

    support: Literal["similar", "equal"] = "similar"
    """whether votes support a value by how similar they are to it, or only where they are equal (S2ORC §2.3)"""
    trust: tuple[str, ...] = (
        "crossref",
        "pubmed",
        "declared",
        "acl",
        "dblp",
        "arxiv",
        "s2",
        "unpaywall",
        "scienceparse",
    )
    """sources by trust, the last tie-break but one; a source not listed, as the extractor, comes after all that are, by name"""
