"""Write drops and deliveries as intake reads them: files first, `_READY` last (SPEC §0.1, §0.2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_ready(folder: Path, files: Mapping[str, bytes], ready_at: str, mode: str | None = None) -> None:
    """Write files; then write `_READY` with the sizes and SHA-256 of all files in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(files.items()):
        (folder / name).write_bytes(content)
    listed = []
    for path in sorted(path for path in folder.iterdir() if path.name != "_READY"):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        listed.append({"name": path.name, "bytes": path.stat().st_size, "sha256": digest})
    ready = {"ready_at": ready_at, "files": listed} | ({"mode": mode} if mode else {})
    (folder / "_READY").write_text(json.dumps(ready, indent=1) + "\n", encoding="utf-8")


def jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows).encode()
