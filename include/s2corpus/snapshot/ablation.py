"""Measure the effect of each rule of a spec with releases of the same inputs (ablation).

A variant is the first spec with one rule of the second. `corpus build --ablate` builds the variants, and `corpus diff` counts how they
differ from the release of the first spec.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow.dataset as ds
from duckdb import DuckDBPyConnection

from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.snapshot.manifest import list_rules
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import MAX_PLAN_BYTES, read_object

Rules = Mapping[str, Any]
_JOINT = (
    ("clean.profile", "clean.unigrams"),
    ("split.kind", "split.train_before", "split.valid_until"),
)
"""rules that have a meaning only together"""
_FIELDS = (
    "title", "authors", "date", "venue", "journal", "abstract", "volume", "issue", "pages", "doi", "arxiv_id", "pubmed_id",
    "pmc_id", "acl_id", "fields_of_study", "open_access",
)  # fmt: skip
"""the voted fields (SPEC §5.1) and open access"""


def list_deviations(ours: Rules, theirs: Rules) -> list[dict[str, Any]]:
    """Return the rules that differ, each with its value in `theirs`; joint rules are one deviation. Rules of `export` form files only."""
    differing = {
        name: theirs[name]
        for name in ours
        if name in theirs and not name.startswith("export.") and ours[name] != theirs[name]
    }
    joint = [{name: differing.pop(name) for name in names if name in differing} for names in _JOINT]
    return [*({name: value} for name, value in differing.items()), *filter(None, joint)]


def make_variants(ours: ReleaseSpec, theirs: ReleaseSpec) -> list[ReleaseSpec]:
    """Return `ours` once for each deviation from `theirs`, with the rules of this deviation.

    Raises:
        UserError: the specs take different drops or sources, or have no different rules.
    """
    if (ours.drops, ours.sources, ours.profile) != (theirs.drops, theirs.sources, theirs.profile):
        raise UserError(
            f"{ours.name} and {theirs.name} differ in drops, sources or profile: expected specs of the same inputs"
        )
    base, variants = list_rules(ours), []
    for deviation in list_deviations(base, list_rules(theirs)):
        values = ours.model_dump()
        for name, value in deviation.items():
            section, _, field = name.partition(".")
            values[section][field] = value
        values |= {
            "name": _name_variant(ours.name, base, deviation),
            "description": f"{ours.name} with {_describe(deviation)}",
        }
        variants.append(ReleaseSpec.model_validate(values))
    if not variants:
        raise UserError(f"{ours.name} and {theirs.name} have the same rules: there is nothing to compare")
    return variants


def _name_variant(spec: str, rules: Rules, deviation: Rules) -> str:
    digest = hashlib.sha256(orjson.dumps([rules, deviation], option=orjson.OPT_SORT_KEYS)).hexdigest()
    return f"{spec[:28]}_with_{digest[:7]}"


def _describe(deviation: Rules) -> str:
    """Return the rules with their values; a rule of several fields without them."""
    return ", ".join(
        f"{name}: {value}" if isinstance(value, str | int | float) else name for name, value in deviation.items()
    )


def format_ablation(old: Lake, new: Lake, scratch: Path) -> Iterator[str]:
    """Yield the lines of a Markdown table: the changes by each rule of snapshot `new` in snapshot `old`, and by all of them.

    Yield nothing if the snapshots have different inputs or the same rules. Rules without a variant in the lake have no figures.
    """
    manifests = [read_object(folder, "manifest.json", MAX_PLAN_BYTES) for folder in (old, new)]
    if any(manifests[0][name] != manifests[1][name] for name in ("inputs", "as_of")):
        return
    rules = manifests[0]["rules"]
    deviations = list_deviations(rules, manifests[1]["rules"])
    if not deviations:
        return
    rows: list[tuple[str, Lake | None]] = [
        (_describe(deviation), _find_variant(old, manifests[0], deviation)) for deviation in deviations
    ]
    yield f"| {manifests[0]['spec']} with | papers | fields | links | words |"
    yield "|---|---|---|---|---|"
    for label, folder in [*rows, (f"all rules of {manifests[1]['spec']}", new)]:
        cells = ("–",) * 4 if folder is None else _count_differences(old, folder, scratch)
        yield f"| {label} | {' | '.join(cells)} |"
    if any(folder is None for _, folder in rows):
        yield ""
        yield f"–: no variant in the lake; corpus build SPEC of {manifests[1]['spec']} --ablate SPEC of {manifests[0]['spec']} builds it"


def _find_variant(old: Lake, manifest: Mapping[str, Any], deviation: Rules) -> Lake | None:
    """Return the variant of a snapshot with the same inputs, from the lake of the snapshot."""
    from s2corpus.storage.lake import open_lake

    lake = open_lake(old.root.rpartition("/snapshots/")[0] or old.root)
    release = SnapshotId(manifest["snapshot"]).release
    variant = _name_variant(manifest["spec"], manifest["rules"], deviation)
    prefix = f"snapshots/{variant}-{release.day}-"
    for key in sorted(entry.key for entry in lake.list(prefix) if entry.key.endswith("/manifest.json")):
        folder = open_lake(lake.uri(key.removesuffix("/manifest.json")), confined=True)
        found = read_object(folder, "manifest.json", MAX_PLAN_BYTES)
        if all(found[name] == manifest[name] for name in ("inputs", "as_of", "versions")):
            return folder
    return None


def _count_differences(old: Lake, new: Lake, scratch: Path) -> tuple[str, str, str, str]:
    """Return the differences in papers, in fields of common papers, in links, and in documents and their words."""
    with duckdb_connection(memory_mb=1024, scratch=scratch) as connection:
        for name, folder in (("old", old), ("new", new)):
            for table in ("tables/papers", "graph/links", "index.parquet"):
                _register(
                    connection, f"{name}_{table.split('/')[-1].removesuffix('.parquet')}", folder, table, scratch / name
                )
        added, lost = _execute(connection, _PAPERS)
        fields = _execute(connection, _FIELD_COUNTS)
        links = _execute(connection, _LINKS)
        more, fewer, changed, words, before = _execute(connection, _DOCUMENTS)
    named = ", ".join(f"{n} {name}" for name, n in zip(_FIELDS, fields, strict=True) if n)
    words_cell = f"{words:+,} of {before:,}".replace("-", "−") + _list_changes(", documents ", (more, fewer, changed))
    return (
        _list_changes("", (added, lost)) or "0",
        named or "0",
        _list_changes("", links) or "0",
        words_cell if words or more or fewer or changed else "0",
    )


def _list_changes(label: str, counts: tuple[int, ...]) -> str:
    signs = ("+", "−", "≠")
    found = " ".join(f"{sign}{n:,}" for sign, n in zip(signs, counts, strict=False) if n)
    return f"{label}{found}" if found else ""


def _register(connection: DuckDBPyConnection, view: str, folder: Lake, table: str, scratch: Path) -> None:
    keys = [table] if table.endswith(".parquet") else [entry.key for entry in folder.list(f"{table}/")]
    paths = []
    for key in keys:
        path = scratch / key
        path.parent.mkdir(parents=True, exist_ok=True)
        folder.download(key, path)
        paths.append(str(path))
    connection.register(view, ds.dataset(paths))


def _execute(connection: DuckDBPyConnection, query: str) -> tuple[int, ...]:
    return tuple(int(n or 0) for n in connection.execute(query).fetchone() or ())


_PAPERS = """
SELECT count(*) FILTER (o.paper_id IS NULL), count(*) FILTER (n.paper_id IS NULL)
FROM (SELECT paper_id FROM old_papers) o FULL JOIN (SELECT paper_id FROM new_papers) n ON o.paper_id = n.paper_id
"""
_FIELD_COUNTS = f"""
SELECT {", ".join(f"count(*) FILTER (o.{name} IS DISTINCT FROM n.{name})" for name in _FIELDS)}
FROM old_papers o JOIN new_papers n USING (paper_id)
"""
_LINKS = """
SELECT count(*) FILTER (o.cited_paper_id IS NULL), count(*) FILTER (n.cited_paper_id IS NULL),
  count(*) FILTER (o.cited_paper_id <> n.cited_paper_id)
FROM (SELECT * FROM old_links WHERE warning IS NULL) o FULL JOIN (SELECT * FROM new_links WHERE warning IS NULL) n
  ON o.paper_id = n.paper_id AND o.parse_kind = n.parse_kind AND o.ref_id = n.ref_id
"""
"""Links with a warning are not citations (SPEC §7.11)."""
_DOCUMENTS = """
SELECT count(*) FILTER (o.id IS NULL), count(*) FILTER (n.id IS NULL), count(*) FILTER (o.text_key <> n.text_key OR o.set <> n.set),
  coalesce(sum(n.words), 0) - coalesce(sum(o.words), 0), coalesce(sum(o.words), 0)
FROM (SELECT id, set, words, text_key FROM old_index) o FULL JOIN (SELECT id, set, words, text_key FROM new_index) n ON o.id = n.id
"""
