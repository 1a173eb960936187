"""The form of texts for models, and what is counted in texts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from s2corpus.rules import Rules


class Tokenizer(Rules):
    """A file of the library `tokenizers` (extra `tokens`), at an address or in an installed package (`package:<package>/<file>`)."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Benchmark(Rules):
    """A file of texts that models are tested with: JSON lines, of which all strings count, or lines of text."""

    name: str
    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class ModelText(Rules):
    """The form of `model_text` in `documents/`, beside the text as the card has it; where nothing differs from that, it is null."""

    headings: Literal["plain", "markdown"] = "plain"
    """markdown: heads with as many # as their level, and an empty line between paragraphs"""
    citations: Literal["printed", "linked"] = "printed"
    """linked: inline citations of papers of the corpus as [@paper_id]"""
    captions: bool = False
    """captions of figures and tables, after the section that first mentions them"""
    tables: Literal["none", "markdown"] = "none"
    """markdown: tables whose cells are known, with their caption"""
    formulas: Literal["none", "latex"] = "none"
    """latex: between $ and $, or $$ and $$, where the LaTeX of a formula is known"""
