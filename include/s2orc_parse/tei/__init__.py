"""Convert GROBID's TEI to a parse (SPEC §3).

`convert` returns a parse; `to_s2orc` and `to_gorc` convert it to the published schemas.
"""

from s2orc_parse.outcomes import BadTei, TeiRefusal
from s2orc_parse.tei.converter import CONVERTER_VERSION, convert
from s2orc_parse.tei.s2orc import build_header, to_gorc, to_gorc_line, to_json_bytes, to_s2orc

__all__ = [
    "CONVERTER_VERSION", "BadTei", "TeiRefusal", "build_header", "convert", "to_gorc", "to_gorc_line",
    "to_json_bytes", "to_s2orc",
]  # fmt: skip
