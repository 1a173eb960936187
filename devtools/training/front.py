"""Train the header CRF.

This command made the committed model:

    python -m devtools.training.front ../shared/data/grobid-training

The result is deterministic: the same archive and versions give the same model. The data are GROBID's annotated headers
(CC BY 4.0). A fifth of them is held out; the script prints the figures for that fifth.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from pdf2tei.front.front_lines import MODEL, FrontLabel, features
from pdf2tei.models.segmentation import LineAttributes

from .lines import apart, members

_LABELS = {
    "titlePart": FrontLabel.TITLE,
    "docAuthor": FrontLabel.AUTHOR,
    "affiliation": FrontLabel.AFFILIATION,
    "address": FrontLabel.AFFILIATION,
    "email": FrontLabel.AFFILIATION,
    "phone": FrontLabel.AFFILIATION,
    "abstract": FrontLabel.ABSTRACT,
    "keyword": FrontLabel.KEYWORDS,
    "keywords": FrontLabel.KEYWORDS,
}
PARAMETERS = {"c1": 0.1, "c2": 0.1}
"""CRFsuite's parameters."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


def headers(archive: Path) -> Iterator[tuple[str, list[LineAttributes], list[FrontLabel]]]:
    """Yield name, lines and labels of the annotated headers, by name."""
    for part in ("corpus", "evaluation"):
        raws = members(archive, f"{part}/raw")
        for name, tei in sorted(members(archive, f"{part}/tei").items()):
            stem = re.sub(r"(?:\.training)?\.header\.tei\.xml$", "", name)
            raw = next((raws[key] for key in (f"{stem}.training.header", f"{stem}.header") if key in raws), None)
            if raw is not None and (lines := _aligned(raw, tei)):
                yield name, [line for line, _ in lines], [label for _, label in lines]


def _aligned(raw: bytes, tei: bytes) -> list[tuple[LineAttributes, FrontLabel]]:
    """Return the lines of a header: typesetting facts from `raw`, text and labels from `tei`."""
    text, kinds = _labelled(tei)
    tokens = [(m.group().casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    rows = [row for line in raw.decode("utf-8", "replace").splitlines() if len(row := line.split(" ")) == 32]
    pieces = [(i, m.group().casefold()) for i, row in enumerate(rows) for m in _TOKEN.finditer(row[0])]
    places: dict[int, tuple[int, int]] = {}
    matcher = SequenceMatcher(None, [piece for _, piece in pieces], [token for token, _, _ in tokens], autojunk=False)
    for block in matcher.get_matching_blocks():
        for k in range(block.size):
            at_row, (_, start, end) = pieces[block.a + k][0], tokens[block.b + k]
            places[at_row] = (min(start, places.get(at_row, (start, end))[0]), end)
    found: list[tuple[LineAttributes, FrontLabel]] = []
    line: list[int] = []
    for i, row in enumerate(rows):
        line.append(i)
        if row[11] != "LINEEND" and i + 1 < len(rows) and rows[i + 1][11] != "LINESTART":
            continue
        at = [places[j] for j in line if j in places]
        first = rows[line[0]]
        line = []
        if not at:
            continue
        here = Counter(kind for start, end in at for kind in kinds[start:end])
        size = {"HIGHERFONT": 1, "LOWERFONT": -1}.get(first[14], 0)
        words = " ".join(text[at[0][0] : at[-1][1]].split())
        if len(words) > 600:  # a wrong alignment
            continue
        facts = LineAttributes(
            words, first[10] == "BLOCKSTART", not found, first[13] == "NEWFONT" or size != 0, size, first[15] == "1", first[16] == "1"
        )  # fmt: skip
        found.append((facts, here.most_common(1)[0][0]))
    return found


def _labelled(tei: bytes) -> tuple[str, list[FrontLabel]]:
    """Return the text of an annotated header and the label of each character."""
    root = etree.fromstring(tei, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    text: list[str] = []
    kinds: list[FrontLabel] = []

    def add(piece: str | None, label: FrontLabel) -> None:
        text.append(piece or "")
        kinds.extend([label] * len(piece or ""))

    def walk(element: etree._Element, label: FrontLabel) -> None:
        add(element.text, label)
        for child in element:
            if isinstance(child.tag, str):
                name = etree.QName(child).localname
                if name == "lb":
                    add(" ", label)
                walk(child, _LABELS.get(child.get("type") or name, _LABELS.get(name, label)))
            add(child.tail, label)

    for front in root.iter("{*}front"):
        walk(front, FrontLabel.OTHER)
    return "".join(text), kinds


def train(archive: Path, model: Path, iterations: int) -> None:
    """Train the model on four fifths of the headers."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for name, lines, labels in headers(archive):
        if not apart(name):
            trainer.append(features(lines), [x.value for x in labels])
    trainer.select("lbfgs")
    trainer.set_params(PARAMETERS | {"max_iterations": iterations})
    trainer.train(str(model))


def measure(archive: Path, model: Path) -> None:
    """Print precision, recall and F1 of each label's lines, and the share of complete titles, in the held-out headers."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    right: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    papers = 0
    for name, lines, labels in headers(archive):
        if apart(name):
            found = tagger.tag(features(lines))
            papers += 1
            ours.update(found)
            theirs.update(x.value for x in labels)
            right.update(x for x, y in zip(found, labels, strict=True) if x == y)
            for label in FrontLabel:
                whole[label] += [x == label for x in found] == [x == label for x in labels]
    for label in FrontLabel:
        p, r = right[label] / max(ours[label], 1), right[label] / max(theirs[label], 1)
        f1 = 2 * p * r / max(p + r, 1e-9)
        print(
            f"{label:12} precision {p:.3f} recall {r:.3f} F1 {f1:.3f} of {theirs[label]} lines; "
            f"exact in {whole[label]} of {papers} papers"
        )


def main() -> None:
    """Parse the command line, train, and print the measurements."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.training.front", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("data", type=Path, help="folder with header.tar.xz")
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--out", type=Path, default=MODEL)
    given = parser.parse_args()
    began = time.monotonic()
    archive = given.data / "header.tar.xz"
    train(archive, given.out, given.iterations)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")
    measure(archive, given.out)


if __name__ == "__main__":
    main()
