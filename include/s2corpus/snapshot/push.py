"""A published snapshot, uploaded to another place: an S3 bucket, a folder, or a data set of the Hugging Face Hub.

A push that was stopped goes on where it was: what lies there as it was sent is not sent again. The manifest comes last, so that
nobody takes half a snapshot for a whole one.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import copy_file, read_bytes
from s2corpus_reader.files import File, list_files

MANIFEST = "manifest.json"
_SENT = "_PUSHED.json"
"""What was sent so far, with the etags that the files got; removed at the end."""
_NOTE_EVERY = 20
"""Files after which what was sent is noted."""
_COMMIT_FILES = 100
"""Files of one commit to the Hub, which recommends at most some hundred."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of a push."""

    sent: int
    kept: int
    """there already, from an earlier try"""


def to_lake(snapshot: Lake, target: Lake, progress: Progress = lambda path: None) -> Pushed:
    """Copy a snapshot into a folder of a bucket or a disk; every file's SHA-256 is compared with the manifest before it is sent.

    Raises:
        UserError: another snapshot or other files lie there, or a file is not the manifest's.
    """
    manifest, files = _files(snapshot)
    there, noted = _get(target, MANIFEST), _get(target, _SENT)
    if there is not None and there != manifest:
        raise UserError(f"{target.root}: another snapshot lies here: give a folder of its own")
    if there is None and noted is None:
        if (other := next(target.list(""), None)) is not None:
            raise UserError(f"{target.root}: other files lie here ({other.key}): give a folder of its own")
        target.put(_SENT, b"{}")
    sent: dict[str, str] = orjson.loads(noted or b"{}")
    todo = [file for file in files if there is None and sent.get(file.path) != target.etag(file.path)]
    with tempfile.TemporaryDirectory(prefix="s2corpus-push-") as scratch:
        for number, file in enumerate(todo, 1):
            progress(file.path)
            target.upload(file.path, _fetched(snapshot, file, Path(scratch)))
            sent[file.path] = target.etag(file.path)
            if number % _NOTE_EVERY == 0:
                target.put(_SENT, orjson.dumps(sent))
    if there is None:
        target.put(MANIFEST, manifest)
    target.delete(_SENT)
    return Pushed(len(todo), len(files) - len(todo))


def to_hub(snapshot: Lake, repository: str, progress: Progress = lambda path: None) -> Pushed:
    """Upload a snapshot as the data set `owner/name` of the Hub that `HF_ENDPOINT` names, with the token of the environment.

    Raises:
        UserError: no rights on it, or another snapshot lies there.
        TransientError: the Hub does not answer.
    """
    import httpx
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    manifest, files = _files(snapshot)
    own = File(MANIFEST, len(manifest), hashlib.sha256(manifest).hexdigest())
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    name = orjson.loads(manifest)["snapshot"]
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        there = dict(_on_hub(api, repository))
        if MANIFEST in there and there[MANIFEST] not in (own.sha256, _git_id(manifest)):
            raise UserError(f"{repository}: another snapshot lies there: give each a data set of its own")
        with tempfile.TemporaryDirectory(prefix="s2corpus-push-") as scratch:
            todo = [file for file in files if not _same(there.get(file.path), file, snapshot)]
            groups = [todo[i : i + _COMMIT_FILES] for i in range(0, len(todo), _COMMIT_FILES)]
            for group in [*groups, *([] if MANIFEST in there else [[own]])]:
                operations = []
                for file in group:
                    progress(file.path)
                    local = _fetched(snapshot, file, Path(scratch) / "files")
                    operations.append(CommitOperationAdd(file.path, local))
                message = f"{name}: {group[0].path}" + (f" and {len(group) - 1} more" if len(group) > 1 else "")
                api.create_commit(repository, operations, commit_message=message, repo_type="dataset")
                _clear(Path(scratch) / "files")
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status in (401, 403, 404):
            raise UserError(
                f"{repository}: the Hub refuses ({status}): set HF_TOKEN to a token that may write"
            ) from None
        raise TransientError(f"{repository}: the Hub fails ({error}): push again, it goes on where it was") from None
    except httpx.HTTPError as error:
        raise TransientError(f"{repository}: the Hub does not answer ({error}): push again") from None
    return Pushed(len(todo), len(files) - len(todo))


def _files(snapshot: Lake) -> tuple[bytes, Sequence[File]]:
    """Return the manifest and the files that it lists.

    Raises:
        UserError: one of them could be written elsewhere than below the target.
    """
    try:
        manifest = read_bytes(snapshot, MANIFEST)
        return manifest, list(list_files(orjson.loads(manifest)).values())
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{snapshot.uri(MANIFEST)} is damaged ({error}): corpus verify shows where") from None


def _get(lake: Lake, key: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return lake.get(key)[0]
    return None


def _fetched(snapshot: Lake, file: File, folder: Path) -> Path:
    """A file of the snapshot on this machine, as the manifest has it."""
    local = folder / file.path
    local.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy_file(snapshot, file.path, local, file.bytes)
    except ValueError as error:
        raise UserError(f"{snapshot.uri(file.path)} is not the manifest's: {error}: corpus verify") from None
    with local.open("rb") as stream:
        if (found := hashlib.file_digest(stream, "sha256").hexdigest()) != file.sha256:
            raise UserError(
                f"{snapshot.uri(file.path)}: its SHA-256 is {found}, the manifest has {file.sha256}: corpus verify"
            )
    return local


def _clear(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()


def _on_hub(api: Any, repository: str) -> Iterator[tuple[str, str]]:
    """(path, SHA-256 or, of small files, git's id) of what the data set has."""
    for entry in api.list_repo_tree(repository, repo_type="dataset", recursive=True):
        if (blob := getattr(entry, "blob_id", None)) is not None:
            yield entry.path, entry.lfs.sha256 if entry.lfs else blob


def _same(there: str | None, file: File, snapshot: Lake) -> bool:
    """Whether what the Hub has is the file; of what it does not keep by SHA-256, by git's id."""
    return there == file.sha256 or (
        there is not None and len(there) == 40 and there == _git_id(snapshot.get(file.path)[0])
    )


def _git_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
