"""`DatasetSpec`: the one file that says all that makes a dataset, in `include/datasets/` or the folder that `S2CORPUS_DATASETS` names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from s2corpus.errors import UserError
from s2corpus.ids import SPEC_NAME


class DatasetSpec(BaseModel):
    """A dataset of a release's snapshots."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=f"^{SPEC_NAME}$")]
    """its folder below `datasets/` in the lake"""
    dataset: str
    """which dataset: a name in `datasets/registry.py`"""
    description: str = ""
    """what the card begins with; empty: what the dataset says of itself"""
    releases: tuple[Annotated[str, Field(pattern=f"^{SPEC_NAME}$")], ...] = ()
    """release specs of whose snapshots it is made as soon as they are published: a DAG for each"""
    params: dict[str, Any] = {}
    """parameters that differ from the dataset's own"""
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = 16
    """mapped tasks of a step at most"""
    task_mb: Annotated[int, Field(ge=0)] = 64
    """megabytes of the snapshot's files that a mapped task works on at least: a task's start costs seconds; 0: however few"""
    memory_mb: Annotated[int, Field(ge=64)] = 512
    """of sorting and of sampling, in each task"""
    task_hours: Annotated[float, Field(gt=0)] = 24
    """after which a task is stopped"""


def datasets_folder() -> Path:
    """Where the specs are: the folder that `S2CORPUS_DATASETS` names, else `include/datasets`."""
    named = os.environ.get("S2CORPUS_DATASETS")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "datasets"


def load_dataset_spec(path: Path, *, check_params: bool = True) -> DatasetSpec:
    """Read and validate one spec file, its parameters included unless told otherwise (reading DAGs imports no dataset).

    Raises:
        UserError: names the file, each wrong field with its value, and what was expected.
    """
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml"))) or "none"
        raise UserError(f"{path}: no such dataset spec; the ones there are: {known}") from None
    except RecursionError:
        raise UserError(f"{path}: not readable as YAML: lists in lists too deep") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path}: a dataset spec is a mapping of fields, this is {type(raw).__name__}")
    try:
        spec = DatasetSpec.model_validate(raw)
        if check_params:
            from s2corpus.datasets.registry import dataset

            dataset(spec.dataset).params.model_validate(spec.params)
    except ValidationError as error:
        faults = (
            f"{path}: {'.'.join(map(str, f['loc'])) or 'spec'}: {f['input']!r} given; {f['msg']}"
            for f in error.errors(include_url=False)
        )
        raise UserError("; ".join(faults)) from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if spec.name != path.stem:
        raise UserError(f"{path}: name: {spec.name!r} given; a spec is named like its file: {path.stem!r}")
    return spec


def read_dataset_specs(folder: Path, *, check_params: bool = True) -> tuple[list[DatasetSpec], list[str]]:
    """The specs of a folder that are right, by file name, and a sentence for each that is not."""
    specs, wrong = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            specs.append(load_dataset_spec(path, check_params=check_params))
        except UserError as error:
            wrong.append(str(error))
    return specs, wrong
