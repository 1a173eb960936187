"""Measure how well the reference CRF parses real reference strings: micro F1 of fields against gold.

    python -m devtools.bench.references [FOLDER of GROBID citation training files] [--part train|choose|report|all]

The default is REAL_DATA/citations/grobid-citation-training, part `report`. Neither training nor any choice has
used these files (a quarter of the files, by a hash of their names). A field is right if its label and its letters and
digits are right. Both sides exclude the wording of editors and notes, and fields that gold files mark up inconsistently
(notes, institutions, collaborations). A book's title counts as `booktitle`, as in GROBID.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import get_args

from devtools.real_data import REAL_DATA
from devtools.training.gold import SCOPES, TAGS, TITLES, Part, kind, strings
from pdf2tei.references.crf import TokenLabel, label_references

DEFAULT = REAL_DATA / "citations" / "grobid-citation-training"
SCORED = {*SCOPES.values(), *TITLES.values(), *TAGS.values()}


def letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def gold(folder: Path, parts: tuple[Part, ...]) -> list[tuple[str, Counter[tuple[TokenLabel, str]]]]:
    """Return every string of these parts with its fields."""
    out = []
    for bibl in strings(folder, parts):
        raw = " ".join("".join(bibl.itertext()).split())
        fields: Counter[tuple[TokenLabel, str]] = Counter()
        for child in bibl.iter("{*}*"):
            found = kind(child)
            value = letters("".join(child.itertext()))
            if found and value:
                fields[found, value] += 1
        if raw and fields:
            out.append((raw, fields))
    return out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    options.add_argument("--part", choices=(*get_args(Part), "all"), default="report")
    given = options.parse_args()
    data = gold(given.folder, get_args(Part) if given.part == "all" else (given.part,))
    hit: Counter[TokenLabel] = Counter()
    ours: Counter[TokenLabel] = Counter()
    theirs: Counter[TokenLabel] = Counter()
    whole = 0
    for raw, fields in data:
        said = Counter((x, letters(value)) for x, value in label_references([raw])[0] if x in SCORED and letters(value))
        for key, n in (said & fields).items():
            hit[key[0]] += n
        for key, n in said.items():
            ours[key[0]] += n
        for key, n in fields.items():
            theirs[key[0]] += n
        whole += said == fields
    print(f"{'field':<12}{'precision':>10}{'recall':>10}{'F1':>10}{'gold':>10}")
    for x in sorted(SCORED, key=lambda x: -theirs[x]):
        p, r = hit[x] / max(ours[x], 1), hit[x] / max(theirs[x], 1)
        print(f"{x.value:<12}{p:10.3f}{r:10.3f}{2 * p * r / max(p + r, 1e-9):10.3f}{theirs[x]:10d}")
    total = 2 * sum(hit.values()) / (sum(ours.values()) + sum(theirs.values()))
    print(f"{len(data)} strings: micro F1 {total:.3f}, wholly right {whole / len(data):.3f}")


if __name__ == "__main__":
    main()
