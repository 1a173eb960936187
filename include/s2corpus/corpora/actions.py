"""What operators do to a lake: each action has a plan, which is shown first, and a record of who did it (`actions/`).

The release page and the commands use the same functions. An action is done only if its plan is still the one that was shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.corpora.cleanup import delete, list_waste
from s2corpus.corpora.listing import list_corpora
from s2corpus.errors import LostRace, UserError
from s2corpus.ids import SnapshotId
from s2corpus.snapshot import pointer
from s2corpus.stages.filter import read_suppressions
from s2corpus.storage.lake import Conflict, Lake
from s2corpus.titles import normalise_one
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object
from s2corpus_reader.files import file_number, keys_path, lookup_key, table_path
from s2orc_parse.bibliography.identifiers import normalise_doi

Values = Mapping[str, str]
SUPPRESSED = "suppress.jsonl"
_PAPER_ID, _SHA1 = re.compile("[0-9a-f]{15}"), re.compile("[0-9a-f]{40}")
_RECORDS = "actions/"
_MAX_PAPERS = 20
"""papers of one title that a takedown lists; a longer list means a title that names no paper"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an action would do."""

    effects: tuple[str, ...]
    """one sentence each"""
    cost: str
    corpora: frozenset[str]
    """corpora that it changes"""

    @property
    def token(self) -> str:
        """A hash of the plan, which a confirmation repeats."""
        return hashlib.sha256("\n".join((*self.effects, self.cost)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Action:
    """One kind of action. `fields` are its parameters: name → label."""

    name: str
    label: str
    fields: Mapping[str, str]
    plan: Callable[[Lake, Values], Plan]
    apply: Callable[[Lake, Values, str], str]
    """does it in the name of a person, and returns a sentence about the result"""


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper in the latest snapshot of a corpus."""

    corpus: str
    snapshot: str
    paper_id: str
    title: str | None
    doi: str | None


def perform(lake: Lake, action: Action, values: Values, token: str, who: str) -> str:
    """Do an action whose plan has this token, record it, and return a sentence about the result.

    Raises:
        UserError: the plan has changed, or the values are wrong.
    """
    plan = action.plan(lake, values)
    if plan.token != token:
        raise UserError("the plan has changed since it was shown: read it again, then confirm")
    result = action.apply(lake, values, who)
    record(lake, action.name, values, who, result, plan.corpora)
    return result


def record(lake: Lake, name: str, values: Values, who: str, result: str, corpora: Iterable[str]) -> None:
    """Write to the lake who did what, when, and to which corpora."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    content = {
        "action": name,
        "values": dict(values),
        "who": who,
        "at": at,
        "result": result,
        "corpora": sorted(corpora),
    }
    data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    lake.put(f"{_RECORDS}{at[:23].replace(':', '')}-{hashlib.sha256(data).hexdigest()[:8]}.json", data)


def list_records(lake: Lake, most: int = 100) -> list[dict[str, Any]]:
    """Return the records of actions, newest first."""
    keys = sorted((entry.key for entry in lake.list(_RECORDS)), reverse=True)[:most]
    return [read_object(lake, key, MAX_SMALL_BYTES) for key in keys]


def _read_name(text: str) -> tuple[str, str]:
    """Return the kind of a paper's name (id, sha1, doi or title) and its normalized value.

    Raises:
        UserError: the text is none of them.
    """
    text = text.strip()
    kind, value = next(
        (
            (kind, found)
            for kind, found in (
                ("id", text if _PAPER_ID.fullmatch(text) else None),
                ("sha1", text if _SHA1.fullmatch(text) else None),
                ("doi", normalise_doi(text)),
                ("title", normalise_one(text)),
            )
            if found
        ),
        ("", ""),
    )
    if not kind:
        raise UserError(f"{text!r} given: expected a DOI, the id of a paper, the SHA-1 of a file, or a title")
    return kind, value


def find_papers(lake: Lake, text: str) -> list[FoundPaper]:
    """Return the papers with a DOI, paper id, SHA-1 or title in the latest snapshot of each corpus.

    Raises:
        UserError: the text is none of them, too many papers have the title, or a snapshot cannot be searched.
    """
    kind, value = _read_name(text)
    found = []
    for corpus in list_corpora(lake):
        if snapshot := pointer.read_latest(lake, corpus).snapshot:
            try:
                found += _find_in_snapshot(lake, corpus, snapshot, kind, value)
            except FileNotFoundError as error:
                raise UserError(
                    f"{snapshot} cannot be searched ({error}): it is damaged, or older than its look-up files. Restore it, or withdraw it"
                ) from None
    if len(found) > _MAX_PAPERS:
        raise UserError(f"{len(found)} papers have the title {text!r}: give the DOI or the id of one")
    return found


def _find_in_snapshot(lake: Lake, corpus: str, snapshot: str, kind: str, value: str) -> list[FoundPaper]:
    files = read_object(lake, f"snapshots/{snapshot}/manifest.json")["rules"]["export.files"]
    ids = [value]
    if kind != "id":
        key = lookup_key(kind, value)
        rows = _read_rows(lake, f"snapshots/{snapshot}/{keys_path(key % files)}", pc.field("key") == key, ["paper_id"])
        ids = [row["paper_id"] for row in rows]
    columns = ["paper_id", "title", "doi"]
    papers = (
        _read_rows(
            lake,
            f"snapshots/{snapshot}/{table_path('papers', file_number(id_, files))}",
            pc.field("paper_id") == id_,
            columns,
        )
        for id_ in ids[: _MAX_PAPERS + 1]
    )
    return [FoundPaper(corpus, snapshot, row["paper_id"], row["title"], row["doi"]) for rows in papers for row in rows]


def _read_rows(lake: Lake, key: str, where: pc.Expression, columns: list[str]) -> list[dict[str, Any]]:
    fs, root = lake.filesystem()
    with fs.open_input_file(root + key) as source:
        rows: list[dict[str, Any]] = pq.read_table(source, columns=columns, filters=where).to_pylist()
    return rows


def _plan_yank(lake: Lake, values: Values) -> Plan:
    snapshot = SnapshotId.parse(values["snapshot"])
    pointer.check_reason(values["reason"])
    published = pointer.list_published(lake, snapshot.spec)
    is_latest = pointer.read_latest(lake, snapshot.spec).snapshot == snapshot
    if (
        snapshot not in published and not is_latest
    ):  # It is the latest if an earlier try ended before it moved the pointer.
        raise UserError(f"{snapshot} is not published; published snapshots: {', '.join(published) or 'none'}")
    effects = [f"{snapshot} is withdrawn; its files remain, and it is no parent of later releases."]
    if is_latest:
        rest = [id_ for id_ in published if id_ != snapshot]
        effects.append(f"latest.json of {snapshot.spec} then names {rest[-1] if rest else 'no snapshot'}.")
    return Plan((*effects, "The action restore undoes it."), "a few requests", frozenset({snapshot.spec}))


def _plan_restore(lake: Lake, values: Values) -> Plan:
    snapshot = SnapshotId.parse(values["snapshot"])
    pointer.check_reason(values["reason"])
    yanked = pointer.list_marked(lake, snapshot.spec, "yanked")
    if snapshot not in yanked | pointer.list_marked(lake, snapshot.spec, "restored"):  # An earlier try may continue.
        raise UserError(f"{snapshot} is not yanked; yanked snapshots: {', '.join(sorted(yanked)) or 'none'}")
    effects = [f"{snapshot} is published again with the same bytes."]
    published = pointer.list_published(lake, snapshot.spec)
    if not published or snapshot.release.day > published[-1].release.day:
        effects.append(f"latest.json of {snapshot.spec} then names it.")
    return Plan(
        tuple(effects), "its manifest is read, and the sizes of its files are compared", frozenset({snapshot.spec})
    )


def _yank(lake: Lake, values: Values, _: str) -> str:
    latest = pointer.yank(lake, values["snapshot"], values["reason"]).snapshot
    return f"{values['snapshot']} is withdrawn; the latest is {latest or 'none'}"


def _restore(lake: Lake, values: Values, _: str) -> str:
    latest = pointer.restore(lake, values["snapshot"], values["reason"]).snapshot
    return f"{values['snapshot']} is published; the latest is {latest}"


def _plan_takedown(lake: Lake, values: Values) -> Plan:
    pointer.check_reason(values["reason"])
    found, (kind, _) = find_papers(lake, values["paper"]), _read_name(values["paper"])
    if not found and kind == "title":
        raise UserError(
            f"no latest snapshot has a paper {values['paper']!r}; corpora: {', '.join(list_corpora(lake)) or 'none'}"
        )
    effects = [
        f"{p.snapshot} has the paper {p.paper_id} “{p.title or 'without title'}”; the next release of {p.corpus} omits it."
        for p in found
    ]
    if not found:
        effects.append(f"No latest snapshot has {values['paper']}; later releases of all corpora omit it.")
    effects.append("Published snapshots do not change. To withdraw them, yank them.")
    return Plan(
        tuple(effects),
        f"{len(_list_lines(found, values))} lines in {SUPPRESSED}",
        frozenset(p.corpus for p in found) or frozenset(list_corpora(lake)),
    )


def _list_lines(found: list[FoundPaper], values: Values) -> list[dict[str, str]]:
    """Return the lines of `suppress.jsonl`: one for the given identifier, each DOI and each paper id."""
    kind, value = _read_name(values["paper"])
    given = [] if kind == "title" else [("paper_id" if kind == "id" else kind, value)]
    dois = [("doi", paper.doi) for paper in found if paper.doi]
    ids = [("paper_id", paper.paper_id) for paper in found]
    return [{key: name, "reason": values["reason"].strip()} for key, name in dict.fromkeys([*given, *dois, *ids])]


def _take_down(lake: Lake, values: Values, _: str) -> str:
    found = find_papers(lake, values["paper"])
    etag = lake.etag(SUPPRESSED)
    content = lake.get(SUPPRESSED)[0] if lake.size(SUPPRESSED) is not None else b""
    read_suppressions(content)  # a wrong line stops every release; say so now
    present = {orjson.dumps(orjson.loads(line)) for line in content.splitlines() if line.strip()}
    lines = [line for line in map(orjson.dumps, _list_lines(found, values)) if line not in present]
    if content and not content.endswith(b"\n"):
        content += b"\n"
    try:
        lake.put(SUPPRESSED, content + b"".join(line + b"\n" for line in lines), expect=etag)
    except Conflict:
        raise LostRace(f"{lake.uri(SUPPRESSED)} was changed by another person: read the plan again") from None
    ids = ", ".join(dict.fromkeys(paper.paper_id for paper in found)) or values["paper"]
    return f"{ids}: later releases of {', '.join(sorted({p.corpus for p in found})) or 'all corpora'} omit the paper"


def prove_takedown(lake: Lake, taken: Mapping[str, Any]) -> dict[str, str]:
    """Return corpus → sentence: whether its latest snapshot still has the paper of a takedown's record."""
    has_paper = {paper.corpus: paper for paper in find_papers(lake, taken["values"]["paper"])}
    sentences = {}
    for corpus in list_corpora(lake):
        if snapshot := pointer.read_latest(lake, corpus).snapshot:
            state = (
                "still has the paper: its next release omits it" if corpus in has_paper else "does not have the paper"
            )
            sentences[corpus] = f"{snapshot} {state}"
    return sentences


def _plan_cleanup(lake: Lake, values: Values) -> Plan:
    found = list(list_waste(lake, _read_keep(values), []))
    effects = tuple(
        f"{waste.kind} {waste.name}: {waste.files:,} files, {waste.bytes:,} bytes are deleted." for waste in found
    )
    total = sum(waste.bytes for waste in found)
    return Plan(effects or ("Nothing is deleted.",), f"frees {total / 1e6:,.1f} MB", frozenset(list_corpora(lake)))


def _clean_up(lake: Lake, values: Values, _: str) -> str:
    found = list(list_waste(lake, _read_keep(values), []))
    for waste in found:
        delete(lake, waste)
    return f"{sum(waste.files for waste in found):,} files, {sum(waste.bytes for waste in found) / 1e6:,.1f} MB deleted"


def _read_keep(values: Values) -> int:
    if not (values["keep"].isdecimal() and 1 <= int(values["keep"]) <= 1000):
        raise UserError(f"{values['keep']!r} given: expected the number of releases whose tables remain, 1 to 1000")
    return int(values["keep"])


_REASON = {"reason": "Reason, ten characters or more"}
_SNAPSHOT, _PAPER = {"snapshot": "Snapshot"}, {"paper": "DOI, title, id of the paper, or SHA-1 of its file"}
_KEEP = {"keep": "Releases of each corpus that keep their tables"}
ACTIONS = {
    action.name: action
    for action in (
        Action("yank", "Withdraw a snapshot", _SNAPSHOT | _REASON, _plan_yank, _yank),
        Action("restore", "Publish a withdrawn snapshot again", _SNAPSHOT | _REASON, _plan_restore, _restore),
        Action("takedown", "Take down a paper in all corpora", _PAPER | _REASON, _plan_takedown, _take_down),
        Action("cleanup", "Free the tables of old releases", _KEEP, _plan_cleanup, _clean_up),
    )
}
"""name → action"""
