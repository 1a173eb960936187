"""An edited kernel runs as edited, even if the kernel of another file has inlined it (numba's cache)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import s2corpus
from s2corpus import compiled


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


def test_cache_folder_is_configurable(tmp_path: Path) -> None:
    package(tmp_path)
    cache = tmp_path / "cache"
    code = "from s2corpus.outer import outer; outer(1)"
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    (kernels,) = cache.iterdir()
    assert kernels.name.startswith("kernels-") and list(kernels.rglob("*.nbi"))


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
    for asked, said in (
        ("print(kernels(MAX_PYTHON_COMPARISONS))", "[]\n"),
        (
            "(FOLDER / ALL_COMPILED).touch(); print(kernels(MAX_PYTHON_COMPARISONS)); (FOLDER / ALL_COMPILED).unlink()",
            both,
        ),
        ("print(kernels(MAX_PYTHON_COMPARISONS + 1))", both),
    ):
        command = [sys.executable, "-c", code + asked]
        done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
        assert done.stdout == said, done.stderr


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
