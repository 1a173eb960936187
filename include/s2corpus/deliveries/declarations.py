"""Read the `records.jsonl` of a drop, which describes its files (SPEC §0.10–0.14).

A line identifies a file of the drop by `name` or `file_sha1`. It contains access claims (`open_access`, `license`) and metadata of the
paper (columns of the table `records`; `published` or `year` also give `date`). We set the id, source and kind of these records. A line
with one of these keys, or with an access claim of a wrong type, refuses the drop. Other unusable values give warnings. A key that
differs only in case, hyphens or spelling (`Title`, `license`) is read. A line with another unknown key opens no file, because this key
may restrict access.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import orjson

from s2corpus.deliveries.ready import Refused
from s2corpus.errors import suggest
from s2corpus.outcomes import Refusal
from s2corpus.papers.licenses import select_strictest
from s2corpus.sources.json_values import RepeatedKeys, find_repeated_keys
from s2corpus.sources.jsonl import find_type_error, parse_line, quote_json
from s2corpus.sources.record import CLAIMS, DECLARED, DROP_KEYS, RECORD_KEYS, Dropped, Entry, Record, RejectReason
from s2corpus.sources.streams import read_lines
from s2orc_parse.bibliography.identifiers import normalize_arxiv
from s2orc_parse.bibliography.licenses import parse_license

FILE = "records.jsonl"
"""In a drop, this file describes the other files. In a delivery, it contains generic records."""
_FILE_KEYS = ("name", "file_sha1")
_FIELDS = {"published": "date", "year": "date", "fields_of_study": "subjects"}
"""Keys whose record field has another name."""
_ACCESS_KEYS = ("open_access", "license")
_MAX_WARNINGS = 100
_SPELLINGS = {"licence": "license", "openaccess": "open_access", "sha1": "file_sha1"}
"""Other spellings of keys, without hyphens and underscores."""
_REPEATED_KEY_EFFECTS = {
    **dict.fromkeys(_FILE_KEYS, "the line is ignored, except for open_access: false"),
    **dict.fromkeys(_ACCESS_KEYS, "the stricter value is used"),
}
"""Effect of a repeated key; of other keys, the last value is used."""


@dataclass(slots=True)
class DeclaredFacts:
    """Declared values for one file."""

    line: int
    open_access: bool | None = None
    license: str | None = None
    arxiv_id: str | None = None


@dataclass
class Declarations:
    """Reader of the `records.jsonl` of a drop; `facts` and `warnings` are complete after the last entry."""

    drop: str
    sha1_of: Mapping[str, str]  # of the drop's files
    facts: dict[str, DeclaredFacts] = field(default_factory=dict)  # by file name
    warnings: list[str] = field(default_factory=list)
    n_omitted: int = 0
    """Number of warnings beyond the limit."""
    _names: dict[str, list[str]] = field(default_factory=dict)

    @property
    def warning_messages(self) -> tuple[str, ...]:
        """Warnings, with the number of omitted warnings."""
        return (*self.warnings, *([f"{FILE}: {self.n_omitted} more"] if self.n_omitted else ()))

    def entries(self, stream: IO[bytes]) -> Iterator[Entry]:
        """Yield a record for each file with metadata, and `Dropped` for each unreadable line.

        Raises:
            Refused: a line contains a reserved key, or an access claim of a wrong type.
        """
        names: dict[str, list[str]] = {}
        for name, sha1 in sorted(self.sha1_of.items()):
            names.setdefault(sha1, []).append(name)
        for number, raw in read_lines(stream):
            if raw is not None and not raw.strip():
                continue
            parsed = self._parse_line(number, raw)
            if parsed is None:
                yield Dropped(RejectReason.MALFORMED, f"line {number}")
                continue
            line, repeated = parsed
            _check_claims(number, line)
            for key, values in repeated.values.items():
                for value in values:
                    _check_claims(number, {key: value})
            unknown = sorted(set(line) - DROP_KEYS)
            for key in unknown:
                like = suggest(key, DROP_KEYS)
                self._warn(
                    number, key, f"is not a key of a drop's records{like}: it is ignored, and the line opens no file"
                )
            for key in repeated.names:
                effect = _REPEATED_KEY_EFFECTS.get(key, "the last value is used")
                self._warn(number, key, f"is given more than once: {effect}")
            line = _use_strictest(line, repeated.values)
            references = [{key: value} for key in _FILE_KEYS for value in repeated.values.get(key, [])]
            names_per_reference = [self._find_files(number, each, names) for each in references or [line]]
            files = list(dict.fromkeys(name for found in names_per_reference for name in found))
            # A line with several references still closes its files, but has no other effect.
            is_usable = not unknown and not references
            if files and (is_usable or line.get("open_access") is False):
                self._store_claims(number, line, files, is_usable=is_usable)
            if files and not references and (entry := self._build_record(number, line, files[0])) is not None:
                yield entry

    def _parse_line(self, number: int, raw: bytes | None) -> tuple[dict[str, Any], RepeatedKeys] | None:
        """Return the object of a line and its repeated keys; None, with a warning, if it cannot be read."""
        if raw is None:
            self._warn(number, None, "is too long to be read")
            return None
        try:
            line, repeated = orjson.loads(raw), find_repeated_keys(raw)
        except ValueError as error:
            self._warn(number, None, f"is not JSON ({error})")
            return None
        if not isinstance(line, dict):
            self._warn(number, None, f"is {type(line).__name__}: expected a JSON object")
            return None
        for key in sorted(set(line) - DROP_KEYS):
            known = _find_known_key(key)
            if known is not None and known not in line and key not in repeated.names:
                self._warn(number, key, f"is read as {known}")
                line[known] = line.pop(key)
        return line, repeated

    def _find_files(self, number: int, line: Mapping[str, Any], names: Mapping[str, list[str]]) -> list[str]:
        """Return the names of the file that a line describes; warn if the drop has no such file."""
        name, sha1 = line.get("name"), line.get("file_sha1")
        if name is None and sha1 is None:
            self._warn(number, "name", "is missing: every line needs name or file_sha1")
            return []
        found = names.get(sha1.strip().lower(), []) if isinstance(sha1, str) else []
        if name is not None:
            is_file = isinstance(name, str) and name in self.sha1_of and (sha1 is None or name in found)
            found = [name] if is_file else []
        if not found:
            key = "name" if name is not None else "file_sha1"
            other = ", with that file_sha1" if name is not None and sha1 is not None else ""
            like = self._suggest_name(line[key]) if key == "name" and not other else ""
            self._warn(
                number, key, f"{quote_json(line[key])} is not a file of the drop{other}{like}: the line is ignored"
            )
        return found

    def _suggest_name(self, given: object) -> str:
        """Return the file whose name differs in case, folder or the suffix `.pdf` only, as a question."""
        if not self._names:
            for name in sorted(self.sha1_of):
                self._names.setdefault(name.rpartition("/")[2].lower().removesuffix(".pdf"), []).append(name)
        found = self._names.get(str(given).rpartition("/")[2].lower().removesuffix(".pdf"), [])
        return f" (did you mean {quote_json(found[0])}?)" if len(found) == 1 else ""

    def _store_claims(self, number: int, line: Mapping[str, Any], files: list[str], *, is_usable: bool) -> None:
        """Store the access claims of a line. For several lines on one file, closed access and the strictest license win."""
        arxiv_id = normalize_arxiv(str(line.get("arxiv_id") or "")) if is_usable else None
        license = parse_license(line.get("license")) if is_usable else None
        for name in files:
            before = self.facts.get(name)
            if before is not None:
                self._warn(number, None, f"describes {quote_json(name)} again, after line {before.line}")
            else:
                before = DeclaredFacts(number)
            claims = [claim for claim in (before.open_access, line.get("open_access")) if claim is not None]
            strictest = select_strictest([before.license, license])
            self.facts[name] = DeclaredFacts(number, min(claims, default=None), strictest, arxiv_id or before.arxiv_id)

    def _build_record(self, number: int, line: Mapping[str, Any], name: str) -> Record | None:
        """Return the record of a file, or None if the line contains only access claims or nothing usable."""
        reserved = (*_FILE_KEYS, *_ACCESS_KEYS)
        given = {key: value for key, value in line.items() if key in DROP_KEYS and key not in reserved}
        values = {key: value for key, value in given.items() if value not in (None, "", [])}
        if not values:
            return None
        date = next((values[key] for key in ("date", "published", "year") if key in values), None)
        fields = {key: value for key, value in values.items() if key in RECORD_KEYS} | {
            "record_id": f"{DECLARED}:{self.drop}/{name}",
            "source": DECLARED,
            "date": date,
            "file_sha1": self.sha1_of[name] if name.lower().endswith(".pdf") else None,
        }
        entry = parse_line(fields, f"line {number}")
        if not isinstance(entry, Record):
            self._warn(number, None, "contains no usable metadata")
            return None
        for key, value in values.items():
            parsed = getattr(entry, _FIELDS.get(key, key))
            if not parsed:
                self._warn(number, key, f"{quote_json(value)} cannot be used as {key}: it is ignored")
            elif key == "authors" and isinstance(value, list) and len(parsed) < len(value):
                self._warn(number, key, f"{len(value) - len(parsed)} of {len(value)} cannot be used: they are ignored")
        return entry

    def _warn(self, number: int, key: str | None, what: str) -> None:
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(f"{FILE}, line {number}: {key + ': ' if key else ''}{what}")
        else:
            self.n_omitted += 1


def _find_known_key(key: str) -> str | None:
    """Return the key of a drop that `key` spells with other case, hyphens, underscores or in another English."""
    plain = re.sub("[-_ ]", "", key.lower())
    return _SPELLINGS.get(plain) or next((k for k in sorted(DROP_KEYS) if k.replace("_", "") == plain), None)


def _use_strictest(line: dict[str, Any], values: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return the line with the stricter value of each access claim that it repeats."""
    strict = dict(line)
    if given := values.get("open_access"):
        strict["open_access"] = min(given)
    if given := values.get("license"):
        strict["license"] = select_strictest(map(parse_license, given))
    return strict


def _check_claims(number: int, line: Mapping[str, Any]) -> None:
    """Raise Refused for a reserved key or an ambiguous access claim."""
    for key in CLAIMS:
        if key in line:
            raise Refused(
                Refusal.BAD_RECORDS, f"{FILE}, line {number}: {key}: reserved, the pipeline sets it; remove the key"
            )
    wrong = find_type_error(line)
    if wrong is None and "open_access" in line and line["open_access"] is None:
        wrong = "open_access: null given, true or false expected"
    if wrong:
        raise Refused(Refusal.BAD_RECORDS, f"{FILE}, line {number}: {wrong}")
