"""From LaTeX sources as arXiv has them to the parse of `tei.model` (S2ORC §2.2).

`convert` is the whole way, from an archive's bytes; what gives no parse raises `BadSource` with its outcome.
"""

from s2orc_parse.latex.archive import MAX_PACKED
from s2orc_parse.latex.converter import CONVERTER_VERSION, convert, converter
from s2orc_parse.latex.outcome import BadSource, Outcome

__all__ = ["CONVERTER_VERSION", "MAX_PACKED", "BadSource", "Outcome", "convert", "converter"]
