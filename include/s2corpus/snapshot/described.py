"""Generate the files that follow from the manifest and the statistics, and compare them with the published files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, datetime
from typing import Any

import orjson

from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.snapshot import plots, report
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.snapshot.manifest import Manifest, SpecRule, describe_rule, hash_inputs
from s2corpus.version import code_version
from s2corpus_reader.files import SnapshotFile


def find_identity_fault(manifest: Mapping[str, Any]) -> str | None:
    """Return a message if the snapshot id does not match the inputs in the manifest, or None."""
    digest = hash_inputs(
        spec=manifest["spec_sha256"],
        as_of=manifest["as_of"],
        parent=manifest["parent"],
        versions=manifest["versions"],
        inputs=manifest["inputs"],
        overrides=manifest.get("overrides", {}),
    )
    release = ReleaseId.from_spec(manifest["spec"], datetime.fromisoformat(manifest["as_of"]))
    expected = SnapshotId.from_digest(release, digest)
    if manifest["snapshot"] == expected:
        return None
    return f"the id is {manifest['snapshot']}; expected {expected} from spec, as_of, versions, inputs, parent and overrides"


def generate_files(manifest: Manifest, stats: Mapping[str, Any], description: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the funnel, the plots and the data card.

    Raises:
        ValueError: a year has no bar in the plot.
    """
    funnel = [(row["stage"], row["outcome"], row["count"]) for row in stats["funnel"]]
    years = sorted((int(year), n) for year, n in stats["years"].items())
    if years and not 0 <= years[0][0] <= years[-1][0] <= MAXYEAR:  # The plot has a bar for each year in between.
        raise ValueError(f"documents have the years {years[0][0]} to {years[-1][0]}; expected 0 to {MAXYEAR}")
    yield "funnel.csv", report.funnel_csv(funnel).encode()
    yield "funnel.svg", plots.bars("Funnel", [(f"{s}: {o}", n) for s, o, n in funnel]).encode()
    yield "years.svg", plots.columns("Documents by year", years).encode()
    yield "README.md", report.data_card(manifest, stats, description).encode()


def regenerate_files(
    manifest: Mapping[str, Any], stats: Mapping[str, Any], description: str
) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the files of `generate_files` for the JSON of a manifest."""
    fields = ("snapshot", "spec", "as_of", "parent", "versions", "inputs")
    card = Manifest(
        **{name: manifest[name] for name in fields},
        rules=[SpecRule(name, value, describe_rule(name)) for name, value in manifest["rules"].items()],
        files=[SnapshotFile(**file) for file in manifest["files"]],
        overrides=manifest.get("overrides", {}),
    )
    yield from generate_files(card, stats, description)


def is_croissant_current(found: Mapping[str, Any], manifest: Mapping[str, Any], stats: Mapping[str, Any]) -> bool:
    """Return whether croissant.json (`found`) lists the same files and licences as manifest and statistics, in any order."""
    files = [SnapshotFile(**file) for file in manifest["files"]]
    expected = describe_snapshot(manifest["snapshot"], found["description"], manifest["as_of"], stats, files)

    def sort_files(value: Mapping[str, Any]) -> bytes:
        distribution = sorted(value["distribution"], key=lambda item: str(item["@id"]))
        return orjson.dumps({**value, "distribution": distribution}, option=orjson.OPT_SORT_KEYS)

    return sort_files(found) == sort_files(expected)


def is_same_code(manifest: Mapping[str, Any]) -> bool:
    """Return whether this version of the code wrote the snapshot, and therefore generates the same files."""
    return bool(manifest["versions"].get("code") == code_version())
