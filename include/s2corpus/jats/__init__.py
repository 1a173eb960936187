"""From publishers' full text to the parse (SEMANTICS §2, §3): JATS here, Elsevier's JSON in `elsevier`.

`convert` is the whole way, from a file's bytes; what gives no parse raises `BadArticle` with its outcome.
"""

from s2corpus.jats.converter import CONVERTER_VERSION, convert
from s2corpus.jats.outcome import BadArticle, Outcome

__all__ = ["CONVERTER_VERSION", "BadArticle", "Outcome", "convert"]
