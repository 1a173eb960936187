"""Which PDFs are extracted."""

from __future__ import annotations

from s2corpus.rules import Count, Rules


class Select(Rules):
    """Which PDFs are worth extracting (S2ORC App. B)."""

    max_pages: Count = 50
    """more pages are not a paper (S2ORC App. B)"""
