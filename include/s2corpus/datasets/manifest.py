"""Encode the manifest of a dataset. This module avoids the slow imports of `description`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from s2corpus.datasets.outputs import LISTED_BYTES, LISTED_FILES

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.protocol import StepResult

FORMAT = "s2corpus-dataset-1"


def encode_manifest(job: Job, result: StepResult) -> bytes:
    """Return `manifest.json`: the inputs of the dataset and all files with checksums, except files that another file lists."""
    value = {
        "format": FORMAT,
        "name": job.spec.name,
        "dataset": job.spec.dataset,
        "version": job.dataset.version,
        "snapshot": job.source.id,
        "as_of": job.source.as_of,
        "snapshot_files": {str(shard): job.source.content_digest(shard) for shard in range(job.source.shards)},
        "rules_digest": job.rules,
        "rules": job.params.model_dump(mode="json"),
        LISTED_FILES: result.tally[LISTED_FILES],
        LISTED_BYTES: result.tally[LISTED_BYTES],
        "files": [file.as_json() for file in sorted(result.files, key=lambda file: file.path)],
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
