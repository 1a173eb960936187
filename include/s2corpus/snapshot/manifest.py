"""Build the manifest of a snapshot: its files, rules, versions and inputs."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any

import orjson
from pydantic import BaseModel, Field, ValidationError

from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.rules import IGNORED_BY_RECIPE, Fraction
from s2corpus.spec import ReleaseSpec
from s2corpus.text.near_duplicates import MIN_JACCARD
from s2corpus.text.splits import VALID_DAYS
from s2corpus_reader.files import SNAPSHOT_FORMAT, SnapshotFile

_NOT_RULES = ("schedule", "resources", "quality")


class _FormerRules(BaseModel):
    """Rules of earlier versions that `corpus verify` reads, if a manifest has them."""

    min_jaccard: Fraction = Field(MIN_JACCARD, alias="split.min_jaccard")
    valid_days: int = Field(VALID_DAYS, alias="split.valid_days", ge=1, le=36_500)
    count_warnings: list[str] = Field([], alias="link.count_warnings")


def hash_inputs(
    *, spec: str, as_of: str, parent: str | None, versions: Mapping[str, str], inputs: Any, overrides: Mapping[str, str]
) -> str:
    """Return the SHA-256 of all inputs that determine the bytes of a snapshot (SPEC §0.15).

    Its first 8 hexadecimal digits are the end of the snapshot id. `spec` is the SHA-256 of the spec, `as_of` an ISO time.
    """
    used_versions = {name: versions[name] for name in ("code", "extractor", "converter")}
    determining: dict[str, Any] = {"spec": spec, "as_of": as_of, "inputs": inputs, "parent": parent, **used_versions}
    if overrides:
        determining["overrides"] = dict(overrides)
    return hashlib.sha256(json.dumps(determining, sort_keys=True).encode()).hexdigest()


def find_identity_fault(manifest: Mapping[str, Any]) -> str | None:
    """Return a message if the snapshot id does not match the inputs in the manifest, or None."""
    given = {name: manifest[name] for name in ("as_of", "parent", "versions", "inputs")}
    digest = hash_inputs(spec=manifest["spec_sha256"], overrides=manifest.get("overrides", {}), **given)
    release = ReleaseId.from_spec(manifest["spec"], datetime.fromisoformat(manifest["as_of"]))
    expected = SnapshotId.from_digest(release, digest)
    if manifest["snapshot"] == expected:
        return None
    return f"the id is {manifest['snapshot']}; expected {expected} from spec, as_of, versions, inputs, parent and overrides"


@cache
def read_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the description of each field, inherited fields included. Fields without a docstring are omitted.

    The docstrings below the fields are read on demand. With `use_attribute_docstrings`, pydantic reads them when it creates a model.
    That takes a tenth of the run time of a small task, and a third of the time to parse a DAG file. `Field(description=…)` takes
    precedence. A model without source code, for example from a notebook, has only those descriptions.
    """
    found = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, BaseModel) or base is BaseModel:
            continue
        try:
            source = inspect.getsource(base)
        except (OSError, TypeError):
            continue
        (defined,) = ast.parse(textwrap.dedent(source)).body
        assert isinstance(defined, ast.ClassDef)
        for field, below in pairwise(defined.body):
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, str):
                found[field.target.id] = inspect.cleandoc(text)
    return found | {name: field.description for name, field in model.model_fields.items() if field.description}


def describe_rule(rule: str) -> str:
    """Return the description of a rule `<section>.<field>`, or an empty string if this version has no such rule."""
    model, name = _find_field(rule)
    return read_descriptions(model).get(name, "") if model else ""


def _find_field(rule: str) -> tuple[type[BaseModel] | None, str]:
    """Return the model of a section and the name of its field, or None if this version has no such rule."""
    section, _, name = rule.partition(".")
    model = ReleaseSpec.model_fields[section].annotation if section in ReleaseSpec.model_fields else None
    if isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields:
        return model, name
    return None, name


def find_invalid_rule(rules: Mapping[str, Any]) -> str | None:
    """Return the first validation error in the rules of a manifest, or None. Ignore rules that this version does not have."""
    sections: dict[tuple[str, type[BaseModel]], dict[str, Any]] = {}
    for rule, value in rules.items():
        model, name = _find_field(rule)
        if model:
            sections.setdefault((rule.partition(".")[0], model), {})[name] = value
    for (section, model), values in sections.items():
        try:
            model.model_validate_json(orjson.dumps(values), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, (section, *first["loc"])))
            return f"{name} is {str(first['input'])[:100]}: {first['msg']}"
    try:
        _FormerRules.model_validate(rules, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{first['loc'][0]} is {str(first['input'])[:100]}: {first['msg']}"
    return None


def list_rules(spec: ReleaseSpec) -> dict[str, Any]:
    """Return the values of all rules of a spec that affect the content of a snapshot, in the order of the stages."""
    rules: dict[str, Any] = {}
    for prefix, section in spec:
        if isinstance(section, BaseModel) and prefix not in _NOT_RULES:
            values = section.model_dump(mode="json")
            ignored = IGNORED_BY_RECIPE if values.get("profile") == "recipe-2024" else ()
            names = type(section).model_fields.keys() - ignored
            rules |= {
                f"{prefix}.{name}": value
                for name, value in values.items()
                if name in names and not name.startswith("approval")
            }
    return rules


def build_manifest(
    spec: ReleaseSpec,
    *,
    snapshot: str,
    as_of: str,
    parent: str | None,
    versions: Mapping[str, str],
    inputs: Any,
    overrides: Mapping[str, str],
    file_count: int,
    files: Iterable[SnapshotFile],
) -> dict[str, Any]:
    """Return the content of `manifest.json`.

    `overrides` are the overridden failed checks, with the reasons. `file_count` is the number of files per set and split, which readers
    need even if the spec does not state it.
    """
    return {
        "format": f"s2corpus-snapshot-{SNAPSHOT_FORMAT}",
        "snapshot": snapshot,
        "spec": spec.name,
        "spec_sha256": spec.digest,
        "as_of": as_of,
        "parent": parent,
        "versions": dict(sorted(versions.items())),
        "drops": list(spec.drops),
        "inputs": inputs,
        "rules": list_rules(spec) | {"export.files": file_count},
        **({"overrides": dict(sorted(overrides.items()))} if overrides else {}),
        "files": [file.as_json() for file in sorted(files, key=lambda file: file.path)],
    }
