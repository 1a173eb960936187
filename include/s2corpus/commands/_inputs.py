"""The files that `corpus convert` reads: their order, formats and ids."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from s2corpus.errors import UserError
from s2orc_parse.cli import LATEX_SUFFIX
from s2orc_parse.files import SUFFIX
from s2orc_parse.outputs import printable

_PDF_SUFFIX = re.compile(r"\.pdf$", re.IGNORECASE)
_SUFFIXES = (_PDF_SUFFIX, LATEX_SUFFIX, SUFFIX)
EXPECTED = "PDF, TEI, JATS, Elsevier JSON or LaTeX sources (.pdf, .xml, .nxml, .tei, .json, .gz, .tgz, .tar, .tex)"


@dataclass(frozen=True, slots=True)
class Input:
    """A file to convert."""

    path: Path
    paper_id: str
    sha1: str = ""
    """SHA-1 of a PDF; empty for other files"""
    is_latex: bool = False


def list_files(inputs: Sequence[Path], tei: Path) -> tuple[list[Path], Counter[str]]:
    """Return the files, and the number of ignored files in folders by suffix. The folder `tei` is not an input.

    Raises:
        UserError: a path does not exist, contains no full text, or is in the folder `tei`.
    """
    files: dict[Path, Path] = {}
    ignored: Counter[str] = Counter()
    for path in inputs:
        if not path.exists():
            raise UserError(f"{printable(path)} does not exist: give {EXPECTED}, or folders")
        if path.resolve().is_relative_to(tei.resolve()):
            raise UserError(f"{printable(path)} is in the folder of the TEI, {printable(tei)}: name another with --tei")
        found = [path]
        if path.is_dir():
            below = [p for p in sorted(path.rglob("*")) if not p.is_dir() and tei not in p.parents]
            found = [p for p in below if not p.name.startswith(".") and any(s.search(p.name) for s in _SUFFIXES)]
            ignored.update(p.suffix.lower() or p.name for p in below if p not in set(found))
            if not found:
                raise UserError(f"{printable(path)} contains no full text: expected {EXPECTED}")
        files |= {p.parent.resolve() / p.name: p for p in found}
    return list(files.values()), ignored


def assign_ids(files: Sequence[Path]) -> list[str]:
    """Return a unique id for each file: its name without suffix, or else with suffix, or else its path below the common folder."""
    paths = [path.parent.resolve() / path.name for path in files]
    common = os.path.commonpath([path.parent for path in paths])
    forms = [
        [printable(form) for form in (_remove_suffix(path.name), path.name, path.relative_to(common))] for path in paths
    ]
    used, before = [0] * len(files), [-1]
    while used != before:
        ids = [form[n] for form, n in zip(forms, used, strict=True)]
        counts = Counter(ids)
        used, before = [min(n + (counts[id_] > 1), 2) for n, id_ in zip(used, ids, strict=True)], used
    return ids


def _remove_suffix(name: str) -> str:
    return next((short for suffix in _SUFFIXES if (short := suffix.sub("", name)) != name), name)


def read_kind(path: Path, paper_id: str) -> Input:
    """Return the input with its kind, detected from its first bytes, then from its suffix; only regular files are read."""
    head, sha1 = b"", ""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(512)
                if head.lstrip().startswith(b"%PDF-") or _PDF_SUFFIX.search(path.name):
                    file.seek(0)
                    sha1 = hashlib.file_digest(file, "sha1").hexdigest()
    is_packed = head.startswith(b"\x1f\x8b") or head[257:262] == b"ustar"
    return Input(path, paper_id, sha1, not sha1 and bool(is_packed or LATEX_SUFFIX.search(path.name)))
