"""Upload a snapshot to an S3 bucket, a folder, or a data set on the Hugging Face Hub.

An interrupted push resumes: files that were already sent unchanged are skipped. The manifest is uploaded last, so that an
incomplete copy is never mistaken for a complete snapshot.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import Lake
from s2corpus_reader.deltas import read_manifest
from s2corpus_reader.files import SnapshotFile
from s2corpus_reader.following import fetch_file

MANIFEST = "manifest.json"
_PROGRESS_FILE = "_PUSHED.json"
"""The SHA-256 of the manifest, and the files sent so far with their ETags in the target; deleted at the end."""
_SAVE_EVERY = 20
"""Number of files between two updates of the progress file."""
_COMMIT_FILES = 100
"""Files per commit to the Hub, which recommends about one hundred at most."""
Progress = Callable[[str], None]


class PushResult(NamedTuple):
    """The number of files that a push sent and skipped. Skipped files were in the target from an earlier attempt."""

    sent: int
    skipped: int


def push_to_lake(snapshot: Lake, target: Lake, progress: Progress = lambda path: None) -> PushResult:
    """Copy a snapshot to a folder in a bucket or on disk. Compare each SHA-256 with the manifest before the upload.

    Raises:
        UserError: the target contains another snapshot or other files.
        SnapshotError: the manifest is damaged, or a file differs from it.
    """
    if f"{target.root}/".startswith(f"{snapshot.root}/"):
        raise UserError(f"{target.root} is the snapshot or a part of it: use a separate folder")
    manifest, listed = read_manifest(snapshot)
    files, sha256 = listed.values(), hashlib.sha256(manifest).hexdigest()
    existing, saved = _get(target, MANIFEST), orjson.loads(_get(target, _PROGRESS_FILE) or b"{}")
    if (existing or manifest) != manifest or (saved and saved.get("manifest_sha256") != sha256):
        raise UserError(f"{target.root} contains another snapshot, or a part of one: use a separate folder")
    sent: dict[str, str] = saved.get("sent", {})
    if existing is not None:  # Files of a complete copy may have been lost.
        sizes = {entry.key: entry.bytes for entry in target.list("")}
        pending = [file for file in files if sizes.get(file.path) != file.bytes]
    else:
        if not saved and (other := next(target.list(""), None)) is not None:
            raise UserError(f"{target.root} contains other files ({other.key}): use a separate folder")
        target.put(_PROGRESS_FILE, orjson.dumps({"manifest_sha256": sha256, "sent": sent}))
        pending = [file for file in files if sent.get(file.path) != target.etag(file.path)]
    with tempfile.TemporaryDirectory(prefix="s2corpus-push-") as scratch:
        for number, file in enumerate(pending, 1):
            progress(file.path)
            fetch_file(snapshot, file, Path(scratch) / "file")
            target.upload(file.path, Path(scratch) / "file")
            sent[file.path] = target.etag(file.path)
            if number % _SAVE_EVERY == 0:
                target.put(_PROGRESS_FILE, orjson.dumps({"manifest_sha256": sha256, "sent": sent}))
    if existing is None:
        target.put(MANIFEST, manifest)
    target.delete(_PROGRESS_FILE)
    return PushResult(len(pending), len(files) - len(pending))


def push_to_hub(snapshot: Lake, repository: str, progress: Progress = lambda path: None) -> PushResult:
    """Upload a snapshot to the data set `owner/name` on the Hugging Face Hub.

    `HF_ENDPOINT` sets the address of the Hub, and `HF_TOKEN` the token.

    Raises:
        UserError: the token has no write access, or the data set contains another snapshot.
        TransientError: the Hub does not respond.
    """
    import httpx
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    manifest, listed = read_manifest(snapshot)
    files = listed.values()
    manifest_file = SnapshotFile(MANIFEST, len(manifest), hashlib.sha256(manifest).hexdigest())
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    name = orjson.loads(manifest)["snapshot"]
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        existing = dict(_list_hub_files(api, repository))
        if MANIFEST in existing and existing[MANIFEST] not in (manifest_file.sha256, _hash_git_blob(manifest)):
            raise UserError(f"{repository} contains another snapshot: use a separate data set")
        with tempfile.TemporaryDirectory(prefix="s2corpus-push-") as scratch:
            pending = [file for file in files if not _is_same(existing.get(file.path), file, snapshot)]
            groups = [pending[i : i + _COMMIT_FILES] for i in range(0, len(pending), _COMMIT_FILES)]
            for group in [*groups, *([] if MANIFEST in existing else [[manifest_file]])]:
                operations = []
                for file in group:
                    progress(file.path)
                    local = Path(scratch) / "files" / file.path
                    fetch_file(snapshot, file, local)
                    operations.append(CommitOperationAdd(file.path, local))
                message = f"{name}: {group[0].path}" + (f" and {len(group) - 1} more" if len(group) > 1 else "")
                api.create_commit(repository, operations, commit_message=message, repo_type="dataset")
                shutil.rmtree(Path(scratch) / "files")
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status in (401, 403, 404):
            raise UserError(
                f"{repository}: the Hub denied access ({status}): set HF_TOKEN to a token with write access"
            ) from None
        raise TransientError(f"{repository}: the Hub failed ({error}): push again to resume") from None
    except httpx.HTTPError as error:
        raise TransientError(f"{repository}: the Hub does not respond ({error}): push again to resume") from None
    return PushResult(len(pending), len(files) - len(pending))


def _get(lake: Lake, key: str) -> bytes | None:
    """Return the content of an object; return None if the object is missing."""
    with suppress(FileNotFoundError):
        return lake.get(key)[0]
    return None


def _list_hub_files(api: Any, repository: str) -> Iterator[tuple[str, str]]:
    """Yield (path, hash) of the files in the data set. The hash is the SHA-256, or for small files the Git blob id."""
    for entry in api.list_repo_tree(repository, repo_type="dataset", recursive=True):
        if (blob := getattr(entry, "blob_id", None)) is not None:
            yield entry.path, entry.lfs.sha256 if entry.lfs else blob


def _is_same(hub_hash: str | None, file: SnapshotFile, snapshot: Lake) -> bool:
    """Return whether the hash of a Hub file (SHA-256 or Git blob id) matches the file of the snapshot."""
    return hub_hash == file.sha256 or (
        hub_hash is not None and len(hub_hash) == 40 and hub_hash == _hash_git_blob(snapshot.get(file.path)[0])
    )


def _hash_git_blob(content: bytes) -> str:
    """Return the Git blob id of some content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
