"""The CRFs return the same labels as CRFsuite, which trained them."""

import random
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from pdf2tei import crf, entries, front_lines, passages, segmentation
from pdf2tei.tagger import Tagger, load_tagger
from pdf2tei.tokens import features, pieces

MODELS = [crf.MODEL, entries.MODEL, front_lines.MODEL, passages.MODEL, segmentation.MODEL]
STRINGS = [
    "[12] L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research, 9:2579–2605, 2008.",
    "Borugă O, Savoiu-Balint G. “Health-related quality of life”, in: Rev Med Chir (Iasi), vol. 117(2), pp. 401-9. doi:10.1000/x",
    "",
    ".",
    "Smith, J. (1999, 2000a). What? Who! “A b c d e”. 12. 13. 14. 15. 16. 17. 18. 19. 20. 21: x",
]


def suite(model: Path) -> pycrfsuite.Tagger:
    """Return CRFsuite's tagger for a model."""
    loaded = pycrfsuite.Tagger()
    loaded.open(str(model))
    return loaded


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
@pytest.mark.parametrize("length", [1, 2, 17, 300])
def test_labels_and_probabilities_equal_those_of_crfsuite(model: Path, length: int) -> None:
    theirs, ours = suite(model), load_tagger(model)
    rng = random.Random(length)
    known = sorted({name for name, _ in theirs.info().state_features})
    items = [[*rng.choices(known, k=rng.randrange(30)), "a name that it has not"] for _ in range(length)]
    theirs.set(items)
    weights = ours.score_items(items)
    assert ours.tag(weights) == theirs.tag()
    sure = [[theirs.marginal(label, i) for label in ours.labels] for i in range(length)]
    assert np.allclose(ours.probabilities(weights), sure, rtol=0, atol=1e-9)


def test_batches_have_the_labels_of_single_sequences() -> None:
    model = Tagger(crf.MODEL)
    weights = [model.score_items(features(pieces(raw))) for raw in STRINGS] * 14  # More than one batch.
    assert model.tag_each(weights) == [model.tag(one) for one in weights]
    assert model.tag_each([]) == []
