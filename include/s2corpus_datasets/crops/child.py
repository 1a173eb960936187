"""Run `s2corpus_datasets.crops` in a sandboxed child process, because PDFs are untrusted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from s2orc_parse import sandbox

_LAUNCH = (
    "import runpy, sys; sys.path += sys.argv[1:]; runpy.run_module('s2corpus_datasets.crops', run_name='__main__')"
)
_MAX_OUTPUT = 64 << 20
"""largest file that the child may write, bytes"""

Caption = tuple[str, str, str, str]
"""key, kind (`figure` or `table`), number, text"""


def crop(
    pdf: bytes, captions: Sequence[Caption], folder: Path, *, limits: dict[str, int], seconds: float, memory_mb: int
) -> list[dict[str, Any]] | None:
    """Return the description of each crop, or None if the child failed or took too long.

    The PNG files are written to `folder`, which must be empty.
    """
    answer = _run(pdf, {"captions": captions, **limits}, folder, seconds, memory_mb)
    if answer is None:
        return None
    try:
        return _check(json.loads(answer), captions, folder)
    except (ValueError, KeyError, TypeError):
        return None


def render_page(
    pdf: bytes, number: int, folder: Path, *, limits: dict[str, int], seconds: float, memory_mb: int
) -> bytes | None:
    """Return a page (from 1) as PNG, or None if it does not exist, or the child failed or took too long."""
    answer = _run(pdf, {"page": number, **limits}, folder, seconds, memory_mb)
    image = folder / "0.png"
    return image.read_bytes() if answer is not None and _is_file(image) else None


def _run(pdf: bytes, order: dict[str, Any], folder: Path, seconds: float, memory_mb: int) -> bytes | None:
    """Return the answer of the child to an order, or None if the child failed or took too long."""
    (folder / "in.pdf").write_bytes(pdf)
    (folder / "order.json").write_text(json.dumps(order), "utf-8")
    folders = sandbox.interpreter_folders()
    limits = {"AS": memory_mb << 20, "CPU": int(seconds) + 1, "FSIZE": _MAX_OUTPUT, "CORE": 0}
    policy = sandbox.Policy(str(folder), read=folders, limits=limits)
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", _LAUNCH, *folders]
    status = sandbox.wait(sandbox.start(command, policy, seconds=seconds), seconds)
    result = folder / "results.json"
    if status != 0 or not _is_file(result):
        return None
    return result.read_bytes()


def _is_file(path: Path) -> bool:
    return not path.is_symlink() and path.is_file() and path.stat().st_size <= _MAX_OUTPUT


def _check(results: Any, captions: Sequence[Caption], folder: Path) -> list[dict[str, Any]]:
    """Return the results of the child if they have the expected form. Raises ValueError otherwise."""
    if [result["key"] for result in results] != [key for key, _, _, _ in captions]:
        raise ValueError("the child answered for other captions")
    for n, result in enumerate(results):
        path = folder / f"{n}.png"
        if result["outcome"] == "cropped" and (result["file"] != path.name or not _is_file(path)):
            raise ValueError("the child wrote no image")
    return list(results)
