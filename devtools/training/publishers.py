"""Measure how much each CRF depends on its training publishers: leave out each publisher alternately.

    python -m devtools.training.publishers passages

The training data do not contain the names of publishers. The script finds the publisher in a document's file name
(DOI prefix, ISSN, number of a preprint) or else in the first and last lines of its text, without its references. Bodies
and reference lists also have the publisher of the same document in another archive. Preprint servers count as
publishers. A generated reference string has the publisher of its CSL style.

A model is trained without the documents of one publisher and measured on them. The other models were trained on other
documents of the same publisher: the documents are split into fifths by name; each model was trained without one fifth
and is measured on it. The former model is trained without a fifth too, so that it has as much data. Documents without a
known publisher train every model. All models have the committed model's parameters. The last row has all measured
documents. Generated reference strings are used in training only.

Each measurement has three figures: the share of lines (or tokens) with the right label, and precision and recall of the
most important ones (references, heads, titles, journals, or beginnings of entries).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devtools.real_data import REAL_DATA
from pdf2tei.body import passages as body
from pdf2tei.front import front_lines
from pdf2tei.models import segmentation
from pdf2tei.models.segmentation import LineAttributes
from pdf2tei.references import crf, entries, tokens

from . import __main__ as strings
from . import entries as reference_lists
from . import front, gold, lines

_STYLE = "csl:"
"""Prefix of the names of generated strings."""
_PUBLISHERS = {
    "arXiv": (r"^(?:\d\d-)?\d{4}[._]_?\d{4,5}|citation-arxive", r"\barxiv:"),
    "bioRxiv": (r"^\d{6}v\d|biorxiv", r"\bbiorxiv\b|10\.1101/"),
    "Taylor & Francis": (
        r"csl:taylor",
        r"taylor\s*(?:&|and)\s*francis|informa (?:uk|healthcare|plc)|tandf|routledge",
    ),
    "BioMed Central": (r"csl:biomed-central", r"biomed ?central|10\.1186/"),
    "PLOS": (
        r"journal\.p[a-z]{3}\.|^p[a-z]{3}\.\d|csl:(?:plos|public-library)",
        r"\bplos\b|plosone|public library of science|10\.1371/",
    ),
    "MDPI": (r"csl:(?:mdpi|multidisciplinary)", r"\bmdpi\b|10\.3390/"),
    "Hindawi": (r"hindawi", r"hindawi|10\.(?:1155|4061)/"),
    "IOP": (
        r"^\d{4}-\d{3}[\dx]_|_20\d\d_.*_\d+_\w+\.training|csl:(?:institute-of-physics|iop|the-astrophysical)",
        r"iop ?publishing|iop ?science|10\.1088/",
    ),
    "World Scientific": (r"-s0217\d|-97898147", r"world scientific"),
    "Canadian Science Publishing": (r"\.v\d\d-\d{3}\.|canadianjournal", r"nrc research press"),
    "American Chemical Society": (
        r"csl:(?:american-chemical|journal-of-the-american-chemical)",
        r"american chemical society|pubs\.acs\.org|10\.1021/",
    ),
    "Elsevier": (
        r"1-s2\.0|sdarticle|csl:(?:elsevier|cell$|current-opinion|the-lancet|neuroimage|geochimica)",
        r"elsevier|sciencedirect|10\.1016/",
    ),
    "Springer Nature": (
        r"10\.(?:1007|1140)|-nature\d|-ncc\d|^s41598|^s\d{5}-0|csl:(?:springer|nature|european-physical|journal-of-high)",
        r"springer|nature publishing|macmillan|kluwer|10\.(?:1007|1038|1140)/",
    ),
    "Wiley": (r"csl:(?:angewandte|ecology-letters|oikos|journal-of-ecology)", r"wiley|blackwell|10\.1(?:002|111)/"),
    "IEEE": (r"csl:ieee", r"\bieee\b|10\.1109/"),
    "ACL": (r"^[a-z]\d\d-\d{4}|csl:association-for-computational", r"association for computational linguistics"),
    "ACM": (
        r"csl:(?:acm|association-for-computing)",
        r"\bacm\b|association for computing machinery|10\.1145/",
    ),
    "Oxford University Press": (
        r"csl:(?:bioinformatics|nucleic|mnras|monthly)",
        r"oxford university press|oxfordjournals|10\.1093/",
    ),
    "American Physical Society": (
        r"physrev|csl:(?:american-physics|physical-review)",
        r"american physical society|\bphys(?:ical)?\.? rev|10\.1103/",
    ),
}
"""Patterns of lower-case file names and texts; the first that matches decides."""
_FIRST, _LAST = 120, 40
"""Number of lines at a document's start and end that may contain its publisher."""
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Document:
    """A labeled sequence: its name, the features of its lines or tokens, and their labels."""

    name: str
    publisher: str
    """Empty if no listed publisher is known."""
    rows: list[list[str]]
    labels: list[str]


def publisher(name: str, text: Sequence[str] = ()) -> str:
    """Return the publisher named by a document's file or in its own lines; empty if no listed publisher is named."""
    name, lower = name.casefold(), " ".join((*text[:_FIRST], *text[-_LAST:])).casefold()
    by_name = (known for known, (file, _) in _PUBLISHERS.items() if re.search(file, name))
    by_text = (known for known, (_, printed) in _PUBLISHERS.items() if re.search(printed, lower))
    return next(by_name, "") or next(by_text, "")


def _headers(archive: Path) -> Iterator[tuple[str, list[LineAttributes], list[str]]]:
    for name, facts, labels in front.headers(archive):
        yield name, facts, [label.value for label in labels]


def _reference_strings(data: Path) -> Iterator[tuple[str, list[tokens.Piece], list[str]]]:
    """Yield the training strings, and those for choices if their publisher is known."""
    made = strings.samples(data / "titles" / "titles_dev.tsv.gz", data / "jats", None, _MADE)
    found = [(_STYLE + name, sample) for name, sample in made]
    by_hand = data / "citations" / "grobid-citation-training"
    found += gold.samples(by_hand, ("train",))
    found += [(name, sample) for name, sample in gold.samples(by_hand, ("choose",)) if publisher(name)]
    for name, sample in found:
        yield name, tokens.pieces(sample.raw), [label.value for label in sample.labels]


_MADE = 2000
"""Number of generated reference strings."""


@dataclass(frozen=True, slots=True)
class Task:
    """A CRF and its training data."""

    source: str
    read: Callable[[Path], Iterator[tuple[str, list[Any], list[str]]]]
    features: Callable[[Any], list[list[str]]]
    parameters: dict[str, Any]
    matters: str
    """The label with its precision and recall shown."""
    iterations: int
    """Default number of iterations."""
    few: int
    """Publishers with fewer documents are not reported."""


_TASKS = {
    "segmentation": Task(
        "grobid-training/segmentation.tar.xz",
        lines.segmented,
        segmentation.features,
        lines.PARAMETERS,
        segmentation.SegmentLabel.REFERENCE,
        80,
        10,
    ),
    "passages": Task(
        "grobid-training/fulltext.tar.xz", lines.passages, body.features, lines.PARAMETERS, body.Passage.HEAD, 80, 3
    ),
    "front": Task(
        "grobid-training/header.tar.xz",
        _headers,
        front_lines.features,
        front.PARAMETERS,
        front_lines.FrontLabel.TITLE,
        120,
        10,
    ),
    "entries": Task(
        "grobid-training/reference-segmenter.tar.xz",
        reference_lists.lists,
        entries.features,
        reference_lists.PARAMETERS,
        entries.BEGINS,
        60,
        3,
    ),
    "references": Task("", _reference_strings, tokens.features, strings.PARAMETERS, crf.TokenLabel.JOURNAL, 80, 50),
}
_STEM = re.compile(r"(?:\.training|\.segmentation|\.header|\.fulltext|\.references|\.referenceSegmenter|\.tei\.xml).*")


def _by_first_page(data: Path, task: str) -> Iterator[tuple[str, str]]:
    """Yield name and publisher of each document of an archive with first pages."""
    for name, found, labels in _TASKS[task].read(data / _TASKS[task].source):
        reference = segmentation.SegmentLabel.REFERENCE
        yield name, publisher(name, [x.text for x, label in zip(found, labels, strict=True) if label != reference])


def _publishers(data: Path, task: str) -> dict[str, str]:
    """Return the publishers by document name, or by its stem if the publisher is in another archive."""
    if task in ("segmentation", "front"):
        return dict(_by_first_page(data, task))
    out: dict[str, str] = {}
    if task != "references":
        for other in ("segmentation", "front"):
            for name, known in _by_first_page(data, other):
                stem = _STEM.sub("", name)
                out[stem] = out.get(stem) or known
    return out


def _documents(data: Path, task: str) -> Iterator[Document]:
    """Yield the training data of a model."""
    known = _publishers(data, task)
    for name, found, labels in _TASKS[task].read(data / _TASKS[task].source):
        rows = [list(map(sys.intern, row)) for row in _TASKS[task].features(found)]
        yield Document(name, known.get(name) or known.get(_STEM.sub("", name)) or publisher(name), rows, labels)


def report(data: Path, task: str, iterations: int, folds: int, only: Sequence[str] = ()) -> None:
    """Print a row for each publisher (those named in `only`, if any), the largest first, and a row for all of them."""
    given = _TASKS[task]
    documents = list(_documents(data, task))
    groups: dict[str, list[Document]] = defaultdict(list)
    for x in documents:
        if x.publisher and not x.name.startswith(_STYLE) and (not only or x.publisher in only):
            groups[x.publisher].append(x)
    measured = {
        name: kept
        for name, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(group) >= given.few and (kept := [x for x in group if lines.fold(x.name) < folds])
    }
    parameters = given.parameters | {"max_iterations": iterations}
    known: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in measured}
    for fold in range(folds):
        tagger = _train([x for x in documents if not x.publisher or lines.fold(x.name) != fold], parameters)
        for name, kept in measured.items():
            known[name] += _pairs([x for x in kept if lines.fold(x.name) == fold], tagger)
    three = "right | precision | recall"
    print(f"| publisher | documents | without it: {three} | with it: {three} |")
    unknown: Counter[tuple[str, str]] = Counter()
    for name, kept in measured.items():
        others = [x for x in documents if x.publisher != name and not (x.publisher and lines.apart(x.name))]
        pairs = _pairs(kept, _train(others, parameters))
        unknown += pairs
        cells = [name, str(len(kept)), *_shares(pairs, given.matters), *_shares(known[name], given.matters)]
        print(f"| {' | '.join(cells)} |", flush=True)
    count = str(sum(map(len, measured.values())))
    total = sum(known.values(), Counter[tuple[str, str]]())
    print(f"| {' | '.join(['all', count, *_shares(unknown, given.matters), *_shares(total, given.matters)])} |")


def _train(documents: Sequence[Document], parameters: dict[str, Any]) -> Any:
    """Return a tagger that was trained on the documents."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for document in documents:
        trainer.append(document.rows, document.labels)
    trainer.select("lbfgs")
    trainer.set_params(parameters)
    with tempfile.NamedTemporaryFile() as file:
        trainer.train(file.name)
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
    return tagger


def _pairs(documents: Sequence[Document], tagger: Any) -> Counter[tuple[str, str]]:
    """Count the pairs of found and right labels."""
    return Counter(pair for x in documents for pair in zip(tagger.tag(x.rows), x.labels, strict=True))


def _shares(pairs: Counter[tuple[str, str]], matters: str) -> list[str]:
    """Return the share of right labels, and precision and recall of one label.

    A share of zero lines is an empty string.
    """
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
    parser.add_argument("data", type=Path, nargs="?", default=REAL_DATA, help="folder with the training data")
    parser.add_argument("--iterations", type=int, help="default: those of the committed model")
    parser.add_argument(
        "--folds", type=int, default=_FOLDS, choices=range(1, _FOLDS + 1), help="measure on these fifths only"
    )
    parser.add_argument("--only", nargs="*", default=(), choices=sorted(_PUBLISHERS), help="these publishers")
    given = parser.parse_args()
    report(given.data, given.task, given.iterations or _TASKS[given.task].iterations, given.folds, given.only)


if __name__ == "__main__":
    main()
