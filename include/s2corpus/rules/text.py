"""Rules for the text of models, tokenizers and benchmarks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from s2corpus.rules import Rules


class TokenizerRules(Rules):
    """A file of the library `tokenizers` (extra `tokens`): a URI, or a file of an installed package (`package:<package>/<file>`)."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class BenchmarkRules(Rules):
    """A file of test texts: JSON lines (all their strings are used) or plain lines."""

    name: str
    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class ModelTextRules(Rules):
    """Format of `model_text` in `documents/`, in addition to the text of the card. It is null if the two texts are equal."""

    headings: Literal["plain", "markdown"] = "plain"
    """markdown: write one # per level before a header, and an empty line between paragraphs"""
    citations: Literal["printed", "linked"] = "printed"
    """linked: write inline citations of papers in the corpus as [@paper_id]"""
    captions: bool = False
    """write captions of figures and tables after the section that first mentions them"""
    tables: Literal["none", "markdown"] = "none"
    """markdown: write tables with known cells, and their captions"""
    formulas: Literal["none", "latex"] = "none"
    """latex: write the LaTeX of a formula, if available, between $ and $ or $$ and $$"""
