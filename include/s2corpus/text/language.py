"""Which language a text is in: CLD3, asked as pycld3 asks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from pdf2tei.language import UNKNOWN, language
from s2corpus.errors import UserError

TIE = "mul"
"""The language of a vote that several won."""


def english_probability(text: str) -> float:
    """P(en): CLD3's probability if its first choice is English, else 0 (S2ORC §2.5, footnote 14, with CLD3 for CLD2)."""
    code, probability = language(text)
    return probability if code == "en" else 0.0


def english_share(text: str) -> float:
    """The share of a text that CLD2 takes for English: the score that S2ORC's filter asked for (§2.5, footnote 14).

    Raises:
        UserError: pycld2 is not installed.
    """
    try:
        import pycld2
    except ImportError:
        raise UserError("filter.language cld2 needs pycld2: install s2corpus with its extra cld2") from None
    readable = "".join(
        " " if char.isspace() else char for char in text if char.isprintable() or char.isspace()
    )  # it refuses others
    _, _, found = pycld2.detect(readable.encode("utf-8", "ignore"), bestEffort=True)
    return max((share / 100 for _, code, share, _ in found if code == "en"), default=0.0)


def languages(texts: pa.Array) -> pa.StructArray:
    """`language` of every string of an array, as struct<language: string, probability: double>; null for null."""
    found = [None if t is None else language(t) for t in texts.to_pylist()]
    return pa.StructArray.from_arrays(
        [
            pa.array([f and f[0] for f in found], pa.string()),
            pa.array([f and f[1] for f in found], pa.float64()),
        ],
        names=["language", "probability"],
        mask=pa.array([f is None for f in found], pa.bool_()),
    )


@dataclass(frozen=True, slots=True)
class Vote:
    """The most frequent language of some texts, and the votes cast until it was certain."""

    language: str | None
    """null where there was no text; `mul` where several languages have the most votes"""
    votes: dict[str, int]
    """language → texts, most first"""


def majority(
    texts: Sequence[str], characters: int, *, min_letters: int = 0, every: bool = False, blank: str = UNKNOWN
) -> Vote:
    """The most frequent language over the first `characters` of each text (S2 V2 card).

    Texts are asked shortest first, as CLD3's time grows with length, and only until no remaining vote could change the
    winner; `every` asks all of them. A text with fewer than `min_letters` letters does not vote; `blank` is what a blank text votes for.
    """
    texts = [text for text in texts if _has_letters(text[:characters], min_letters)]
    votes: Counter[str] = Counter()
    remaining = len(texts)
    for text in sorted(texts, key=len):
        code = language(text[:characters])[0]
        votes[blank if code == UNKNOWN else code] += 1
        remaining -= 1
        if not every and len(texts) > 2 * remaining and _lead(votes) > remaining:
            break
    ranked = sorted(votes.items(), key=lambda v: (-v[1], v[0]))
    if not ranked:
        return Vote(None, {})
    return Vote(TIE if len(ranked) > 1 and _lead(votes) == 0 else ranked[0][0], dict(ranked))


def _has_letters(text: str, least: int) -> bool:
    return least == 0 or sum(1 for _ in islice(filter(str.isalpha, text), least)) == least


def _lead(votes: Counter[str]) -> int:
    first, *rest = votes.most_common(2)
    return first[1] - (rest[0][1] if rest else 0)
