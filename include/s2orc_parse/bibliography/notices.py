"""Remove the notices that publishers and indexes put into abstracts: copyright, supplementary material, corrections."""

from __future__ import annotations

import re

_YEAR = r"(?:19|20)\d\d\b"
_SIGN = r"(?:©|\(c\)|copyright\b)"
_RIGHTS = (
    rf"(?:{_SIGN}\s*:?\s*(?:{_SIGN}\s*)?(?:{_YEAR}|the authors?\b)|{_YEAR}\s*(?:©|\(c\)\s)"
    r"|all rights reserved|this article is protected by copyright|this is an open[- ]access article)[^\n]{0,400}"
    r"|©[^\n.]{0,80}\.?|published by (?:elsevier|(?:john )?wiley|springer|oxford|lippincott|mosby|academic press|wolters|taylor|blackwell|"
    r"cambridge|"
    r"sage|the american|s\. karger|georg thieme)\b[^\n]{0,80}"
)
_COPYRIGHT = re.compile(
    rf"(?:(?<=[.!?:)\]”\"])|\n)\s*(?:{_RIGHTS})\Z|\s+(?:copyright\s*)?©\s*{_YEAR}[^\n]{{0,150}}\Z|\A(?:{_RIGHTS})\n|\A(?:copyright\s*)?©[^\n.]{{0,80}}\.?\Z",
    re.I,
)
"""a copyright line at the end, or as the first line"""
_SENTENCE = r"(?:[^\n.]|\.(?=\S))*\.?"
_SUPPLEMENT = re.compile(
    r"\s*(?:\b(?:electronic )?supplementary (?:information|materials?|data)\b\s*[:.]?\s*)?"
    r"(?:the online version (?:of this article )?(?:\([^()]*\) )?contains (?:additional )?supplementary (?:material|data|information)\b"
    rf"|supplementary (?:data|materials?|information) (?:is|are) available (?:at|from|in|online)\b){_SENTENCE}",
    re.I,
)
_CORRECTION = re.compile(
    r"\W*(?:this (?:corrects|retracts|article corrects|erratum corrects|corrigendum corrects|is a correction)\b"
    r"|an? (?:author |publisher )?(?:correction|amendment|erratum|corrigendum|retraction)(?: note)? to this (?:paper|article) has been\b"
    r"|the original article (?:can be found|was (?:published|updated|corrected))|this article has been (?:corrected|retracted))[^\n]{0,300}"
    r"|\W*(?:no abstract(?: (?:is )?(?:available|provided|given))?|abstract (?:is )?(?:not available|missing))\W*",
    re.I,
)
"""a notice in the place of an abstract"""
_APPENDED = re.compile(
    r"(?<=[.!?])\s*an? (?:author |publisher )?(?:correction|amendment|erratum|corrigendum) to this (?:paper|article) has been published\b"
    r"[^\n]{0,250}\Z",
    re.I,
)
_NOTICES = (
    (_SUPPLEMENT, ("supplementary",)),
    (_COPYRIGHT, ("©", "(c)", "copyright", "rights reserved", "open access", "open-access", "published by")),
    (_APPENDED, ("has been published",)),
)
"""the patterns, and words without which they cannot match"""


def remove_notices(abstract: str) -> str:
    """Return an abstract without notices; empty if it is only a notice. A sentence about copyright remains."""
    text, folded = abstract, abstract.casefold()
    for pattern, marks in _NOTICES:
        if any(mark in folded for mark in marks):
            text = pattern.sub("", text)
    return "" if _CORRECTION.fullmatch(text) else text.strip()
