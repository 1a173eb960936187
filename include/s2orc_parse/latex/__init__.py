"""Convert arXiv's LaTeX sources to parses (S2ORC §2.2).

`convert` takes an archive's bytes and returns a parse. It raises `BadSource`, with an outcome,
if it cannot convert the archive.
"""

from s2orc_parse.latex.converter import CONVERTER_VERSION, SECONDS, convert
from s2orc_parse.latex.pandoc import get_pandoc_version
from s2orc_parse.latex.process import MAX_PACKED
from s2orc_parse.outcomes import BadSource, LatexOutcome

__all__ = ["CONVERTER_VERSION", "MAX_PACKED", "SECONDS", "BadSource", "LatexOutcome", "convert", "get_pandoc_version"]
