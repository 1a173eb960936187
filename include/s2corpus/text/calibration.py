"""Find the threshold at which one word list drops the same share of sections as a reference list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import build_blocks
from s2corpus.text.unigrams import Unigrams, log_probability


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration over sections of texts."""

    sections: int
    dropped: int
    """number dropped by the reference list at its threshold"""
    threshold: float
    """threshold at which the other list drops the same number"""
    dropped_at_threshold: int
    """number dropped by the other list at that threshold"""
    both: int
    """number of sections that both lists drop"""
    own_quantiles: tuple[float, ...]
    """the other list's means at 1, 5, 50, 95 and 99 %"""


def section_texts(documents: Iterable[CleanedDocument]) -> list[str]:
    """Return the sections that have paragraphs, as the card's rules evaluate them."""
    return [
        section.text for document in documents for section in build_blocks(document.body or ())[0] if section.paragraphs
    ]


def calibrate(texts: Sequence[str], reference: Unigrams, other: Unigrams, threshold: float) -> Calibration:
    """Return the threshold for `other` that drops the same share of `texts` as `reference` does below `threshold`.

    It is the midpoint between the means of the last dropped text and the first kept text. It is rounded to two decimals
    unless rounding changes the dropped texts.

    Raises:
        ValueError: there are no texts.
    """
    if not texts:
        raise ValueError("no sections to calibrate on")
    reference_means = [log_probability(text, reference) for text in texts]
    other_means = [log_probability(text, other) for text in texts]
    dropped = sum(mean < threshold for mean in reference_means)
    ranked = sorted(other_means)
    last_dropped = ranked[dropped - 1] if dropped else ranked[0] - 1
    first_kept = ranked[dropped] if dropped < len(ranked) else ranked[-1] + 1
    middle = (last_dropped + first_kept) / 2
    chosen = round(middle, 2) if last_dropped < round(middle, 2) <= first_kept else middle
    return Calibration(
        sections=len(texts),
        dropped=dropped,
        threshold=chosen,
        dropped_at_threshold=sum(mean < chosen for mean in other_means),
        both=sum(a < threshold and b < chosen for a, b in zip(reference_means, other_means, strict=True)),
        own_quantiles=tuple(ranked[int(len(ranked) * share)] for share in (0.01, 0.05, 0.5, 0.95, 0.99)),
    )
