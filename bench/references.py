"""How well the reference CRF reads real reference strings: micro F1 of fields against gold.

    python bench/references.py [FOLDER of GROBID citation training files]     default ../shared/data/citations/grobid-citation-training

A field is right if its label and its letters and digits are. Editors' and notes' wording and what no gold file marks up alike
(notes, institutions, collaborations) are left out on both sides; a book's title counts as `booktitle`, as GROBID has it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from lxml import etree

from s2corpus.layout.crf import Label, label

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "citations" / "grobid-citation-training"
SCOPES = {"vol": Label.VOLUME, "volume": Label.VOLUME, "pp": Label.PAGES, "page": Label.PAGES, "issue": Label.ISSUE}
TITLES = {"a": Label.TITLE, "j": Label.JOURNAL, "m": Label.BOOKTITLE, "s": Label.SERIES}
TAGS = {
    "author": Label.AUTHOR,
    "date": Label.DATE,
    "editor": Label.EDITOR,
    "publisher": Label.PUBLISHER,
    "pubPlace": Label.LOCATION,
    "idno": Label.IDNO,
    "ptr": Label.URL,
}
SCORED = {*SCOPES.values(), *TITLES.values(), *TAGS.values()}


def kind(element: etree._Element) -> Label | None:
    tag = etree.QName(element).localname
    if tag == "title":
        return TITLES.get(element.get("level", ""))
    if tag == "biblScope":
        return SCOPES.get(element.get("unit") or element.get("type") or "")
    return TAGS.get(tag)


def letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def gold(folder: Path) -> list[tuple[str, Counter[tuple[Label, str]]]]:
    """Every string with its fields."""
    out = []
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        root = etree.parse(path, parser).getroot()
        if root is None:
            continue
        for bibl in root.iter("{*}bibl"):
            raw = " ".join("".join(bibl.itertext()).split())
            fields: Counter[tuple[Label, str]] = Counter()
            for child in bibl.iter("{*}*"):
                found = kind(child)
                value = letters("".join(child.itertext()))
                if found and value:
                    fields[found, value] += 1
            if raw and fields:
                out.append((raw, fields))
    return out


def main() -> None:
    data = gold(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
    hit: Counter[Label] = Counter()
    ours: Counter[Label] = Counter()
    theirs: Counter[Label] = Counter()
    whole = 0
    for raw, fields in data:
        said = Counter((x, letters(value)) for x, value in label(raw) if x in SCORED and letters(value))
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
