"""Spec files: YAML in `include/releases/`, or in the folder that `S2CORPUS_RELEASES` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from s2corpus.errors import UserError, suggest
from s2corpus.own_rules import CLEANING_RULES, FILTERS, load_rule
from s2corpus.spec import ReleaseSpec
from s2corpus_datasets.spec import read_yaml

REMOVED = frozenset((
    "clean.language_characters", "clean.max_abstract_words", "clean.max_top_share", "clean.min_abstract_words", "clean.min_paragraphs",
    "cluster", "export.approval_hours", "link.count_warnings", "quality.drift_block", "quality.drift_warn", "quality.gold_sample",
    "quality.max_dropped", "quality.max_records", "split.min_jaccard", "split.valid_days",
))  # fmt: skip
"""Fields of earlier specs. Their values are constants of the rules now."""
SHIPPED = Path(__file__).resolve().parents[1] / "releases"
"""folder of the specs that this repository contains"""


def releases_folder() -> Path:
    """Return the folder of the specs: `S2CORPUS_RELEASES`, or `include/releases` by default."""
    named = os.environ.get("S2CORPUS_RELEASES")
    return Path(named) if named else SHIPPED


def datasets_folder() -> Path:
    """Return the folder of the specs of datasets: `S2CORPUS_DATASETS`, or `include/datasets` by default."""
    named = os.environ.get("S2CORPUS_DATASETS")
    return Path(named) if named else SHIPPED.with_name("datasets")


def find_spec(corpus: str) -> Path:
    """Return the spec file of a corpus: the file itself, or `<corpus>.yaml` in the folder of the specs."""
    is_file = corpus.endswith((".yaml", ".yml")) or "/" in corpus
    return Path(corpus) if is_file else releases_folder() / f"{corpus}.yaml"


def _read_mapping(path: Path) -> dict[str, Any]:
    """Read the YAML of one spec file.

    Raises:
        UserError: the file is missing, not YAML, or not a mapping.
    """
    try:
        raw = read_yaml(path)
    except FileNotFoundError:
        names = sorted(p.stem for p in path.parent.glob("*.yaml"))
        like = suggest(path.stem, names)
        raise UserError(f"{path}: no such release spec{like}; existing specs: {', '.join(names) or 'none'}") from None
    except RecursionError:
        raise UserError(f"{path}: not readable as YAML: nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:  # ValueError: not UTF-8, or an impossible date
        raise UserError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path}: expected a mapping of fields, found {type(raw).__name__}")
    return raw


def load_spec(path: Path) -> ReleaseSpec:
    """Read and validate one spec file. All rules that it names are installed.

    Raises:
        UserError: names the file, each wrong field with its value, and the allowed values.
    """
    raw = _read_mapping(path)
    try:
        spec = ReleaseSpec.model_validate(raw)
    except ValidationError as error:
        raise UserError("; ".join(_explain(path, error))) from None
    for registry, section in ((FILTERS, "filter"), (CLEANING_RULES, "clean")):
        for rule in getattr(spec, section).rules:
            try:
                load_rule(registry, rule)
            except UserError as error:
                raise UserError(f"{path}: {section}.rules: {error}") from error
    return spec


def read_specs(folder: Path) -> tuple[list[ReleaseSpec], list[str]]:
    """Return the valid specs of a folder by file name, and an error message for each invalid spec.

    A spec has the name of its file, so that names are unique and a DAG can find the spec.
    """
    specs, wrong = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            spec = load_spec(path)
        except UserError as error:
            wrong.append(str(error))
            continue
        if spec.name == path.stem:
            specs.append(spec)
        else:
            wrong.append(f"{path}: name: {spec.name!r} given; expected the name of the file: {path.stem!r}")
    return specs, wrong


def _explain(path: Path, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        where = ".".join(str(step) for step in fault["loc"]) or "spec"
        if fault["type"] == "extra_forbidden" and where in REMOVED:
            yield f"{path}: {where}: {fault['input']!r} given, but its value is fixed (docs/specification.md): remove this field"
        elif fault["type"] == "extra_forbidden":
            allowed = _fields_at(fault["loc"][:-1])
            like = suggest(str(fault["loc"][-1]), allowed)
            yield f"{path}: {where}: unknown field{like} (value {fault['input']!r}); allowed here: {', '.join(allowed)}"
        elif fault["type"] == "missing":
            yield f"{path}: {where}: missing; it is required"
        elif fault["type"] == "value_error":
            yield f"{path}: {where}: {fault['ctx']['error']}"
        elif fault["type"] == "model_type":
            names = ", ".join(_fields_at(fault["loc"]))
            yield f"{path}: {where}: {fault['input']!r} given; expected a mapping with the fields {names}"
        else:
            yield f"{path}: {where}: {fault['input']!r} given; {fault['msg']}"


def _fields_at(steps: tuple[Any, ...]) -> list[str]:
    model: type[BaseModel] = ReleaseSpec
    for step in steps:
        if isinstance(step, int):  # the number of an item of a list, which the step before has named
            continue
        annotation = model.model_fields[step].annotation
        models = [
            one for one in (annotation, *get_args(annotation)) if isinstance(one, type) and issubclass(one, BaseModel)
        ]
        model = models[0] if models else model
    return sorted(model.model_fields)
