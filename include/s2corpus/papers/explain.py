"""Why the full texts of a paper are open or closed, in words: which evidence was looked for, and which was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_KINDS = {"pdf": "PDF", "latex": "LaTeX source", "jats": "JATS", "elsevier": "Elsevier's JSON"}


def told(access: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines on the full texts of one paper, given the column `access` of its row of `papers`."""
    lines = []
    for text in access:
        verdict = f"open by {text['oa_evidence']}" if text["open_access"] else "closed"
        licence = text["licence_detail"] or text["licence"] or "no licence said"
        lines.append(f"  {_KINDS.get(text['kind'], text['kind'])} {text['sha1']}: {verdict}; {licence}")
        lines += [
            f"    {look['evidence']:<10} {'found' if look['found'] else 'not found'}: {look['detail']}"
            for look in text["looks"]
        ]
    return lines
