"""Compare the forms of one paper: PDF, JATS, LaTeX and metadata must state the same facts.

No form is the truth: each difference is a fault of a reader or of a form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from s2orc_parse.words import to_letters

FIELDS = ("title", "authors", "year", "abstract", "sections", "references", "identifiers", "years")
Facts = dict[str, Counter[str]]
"""items of each field; a field without items is absent"""
_NUMBER = re.compile(r"^\W*(?:[A-Z]\.|[IVX]+\.|\d+(?:\.\d+)*\.?)\s+")


def read_facts(parse: Mapping[str, Any]) -> Facts:
    """Return the facts of a parse in the form of a release: of its paper and of its references."""
    entries = list((parse.get("bib_entries") or {}).values())
    paragraphs = [*(parse.get("body_text") or ()), *(parse.get("back_matter") or ())]
    heads = {head: None for paragraph in paragraphs for head in (paragraph.get("section_path") or "").split("::")}
    abstract = parse.get("abstract") or ()
    if not isinstance(abstract, str):
        labels = {paragraph["section"] for paragraph in abstract} - {"Abstract"}
        abstract = " ".join([*labels, *(paragraph["text"] for paragraph in abstract)])
    facts = {
        "title": Counter(filter(None, map(to_letters, (parse.get("title") or "").split()))),
        "authors": Counter(to_letters(author["last"]) for author in parse.get("authors") or ()),
        "year": Counter([str(parse["year"])] if parse.get("year") else []),
        "abstract": Counter(filter(None, map(to_letters, abstract.split()))),
        "sections": Counter(filter(None, (to_letters(_NUMBER.sub("", head)) for head in heads))),
        "references": Counter(to_letters(entry["title"]) for entry in entries if entry.get("title")),
        "identifiers": Counter(
            f"{kind}:{value}".casefold()
            for entry in entries
            for kind, values in (entry.get("other_ids") or {}).items()
            for value in values
        ),
        "years": Counter(str(entry["year"]) for entry in entries if entry.get("year")),
    }
    return {field: items for field, items in facts.items() if items}


def compare_forms(forms: Mapping[str, Facts]) -> Iterator[tuple[tuple[str, str], str, Counter[str], Counter[str]]]:
    """Yield each pair of forms in each field that both have: names of the forms, field, and the items of both."""
    for (a, left), (b, right) in combinations(sorted(forms.items()), 2):
        yield from (((a, b), field, left[field], right[field]) for field in FIELDS if field in left and field in right)
