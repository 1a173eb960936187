"""Rules that convert LaTeX sources."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Rules


class LatexRules(Rules):
    """Rules that convert LaTeX sources (S2ORC §2.2)."""

    converter: Literal["pandoc", "latexml"] = "pandoc"
    """converter; LaTeXML must be installed on the workers, and is about thirty times slower"""
    unsafe: bool = False
    """run LaTeXML even if the kernel has no sandbox: a source could then read all files that the task may read"""


LATEXML_TIMES = 5
"""Time limit of LaTeXML for a source, as a multiple of the limit of pandoc."""
