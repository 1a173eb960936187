"""An edited kernel runs as edited, even if the kernel of another file has inlined it (numba's cache).

Small inputs run without the compiler and give the same result: records are clustered and references linked in both ways.
"""

import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import s2corpus
from devtools.bench import cluster_records as generated
from s2corpus import compiled
from s2corpus.compiled import interpret_if_small
from s2corpus.stages.cluster import cluster_records
from s2corpus.tables.intake import RECORDS
from tests.unit.s2corpus.stages.link.samples import Row, link_all


def test_edit_of_an_inlined_kernel_takes_effect(tmp_path: Path) -> None:
    """Run without Python's own cache (`-B`), which misses an edit of the same second and size."""
    made = tmp_path / "s2corpus"
    made.mkdir()
    (made / "__init__.py").touch()
    shutil.copy(Path(s2corpus.__file__).with_name("compiled.py"), made / "compiled.py")
    head = "from s2corpus.compiled import njit\n"
    kernel = "@njit(cache=True)\ndef {}(x):\n    return {}\n"
    (made / "outer.py").write_text(f"{head}from s2corpus.inner import inner\n{kernel.format('outer', 'inner(x) * 10')}")
    for added, expected in ((1, "20\n"), (2, "30\n")):
        (made / "inner.py").write_text(head + kernel.format("inner", f"x + {added}"))
        command = [sys.executable, "-B", "-c", "from s2corpus.outer import outer; print(outer(1))"]
        done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)
        assert done.stdout == expected


@pytest.mark.compiled
def test_few_rows_give_equal_clusters_and_links_uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(islice(generated.rows(200, Random(0)), 120))
    records = pa.Table.from_pylist(
        [{name: row.get(name) for name in RECORDS.schema.names} for row in rows], RECORDS.schema
    )
    titles = list(dict.fromkeys(str(row["title"]) for row in rows if row["title"]))
    papers = [{"paper_id": title, "title": title, "surname": "poe", "year": 2000} for title in titles[:40]]
    changed = [(title, title[: len(title) * 2 // 3], title[:7] + title[8:])[n % 3] for n, title in enumerate(titles)]

    def clusters_and_links() -> tuple[list[Row], list[Row], list[Row]]:
        found = cluster_records(records)
        entries = [{"title": title, "surname": "poe", "year": 2000} for title in changed]
        return found.clusters.to_pylist(), found.edges.to_pylist(), link_all(entries, papers)

    monkeypatch.setattr(compiled, "FOLDER", tmp_path)  # No kernel is compiled yet, as in a fresh clone.
    with interpret_if_small(1):
        found = clusters_and_links()
    assert found == clusters_and_links() and found[1]
    assert {"exact", "fuzzy", "prefix", "none"} <= {link["reason"] for link in found[2]}
