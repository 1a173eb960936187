"""Rules that choose canonical metadata."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Rules


class VoteRules(Rules):
    """Rules that choose canonical metadata (S2ORC §2.3)."""

    support: Literal["similar", "equal"] = "similar"
    """similar: a vote supports similar values too; equal: only equal values (S2ORC §2.3)"""
    trust: tuple[str, ...] = (
        "crossref", "pubmed", "declared", "acl", "dblp", "arxiv", "s2", "unpaywall", "scienceparse",
    )  # fmt: skip
    """sources in descending order of trust, which breaks ties (SPEC §5.10); sources not listed follow by name"""
