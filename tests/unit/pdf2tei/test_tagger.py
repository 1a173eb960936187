"""The CRFs return the same labels as CRFsuite, which trained them."""

import random
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from pdf2tei.body import passages
from pdf2tei.front import front_lines
from pdf2tei.models import segmentation
from pdf2tei.models.tagger import load_tagger
from pdf2tei.references import crf, entries

MODELS = [crf.MODEL, entries.MODEL, front_lines.MODEL, passages.MODEL, segmentation.MODEL]


def suite(model: Path) -> pycrfsuite.Tagger:
    """Return CRFsuite's tagger for a model."""
    loaded = pycrfsuite.Tagger()
    loaded.open(str(model))
    return loaded


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_labels_and_probabilities_equal_those_of_crfsuite(model: Path) -> None:
    theirs, ours = suite(model), load_tagger(model)
    rng = random.Random(1)
    known = sorted({name for name, _ in theirs.info().state_features})
    sequences = []
    for length in (1, 2, 17, 300, *range(70)):  # More than one batch.
        items = [[*rng.choices(known, k=rng.randrange(30)), "a name that it has not"] for _ in range(length)]
        theirs.set(items)
        weights = ours.score_items(items)
        sequences.append((weights, theirs.tag()))
        sure = [[theirs.marginal(label, i) for label in ours.labels] for i in range(length)]
        assert not length or np.allclose(ours.probabilities(weights), sure, rtol=0, atol=1e-9)
    assert ours.tag_each([weights for weights, _ in sequences]) == [labels for _, labels in sequences]
    assert ours.tag_each([]) == []
