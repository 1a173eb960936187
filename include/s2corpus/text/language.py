"""Identify the language of a text with CLD3, called in the same way as pycld3 does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from pdf2tei.pages.language import UNKNOWN, language
from s2corpus.errors import UserError

TIE = "mul"
"""language of a tied vote"""


def english_probability(text: str) -> float:
    """Return P(en): CLD3's probability if its first choice is English; otherwise 0.

    Source: S2ORC §2.5, footnote 14, with CLD3 in place of CLD2.
    """
    code, probability = language(text)
    return probability if code == "en" else 0.0


def english_share(text: str) -> float:
    """Return the share of a text that CLD2 identifies as English: the score of S2ORC's filter (§2.5, footnote 14).

    Raises:
        UserError: pycld2 is not installed.
    """
    try:
        import pycld2
    except ImportError:
        raise UserError("filter.language: cld2 needs pycld2: pip install 's2corpus[cld2]'") from None
    readable = "".join(
        " " if char.isspace() else char for char in text if char.isprintable() or char.isspace()
    )  # CLD2 rejects other characters
    _, _, found = pycld2.detect(readable.encode("utf-8", "ignore"), bestEffort=True)
    return max((share / 100 for _, code, share, _ in found if code == "en"), default=0.0)


@dataclass(frozen=True, slots=True)
class LanguageVote:
    """The most frequent language of some texts, and the votes counted until the winner was certain."""

    language: str | None
    """null if no text voted; `mul` on a tie"""
    votes: dict[str, int]
    """language → number of texts, highest first"""


def vote_language(texts: Sequence[str], characters: int, *, min_letters: int = 0, blank: str = UNKNOWN) -> LanguageVote:
    """Return the most frequent language over the first `characters` of each text (S2 V2 card).

    The shortest texts vote first because CLD3's time grows with length. The vote stops when the remaining votes cannot change the winner.
    A text with fewer than `min_letters` letters does not vote. A blank text votes for `blank`.
    """
    texts = [text for text in texts if _has_letters(text[:characters], min_letters)]
    votes: Counter[str] = Counter()
    remaining = len(texts)
    for text in sorted(texts, key=len):
        code = language(text[:characters])[0]
        votes[blank if code == UNKNOWN else code] += 1
        remaining -= 1
        if len(texts) > 2 * remaining and _lead_of_winner(votes) > remaining:
            break
    ranked = sorted(votes.items(), key=lambda v: (-v[1], v[0]))
    if not ranked:
        return LanguageVote(None, {})
    return LanguageVote(TIE if len(ranked) > 1 and _lead_of_winner(votes) == 0 else ranked[0][0], dict(ranked))


def _has_letters(text: str, least: int) -> bool:
    return least == 0 or sum(1 for _ in islice(filter(str.isalpha, text), least)) == least


def _lead_of_winner(votes: Counter[str]) -> int:
    first, *rest = votes.most_common(2)
    return first[1] - (rest[0][1] if rest else 0)
