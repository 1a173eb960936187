"""Installs an adapter through an entry point, as its package would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from s2corpus.extractors import registry


@contextmanager
def installed(folder: Path, name: str, module: str) -> Iterator[None]:
    """Register `module` as the extractor `name` for this process and its children."""
    info = folder / f"{name}_adapter-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-adapter\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[s2corpus.extractors]\n{name} = {module}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        registry._plugged_in.cache_clear()
        registry.adapter.cache_clear()
        try:
            yield
        finally:
            registry._plugged_in.cache_clear()
            registry.adapter.cache_clear()
