"""How LaTeX sources are converted."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Rules


class Latex(Rules):
    """LaTeX sources (S2ORC §2.2)."""

    converter: Literal["pandoc", "latexml"] = "pandoc"
    """who reads them; LaTeXML must be installed where the tasks run, and takes some thirty times as long"""
    unsafe: bool = False
    """run LaTeXML where the kernel has no sandbox: a source could then read what the task may read"""


LATEXML_TIMES = 5
"""how much longer than pandoc LaTeXML may take for a source"""
