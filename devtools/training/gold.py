"""Read GROBID's hand-labeled reference strings (TEI).

A hash of the file name divides the files: half of them train, one quarter is for choices (`choose`), one for reports
(`report`). Source: kermitt2/grobid, grobid-trainer/resources/dataset/citation/corpus, annotations CC BY 4.0.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from lxml import etree

from devtools.measure import letters, print_scores, read_xml, text
from pdf2tei.references.crf import TokenLabel, spans
from pdf2tei.references.fields import parse_reference_authors
from pdf2tei.references.tokens import Piece, pieces

from .lines import iterate_texts
from .marks import LabeledString
from .render import Metadata

Part = Literal["train", "choose", "report"]
SCOPES = {
    "vol": TokenLabel.VOLUME, "volume": TokenLabel.VOLUME, "pp": TokenLabel.PAGES, "page": TokenLabel.PAGES, "issue": TokenLabel.ISSUE,
}  # fmt: skip
TITLES = {"a": TokenLabel.TITLE, "j": TokenLabel.JOURNAL, "m": TokenLabel.BOOKTITLE, "s": TokenLabel.SERIES}
TAGS = {
    "author": TokenLabel.AUTHOR, "date": TokenLabel.DATE, "editor": TokenLabel.EDITOR,
    "publisher": TokenLabel.PUBLISHER, "pubPlace": TokenLabel.LOCATION,
    "idno": TokenLabel.IDNO, "ptr": TokenLabel.URL,
}  # fmt: skip
SCORED = {*SCOPES.values(), *TITLES.values(), *TAGS.values()}
UNSCORED = {"note": TokenLabel.NOTE, "orgName": TokenLabel.INSTITUTION}
"""Labels of fields that gold files mark up inconsistently: used in training, never scored."""


def part_of(path: Path) -> Part:
    """Return the part that a file belongs to."""
    digest = hashlib.sha1(path.name.encode(), usedforsecurity=False).digest()
    return ("train", "train", "choose", "report")[digest[0] % 4]


def kind(element: etree._Element) -> TokenLabel | None:
    """Return the scored label of an element, or None."""
    tag = etree.QName(element).localname
    if tag == "title":
        return TITLES.get(element.get("level", ""))
    if tag == "biblScope":
        return SCOPES.get(element.get("unit") or element.get("type") or "")
    return TAGS.get(tag)


def strings(folder: Path, part: Part) -> Iterator[etree._Element]:
    """Yield every `bibl` of the files of a part, by file name."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and part_of(p) == part):
        root = read_xml(path.read_bytes())
        if root is not None:
            yield from root.iter("{*}bibl")


def samples(folder: Path, part: Part) -> list[LabeledString]:
    """Return the labeled string of every usable `bibl` of a part."""
    return [found for bibl in strings(folder, part) if (found := sample(bibl))]


def sample(bibl: etree._Element) -> LabeledString | None:
    """Return a labeled string, or None if it has no field or fewer than four tokens."""
    chars: list[str] = []
    labels: list[TokenLabel] = []
    for part, label in iterate_texts(bibl, TokenLabel.OTHER, _find_label):
        for c in part:
            if not c.isspace():
                chars.append(c)
                labels.append(label)
            elif chars and chars[-1] != " ":
                chars.append(" ")
                labels.append(label)
    raw = "".join(chars)
    found = pieces(raw)
    if len(found) < 4 or all(label is TokenLabel.OTHER for label in labels):
        return None
    return LabeledString(raw, _trimmed(found, [labels[p.start] for p in found]))


def _find_label(element: etree._Element, label: TokenLabel) -> TokenLabel:
    """Return the label of an element in training; `label` if it has none."""
    name = etree.QName(element).localname
    if name == "orgName" and element.get("type") == "collaboration":
        return TokenLabel.COLLABORATION
    return kind(element) or UNSCORED.get(name, label)


def _trimmed(found: list[Piece], labels: list[TokenLabel]) -> list[TokenLabel]:
    """Remove punctuation at both ends of a field from the field, as in `marks`."""
    out = list(labels)
    for order in (range(len(out)), reversed(range(len(out)))):
        before = TokenLabel.OTHER
        for i in order:
            if out[i] is not before and not found[i].text.isalnum():
                out[i] = TokenLabel.OTHER
            else:
                before = out[i]
    return out


def metadata(folder: Path) -> list[Metadata]:
    """Return the metadata of the training part's strings, for rendering in other styles."""
    out = []
    for bibl in strings(folder, "train"):
        fields: dict[TokenLabel, str] = {}
        for element in bibl.iter("{*}*"):
            label = kind(element)
            if label and label not in fields:
                fields[label] = text(element).strip(" .,;:“”\"'")
        year = re.search(r"(?:1[89]|20)\d\d", fields.get(TokenLabel.DATE, ""))
        title = fields.get(TokenLabel.TITLE, "")
        source = fields.get(TokenLabel.JOURNAL) or fields.get(TokenLabel.BOOKTITLE, "")
        names = [(" ".join(a.forenames), a.surname) for a in parse_reference_authors(fields.get(TokenLabel.AUTHOR, ""))]
        if not year or not source or not names or not re.search(r"[^\W\d_]{3}", title):
            continue
        extra = {"volume": fields.get(TokenLabel.VOLUME, ""), "pages": fields.get(TokenLabel.PAGES, "")}
        publication = "article-journal" if TokenLabel.JOURNAL in fields else "paper-conference"
        out.append(Metadata(title, names, int(year.group()), source, publication, extra))
    return out


def measure(folder: Path, tag: Callable[[list[Piece]], list[str]]) -> None:
    """Print micro F1 of the fields of the strings that neither training nor any choice has used.

    A field is right if its label and its letters and digits are right. Both sides exclude the wording of editors and
    notes, and fields that gold files mark up inconsistently (notes, institutions, collaborations). A book's title counts
    as `booktitle`, as in GROBID.
    """
    hit, ours, theirs = Counter[str](), Counter[str](), Counter[str]()
    number = whole = 0
    for bibl in strings(folder, "report"):
        raw = text(bibl)
        wanted = ((kind(child), letters(text(child))) for child in bibl.iter("{*}*"))
        fields = Counter((label, value) for label, value in wanted if label and value)
        if not raw or not fields:
            continue
        found = pieces(raw)
        said = spans(raw, found, [TokenLabel(label) for label in tag(found)])
        predicted = Counter((label, key) for label, value in said if label in SCORED and (key := letters(value)))
        for counts, values in ((hit, predicted & fields), (ours, predicted), (theirs, fields)):
            for (label, _), n in values.items():
                counts[label] += n
        number, whole = number + 1, whole + (predicted == fields)
    print_scores(hit, ours, theirs)
    total = 2 * hit.total() / (ours.total() + theirs.total())
    print(f"{number} strings: micro F1 {total:.3f}, wholly right {whole / number:.3f}")
