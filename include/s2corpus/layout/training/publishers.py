"""How much a CRF over lines owes to the publishers it was trained on: each publisher left out in turn.

    python -m s2corpus.layout.training.publishers segmentation ../shared/data/grobid-training

GROBID's annotated documents do not name their publishers; what their first and last lines print does. For each publisher of at least
ten documents a model is trained on the others' documents and measured on this one's, beside the committed model on those of them that it
was not trained on, and the new model on the same ones. A figure is the share of lines labelled rightly."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .. import front_lines, segmentation
from .. import passages as body
from ..segmentation import Facts
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
"""Lines at a document's start and end that may name its publisher"""
_FEW = 10
"""Documents of a publisher below which nothing is said of it"""
Document = tuple[str, list[list[str]], list[str]]
"""Name, features of its lines, their labels."""


def publisher(document: Sequence[Facts]) -> str:
    """Whom a document's own lines name as its publisher; empty if nobody known."""
    text = " ".join(x.text for x in (*document[:_FIRST], *document[-_LAST:])).casefold()
    return next((name for name, pattern in _PUBLISHERS.items() if pattern.search(text)), "")


def _headers(archive: Path) -> Iterator[tuple[str, list[Facts], list[str]]]:
    for name, facts, labels in front.headers(archive):
        yield name, facts, [label.value for label in labels]


_TASKS: dict[str, tuple[str, Callable[[Path], lines.Documents], Callable[[Sequence[Facts]], list[list[str]]], Path]] = {
    "segmentation": ("segmentation.tar.xz", lines.segmented, segmentation.features, segmentation.MODEL),
    "passages": ("fulltext.tar.xz", lines.passages, body.features, body.MODEL),
    "front": ("header.tar.xz", _headers, front_lines.features, front_lines.MODEL),
}


def report(data: Path, task: str, iterations: int) -> None:
    """Print a row for each publisher, the largest first."""
    archive, read, features, committed = _TASKS[task]
    groups: dict[str, list[Document]] = defaultdict(list)
    for name, facts, labels in read(data / archive):
        groups[publisher(facts)].append((name, features(facts), labels))
    print(f"{'publisher':<28}{'documents':>10}{'left out':>10}{'apart':>7}{'left out':>10}{'trained on':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for left in sorted(groups, key=lambda name: (-len(groups[name]), name)):
            documents = groups[left]
            kept = [x for x in documents if lines.apart(x[0])]
            if not left or len(documents) < _FEW:
                continue
            model = Path(folder) / "model"
            rest = [x for name, others in groups.items() if name != left for x in others if not lines.apart(x[0])]
            _train(rest, model, iterations)
            shares = [_right(documents, model), _right(kept, model), _right(kept, committed)]
            print(
                f"{left:<28}{len(documents):>10}{shares[0]:>10.3f}{len(kept):>7}{shares[1]:>10.3f}{shares[2]:>12.3f}",
                flush=True,
            )


def _train(documents: Sequence[Document], model: Path, iterations: int) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for _, rows, labels in documents:
        trainer.append(rows, labels)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 1.0, "c2": 0.1, "max_iterations": iterations, "feature.minfreq": 3})
    trainer.train(str(model))


def _right(documents: Sequence[Document], model: Path) -> float:
    """Share of lines labelled rightly."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    right = [x == y for _, rows, labels in documents for x, y in zip(tagger.tag(rows), labels, strict=True)]
    return float(sum(right) / max(len(right), 1))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m s2corpus.layout.training.publishers", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("data", type=Path, help="folder with GROBID's training archives")
    parser.add_argument("--iterations", type=int, default=80)
    given = parser.parse_args()
    report(given.data, given.task, given.iterations)


if __name__ == "__main__":
    main()
