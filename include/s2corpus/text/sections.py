"""Identify the kinds of sections in a paper by the words of its headings (IMRaD and related sections)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_HEADINGS = {
    "abstract": ("abstract", "summary"),
    "introduction": ("introduction", "motivation"),
    "background": ("background", "preliminaries", "theory"),
    "related_work": ("related work", "related works", "prior work", "previous work", "literature review"),
    "methods": (
        "method", "methods", "methodology", "materials and methods", "methods and materials", "patients and methods",
        "experimental section", "experimental", "experimental setup", "model", "approach", "study design",
    ),
    "results": ("results", "results and discussion", "findings", "experiments", "evaluation", "experimental results"),
    "discussion": ("discussion", "results and discussion", "discussion and conclusion", "discussion and conclusions"),
    "limitations": ("limitations", "strengths and limitations", "study limitations"),
    "conclusion": (
        "conclusion", "conclusions", "concluding remarks", "discussion and conclusion", "discussion and conclusions",
        "conclusion and future work", "conclusions and future work",
    ),
    "future_work": ("future work", "outlook", "conclusion and future work", "conclusions and future work"),
}  # fmt: skip
"""type → normalized headings. The headings are from papers in PMC and arXiv; the types are from Dr. Inventor and IMRaD."""
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.)]?\s+")
_NOT_WORD = re.compile(r"[^a-z]+")
_LONGEST = 60


def list_section_types(lines: Iterable[str]) -> list[str]:
    """Return the sorted types of the lines that are listed headings. Running text has no type."""
    short = (_NUMBER.sub("", line.lower()) for line in lines if len(line) <= _LONGEST)
    headings = {_NOT_WORD.sub(" ", line).strip() for line in short}
    return sorted(type_ for type_, names in _HEADINGS.items() if not headings.isdisjoint(names))
