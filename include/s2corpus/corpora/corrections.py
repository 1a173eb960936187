"""Correct a field, a license or the openness of a paper in all corpora: a line in `corrections.jsonl` (SPEC §5.25, §5.26)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from s2corpus.corpora.found_papers import FoundPaper, append_lines, find_papers, read_name, read_rights
from s2corpus.corpora.plans import PAPER, REASON, Action, Plan, Values
from s2corpus.deliveries.ready import iso
from s2corpus.errors import UserError
from s2corpus.papers.corrections import (
    CORRECTABLE,
    FILE,
    LICENSE,
    RIGHTS,
    Correction,
    is_more_open,
    parse_value,
    read_corrections,
)
from s2corpus.papers.licenses import NOASSERTION, to_spdx
from s2corpus.papers.openness import Openness
from s2corpus.snapshot import markers, pointer
from s2corpus.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class _Change:
    """What a correction changes in one snapshot."""

    paper: FoundPaper
    effects: tuple[str, ...]
    opened: frozenset[str] = frozenset()
    """SHA-1 of the full texts that become more open"""


def _list_changes(lake: Lake, values: Values) -> list[_Change]:
    """Return the change of each snapshot that has the paper.

    Raises:
        UserError: no snapshot has the paper, the value is wrong, or a more open value lacks its evidence.
    """
    pointer.check_reason(values["reason"])
    name, text = values["field"], values["value"]
    value = parse_value(name, text)
    found = find_papers(lake, values["paper"])
    if not found:
        raise UserError(
            f"no latest snapshot has a paper {values['paper']!r}: give its DOI, id or title, or the SHA-1 of its file"
        )
    if name in RIGHTS:
        return [_change_rights(lake, paper, values) for paper in found]
    return [
        _Change(
            paper,
            (
                f"{paper.snapshot} has the paper {paper.paper_id} “{paper.title or 'without title'}” with {name} "
                f"{_show(name, paper.row.get(name)) or 'not given'}; the next release of {paper.corpus} has {_show(name, value)}.",
            ),
        )
        for paper in found
    ]


def _change_rights(lake: Lake, paper: FoundPaper, values: Values) -> _Change:
    name, value = values["field"], parse_value(values["field"], values["value"])
    kind, given = read_name(values["paper"])
    texts = read_rights(lake, paper)
    if not texts:
        raise UserError(
            f"{paper.paper_id} has no full text in {paper.snapshot}: only the {name} of full texts can be corrected"
        )
    opened = {sha1 for sha1, row in texts.items() if _would_open(name, value, row)}
    if opened and len(texts) > 1 and kind != "sha1":
        raise UserError(
            f"{values['value']} is more open than {paper.snapshot}, and the paper has {len(texts)} full texts: "
            f"give the SHA-1 of the text that the statement is about, one of {', '.join(sorted(texts))}"
        )
    if kind == "sha1":
        opened &= {given}
    if opened and not values["evidence"].startswith(("https://", "http://")):
        raise UserError(
            f"{values['value']} is more open than {paper.snapshot}: expected the URL of the license statement as evidence, "
            f"found {values['evidence']!r}"
        )
    effects = [f"{paper.snapshot} has the paper {paper.paper_id} “{paper.title or 'without title'}”."]
    for sha1, row in sorted(texts.items()):
        old = _show_right(name, row)
        if _would_open(name, value, row) and sha1 not in opened:
            effects.append(f"{row['of']} {sha1}: {name} remains {old}, because the correction names another text.")
        else:
            degree = "more open" if sha1 in opened else "not more open"
            effects.append(
                f"{row['of']} {sha1}: the next release of {paper.corpus} has {name} {values['value']}, now {old}: {degree}."
            )
    return _Change(paper, tuple(effects), frozenset(opened))


def _would_open(name: str, value: Any, row: Mapping[str, Any]) -> bool:
    """Return whether a license or openness is more open than the values in a row of `tables/rights`."""
    license = None if row["license"] == NOASSERTION else row["license"]
    return is_more_open(name, to_spdx(value) if name == LICENSE else value, Openness(row["open_access"], None, license))


def _show(name: str, value: Any) -> str:
    """Return a value of a record or of `tables/papers` as text."""
    if name == "authors":
        names = (author if isinstance(author, Mapping) else author.as_dict() for author in value or ())
        return "; ".join(" ".join(filter(None, (a["first"], *a["middle"], a["last"], a["suffix"]))) for a in names)
    return str(value[0] if isinstance(value, tuple) else value or "")


def _show_right(name: str, row: Mapping[str, Any]) -> str:
    return str(row["license"]) if name == LICENSE else str(row["open_access"]).lower()


def _plan(lake: Lake, values: Values) -> Plan:
    changes = _list_changes(lake, values)
    corpora = frozenset(change.paper.corpus for change in changes)
    older = [id_ for corpus in sorted(corpora) for id_ in markers.list_published(lake, corpus)]
    is_opened = any(change.opened for change in changes)
    notes = [f"Published snapshots do not change ({', '.join(older)}). To withdraw them, yank them."]
    if is_opened:
        notes.append("The value is more open: a person who may approve releases must confirm it.")
    ids = {change.paper.paper_id for change in changes}
    return Plan(
        (*(effect for change in changes for effect in change.effects), *notes),
        f"{len(ids)} lines in {FILE}, and the next release of {', '.join(sorted(corpora))}",
        corpora,
        is_opened,
    )


def _correct(lake: Lake, values: Values, who: str) -> str:
    opened: dict[str, frozenset[str]] = {}
    changes = _list_changes(lake, values)
    for change in changes:
        opened[change.paper.paper_id] = opened.get(change.paper.paper_id, frozenset()) | change.opened
    at = iso(datetime.now(UTC))
    lines = [
        Correction(
            paper_id=paper_id, field=values["field"], value=values["value"].strip(), files=files, ready_at=at, by=who,
            reason=values["reason"].strip(), evidence=values["evidence"].strip(),
        ).as_line().rstrip()
        for paper_id, files in sorted(opened.items())
    ]  # fmt: skip
    append_lines(lake, FILE, lines, read_corrections)
    corpora = ", ".join(sorted({change.paper.corpus for change in changes}))
    return (
        f"{', '.join(sorted(opened))}: the next releases of {corpora} have {values['field']} {values['value'].strip()}"
    )


def _prove(lake: Lake, values: Values) -> dict[str, str]:
    """Return corpus → sentence: the value in its latest snapshot."""
    name, wanted = values["field"], [values[key].strip() for key in ("field", "value", "reason")]
    content = lake.get(FILE)[0] if lake.size(FILE) is not None else b""
    ids = {line.paper_id for line in read_corrections(content) if [line.field, line.value, line.reason] == wanted}
    value = parse_value(name, values["value"])
    sentences = {}
    for paper in (paper for id_ in sorted(ids) for paper in find_papers(lake, id_)):
        if name in RIGHTS:
            shown = {_show_right(name, row) for row in read_rights(lake, paper).values()}
            expected = to_spdx(value) if name == LICENSE else str(value).lower()
        else:
            shown, expected = {_show(name, paper.row.get(name))}, _show(name, value)
        state = (
            "is corrected" if shown == {expected} else f"does not have {expected} everywhere: a later release has it"
        )
        sentences[paper.corpus] = (
            f"{paper.snapshot} has {name} {', '.join(sorted(shown)) or 'not given'}: {paper.paper_id} {state}"
        )
    return sentences


_FIELDS = {
    "field": f"Field: {', '.join(CORRECTABLE)}",
    "value": "New value (authors: Ada B. Lovelace; Alan Turing. open_access: true or false)",
    "evidence": "Evidence: for a more open license the URL of its statement, else an address or a text",
}
CORRECT = Action(
    "correct", "Correct a field or license of a paper in all corpora", PAPER | _FIELDS | REASON, _plan, _correct, _prove
)
