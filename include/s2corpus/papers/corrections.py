"""Read the corrections of operators, and apply them to papers (SPEC §5.25, §5.26).

A line of `corrections.jsonl` replaces one field of one paper, regardless of its records. The records do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from s2corpus.errors import UserError, suggest
from s2corpus.outcomes import CorrectionOutcome
from s2corpus.papers.ballots import IDENTIFIERS, OF_PUBLICATION, Value, get_value
from s2corpus.papers.evidence import Evidence
from s2corpus.papers.openness import EvidenceSearch, Openness
from s2corpus.rules import MIN_REASON
from s2corpus.sources.json_values import find_repeated_keys
from s2corpus.sources.jsonl import parse_line
from s2corpus.sources.record import Record
from s2orc_parse.bibliography.licenses import rank_strictness

FILE = "corrections.jsonl"
SOURCE = "correction"
LICENSE, OPEN_ACCESS = "license", "open_access"
RIGHTS = (LICENSE, OPEN_ACCESS)
CORRECTABLE = tuple(dict.fromkeys(("title", "authors", *OF_PUBLICATION, *IDENTIFIERS, *RIGHTS)))
_OPENNESS = {"true": True, "false": False}


class Correction(BaseModel):
    """A line of `corrections.jsonl`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    paper_id: Annotated[str, Field(pattern="^[0-9a-f]{15}$")]
    field: Annotated[str, BeforeValidator(lambda given: LICENSE if given == "licence" else given)]
    """versions before 1.0.0 wrote `licence`"""
    value: str
    reason: Annotated[str, Field(min_length=MIN_REASON)]
    evidence: Annotated[str, Field(min_length=1)]
    ready_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")]
    by: str
    files: frozenset[str] = frozenset()
    """SHA-1 of the full texts that a license or openness may make more open; others only become less open"""

    @property
    def record_id(self) -> str:
        """The id that the provenance of the field names."""
        return f"{SOURCE}:{self.paper_id}/{self.field}@{self.ready_at}"

    def as_line(self) -> bytes:
        """Return the line of the file."""
        line = self.model_dump(mode="json") | {"files": sorted(self.files)}
        return orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n"

    @property
    def has_url(self) -> bool:
        """Return whether the evidence is an address."""
        return self.evidence.startswith(("https://", "http://"))


def parse_value(name: str, text: str) -> Value:
    """Return the value of a field in the form of a record.

    Raises:
        UserError: the field cannot be corrected, or the text is no value of it.
    """
    if name not in CORRECTABLE:
        raise UserError(
            f"{name!r} given{suggest(name, CORRECTABLE)}: expected a field, one of {', '.join(CORRECTABLE)}"
        )
    value: Any = None
    if name == OPEN_ACCESS:
        value = _OPENNESS.get(text.strip().lower())
    else:
        record = parse_line({"record_id": f"{SOURCE}:-", "title": "A title", name: text}, FILE)
        if isinstance(record, Record):
            value = get_value(record, name)
        if name == "date" and value and len(re.findall(r"\d+", text)) > value[0].count("-") + 1:
            value = None  # 2019-13: a record would have the date 2019
    if value is None:
        expected = " or ".join(_OPENNESS) if name == OPEN_ACCESS else f"a value of {name}, as in a record"
        raise UserError(f"{name}: {text!r} given: expected {expected}")
    return value


def is_more_open(name: str, value: Value, openness: Openness) -> bool:
    """Return whether a license or openness is more open than the values of a full text; equal values are not."""
    if name == OPEN_ACCESS:
        return bool(value) and not openness.open
    return value != openness.license and rank_strictness(value) < rank_strictness(openness.license or "")


def read_corrections(content: bytes, before: str | None = None) -> list[Correction]:
    """Return the corrections that were ready before an instant, oldest first.

    Raises:
        UserError: a line is invalid. A release stops, because a wrong license must not be published.
    """
    found: dict[tuple[str, str, str], Correction] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{FILE}, line {number}"
        try:
            correction = Correction.model_validate_json(line)
            if repeated := find_repeated_keys(line).names:
                raise UserError(f"the key {repeated[0]!r} is given twice")
            parse_value(correction.field, correction.value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            at = ".".join(map(str, first["loc"])) or "line"
            raise UserError(f"{where}: {at}: {first['msg']}; correct the line") from None
        except UserError as error:
            raise UserError(f"{where}: {error}; correct the line") from None
        key = (correction.paper_id, correction.field, correction.ready_at)
        if found.setdefault(key, correction) is not correction:
            raise UserError(f"{where}: another line corrects the same field at the same instant; correct ready_at")
    ready = (correction for correction in found.values() if before is None or correction.ready_at < before)
    return sorted(ready, key=lambda one: (one.ready_at, one.paper_id, one.field))


@dataclass
class Corrections:
    """The corrections of some papers by their present ids, and the outcome of each."""

    lines: Mapping[str, list[Correction]] = field(default_factory=dict)
    """by paper, oldest first"""
    _applied: set[str] = field(default_factory=set)
    _papers: set[str] = field(default_factory=set)

    @staticmethod
    def of(lines: Iterable[Correction], present_ids: Mapping[str, str]) -> Corrections:
        """Return the corrections by paper; `present_ids` maps former ids of papers."""
        by_paper: dict[str, list[Correction]] = {}
        for line in lines:
            by_paper.setdefault(present_ids.get(line.paper_id, line.paper_id), []).append(line)
        return Corrections(by_paper)

    def find(self, paper_id: str) -> dict[str, Correction]:
        """Return the latest correction of each field of a paper, except its rights, and note that the paper exists."""
        self._papers.add(paper_id)
        latest = self._find_latest(paper_id)
        found = {name: line for name, line in latest.items() if name not in RIGHTS}
        self._applied |= {line.record_id for line in found.values()}
        return found

    def correct_rights(self, paper_id: str, sha1: str, openness: Openness) -> Openness:
        """Return the openness of a full text with the corrections of its paper.

        A less open value always applies. A more open value applies only to full texts that the correction names, and only with the URL of
        a statement (SPEC §5.26).
        """
        latest = self._find_latest(paper_id)
        searches, corrected = list(openness.searches), openness
        for name in (LICENSE, OPEN_ACCESS):
            if (line := latest.get(name)) is None:
                continue
            value, old = parse_value(name, line.value), openness.license if name == LICENSE else openness.open
            if is_more_open(name, value, openness) and not (line.has_url and sha1 in line.files):
                detail = (
                    f"{line.record_id} does not apply to this text: more open, without its SHA-1 or a URL (SPEC §5.26)"
                )
                searches.append(EvidenceSearch(Evidence.CORRECTION, False, detail))
                continue
            self._applied.add(line.record_id)
            why = f"corrected by {line.record_id}: {line.reason} ({line.evidence})"
            if name == LICENSE:
                corrected = replace(
                    corrected, license=value, license_detail=f"{value}, was {old or 'not stated'}: {why}"
                )
            elif value != old:
                evidence = Evidence.CORRECTION if value else None
                corrected = replace(corrected, open=value, evidence=evidence)
                searches.append(EvidenceSearch(Evidence.CORRECTION, value, why))
        return replace(corrected, searches=tuple(searches))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row of the table `corrections` for each line, after all papers have been corrected."""
        for paper_id, lines in sorted(self.lines.items()):
            latest = self._find_latest(paper_id)
            for line in sorted(lines, key=lambda line: (line.field, line.ready_at)):
                if paper_id not in self._papers:
                    outcome = CorrectionOutcome.NO_PAPER
                elif latest[line.field] is not line:
                    outcome = CorrectionOutcome.SUPERSEDED
                elif line.record_id in self._applied:
                    outcome = CorrectionOutcome.APPLIED
                else:
                    outcome = CorrectionOutcome.REFUSED
                yield {**line.model_dump(exclude={"files"}), "paper_id": paper_id, "outcome": outcome}

    def _find_latest(self, paper_id: str) -> dict[str, Correction]:
        return {line.field: line for line in self.lines.get(paper_id, ())}
