"""List the available datasets. The module of a dataset is imported on first use."""

from __future__ import annotations

from importlib import import_module

from s2corpus.datasets.protocol import Dataset
from s2corpus.errors import UserError

DATASETS = {
    "citeworth": "CiteWorth",
    "contexts": "Contexts",
    "pretraining": "Pretraining",
    "elsevier": "ElsevierCorpus",
    "vectors": "Vectors",
    "figures": "Figures",
}
"""name (also of its module) → class"""


def load_dataset(name: str) -> Dataset:
    """Return the dataset with this name.

    Raises:
        UserError: no dataset has this name.
    """
    if name not in DATASETS:
        raise UserError(f"{name!r} is not a dataset: expected one of {', '.join(DATASETS)}")
    found: Dataset = getattr(import_module(f"s2corpus.datasets.{name}"), DATASETS[name])()
    return found
