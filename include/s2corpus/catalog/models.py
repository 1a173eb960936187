"""The catalog's tables."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, DateTime, ForeignKey, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from s2orc_parse.outcomes import Outcome, Word


class Base(DeclarativeBase):
    """All tables of the catalog."""


class ReleaseState(Outcome):
    """State of a release."""

    RUNNING = Word("running", "a stage runs, or the next stage waits")
    AWAITING = Word("awaiting", "its snapshot is complete and awaits approval")
    PUBLISHED = Word("published", "`latest.json` named its snapshot")
    REJECTED = Word("rejected", "a person rejected it, or the time for an answer ended")
    UNPUBLISHED = Word("unpublished", "its snapshot is complete, and publication was not requested")
    STOPPED = Word("stopped", "a check stopped it")
    FAILED = Word("failed", "a task failed")


class ReleaseDecision(StrEnum):
    """Decision of a person on a release."""

    APPROVED = "approved"
    REJECTED = "rejected"
    TIMED_OUT = "no answer"
    """no answer in time, which is a rejection"""
    INVALID_APPROVER = "refused"
    """approved by the person who started the run or delivered its input: another person must decide"""
    ACCEPTED = "accepted"
    """a failed check is overridden"""


class Release(Base):
    """A release: its spec, as_of, state and published snapshot."""

    __tablename__ = "releases"
    release: Mapped[str] = mapped_column(String(64), primary_key=True)
    spec: Mapped[str] = mapped_column(String(48), index=True)
    as_of: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    state: Mapped[str] = mapped_column(String(16))
    snapshot: Mapped[str | None] = mapped_column(String(96))
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class StageRun(Base):
    """Last run of a stage of a release."""

    __tablename__ = "stage_runs"
    release: Mapped[str] = mapped_column(ForeignKey("releases.release", ondelete="CASCADE"), primary_key=True)
    stage: Mapped[str] = mapped_column(String(32), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    error: Mapped[str | None] = mapped_column(Text)


class Metric(Base):
    """Metric of a stage (TABLES: metrics). Only SQL reads it (docs/monitoring.md)."""

    __tablename__ = "metrics"
    release: Mapped[str] = mapped_column(ForeignKey("releases.release", ondelete="CASCADE"), primary_key=True)
    stage: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    value: Mapped[float]


class CheckResult(Base):
    """Result of a check (TABLES: quality)."""

    __tablename__ = "quality"
    release: Mapped[str] = mapped_column(ForeignKey("releases.release", ondelete="CASCADE"), primary_key=True)
    stage: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column("check", String(128), primary_key=True)
    severity: Mapped[str] = mapped_column(String(8))
    verdict: Mapped[str] = mapped_column(String(8))
    offending: Mapped[int]
    threshold: Mapped[float | None]
    overridden_by: Mapped[str | None] = mapped_column(String(128))
    overridden_because: Mapped[str | None] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)


class Approval(Base):
    """Decision on a release: an approval, a rejection, or an overridden check."""

    __tablename__ = "approvals"
    id: Mapped[int] = mapped_column(primary_key=True)
    release: Mapped[str] = mapped_column(ForeignKey("releases.release", ondelete="CASCADE"), index=True)
    what: Mapped[str] = mapped_column(String(160))
    who: Mapped[str] = mapped_column(String(128))
    answer: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class EvaluationMark(Base):
    """One person's mark of an item of an evaluation (S2ORC §4).

    `title` and `authors` are null if the person could not decide. The table has no key to `releases`, so releases built without this
    catalog can be evaluated.
    """

    __tablename__ = "marks"
    release: Mapped[str] = mapped_column(String(64), primary_key=True)
    item: Mapped[str] = mapped_column(String(96), primary_key=True)
    marker: Mapped[str] = mapped_column(String(128), primary_key=True)
    title: Mapped[bool | None]
    authors: Mapped[bool | None]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ParseMark(Base):
    """One person's marks of all citations, or all bibliography entries, of a parse (SPEC §11.6)."""

    __tablename__ = "parse_marks"
    release: Mapped[str] = mapped_column(String(64), primary_key=True)
    item: Mapped[str] = mapped_column(String(96), primary_key=True)
    marker: Mapped[str] = mapped_column(String(128), primary_key=True)
    wrong: Mapped[list[int]] = mapped_column(JSON)
    """numbers of the wrong lines, from 1"""
    unsure: Mapped[list[int]] = mapped_column(JSON)
    missing: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
