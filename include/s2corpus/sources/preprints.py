"""Recognize the DOIs of preprint servers."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PREFIXES = (
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
"""Regular expressions of the DOI prefixes of preprint servers. A prefix without a slash means all DOIs of a registrant."""
_PATTERN = "^(?:" + "|".join(prefix if "/" in prefix else f"{prefix}/" for prefix in PREFIXES) + ")"


def find_preprints(dois: pa.Array) -> np.ndarray:
    """Return which DOIs belong to preprint servers (bool)."""
    return np.asarray(pc.match_substring_regex(dois, _PATTERN)) if len(dois) else np.zeros(0, bool)


def is_preprint_doi(doi: str) -> bool:
    """Return whether a DOI belongs to a preprint server."""
    return re.match(_PATTERN, doi) is not None
