"""Small inputs run without the compiler and give the same result: real records are clustered and real references are
linked in both ways.
"""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from devtools.bench.link_tables import link_tables
from s2corpus import compiled
from s2corpus.compiled import interpret_if_small
from s2corpus.stages.cluster.local import Clustering
from s2corpus.titles.linking import Links
from tests.unit.cluster.samples import clustered, record
from tests.unit.link.samples import ENTRIES, PAPERS


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without compiled kernels, as in a fresh clone."""
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)


def records_of_a_review(shared_data: Path) -> Clustering:
    """Cluster three hundred records of a systematic review, with their duplicates."""
    with (shared_data / "er/dedupe/haematology/records_pre_merged.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[:300]
    return clustered(
        *(
            record(
                f"review:{row['ID']}", row["title"] or None, " and ".join(row["author"].split(" and ")),
                int(row["year"]) if row["year"] else None, journal=row["journal"] or None, volume=row["volume"] or None,
                pages=row["pages"] or None,
            )
            for row in rows
        )
    )  # fmt: skip


def references(shared_data: Path) -> Links:
    """Link two hundred references to a hundred papers; some references have a cut title, and some lack a letter."""
    with gzip.open(shared_data / "citations/crossref-styles.tsv.gz", "rt") as file:
        read = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = list({row["title"]: row for row in read if row["year"]}.values())
    said = [{"title": r["title"], "year": int(r["year"]), "surname": r["first_author"].lower()} for r in rows[:200]]
    papers = [{"paper_id": str(number), **paper} for number, paper in enumerate(said[:100])]
    cut = (lambda t: t, lambda t: t[: len(t) * 2 // 3], lambda t: t[:7] + t[8:])
    entries = [{**entry, "title": cut[n % 3](str(entry["title"]))} for n, entry in enumerate(said)]
    return link_tables(pa.Table.from_pylist(entries, schema=ENTRIES), pa.Table.from_pylist(papers, schema=PAPERS))


@pytest.mark.usefixtures("nothing_compiled")
def test_few_records_give_equal_clusters_uncompiled(shared_data: Path) -> None:
    with interpret_if_small(300):
        soon = records_of_a_review(shared_data)
    compiled_ones = records_of_a_review(shared_data)
    assert soon.clusters.equals(compiled_ones.clusters) and soon.edges.equals(compiled_ones.edges)
    assert len(soon.edges) > 20


@pytest.mark.usefixtures("nothing_compiled")
def test_few_references_give_equal_links_uncompiled(shared_data: Path) -> None:
    with interpret_if_small(300):
        soon = references(shared_data)
    assert soon.rows.equals(references(shared_data).rows)
    assert {"exact", "fuzzy", "prefix", "none"} <= set(soon.rows["reason"].to_pylist())


@pytest.mark.long
def test_first_demo_compiles_all_kernels_in_the_background(tmp_path: Path) -> None:
    def kernels_after(code: str) -> list[str]:
        environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", f"from devtools.local import kernels; {code}"], env=environ, check=True)
        return sorted(path.name for path in tmp_path.rglob("*.nbc"))

    few = kernels_after("kernels.compile_few()")
    assert few and kernels_after("kernels.make_release()") == few
