"""Title comparison: normalized strings, 3-gram sets, S (SPEC §7.3), the search for similar titles, and rules for uninformative titles.

Kernels are compiled by numba at their first call on a machine.
"""

from s2corpus.titles.rules import compare_numbers
from s2corpus.titles.threegrams import Grams, grams, normalize, normalize_one, score, score_pairs

__all__ = ["Grams", "compare_numbers", "grams", "normalize", "normalize_one", "score", "score_pairs"]
