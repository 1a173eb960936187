"""The version of the code that makes a release.

The version is part of a snapshot's id, and of the cache key of each intermediate result. It covers only the files that determine the
bytes of a release. An edit of a command, the setup of servers, a tool or a page does not change any id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import s2corpus

_INCLUDE = Path(__file__).parents[1]
HASHED_PACKAGES = ("s2orc_parse", "pdf2tei", "s2corpus_reader", "s2corpus")
"""the packages with code that determines a release; the queries in `sql/` also determine it"""
EXCLUDED_MODULES = ("drops", "corpora", "datasets.py", "evaluation", "deployment", "commands", "cli.py", "__main__.py")
"""modules that no stage imports: the layers of `s2corpus` after `stages`, and the command lines of all packages"""
_SUFFIXES = frozenset({".py", ".sql", ".csv", ".crfsuite", ".json", ".j2", ".toml", ".txt", ".yaml"})
"""suffixes of the files that determine a release: code, queries, models, tables and templates"""


@cache
def code_version() -> str:
    """Return `<package version>+<12 hex digits>`.

    The digits are the start of a SHA-256 hash over the paths and bytes of all files that determine a release.
    """
    folders = (*(_INCLUDE / name for name in HASHED_PACKAGES), _INCLUDE.parent / "sql")
    return f"{s2corpus.__version__}+{sources_hash(*folders)}"


def sources_hash(*folders: Path) -> str:
    """Return 12 hex digits of a SHA-256 hash over the paths and bytes of the determining files in these folders.

    A missing folder counts as an empty folder.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for path in _list_hashed_files(folder):
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _list_hashed_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_built = parts[0] == "build" or any(part.endswith(".egg-info") for part in parts)  # pip builds in the folder
        if is_built or path.suffix not in _SUFFIXES or parts[0] in (*EXCLUDED_MODULES, "pyproject.toml"):
            continue
        if path.is_file():
            yield path
