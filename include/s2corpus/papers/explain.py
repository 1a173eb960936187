"""Explain why the full texts of a paper are open or closed: the evidence that was searched for and found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_KINDS = {"pdf": "PDF", "latex": "LaTeX source", "jats": "JATS", "elsevier": "Elsevier's JSON"}


def format_access(access: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return lines about the full texts of one paper, given the column `access` of its row in `papers`."""
    lines = []
    for text in access:
        verdict = f"open by {text['oa_evidence']}" if text["open_access"] else "closed"
        licence = text["licence_detail"] or text["licence"] or "no license stated"
        lines.append(f"  {_KINDS.get(text['kind'], text['kind'])} {text['sha1']}: {verdict}; {licence}")
        lines += [
            f"    {evidence['evidence']:<10} {'found' if evidence['found'] else 'not found'}: {evidence['detail']}"
            for evidence in text["looks"]
        ]
    return lines
