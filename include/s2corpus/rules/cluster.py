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
        "10.64898",  # openRxiv: bioRxiv and medRxiv since 2025
        "10.21203",
        "10.2139",
        "10.312(?:19|2[0-9]|3[0-7])",  # OSF's communities: EarthArXiv, engrXiv, PsyArXiv, …
        "10.31730",  # AfricArXiv
        "10.32942",  # EcoEvoRxiv
        "10.33767",  # MediArXiv
        "10.35542",  # EdArXiv
        "10.35543",  # IndiaRxiv
        "10.1149/osf[.]io",  # ECSarXiv
        "10.26434",
        "10.20944",
        "10.36227",
        "10.22541",
        "10.1002/essoar[.]",
        "10.2196/preprints[.]",
        "10.33774",  # Cambridge Open Engage
        "10.31124",  # Advance
        "10.3762/bxiv[.]",  # Beilstein Archives
        "10.21034/(?:wp|sr)[.]",  # Federal Reserve Bank of Minneapolis
        "10.1590/scielopreprints[.]",
        "10.3897/arphapreprints[.]",
        "10.14293/(?:s2199-1006[.]1[.]sor-[.]pp|pr2199[.])",  # ScienceOpen Preprints
        "10.14324/111[.]444/",  # UCL Open Environment
        "10.51094/jxiv[.]",
        "10.55277/researchhub[.]",
        "10.32388",  # Qeios
        "10.24108/preprints-",
        "10.5281",
        "10.6084",
        "10.7287",
        "10.5194/(?:[a-z]+-discuss|egusphere-|[a-z]+-(?:19|20)[0-9]{2}-[0-9])",
        "10.5194/(?:acp|amt|angeo|bg|cp|esd|essd|esurf|gi|gmd|hess|nhess|npg|os|se|soil|tc|wes)d-[0-9]",
    )
    """DOIs of preprints, as regular expressions matched at the start"""
