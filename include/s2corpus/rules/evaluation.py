"""Samples of a release that people judge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from s2corpus.rules import Rules


class EvaluationRules(Rules):
    """Samples of a release that people judge (S2ORC §4, GORC §5). They are not part of a spec: no release depends on them."""

    seed: int = 20200705
    """seed of the samples"""
    clusters: Annotated[int, Field(ge=1, le=5000)] = 500
    """number of papers with PDFs"""
    pdf_links: Annotated[int, Field(ge=1, le=5000)] = 500
    """number of bibliography links of PDFs, each to a different paper"""
    latex_links: Annotated[int, Field(ge=1, le=5000)] = 100
    """number of bibliography links of LaTeX sources, each to a different paper"""
    parses: Annotated[int, Field(ge=1, le=5000)] = 200
    """number of PDF parses with inline citations and bibliography entries to judge (S2ORC §4)"""
    author_overlap: Annotated[float, Field(gt=0, le=1)] = 0.5
    """minimum share of the shorter author list in the other list ("substantial overlap", S2ORC Appendix D; the value is our choice)"""
