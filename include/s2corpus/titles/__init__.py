"""Title comparison: normalized strings, 3-gram sets, S (SPEC §7.3), the search for similar titles, and rules for uninformative titles.

Kernels are compiled by numba at their first call on a machine.
"""

from s2corpus.titles.rules import differ_only_in_number
from s2corpus.titles.threegrams import Grams, grams, normalise_one, normalize, score, score_pairs

__all__ = ["Grams", "differ_only_in_number", "grams", "normalise_one", "normalize", "score", "score_pairs"]
