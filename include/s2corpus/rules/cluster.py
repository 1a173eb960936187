"""Which records are one paper."""

from __future__ import annotations

from s2corpus.rules import Fraction, NonNegative, Rules

UNRELATED_SCORE = 0.3
"""S_title below which titles have nothing in common: with disjoint surnames, equal identifiers do not join (SEMANTICS §4, guard)"""


UNNAMED_SCORE = 0.9
"""S_title above which titles that are not equal join records that name no person and no place in print: registered trials of one company
differ in a word ("… in Adult Patients", "… in Pediatric Patients": 0.87)"""


class Cluster(Rules):
    """Which records are one paper (SEMANTICS: Cluster)."""

    min_title_score: Fraction = 0.8
    """S_title above which titles are the same (S2ORC §2.6, eq. 1; strict)"""
    max_preprint_years: NonNegative = 2
    """years a preprint and its published version may lie apart"""
    preprint_prefixes: tuple[str, ...] = (
        "10.48550",
        "10.1101/[0-9]",
        "10.21203",
        "10.2139",
        "10.31219",
        "10.31234",
        "10.31235",
        "10.26434",
        "10.20944",
        "10.36227",
        "10.22541",
        "10.5281",
        "10.6084",
        "10.7287",
        "10.5194/(?:[a-z]+-discuss|egusphere-|[a-z]+-(?:19|20)[0-9]{2}-[0-9])",
        "10.5194/(?:acp|amt|angeo|bg|cp|esd|essd|esurf|gi|gmd|hess|nhess|npg|os|se|soil|tc|wes)d-[0-9]",
    )
    """DOIs of preprints, as regular expressions matched at the start"""
