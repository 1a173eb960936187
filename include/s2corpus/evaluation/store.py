"""Store and read evaluations.

The samples are stored with the release: `sample.json` and `parses.json` in `releases/<release>/_evaluation/`. The result and the card
are stored next to the snapshot, which never changes: `snapshots/<spec>/evaluated/<snapshot>.json` and `….md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import orjson
from pydantic import TypeAdapter

from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.evaluation.results import ItemMarks, Result, as_json, card
from s2corpus.evaluation.sample import Item, ParseItem, sample_parses, sampled
from s2corpus.evaluation.sheet import LineMarks
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.rules import EvaluationRules
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables.texts import LINKS

_T = TypeVar("_T", Item, ParseItem)


def load_items(lake: Lake, release: str, rules: EvaluationRules | None = None) -> list[Item]:
    """Return the stored sample of titles and links. If none exists and `rules` are given, draw and store one.

    Raises:
        UserError: no sample exists and no rules are given, or the release has no committed links.
    """
    return _stored(lake, release, "sample.json", Item, partial(sampled, rules=rules) if rules else None)


def load_parses(lake: Lake, release: str, rules: EvaluationRules | None = None) -> list[ParseItem]:
    """Return the stored sample of parses, like `load_items`."""
    return _stored(lake, release, "parses.json", ParseItem, partial(sample_parses, rules=rules) if rules else None)


def _stored(
    lake: Lake, release: str, name: str, kind: type[_T], draw: Callable[[ReleaseTables], list[_T]] | None
) -> list[_T]:
    key = f"releases/{release}/_evaluation/{name}"
    stored = TypeAdapter(list[kind])  # type: ignore[valid-type]  # a type from a variable
    try:
        return stored.validate_json(lake.get(key)[0])
    except FileNotFoundError:
        if draw is None:
            raise UserError(f"{release} has no sample yet: draw it with `corpus evaluate {release}`") from None
    tables = ReleaseTables(lake, release)
    try:
        tables(LINKS).committed()
    except NotCommitted:
        raise UserError(f"{release} has no links yet: evaluate it when it is built") from None
    items = draw(tables)
    lake.put(key, stored.dump_json(items))
    return items


def list_marks(catalog: Catalog | None, release: str) -> list[ItemMarks]:
    """Return the marks of a release in the catalog."""
    kept = catalog.marks(release) if catalog else ()
    return [ItemMarks(mark.item, mark.marker, mark.title, mark.authors) for mark in kept]


def list_parse_marks(catalog: Catalog | None, release: str) -> dict[str, dict[str, LineMarks]]:
    """Return the marks of a release's parses in the catalog, by item and person."""
    found: dict[str, dict[str, LineMarks]] = {}
    for mark in catalog.parse_marks(release) if catalog else ():
        marks = LineMarks(tuple(mark.wrong), tuple(mark.unsure), mark.missing)
        found.setdefault(mark.item, {})[mark.marker] = marks
    return found


def publish(lake: Lake, snapshot: str, found: Result) -> str:
    """Write the result and the data card next to a snapshot; return the card.

    Raises:
        UserError: there are no items; or some items are not marked, and no citations or bibliographies are.
    """
    if skipped := next((parse.skipped for parse in found.parses if parse.skipped), None):
        raise UserError(f"{skipped} is not marked, but a later one is: mark the papers in their order, a random sample")
    if not found.items:
        raise UserError(f"{snapshot}: the sample is empty: the release has no paper with a PDF and no link")
    if not found.done and not any(parse.marked for parse in found.parses):
        raise UserError(f"{found.items - found.marked} of {found.items} items have no marks yet")
    readme = lake.get(f"snapshots/{snapshot}/README.md")[0].decode()
    full = replace_evaluation(readme, card(found))
    folder = f"snapshots/{SnapshotId(snapshot).spec}/evaluated/{snapshot}"
    for suffix, data in ((".json", orjson.dumps(as_json(found), option=orjson.OPT_INDENT_2)), (".md", full.encode())):
        lake.put(f"{folder}{suffix}", data)
    return full


def read_card(lake: Lake, snapshot: str) -> str:
    """Return a snapshot's data card, with its evaluation if that is published.

    Raises:
        UserError: the snapshot does not exist.
    """
    evaluated = f"snapshots/{SnapshotId(snapshot).spec}/evaluated/{snapshot}.md"
    for key in (evaluated, f"snapshots/{snapshot}/README.md"):
        try:
            return lake.get(key)[0].decode()
        except FileNotFoundError:
            continue
    raise UserError(f"{snapshot}: no such snapshot")


def replace_evaluation(readme: str, section: str) -> str:
    """Return the card with its evaluation section replaced."""
    kept, _, rest = readme.partition("## Evaluation\n")
    later = re.search(r"^## ", rest, re.MULTILINE)
    return f"{kept.rstrip()}\n\n{section.rstrip()}\n" + (f"\n{rest[later.start() :]}" if later else "")


def list_snapshots(lake: Lake, release: str) -> list[str]:
    """Return the complete snapshots of a release."""
    names = sorted(lake.folders("snapshots/"))
    return [name for name in names if name.startswith(f"{release}-") and SnapshotId.is_valid(name)]
