"""Which code this is: the package's version and a hash of its sources, so that two programs never share a snapshot id."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import s2corpus

_INCLUDE = Path(__file__).parents[1]
_FOLDERS = (
    *(_INCLUDE / name for name in ("s2orc_parse", "pdf2tei", "s2corpus_reader", "s2corpus")),
    _INCLUDE.parent / "sql",
)
_SUFFIXES = frozenset({".py", ".sql", ".csv", ".crfsuite", ".json", ".j2", ".md", ".typ", ".txt", ".yaml"})
"""files that decide what is written: code, queries, models, tables and templates"""


@cache
def code_version() -> str:
    """`<package version>+<12 hex digits of SHA-256>` over every source file of the packages that make a release and of `sql/`, by path."""
    return f"{s2corpus.__version__}+{sources_hash(*_FOLDERS)}"


def sources_hash(*folders: Path) -> str:
    """12 hex digits over the paths and bytes of the source files below these folders; one that is absent has none."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file() and path.parent.suffix != ".egg-info":
                digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]
