"""Build the manifest of a snapshot: its files, rules, versions and inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from s2corpus.rules import IGNORED_BY_RECIPE
from s2corpus.snapshot.meanings import read_descriptions
from s2corpus.spec import ReleaseSpec
from s2corpus_reader.files import SnapshotFile

FORMAT = "s2corpus-snapshot-1"
_NOT_RULES = ("schedule", "resources", "quality")


@dataclass(frozen=True, slots=True)
class SpecRule:
    """A field of the release spec that affects the content of a snapshot."""

    name: str
    value: Any
    meaning: str
    """description of the field, with its source"""


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
    return None


def list_rules(spec: ReleaseSpec) -> list[SpecRule]:
    """Return every rule of a spec with its value and description, in the order of the stages."""
    rules: list[SpecRule] = []
    for prefix, section in spec:
        if isinstance(section, BaseModel) and prefix not in _NOT_RULES:
            values, descriptions = section.model_dump(mode="json"), read_descriptions(type(section))
            ignored = IGNORED_BY_RECIPE if values.get("profile") == "recipe-2024" else ()
            names = (
                name for name in type(section).model_fields if not name.startswith("approval") and name not in ignored
            )
            rules += (SpecRule(f"{prefix}.{name}", values[name], descriptions.get(name, "")) for name in names)
    return rules


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of `manifest.json`."""

    snapshot: str
    spec: str
    as_of: str
    parent: str | None
    versions: Mapping[str, str]
    inputs: Any
    rules: Sequence[SpecRule]
    files: Sequence[SnapshotFile]
    overrides: Mapping[str, str] = field(default_factory=dict)
    """overridden failed checks, with the reason of the override"""
    drops: Sequence[str] = ()
    """drop patterns of the release"""
    spec_sha256: str = ""
    """SHA-256 of the complete spec, an input of the snapshot id"""

    def to_json(self) -> bytes:
        """Return indented canonical JSON, with the files sorted by path."""
        value = {
            "format": FORMAT,
            "snapshot": self.snapshot,
            "spec": self.spec,
            "spec_sha256": self.spec_sha256,
            "as_of": self.as_of,
            "parent": self.parent,
            "versions": dict(sorted(self.versions.items())),
            "drops": list(self.drops),
            "inputs": self.inputs,
            "rules": {rule.name: rule.value for rule in self.rules},
            **({"overrides": dict(sorted(self.overrides.items()))} if self.overrides else {}),
            "files": [file.as_json() for file in sorted(self.files, key=lambda file: file.path)],
        }
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
