r"""Train the reference CRF.

This command made the committed model:

    python -m devtools.training --titles ../shared/data/titles/titles_dev.tsv.gz --jats ../shared/data/jats \
        --gold ../shared/data/citations/grobid-citation-training

It used 20,194 strings; 6,000 of them are GROBID's hand-labeled strings (CC BY 4.0). The model has 1.6 MB. Training took
four minutes on one core. devtools/bench/references.py measures the model on files that were not used in training.

The result is deterministic: the same metadata, seed and versions give the same model.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from pdf2tei.references.crf import MODEL
from pdf2tei.references.tokens import features, pieces

from . import gold, metadata
from .forms import bibtex, terse
from .marks import LabelledString, labelled
from .noise import roughen
from .render import render

SEED = 20200705
PARAMETERS = {"c1": 1.0, "c2": 0.02, "feature.possible_transitions": True}
"""CRFsuite's parameters; rare weights are left out, which limits the model's size."""


def samples(
    titles: Path, jats: Path | None, labelled_by_hand: Path | None, count: int
) -> list[tuple[str, LabelledString]]:
    """Return about `count` labeled strings made from metadata, and the training part of the hand-labeled strings.

    Each has the name of its CSL style, form or file.
    Two thirds of the made strings are rendered with CSL styles. The rest have BibTeX's forms, or terse forms without
    title. Strings with fields that cannot be separated are left out.
    """
    rng = random.Random(SEED)
    papers = metadata.titles(titles, rng, count)
    cited = metadata.jats(jats) if jats else []
    cited += gold.metadata(labelled_by_hand) if labelled_by_hand else []
    rng.shuffle(cited)
    cited = cited[: count // 2]
    pool = metadata.mixed(papers[: count - len(cited)], cited, rng)
    strings = list(render(pool[: count * 2 // 3], rng))
    strings += [("bibtex", bibtex(meta, rng)) for meta in pool[count * 2 // 3 : count * 5 // 6]]
    strings += [("terse", terse(meta, rng)) for meta in pool[count * 5 // 6 :]]
    out = [(name, sample) for name, string in strings if (sample := labelled(roughen(string, rng))) is not None]
    if labelled_by_hand:
        out += gold.samples(labelled_by_hand, ("train",))
    rng.shuffle(out)
    return out


def train(data: list[LabelledString], model: Path, iterations: int) -> None:
    """Train with L-BFGS and elastic net."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sample in data:
        found = pieces(sample.raw)
        trainer.append(features(found), [x.value for x in sample.labels])
    trainer.select("lbfgs")
    trainer.set_params(PARAMETERS | {"max_iterations": iterations})
    trainer.train(str(model))


def main() -> None:
    """Parse the command line, then train or print the strings."""
    parser = argparse.ArgumentParser(prog="python -m devtools.training", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--titles", type=Path, required=True, help="gzipped TSV: source, id, year, venue, title, authors"
    )
    parser.add_argument("--jats", type=Path, help="folder of JATS articles, whose reference lists are rendered too")
    parser.add_argument("--gold", type=Path, help="folder of GROBID's citation training files, half of which train too")
    parser.add_argument("--count", type=int, default=14000, help="strings to make")
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--out", type=Path, default=MODEL)
    parser.add_argument("--show", type=int, help="print so many strings with their labels instead of training")
    given = parser.parse_args()
    began = time.monotonic()
    data = [sample for _, sample in samples(given.titles, given.jats, given.gold, given.count)]
    print(f"{len(data)} strings, {time.monotonic() - began:.0f} s")
    if given.show:
        for sample in data[: given.show]:
            print(sample.raw)
            print(
                "   ",
                " ".join(f"{p.text}/{x.value[:5]}" for p, x in zip(pieces(sample.raw), sample.labels, strict=True)),
            )
        return
    train(data, given.out, given.iterations)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
