"""Trains the segmentation CRF. The committed model came of

    python -m s2corpus.layout.training.lines ../shared/data/grobid-training

Deterministic: the same archive, seed and versions give the same model. The data are GROBID's annotated documents (CC BY 4.0):
`tei/` says what each line belongs to, `raw/` how it is set. A fifth of the documents is kept apart; its figures are printed."""

from __future__ import annotations

import argparse
import tarfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from ..segmentation import MODEL, Facts, Label, features

_LABELS = {
    "front": Label.FRONT,
    "titlePage": Label.FRONT,
    "cover": Label.FRONT,
    "body": Label.BODY,
    "listBibl": Label.REFERENCE,
    "headnote": Label.FURNITURE,
    "page": Label.FURNITURE,
    "footnote": Label.FOOTNOTE,
    "annex": Label.ANNEX,
    "acknowledgement": Label.BACK,
    "acknowledgment": Label.BACK,
    "availability": Label.BACK,
    "funding": Label.BACK,
}


def members(archive: Path, folder: str) -> dict[str, bytes]:
    """The files of an archive's folder by name."""
    out: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            if member.isfile() and path.parent.as_posix().endswith(folder) and (file := tar.extractfile(member)):
                out[path.name] = file.read()
    return out


def documents(archive: Path) -> Iterator[tuple[str, list[Facts], list[Label]]]:
    """Name, lines and labels of the annotated documents, by name."""
    raws = members(archive, "corpus/raw")
    for name, tei in sorted(members(archive, "corpus/tei").items()):
        raw = raws.get(name.removesuffix(".tei.xml"))
        if raw is None:
            continue
        labelled = _labelled(tei)
        rows = [row for x in raw.decode("utf-8", "replace").splitlines() if len(row := x.split(" ")) == 33]
        firsts = [text.split()[0] for text, _ in labelled]
        lines: list[Facts] = []
        labels: list[Label] = []
        for block in SequenceMatcher(None, [row[0] for row in rows], firsts, autojunk=False).get_matching_blocks():
            for k in range(block.size):
                text, label = labelled[block.b + k]
                row = rows[block.a + k]
                size = {"HIGHERFONT": 1, "LOWERFONT": -1}.get(row[10], 0)
                lines.append(
                    Facts(
                        text,
                        row[7] == "BLOCKSTART",
                        row[8] == "PAGESTART",
                        row[9] == "NEWFONT" or size != 0,
                        size,
                        row[11] == "1",
                        row[12] == "1",
                    )
                )
                labels.append(label)
        if lines:
            yield name, lines, labels


def _labelled(tei: bytes) -> list[tuple[str, Label]]:
    """The lines of an annotated document with their labels."""
    root = etree.fromstring(tei, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    lines: list[tuple[str, Label]] = []
    current: list[str] = []

    def end(label: Label) -> None:
        text = " ".join("".join(current).split())
        if text:
            lines.append((text, label))
        current.clear()

    def walk(element: etree._Element, label: Label) -> None:
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
        walk(text, Label.BODY)
        end(Label.BODY)
        break
    return lines


def apart(name: str) -> bool:
    """Whether a document is kept apart to measure by: a fifth of them, by name."""
    return zlib.crc32(name.encode()) % 5 == 0


def train(archive: Path, model: Path, iterations: int) -> None:
    """Train on four fifths of the documents."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for name, lines, labels in documents(archive):
        if not apart(name):
            trainer.append(features(lines), [x.value for x in labels])
    trainer.select("lbfgs")
    trainer.set_params({"c1": 1.0, "c2": 0.1, "max_iterations": iterations, "feature.minfreq": 3})
    trainer.train(str(model))


def measure(archive: Path, model: Path) -> None:
    """Print precision, recall and F1 of each label's lines in the documents kept apart."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    right: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for name, lines, labels in documents(archive):
        if apart(name):
            found = tagger.tag(features(lines))
            ours.update(found)
            theirs.update(x.value for x in labels)
            right.update(x for x, y in zip(found, labels, strict=True) if x == y)
    for label in Label:
        p, r = right[label] / max(ours[label], 1), right[label] / max(theirs[label], 1)
        print(
            f"{label:10} precision {p:.3f} recall {r:.3f} F1 {2 * p * r / max(p + r, 1e-9):.3f} of {theirs[label]} lines"
        )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m s2corpus.layout.training.lines", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("data", type=Path, help="folder with segmentation.tar.xz")
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--out", type=Path, default=MODEL)
    given = parser.parse_args()
    began = time.monotonic()
    archive = given.data / "segmentation.tar.xz"
    train(archive, given.out, given.iterations)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")
    measure(archive, given.out)


if __name__ == "__main__":
    main()
