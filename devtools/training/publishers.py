"""Measure how much a CRF over lines depends on its training publishers: leave out each publisher alternately.

    python -m devtools.training.publishers segmentation ../shared/data/grobid-training

GROBID's annotated documents do not contain the names of their publishers. The script finds the publisher in the first
and last lines of a document, or in those lines of the same document in another archive.

The script reports each publisher with at least ten documents (bodies and reference lists: three). It trains a model on
the documents of the other publishers, and measures it on the documents of this publisher. It also measures the new and
the committed model on the documents that the committed model was not trained on.

Each measurement has three figures: the share of lines with the right label, and precision and recall of the most
important lines (references, heads, titles, or beginnings of entries).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pdf2tei import entries, front_lines, segmentation
from pdf2tei import passages as body
from pdf2tei.segmentation import LineAttributes

from . import entries as reference_lists
from . import front, lines

_PUBLISHERS = {
    name: re.compile(pattern)
    for name, pattern in {
        "Taylor & Francis": r"taylor\s*(?:&|and)\s*francis|informa (?:uk|healthcare|plc)|tandf|routledge",
        "BioMed Central": r"biomed ?central",
        "PLOS": r"\bplos\b|plosone|public library of science",
        "Elsevier": r"elsevier|sciencedirect",
        "Springer Nature": r"springer|nature publishing|macmillan|kluwer",
        "Wiley": r"wiley|blackwell",
        "IEEE": r"\bieee\b",
        "ACM": r"\bacm\b|association for computing machinery",
        "Oxford University Press": r"oxford university press|oxfordjournals",
        "American Physical Society": r"american physical society|\bphys(?:ical)?\.? rev",
        "arXiv": r"\barxiv:",
    }.items()
}
_FIRST, _LAST = 120, 40
"""Number of lines at a document's start and end that may contain its publisher."""
Document = tuple[str, list[list[str]], list[str]]
"""Name, features of the lines, labels of the lines."""


def publisher(document: Sequence[str]) -> str:
    """Return the publisher named in a document's own lines; empty if no listed publisher is named."""
    text = " ".join((*document[:_FIRST], *document[-_LAST:])).casefold()
    return next((name for name, pattern in _PUBLISHERS.items() if pattern.search(text)), "")


def _headers(archive: Path) -> Iterator[tuple[str, list[LineAttributes], list[str]]]:
    for name, facts, labels in front.headers(archive):
        yield name, facts, [label.value for label in labels]


@dataclass(frozen=True, slots=True)
class Task:
    """A CRF and its training data."""

    archive: str
    read: Callable[[Path], Iterator[tuple[str, list[Any], list[str]]]]
    features: Callable[[Any], list[list[str]]]
    committed: Path
    matters: str
    """The label with its precision and recall shown."""
    few: int
    """Publishers with fewer documents are not reported."""


_TASKS = {
    "segmentation": Task(
        "segmentation.tar.xz", lines.segmented, segmentation.features, segmentation.MODEL, "reference", 10
    ),
    "passages": Task("fulltext.tar.xz", lines.passages, body.features, body.MODEL, "head", 3),
    "front": Task("header.tar.xz", _headers, front_lines.features, front_lines.MODEL, "title", 10),
    "entries": Task("reference-segmenter.tar.xz", reference_lists.lists, entries.features, entries.MODEL, "B", 3),
}
_STEM = re.compile(r"(?:\.training|\.segmentation|\.header|\.fulltext|\.references|\.referenceSegmenter|\.tei\.xml).*")


def _named(data: Path) -> dict[str, str]:
    """Return the publishers by document name, for the documents with first pages in the archives."""
    out: dict[str, str] = {}
    for task in ("segmentation", "front"):
        for name, found, _ in _TASKS[task].read(data / _TASKS[task].archive):
            if known := publisher([x.text for x in found]):
                out.setdefault(_STEM.sub("", name), known)
    return out


def report(data: Path, task: str, iterations: int, only: Sequence[str] = ()) -> None:
    """Print a row for each publisher (those named in `only`, if any), the largest first."""
    given = _TASKS[task]
    named = _named(data) if task in ("passages", "entries") else {}
    groups: dict[str, list[Document]] = defaultdict(list)
    for name, found, labels in given.read(data / given.archive):
        known = publisher([x.text for x in found]) if not named else named.get(_STEM.sub("", name), "")
        groups[known].append((name, given.features(found), labels))
    three = "rightly | precision | recall"
    print(f"| publisher left out | documents | {three} | apart | {three} | committed: {three} |")
    with tempfile.TemporaryDirectory() as folder:
        for left in sorted(groups, key=lambda name: (-len(groups[name]), name)):
            documents = groups[left]
            kept = [x for x in documents if lines.apart(x[0])]
            if not left or len(documents) < given.few or (only and left not in only):
                continue
            model = Path(folder) / "model"
            rest = [x for name, others in groups.items() if name != left for x in others if not lines.apart(x[0])]
            _train(rest, model, iterations)
            cells = [left, str(len(documents)), *_shares(documents, model, given.matters), str(len(kept))]
            cells += [*_shares(kept, model, given.matters), *_shares(kept, given.committed, given.matters)]
            print(f"| {' | '.join(cells)} |", flush=True)


def _train(documents: Sequence[Document], model: Path, iterations: int) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for _, rows, labels in documents:
        trainer.append(rows, labels)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 1.0, "c2": 0.1, "max_iterations": iterations, "feature.minfreq": 3})
    trainer.train(str(model))


def _shares(documents: Sequence[Document], model: Path, matters: str) -> list[str]:
    """Return the share of lines with the right label, and precision and recall of one label.

    A share of zero lines is an empty string.
    """
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    pairs = Counter(pair for _, rows, labels in documents for pair in zip(tagger.tag(rows), labels, strict=True))
    right = sum(count for (ours, theirs), count in pairs.items() if ours == theirs)
    found = sum(count for (ours, _), count in pairs.items() if ours == matters)
    wanted = sum(count for (_, theirs), count in pairs.items() if theirs == matters)
    both = pairs[matters, matters]
    return [f"{a / b:.3f}" if b else "" for a, b in ((right, pairs.total()), (both, found), (both, wanted))]


def main() -> None:
    """Parse the command line and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.training.publishers", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("data", type=Path, help="folder with GROBID's training archives")
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--only", nargs="*", default=(), choices=sorted(_PUBLISHERS), help="these publishers")
    given = parser.parse_args()
    report(given.data, given.task, given.iterations, given.only)


if __name__ == "__main__":
    main()
