"""Label the fields of reference strings with the reference CRF."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from pdf2tei.models.tagger import load_tagger
from pdf2tei.references.tokens import Piece, columns, pieces

MODEL = Path(__file__).with_name("references.crfsuite")  # trained by `python -m devtools.training references`


class TokenLabel(StrEnum):
    """The field that a token of a reference string belongs to."""

    AUTHOR = "author"
    TITLE = "title"
    JOURNAL = "journal"
    BOOKTITLE = "booktitle"
    SERIES = "series"
    EDITOR = "editor"
    PUBLISHER = "publisher"
    LOCATION = "location"
    INSTITUTION = "institution"
    COLLABORATION = "collaboration"
    VOLUME = "volume"
    ISSUE = "issue"
    PAGES = "pages"
    DATE = "date"
    IDNO = "idno"
    URL = "url"
    NOTE = "note"
    OTHER = "other"


def label_references(raws: Sequence[str]) -> list[list[tuple[TokenLabel, str]]]:
    """Return the fields of each reference string in order: consecutive tokens of one label, except OTHER."""
    found = [pieces(raw) for raw in raws]
    model = load_tagger(MODEL)
    scores = np.zeros((sum(map(len, found)), len(model.labels)))
    for codes, names in columns(found):
        if len(codes):
            scores += model.score_items(names)[codes]
    labels = model.tag_each([scores[a:b] for a, b in pairwise(accumulate(map(len, found), initial=0))])
    named = {label.value: label for label in TokenLabel}
    rows = zip(raws, found, labels, strict=True)
    return [spans(raw, tokens, [named[x] for x in own]) for raw, tokens, own in rows]


def spans(raw: str, found: list[Piece], labels: list[TokenLabel]) -> list[tuple[TokenLabel, str]]:
    """Combine labeled tokens into fields; OTHER is omitted."""
    out: list[tuple[TokenLabel, str]] = []
    start = 0
    for i in range(1, len(found) + bool(found)):
        if i < len(found) and labels[i] is labels[start]:
            continue
        if labels[start] is not TokenLabel.OTHER:
            out.append((labels[start], raw[found[start].start : found[i - 1].end]))
        start = i
    return out
