"""Train the CRFs over lines.

These commands made the committed models:

    python -m devtools.training.lines segmentation ../shared/data/grobid-training
    python -m devtools.training.lines passages ../shared/data/grobid-training

The result is deterministic: the same archive, seed and versions give the same model. The data are GROBID's annotated
documents (CC BY 4.0): `tei/` contains the label of each line, `raw/` its typesetting. A fifth of the documents is held
out; the script prints the figures for that fifth.
"""

from __future__ import annotations

import argparse
import re
import tarfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from pdf2tei.body import passages as body
from pdf2tei.body.passages import Passage
from pdf2tei.models import segmentation
from pdf2tei.models.segmentation import LineAttributes, SegmentLabel

_LABELS = {
    "front": SegmentLabel.FRONT,
    "titlePage": SegmentLabel.FRONT,
    "cover": SegmentLabel.FRONT,
    "body": SegmentLabel.BODY,
    "listBibl": SegmentLabel.REFERENCE,
    "headnote": SegmentLabel.FURNITURE,
    "page": SegmentLabel.FURNITURE,
    "footnote": SegmentLabel.FOOTNOTE,
    "annex": SegmentLabel.ANNEX,
    "acknowledgement": SegmentLabel.BACK,
    "acknowledgment": SegmentLabel.BACK,
    "availability": SegmentLabel.BACK,
    "funding": SegmentLabel.BACK,
}


def members(archive: Path, folder: str) -> dict[str, bytes]:
    """Return the files of an archive's folder by name."""
    out: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            if member.isfile() and path.parent.as_posix().endswith(folder) and (file := tar.extractfile(member)):
                out[path.name] = file.read()
    return out


PARAMETERS = {"c1": 1.0, "c2": 0.1, "feature.minfreq": 3}
"""CRFsuite's parameters for both models."""
Documents = Iterator[tuple[str, list[LineAttributes], list[str]]]
"""Name, lines and labels of each document."""


def segmented(archive: Path) -> Documents:
    """Yield the annotated documents of `segmentation`, by name."""
    raws = members(archive, "corpus/raw")
    for name, tei in sorted(members(archive, "corpus/tei").items()):
        raw = raws.get(name.removesuffix(".tei.xml"))
        if raw is None:
            continue
        labelled = _labelled(tei)
        rows = [row for x in raw.decode("utf-8", "replace").splitlines() if len(row := x.split(" ")) == 33]
        firsts = [text.split()[0] for text, _ in labelled]
        lines: list[LineAttributes] = []
        labels: list[str] = []
        for block in SequenceMatcher(None, [row[0] for row in rows], firsts, autojunk=False).get_matching_blocks():
            for k in range(block.size):
                text, label = labelled[block.b + k]
                row = rows[block.a + k]
                size = {"HIGHERFONT": 1, "LOWERFONT": -1}.get(row[10], 0)
                lines.append(
                    LineAttributes(
                        text,
                        row[7] == "BLOCKSTART",
                        row[8] == "PAGESTART",
                        row[9] == "NEWFONT" or size != 0,
                        size,
                        row[11] == "1",
                        row[12] == "1",
                    )
                )
                labels.append(label.value)
        if lines:
            yield name, lines, labels


_PASSAGES = {
    "head": Passage.HEAD,
    "figure": Passage.FLOAT,
    "table": Passage.FLOAT,
    "formula": Passage.FORMULA,
}


def passages(archive: Path) -> Documents:
    """Yield the annotated bodies of `fulltext`, by name; their `raw/` has one row per token."""
    raws = members(archive, "corpus/raw")
    for name, tei in sorted(members(archive, "corpus/tei").items()):
        raw = raws.get(name.removesuffix(".tei.xml"))
        if raw is None:
            continue
        labelled = _passages(tei)
        rows: list[list[str]] = []
        for x in raw.decode("utf-8", "replace").splitlines():
            row = x.split(" ")
            if len(row) != 27:
                continue
            if row[11] == "LINESTART":
                rows.append(row)
        firsts = [_FIRST.match(text).group() for text, _ in labelled]  # type: ignore[union-attr]  # each labelled text begins with a word
        lines: list[LineAttributes] = []
        labels: list[str] = []
        for run in SequenceMatcher(None, [row[0] for row in rows], firsts, autojunk=False).get_matching_blocks():
            for k in range(run.size):
                text, label = labelled[run.b + k]
                row = rows[run.a + k]
                size = {"HIGHERFONT": 1, "LOWERFONT": -1}.get(row[14], 0)
                block = row[10] == "BLOCKSTART"
                fresh = row[13] == "NEWFONT" or size != 0
                lines.append(LineAttributes(text, block, False, fresh, size, row[15] == "1", row[16] == "1"))
                labels.append(label.value)
        if lines:
            yield name, lines, labels


_FIRST = re.compile(r"\w+|\W")


def _passages(tei: bytes) -> list[tuple[str, Passage]]:
    """Return the lines of an annotated body with their labels."""
    root = etree.fromstring(tei, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    lines: list[tuple[str, Passage]] = []
    current: list[str] = []

    def end(label: Passage) -> None:
        if text := " ".join("".join(current).split()):
            lines.append((text, label))
        current.clear()

    def walk(element: etree._Element, label: Passage) -> None:
        current.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str):
                name = etree.QName(child).localname
                inner = label if label is Passage.FLOAT else _PASSAGES.get(name, label)
                if name == "lb":
                    end(label)
                else:
                    own = inner is not label or name in ("p", "figure")
                    if own:
                        end(label)
                    walk(child, inner)
                    if own:
                        end(inner)
            current.append(child.tail or "")

    for text in root.iter("{*}text"):
        walk(text, Passage.TEXT)
        end(Passage.TEXT)
        break
    return lines


def _labelled(tei: bytes) -> list[tuple[str, SegmentLabel]]:
    """Return the lines of an annotated document with their labels."""
    root = etree.fromstring(tei, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    lines: list[tuple[str, SegmentLabel]] = []
    current: list[str] = []

    def end(label: SegmentLabel) -> None:
        text = " ".join("".join(current).split())
        if text:
            lines.append((text, label))
        current.clear()

    def walk(element: etree._Element, label: SegmentLabel) -> None:
        current.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str):
                name = etree.QName(child).localname
                if name == "lb":
                    end(label)
                else:
                    kind = child.get("place") or child.get("type") or name
                    inner = _LABELS.get(kind, _LABELS.get(name, label))
                    if inner is not label:
                        end(label)
                    walk(child, inner)
                    if inner is not label:
                        end(inner)
            current.append(child.tail or "")

    for text in root.iter("{*}text"):
        walk(text, SegmentLabel.BODY)
        end(SegmentLabel.BODY)
        break
    return lines


def fold(name: str) -> int:
    """Return which fifth of the documents a document belongs to, by its name."""
    return zlib.crc32(name.encode()) % 5


def apart(name: str) -> bool:
    """Return whether a document is held out for measuring: a fifth of the documents, by name."""
    return fold(name) == 0


def train(data: Path, task: str, model: Path, iterations: int) -> None:
    """Train the model on four fifths of the documents, then print each label's figures on the rest."""
    import pycrfsuite

    archive, read, features = _TASKS[task]
    trainer = pycrfsuite.Trainer(verbose=False)
    kept: list[tuple[list[list[str]], list[str]]] = []
    for name, lines, labels in read(data / archive):
        if apart(name):
            kept.append((features(lines), labels))
        else:
            trainer.append(features(lines), labels)
    trainer.select("lbfgs")
    trainer.set_params(PARAMETERS | {"max_iterations": iterations})
    trainer.train(str(model))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    right: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for rows, labels in kept:
        found = tagger.tag(rows)
        ours.update(found)
        theirs.update(labels)
        right.update(x for x, y in zip(found, labels, strict=True) if x == y)
    for label in sorted(theirs):
        p, r = right[label] / max(ours[label], 1), right[label] / theirs[label]
        print(
            f"{label:10} precision {p:.3f} recall {r:.3f} F1 {2 * p * r / max(p + r, 1e-9):.3f} of {theirs[label]} lines"
        )


_TASKS: dict[str, tuple[str, Callable[[Path], Documents], Callable[[Sequence[LineAttributes]], list[list[str]]]]] = {
    "segmentation": ("segmentation.tar.xz", segmented, segmentation.features),
    "passages": ("fulltext.tar.xz", passages, body.features),
}


def main() -> None:
    """Parse the command line, train, and print the measurements."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.training.lines", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("data", type=Path, help="folder with GROBID's training archives")
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--out", type=Path, help="default: the committed model")
    given = parser.parse_args()
    began = time.monotonic()
    out = given.out or {"segmentation": segmentation.MODEL, "passages": body.MODEL}[given.task]
    train(given.data, given.task, out, given.iterations)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
