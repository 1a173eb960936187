"""Train a CRF of the extractor, and print its figures for documents that it was not trained on.

    python -m devtools.training segmentation | passages | front | entries | references

These commands made the committed models. The result is deterministic: the same data, seed and versions give the same
model. The data are GROBID's annotated documents (CC BY 4.0), and a fifth of them is held out by name. `references` uses
20,193 strings: 6,000 are GROBID's hand-labeled strings, the others are made from metadata; its figures are for a
quarter of GROBID's files. It takes four minutes on one core.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devtools.measure import print_scores
from devtools.real_data import REAL_DATA
from pdf2tei.body import passages
from pdf2tei.front import front_lines
from pdf2tei.models import segmentation
from pdf2tei.references import crf, tokens
from pdf2tei.references import entries as entry_lines

from . import entries, gold, lines, metadata
from .forms import bibtex, terse
from .marks import labeled
from .noise import roughen
from .render import render

SEED = 20200705
MADE = 14_000
"""Strings to make from metadata."""
STRINGS = Path("citations/grobid-citation-training")
Document = tuple[str, Any, list[str]]
"""Name, lines or tokens, and their labels."""


@dataclass(frozen=True, slots=True)
class Model:
    """A CRF with its training data and CRFsuite's parameters."""

    path: Path
    archive: str
    """GROBID's annotated documents; nothing for the folder of all data"""
    read: Callable[[Path], Iterable[Document]]
    features: Callable[[Any], Sequence[list[str]]]
    parameters: dict[str, Any]


def read_strings(data: Path) -> list[Document]:
    """Return labeled strings made from metadata, and the training part of the hand-labeled strings.

    Two thirds of the made strings are rendered with CSL styles. The rest have BibTeX's forms, or terse forms without
    title. Strings with fields that cannot be separated are left out.
    """
    rng = random.Random(SEED)
    papers = metadata.titles(data / "titles" / "titles_dev.tsv.gz", rng, MADE)
    cited = metadata.jats(data / "jats") + gold.metadata(data / STRINGS)
    rng.shuffle(cited)
    cited = cited[: MADE // 2]
    pool = metadata.mixed(papers[: MADE - len(cited)], cited, rng)
    made = [string for _, string in render(pool[: MADE * 2 // 3], rng)]
    made += [bibtex(meta, rng) for meta in pool[MADE * 2 // 3 : MADE * 5 // 6]]
    made += [terse(meta, rng) for meta in pool[MADE * 5 // 6 :]]
    strings = [sample for string in made if (sample := labeled(roughen(string, rng))) is not None]
    strings += gold.samples(data / STRINGS, "train")
    rng.shuffle(strings)
    return [("", tokens.pieces(x.raw), [label.value for label in x.labels]) for x in strings]


def add_neighbors(own: Sequence[list[str]], shown: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the items' own names, and the neighbor names that `Tagger.weigh_neighbors` adds implicitly."""
    return [
        names
        + [f"{d}{x}" for d in segmentation.NEIGHBORS for x in (shown[i + d] if 0 <= i + d < len(own) else ("END",))]
        for i, names in enumerate(own)
    ]


def describe_segments(items: Sequence[segmentation.LineAttributes]) -> list[list[str]]:
    """Return the feature names of lines of a document."""
    return add_neighbors(*segmentation.describe_lines(items, paged=True))


def describe_passages(items: Sequence[segmentation.LineAttributes]) -> list[list[str]]:
    """Return the feature names of lines of the body, without page features, which the training data lack."""
    near = add_neighbors(*segmentation.describe_lines(items, paged=False))
    return [own + extra for own, extra in zip(near, passages.describe_lines(items), strict=True)]


def describe_tokens(found: list[tokens.Piece]) -> list[list[str]]:
    """Return for each token of a string the features of the token and its neighbors."""
    return [[name for codes, names in tokens.columns([found]) for name in names[codes[i]]] for i in range(len(found))]


LINES = {"c1": 1.0, "c2": 0.1, "feature.minfreq": 3, "max_iterations": 80}
STRING = {"c1": 1.0, "c2": 0.02, "feature.possible_transitions": True, "max_iterations": 80}
MODELS = {
    "segmentation": Model(segmentation.MODEL, "segmentation", lines.read_segments, describe_segments, LINES),
    "passages": Model(passages.MODEL, "fulltext", lines.read_passages, describe_passages, LINES),
    "front": Model(front_lines.MODEL, "header", lines.read_headers, front_lines.features, {"c1": 0.1, "c2": 0.1, "max_iterations": 120}),
    "entries": Model(
        entry_lines.MODEL, "reference-segmenter", entries.read_lists, entry_lines.features, {"c1": 0.5, "c2": 0.1, "max_iterations": 60},
    ),
    "references": Model(crf.MODEL, "", read_strings, describe_tokens, STRING),
}  # fmt: skip


def is_held_out(name: str) -> bool:
    """Return whether a document is used for measuring only: a fifth of the documents, by name."""
    return bool(name) and zlib.crc32(name.encode()) % 5 == 0


def train(model: Model, documents: Iterable[Document], out: Path) -> None:
    """Train a model on the documents that are not held out."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for name, items, labels in documents:
        if not is_held_out(name):
            trainer.append(model.features(items), labels)
    trainer.select("lbfgs")
    trainer.set_params(model.parameters)
    trainer.train(str(out))


def main() -> None:
    """Parse the command line, train, and print the measurements."""
    import pycrfsuite

    parser = argparse.ArgumentParser(
        prog="python -m devtools.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--out", type=Path, help="model to write (default: the committed model)")
    parser.add_argument("--measure", action="store_true", help="measure the existing model, without training")
    given = parser.parse_args()
    model = MODELS[given.model]
    path = given.out or model.path
    is_strings = given.model == "references"
    data = REAL_DATA / f"grobid-training/{model.archive}.tar.xz" if model.archive else REAL_DATA
    documents = [] if is_strings and given.measure else list(model.read(data))
    if not given.measure:
        train(model, documents, path)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    if is_strings:
        gold.measure(REAL_DATA / STRINGS, lambda pieces: tagger.tag(model.features(pieces)))
        return
    held_out = [
        (items, labels, tagger.tag(model.features(items))) for name, items, labels in documents if is_held_out(name)
    ]
    if given.model == "entries":
        entries.measure(held_out)
        return
    pairs = [pair for _, labels, found in held_out for pair in zip(labels, found, strict=True)]
    right, ours, theirs = ([x for x, y in pairs if x == y], [y for _, y in pairs], [x for x, _ in pairs])
    print_scores(Counter(right), Counter(ours), Counter(theirs))


if __name__ == "__main__":
    main()
