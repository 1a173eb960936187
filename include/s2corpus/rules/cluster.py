"""Rules that group the records of one paper."""

from __future__ import annotations

from s2corpus.rules import Fraction, NonNegative, Rules

UNRELATED_SCORE = 0.3
"""Titles with a lower S are unrelated. If the surnames are disjoint too, equal identifiers do not join records (SPEC §4)."""
MIN_SCORE_WITHOUT_AUTHORS = 0.9
"""Records without authors, volume and page join if S is higher. Titles of clinical trials by one company can differ in one word:
"… in Adult Patients" and "… in Pediatric Patients" have S = 0.87."""


class ClusterRules(Rules):
    """Rules that group the records of one paper (SPEC §4)."""

    min_title_score: Fraction = 0.8
    """titles are similar if S is above this threshold (S2ORC §2.6, eq. 1)"""
    max_preprint_years: NonNegative = 2
    """maximum years between a preprint and its published version"""
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
    """regular expressions of the DOI prefixes of preprint servers"""
