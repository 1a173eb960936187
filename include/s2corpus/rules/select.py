"""Rules that select PDFs for extraction."""

from __future__ import annotations

from s2corpus.rules import Count, Rules


class SelectRules(Rules):
    """Rules that select PDFs for extraction (S2ORC App. B)."""

    max_pages: Count = 50
    """maximum pages of a paper (S2ORC App. B)"""
