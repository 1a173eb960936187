"""The CRFs that come with the package, each loaded once in a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def tagger(model: Path) -> Any:
    """A trained CRF: `tag(features)` is a label for each item, `set` and `marginal` give probabilities (python-crfsuite)."""
    import pycrfsuite

    loaded = pycrfsuite.Tagger()
    loaded.open(str(model))
    return loaded
