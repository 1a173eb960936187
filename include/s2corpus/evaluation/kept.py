"""Where an evaluation lies: the sample with the release, its result and card beside the snapshot, which never changes.

`releases/<release>/_evaluation/sample.json`; `snapshots/<spec>/evaluated/<snapshot>.json` and `….md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.evaluation.results import Mark, Result, as_json, card, result
from s2corpus.evaluation.sample import Item, sampled
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.release_tables import Tables
from s2corpus.rules.evaluation import Evaluation
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables import LINKS


def sample_of(lake: Lake, release: str, rules: Evaluation | None = None) -> list[Item]:
    """The sample of a release: the one that was drawn; with `rules`, drawn now where there is none.

    Raises:
        UserError: none was drawn; or the release is not built as far as its links.
    """
    key = f"releases/{release}/_evaluation/sample.json"
    try:
        return [Item.of_json(value) for value in orjson.loads(lake.get(key)[0])]
    except FileNotFoundError:
        if rules is None:
            raise UserError(f"{release} has no sample yet: draw it with `corpus evaluate {release}`") from None
    tables = Tables(lake, release)
    try:
        tables(LINKS).committed()
    except NotCommitted:
        raise UserError(f"{release} has no links yet: evaluate it when it is built") from None
    items = sampled(tables, rules)
    lake.put(key, orjson.dumps([item.as_json() for item in items]))
    return items


def result_of(lake: Lake, catalog: Catalog | None, release: str) -> Result | None:
    """What people's marks of a release say so far; None where no sample was drawn."""
    try:
        items = sample_of(lake, release)
    except UserError:
        return None
    return result(items, marks_of(catalog, release))


def marks_of(catalog: Catalog | None, release: str) -> list[Mark]:
    """The marks that the catalog has of a release."""
    kept = catalog.marks(release) if catalog else ()
    return [Mark(mark.item, mark.marker, mark.title, mark.authors) for mark in kept]


def publish(lake: Lake, snapshot: str, found: Result) -> str:
    """Write the result, and the data card with it, beside a snapshot; the card.

    Raises:
        UserError: there is nothing to judge, or not every item is marked.
    """
    if not found.items:
        raise UserError(f"{snapshot}: no paper with a PDF, and no link, to judge: there is nothing to publish")
    if not found.done:
        raise UserError(f"{found.items - found.marked} of {found.items} items are not marked by anybody yet")
    readme = lake.get(f"snapshots/{snapshot}/README.md")[0].decode()
    full = with_evaluation(readme, card(found))
    folder = f"snapshots/{SnapshotId(snapshot).spec}/evaluated/{snapshot}"
    for suffix, data in ((".json", orjson.dumps(as_json(found), option=orjson.OPT_INDENT_2)), (".md", full.encode())):
        key = f"{folder}{suffix}"
        lake.put(key, data, expect=lake.etag(key))
    return full


def card_of(lake: Lake, snapshot: str) -> str:
    """A snapshot's data card, with its evaluation where that is published."""
    folder = f"snapshots/{SnapshotId(snapshot).spec}/evaluated/{snapshot}.md"
    for key in (folder, f"snapshots/{snapshot}/README.md"):
        try:
            return lake.get(key)[0].decode()
        except FileNotFoundError:
            continue
    raise UserError(f"{snapshot}: there is no such snapshot")


def with_evaluation(readme: str, section: str) -> str:
    """A card with its section on the evaluation replaced."""
    kept, _, rest = readme.partition("## Evaluation\n")
    later = re.search(r"^## ", rest, re.MULTILINE)
    return f"{kept.rstrip()}\n\n{section.rstrip()}\n" + (f"\n{rest[later.start() :]}" if later else "")


def snapshots_of(lake: Lake, release: str) -> list[str]:
    """The whole snapshots that a release made."""
    return [name for name in _folders(lake) if name.startswith(f"{release}-") and SnapshotId.known(name)]


def _folders(lake: Lake) -> Iterable[str]:
    return sorted(lake.folders("snapshots/"))
