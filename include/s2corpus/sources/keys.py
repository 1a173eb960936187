"""The keys of `records.jsonl` in a delivery and in a drop. Help texts list them, so this module avoids slow imports."""

from __future__ import annotations

from dataclasses import fields

from s2corpus.sources.record import Record

_NOT_IN_LINES = {"notices", "later_licences"}
RECORD_KEYS = (
    frozenset(field.name for field in fields(Record))
    | {"id", "year", "deleted", "fields_of_study", "delivery", "ready_at"}
) - _NOT_IN_LINES
"""keys of a line in a delivery"""
CLAIMS = ("record_id", "source", "kind", "deleted")
"""keys that a drop must not contain: its lines describe only its own files"""
DROP_KEYS = RECORD_KEYS - {*CLAIMS, "id", "delivery", "ready_at", "date_precision"} | {"name", "published"}
"""keys of a line in a drop"""
