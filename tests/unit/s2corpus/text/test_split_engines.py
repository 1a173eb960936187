"""Candidates of duplicates are equal on DuckDB and on Spark: repeated keys, and texts that share a MinHash key (SPEC §9.6, §9.7)."""

from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import split
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.texts import DOCUMENTS
from s2corpus.text.minhash import MAX_GROUP
from tests.unit.s2corpus.clustering.test_engines import SPARK


@pytest.mark.parametrize("name", ["here", pytest.param("local[2]", marks=SPARK)])
def test_candidates_have_equal_keys(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is compared with only the next texts of a key that many have. Keys are signed."""
    rng = np.random.default_rng(2)
    run = Run(ReleaseSpec(name="split"), datetime(2023, 2, 1, tzinfo=UTC), LocalLake(tmp_path / "lake"), tmp_path)
    rows: list[dict[str, Any]] = []
    for n in range(400):
        row: dict[str, Any] = dict.fromkeys(DOCUMENTS.schema.names) | {
            "set": "s2orc", "paper_id": f"p{n:03d}", "outcome": "short",
        }  # fmt: skip
        if n % 8:  # Only kept documents have keys.
            keys = [int(key) - 2**62 for key in rng.integers(10**4, size=19)]
            row |= {"outcome": "kept", "text_key": (n % 360 - 180) * 2**55, "title_key": [None, n % 150][n % 2]}
            row |= {"minhash": [*keys, 7 if n % 3 else -n]}
        rows.append(row)
    for part in range(3):
        run.table(DOCUMENTS).write(part, rows[part::3])
    run.table(DOCUMENTS).commit(range(3))

    monkeypatch.setenv("ENGINE", name)
    repeated, pairs = split._find_candidates(run)

    kept = [row for row in rows if row["outcome"] == "kept"]
    counts = Counter(row[name] for row in kept for name in ("text_key", "title_key") if row[name] is not None)
    assert repeated == {key for key, n in counts.items() if n > 1}
    expected = set()
    for key in {key for row in kept for key in row["minhash"]}:
        texts = sorted({row["text_key"] for row in kept if key in row["minhash"]})
        expected |= {(a, b) for at, a in enumerate(texts) for b in islice(texts, at + 1, at + 1 + MAX_GROUP)}
    assert [*map(tuple, pairs.tolist())] == sorted(expected)
    of_key = {row["text_key"] for row in kept if 7 in row["minhash"]}
    assert len(of_key) > 2 * MAX_GROUP and len(pairs) < len(of_key) * (MAX_GROUP + 5)
