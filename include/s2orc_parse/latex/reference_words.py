"""Choose the words that LaTeX prints before the numbers of references: "Figure", "Theorems"."""

from __future__ import annotations

from collections.abc import Mapping

from s2orc_parse.latex.counting import Counting, pluralize
from s2orc_parse.latex.document import Ref
from s2orc_parse.latex.numbering import Target
from s2orc_parse.parse_model import RefType
from s2orc_parse.words import read_table

_WORDS: Mapping[str, str] = read_table("latex/words")["reference_words"]


def choose_word(counting: Counting, target: Target, ref: Ref, count: int) -> str:
    """Return the word that is printed before the number; a word defined by the paper has priority."""
    is_capital = ref.command.startswith(("C", "ref+Label", "nameC"))
    for command in ("Cref", "cref") if is_capital else ("cref", "Cref"):
        if ref.command != "autoref" and (words := counting.words.get((command, target.name))):
            word = words[count > 1]
            return word[:1].upper() + word[1:] if is_capital else word
    if words := counting.words.get(("autoref", target.name)):
        return words[0]
    if target.type is RefType.THEOREM and (kind := counting.kinds.get(target.name)):
        return pluralize(kind.title) if count > 1 else kind.title
    if target.name in ("algorithm", "listing"):
        return target.name.capitalize() + "s" * (count > 1)
    word = "Appendix" if target.name == "appendix" else _WORDS.get(target.type, "")
    return ("Appendices" if word == "Appendix" else word + "s") if count > 1 and word else word
