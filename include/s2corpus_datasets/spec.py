"""Define `DatasetSpec`: the one file that defines a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from s2orc_parse.errors import UserError
from s2orc_parse.registry import Registry

DATASETS: Registry[Any] = Registry(
    "s2corpus_datasets",
    "dataset",
    ("citeworth", "contexts", "pretraining", "elsevier", "vectors", "figures"),
    "DATASET",
)
"""all kinds of datasets (`job.Dataset`)"""


class DatasetSpec(BaseModel):
    """The specification of a dataset that is built from published snapshots."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_]{0,40}$")]
    """name of the dataset's folder below `datasets/` in the lake"""
    dataset: str
    """kind of dataset: a name in `DATASETS`"""
    description: str = ""
    """introduction of the card; if empty, the description of the kind of dataset"""
    releases: tuple[str, ...] = ()
    """names of release specs; for each of them, a DAG builds the dataset when a snapshot is published"""
    params: dict[str, Any] = {}
    """parameters that differ from the dataset's defaults"""
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = 16
    """maximum number of mapped tasks in a step"""
    task_mb: Annotated[int, Field(ge=0)] = 64
    """minimum megabytes of snapshot files for each mapped task, because starting a task costs seconds; 0: no minimum"""
    memory_mb: Annotated[int, Field(ge=64)] = 512
    """memory limit of each task for sorting and sampling, in MB"""
    task_hours: Annotated[float, Field(gt=0, le=366 * 24)] = 24
    """hours after which a task is stopped"""


class _Loader(yaml.SafeLoader):
    """A loader that refuses a repeated key, whose first value YAML would ignore."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        if repeated := [key for key in keys if keys.count(key) > 1]:
            raise yaml.YAMLError(
                f"the key {repeated[0]!r} is given twice (line {node.start_mark.line + 1}): join the two"
            )
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file in which no key is repeated."""
    return yaml.load(path.read_text("utf-8"), _Loader)


def load_dataset_spec(path: Path, *, check_params: bool = True) -> DatasetSpec:
    """Read and validate one spec file.

    `check_params=False` skips the parameters: DAG parsing then imports no dataset.

    Raises:
        UserError: the file is missing or invalid.
    """
    try:
        spec = DatasetSpec.model_validate(read_yaml(path))
        if check_params:
            DATASETS.load(spec.dataset).params.model_validate(spec.params)
    except ValidationError as error:
        errors = (
            f"{path}: {'.'.join(map(str, e['loc'])) or 'spec'}: got {e['input']!r}; {e['msg']}"
            for e in error.errors(include_url=False)
        )
        raise UserError("; ".join(errors)) from None
    except FileNotFoundError:
        names = ", ".join(sorted(one.stem for one in path.parent.glob("*.yaml"))) or "none"
        raise UserError(f"{path}: no such dataset spec; existing specs: {names}") from None
    except (
        OSError,
        RecursionError,
        ValueError,
        yaml.YAMLError,
    ) as error:  # ValueError: not UTF-8, or an impossible date
        raise UserError(f"{path}: not readable as YAML: {error}") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if spec.name != path.stem:
        raise UserError(f"{path}: name: got {spec.name!r}; expected the name of the file, {path.stem!r}")
    return spec


def read_dataset_specs(folder: Path, *, check_params: bool = True) -> tuple[list[DatasetSpec], list[str]]:
    """Return the valid specs of a folder by file name, and an error message for each invalid spec."""
    specs, errors = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            specs.append(load_dataset_spec(path, check_params=check_params))
        except UserError as error:
            errors.append(str(error))
    return specs, errors
