"""An edited kernel runs as edited, even if the kernel of another file has inlined it (numba's cache).

Small inputs run without the compiler and give the same result: records are clustered and references linked in both ways.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import s2corpus
from devtools.bench import cluster_records
from devtools.bench.link_tables import link_tables
from s2corpus import compiled
from s2corpus.compiled import interpret_if_small
from s2corpus.stages.cluster import Clustering
from s2corpus.stages.cluster import cluster_records as cluster
from s2corpus.tables.intake import RECORDS
from s2corpus.titles.linking import Links
from tests.unit.s2corpus.stages.link.samples import ENTRIES, PAPERS


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


def test_only_module_compiled_compiles_kernels() -> None:
    folder = Path(s2corpus.__file__).parent
    offenders = [
        path.relative_to(folder)
        for path in folder.rglob("*.py")
        if path.name != "compiled.py" and "from numba import" in path.read_text("utf-8")
    ]
    assert not offenders


def clusters_and_links() -> tuple[Clustering, Links]:
    """Cluster three hundred records; link two hundred of their titles, some cut and some without a letter, to a hundred papers."""
    rows = list(islice(cluster_records.rows(400, Random(0)), 300))
    records = [{name: row.get(name) for name in RECORDS.schema.names} for row in rows]
    told = [
        {"title": t, "year": 2000, "surname": "poe"}
        for t in dict.fromkeys(row["title"] for row in rows if row["title"])
    ]
    papers = [{"paper_id": str(number), **paper} for number, paper in enumerate(told[:100])]
    cut = (lambda t: t, lambda t: t[: len(t) * 2 // 3], lambda t: t[:7] + t[8:])
    entries = [{**entry, "title": cut[n % 3](str(entry["title"]))} for n, entry in enumerate(told[:200])]
    links = link_tables(pa.Table.from_pylist(entries, schema=ENTRIES), pa.Table.from_pylist(papers, schema=PAPERS))
    return cluster(pa.Table.from_pylist(records, RECORDS.schema)), links


@pytest.mark.compiled
def test_few_rows_give_equal_clusters_and_links_uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)  # No kernel is compiled yet, as in a fresh clone.
    with interpret_if_small(300):
        clusters, links = clusters_and_links()
    compiled_clusters, compiled_links = clusters_and_links()
    assert clusters.clusters.equals(compiled_clusters.clusters) and clusters.edges.equals(compiled_clusters.edges)
    assert len(clusters.edges) > 20
    assert links.rows.equals(compiled_links.rows)
    assert {"exact", "fuzzy", "prefix", "none"} <= set(links.rows["reason"].to_pylist())
