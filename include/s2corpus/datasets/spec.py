"""Define `DatasetSpec`: the one file that defines a dataset.

Spec files are in `include/datasets/` or in the folder named by `S2CORPUS_DATASETS`.
"""

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
    """name of the dataset's folder below `datasets/` in the lake"""
    dataset: str
    """kind of dataset: a name in `datasets/registry.py`"""
    description: str = ""
    """first text of the card; if empty, the dataset's own description"""
    releases: tuple[Annotated[str, Field(pattern=f"^{SPEC_NAME}$")], ...] = ()
    """release specs; the dataset is built from each of their snapshots as soon as it is published, with one DAG for each spec"""
    params: dict[str, Any] = {}
    """parameters that differ from the dataset's defaults"""
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = 16
    """maximum number of mapped tasks in a step"""
    task_mb: Annotated[int, Field(ge=0)] = 64
    """minimum megabytes of snapshot files for each mapped task, because starting a task costs seconds; 0: no minimum"""
    memory_mb: Annotated[int, Field(ge=64)] = 512
    """memory limit of each task for sorting and sampling, in MB"""
    task_hours: Annotated[float, Field(gt=0)] = 24
    """hours after which a task is stopped"""


def datasets_folder() -> Path:
    """Return the folder of the specs: `S2CORPUS_DATASETS` if set; otherwise `include/datasets`."""
    named = os.environ.get("S2CORPUS_DATASETS")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "datasets"


def load_dataset_spec(path: Path, *, check_params: bool = True) -> DatasetSpec:
    """Read and validate one spec file.

    `check_params=False` skips the parameters: DAG parsing then imports no dataset.

    Raises:
        UserError: the file is invalid; the message contains the file, each wrong field with its value, and the expected value.
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
        raise UserError(f"{path}: name: {spec.name!r} given; expected the name of the file: {path.stem!r}")
    return spec


def read_dataset_specs(folder: Path, *, check_params: bool = True) -> tuple[list[DatasetSpec], list[str]]:
    """Return the valid specs of a folder by file name, and an error message for each invalid spec."""
    specs, wrong = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            specs.append(load_dataset_spec(path, check_params=check_params))
        except UserError as error:
            wrong.append(str(error))
    return specs, wrong
