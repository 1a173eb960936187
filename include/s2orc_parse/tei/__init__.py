"""From GROBID's TEI to a parse that can be trusted (SEMANTICS §3).

`convert` is the whole way; `model` has the parse; `to_s2orc` and `to_gorc` write it in the published schemas.
"""

from s2orc_parse.tei.converter import CONVERTER_VERSION, convert
from s2orc_parse.tei.read import BadTei, Reason
from s2orc_parse.tei.s2orc import bibliography, header, to_gorc, to_gorc_line, to_json_bytes, to_s2orc

__all__ = [
    "CONVERTER_VERSION", "BadTei", "Reason", "bibliography", "convert", "header", "to_gorc", "to_gorc_line", "to_json_bytes", "to_s2orc",
]  # fmt: skip
