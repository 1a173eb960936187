"""Fill the references that a publisher leaves empty, because the label of the target is printed (Copernicus)."""

from __future__ import annotations

import re

from s2orc_parse.jats.floats import read_number
from s2orc_parse.jats.text import plain
from s2orc_parse.xml import Element

_NATBIB = re.compile(r"(?P<names>[^()]+?)\s*\((?P<year>\d{4}[a-z]?)\).*")
"""the label of natbib: Lee et al.(2001)Lee, Hu, and Ng"""


def fill_empty_references(article: Element) -> None:
    """Write the labels of their targets into the references of each type that are all empty.

    If others of the type have text, an empty one is invisible: a member of a printed range. IUCr prints the label after it.
    """
    references: dict[str, list[Element]] = {}
    for part in article.iterchildren("body", "back", "floats-group", "floats-wrap"):
        for reference in part.iter("xref"):
            references.setdefault(reference.get("ref-type") or "", []).append(reference)
    empty = [
        reference
        for found in references.values()
        if not any(len(one) or (one.text and one.text.strip()) for one in found)
        for reference in found
    ]
    if not empty:
        return
    wanted = {target for reference in empty for target in (reference.get("rid") or "").split()}
    labels = {element.get("id"): _read_label(element) for element in article.iter() if element.get("id") in wanted}
    for reference in empty:
        label = ", ".join(filter(None, map(labels.get, (reference.get("rid") or "").split())))
        if not (reference.tail or "").startswith(label):
            reference.text = label


def _read_label(element: Element) -> str:
    """Return the printed number of a target, or the names and the year in the label of an entry."""
    if element.tag != "ref":
        return (read_number(element) or "").strip("()")
    label = plain(element.find("label")).strip(" .")
    match = _NATBIB.fullmatch(label)
    return f"{match['names']}, {match['year']}" if match else label
