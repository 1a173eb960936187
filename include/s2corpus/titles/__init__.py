"""Titles compared: normalised strings, 3-gram sets, S (S2ORC §2.6, eq. 1), MinHash candidates, and the rules for titles that say little.

Kernels over Arrow columns and arrays, in numba; the first call of each on a machine compiles it, once.
"""

from s2corpus.titles.candidates import Pairs, Search, candidates, similar_pairs
from s2corpus.titles.minhash import minhash_keys
from s2corpus.titles.normalised import normalise, normalise_one
from s2corpus.titles.rules import differ_only_in_number, is_generic, word_count
from s2corpus.titles.threegrams import Grams, grams, score, score_pairs

__all__ = [
    "Grams",
    "Pairs",
    "Search",
    "candidates",
    "differ_only_in_number",
    "grams",
    "is_generic",
    "minhash_keys",
    "normalise",
    "normalise_one",
    "score",
    "score_pairs",
    "similar_pairs",
    "word_count",
]
