"""What of a release people judge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from s2corpus.rules import Rules


class Evaluation(Rules):
    """What of a release people judge (S2ORC §4, GORC §5); not part of a spec: nothing of the release depends on it."""

    seed: int = 20200705
    """of the samples"""
    clusters: Annotated[int, Field(ge=1, le=5000)] = 500
    """papers with PDFs"""
    pdf_links: Annotated[int, Field(ge=1, le=5000)] = 500
    """bibliography links of PDFs, no two to one paper"""
    latex_links: Annotated[int, Field(ge=1, le=5000)] = 100
    """bibliography links of LaTeX sources, likewise"""
    author_overlap: Annotated[float, Field(gt=0, le=1)] = 0.5
    """share of the shorter author list that must be in the other ("substantial overlap", S2ORC Appendix D; the number is ours)"""
