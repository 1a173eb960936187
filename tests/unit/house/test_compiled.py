"""An edited kernel runs as edited, even if the kernel of another file has inlined it (numba's cache).

Small inputs run without the compiler and give the same result: records are clustered and references linked in both ways.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
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


def package(folder: Path) -> Path:
    """Copy the package's compiled module and add two kernels: `outer` inlines `inner` from another file."""
    made = folder / "s2corpus"
    made.mkdir()
    shutil.copy(Path(s2corpus.__file__).with_name("compiled.py"), made / "compiled.py")
    (made / "__init__.py").write_text("")
    (made / "inner.py").write_text(
        "from s2corpus.compiled import njit\n\n\n@njit(cache=True)\ndef inner(x):\n    return x + 1\n"
    )
    (made / "outer.py").write_text(
        "from s2corpus.compiled import njit\nfrom s2corpus.inner import inner\n\n\n"
        "@njit(cache=True)\ndef outer(x):\n    return inner(x) * 10\n"
    )
    return made


def outer(folder: Path) -> int:
    """Return the result of `outer` in a process without Python's own cache (`-B`).

    That cache misses an edit of the same second and size.
    """
    code = "from s2corpus.outer import outer; print(outer(1))"
    command = [sys.executable, "-B", "-c", code]
    done = subprocess.run(command, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_edit_of_an_inlined_kernel_takes_effect(tmp_path: Path) -> None:
    made = package(tmp_path)
    assert outer(tmp_path) == 20
    inner = made / "inner.py"
    inner.write_text(inner.read_text().replace("x + 1", "x + 2"))
    assert outer(tmp_path) == 30, "the caller ran with the kernel it had inlined before the edit"


def test_few_rows_run_uncompiled_until_kernels_are_compiled(tmp_path: Path) -> None:
    package(tmp_path)
    code = """
from s2corpus.compiled import MAX_PYTHON_COMPARISONS, FOLDER, ALL_COMPILED, interpret_if_small
from s2corpus.outer import outer
def kernels(rows):
    with interpret_if_small(rows):
        assert outer(1) == 20
    return sorted(path.name.partition("-")[0] for path in FOLDER.rglob("*.nbi"))
"""
    both = "['inner.inner', 'outer.outer']\n"
    few = "print(kernels(MAX_PYTHON_COMPARISONS))"
    cache = tmp_path / "cache"
    for asked, expected in (
        (few, "[]\n"),
        (f"(FOLDER / ALL_COMPILED).touch(); {few}; (FOLDER / ALL_COMPILED).unlink()", both),
        ("print(kernels(MAX_PYTHON_COMPARISONS + 1))", both),
    ):
        environ = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}
        done = subprocess.run(
            [sys.executable, "-c", code + asked], env=environ, capture_output=True, text=True, check=False
        )
        assert done.stdout == expected, done.stderr
    (kernels,) = cache.iterdir()
    assert kernels.name.startswith("kernels-") and list(kernels.rglob("*.nbi")), (
        "the folder of the cache is configurable"
    )


def test_only_module_compiled_compiles_kernels() -> None:
    folder = Path(s2corpus.__file__).parent
    offenders = [
        path.relative_to(folder)
        for path in folder.rglob("*.py")
        if path.name != "compiled.py" and "from numba import" in path.read_text("utf-8")
    ]
    assert not offenders


def test_process_without_home_caches_kernels_in_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a process without a home folder, such as an extractor's worker in its sandbox.

    The package belongs to another user, and the password database is unreadable.
    """
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert compiled._choose_cache_folder() == Path(tempfile.gettempdir())


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without compiled kernels, as in a fresh clone."""
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)


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
@pytest.mark.usefixtures("nothing_compiled")
def test_few_rows_give_equal_clusters_and_links_uncompiled() -> None:
    with interpret_if_small(300):
        clusters, links = clusters_and_links()
    compiled_clusters, compiled_links = clusters_and_links()
    assert clusters.clusters.equals(compiled_clusters.clusters) and clusters.edges.equals(compiled_clusters.edges)
    assert len(clusters.edges) > 20
    assert links.rows.equals(compiled_links.rows)
    assert {"exact", "fuzzy", "prefix", "none"} <= set(links.rows["reason"].to_pylist())


@pytest.mark.long
def test_first_demo_compiles_all_kernels_in_the_background(tmp_path: Path) -> None:
    def kernels_after(code: str) -> list[str]:
        environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", f"from devtools.local import kernels; {code}"], env=environ, check=True)
        return sorted(path.name for path in tmp_path.rglob("*.nbc"))

    few = kernels_after("kernels.compile_few()")
    assert few and kernels_after("kernels.make_release()") == few
