"""Catalog: run times, metrics, check results and approvals of releases.

It uses a separate PostgreSQL database, or any database that SQLAlchemy supports. The lake stores the corpus itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Select, create_engine, delete, select, update
from sqlalchemy.orm import sessionmaker

from s2corpus.catalog.models import (
    Approval,
    CheckResult,
    EvaluationMark,
    Metric,
    ParseMark,
    Release,
    ReleaseDecision,
    ReleaseState,
    StageRun,
)

Row = TypeVar("Row")
MAX_NAME = 128
"""Maximum length of a person's name."""


class Catalog:
    """Catalog in the database at a URL."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, pool_pre_ping=True)
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)

    @staticmethod
    def from_environment() -> Catalog | None:
        """Return the catalog at `S2CORPUS_CATALOG`, or None if it is not set; stages also run without a catalog."""
        url = os.environ.get("S2CORPUS_CATALOG")
        return Catalog(url) if url else None

    def migrate(self) -> None:
        """Bring the database to the current schema (Alembic)."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self._engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def start_stage(self, release: str, spec: str, as_of: datetime, stage: str) -> None:
        """Record the start of a stage; overwrite the record of an earlier run."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            row = session.get(Release, release, with_for_update=True)
            row = row or Release(release=release, spec=spec, as_of=as_of, started_at=now)
            row.state, row.ended_at = ReleaseState.RUNNING, None
            if stage == "intake":
                row.started_at = now
            session.add(row)
            session.flush()
            session.merge(
                StageRun(release=release, stage=stage, started_at=now, ended_at=None, failed_at=None, error=None)
            )

    def fail_stage(self, release: str, stage: str, state: ReleaseState, error: str) -> bool:
        """Record the failure of a stage and the state of its release; return whether this is the first failure of this run."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            if row := session.get(Release, release):
                row.state, row.ended_at = state, now
            is_stage = (StageRun.release == release, StageRun.stage == stage)
            if session.scalar(select(StageRun).where(*is_stage)) is None:
                return True
            first = session.execute(
                update(StageRun).where(*is_stage, StageRun.failed_at.is_(None)).values(failed_at=now, error=error)
            )
            return bool(first.rowcount)  # type: ignore[attr-defined]

    def end_stage(
        self, release: str, stage: str, metrics: Mapping[str, float], verdicts: Sequence[Mapping[str, Any]]
    ) -> None:
        """Record the end of a stage, with its metrics and check results."""
        with self._sessions.begin() as session:
            if run := session.get(StageRun, (release, stage)):
                run.ended_at = datetime.now(UTC)
            for model in (Metric, CheckResult):
                session.execute(delete(model).where(model.release == release, model.stage == stage))
            session.add_all(
                Metric(release=release, stage=stage, name=name, value=value) for name, value in sorted(metrics.items())
            )
            copied = ("severity", "verdict", "offending", "threshold", "reason")
            session.add_all(
                CheckResult(
                    release=release,
                    stage=stage,
                    name=verdict["check"],
                    overridden_by=verdict["accepted_by"] and verdict["accepted_by"][:MAX_NAME],
                    overridden_because=verdict["accepted"],
                    **{column: verdict[column] for column in copied},
                )
                for verdict in verdicts
            )

    def set_release_state(self, release: str, state: ReleaseState, snapshot: str | None) -> None:
        """Record the final state of a release, or that it awaits approval."""
        with self._sessions.begin() as session:
            if row := session.get(Release, release):
                row.state, row.snapshot = state, snapshot
                row.ended_at = None if state is ReleaseState.AWAITING else datetime.now(UTC)

    def record_decision(
        self, release: str, what: str, who: str, answer: ReleaseDecision, reason: str, at: datetime
    ) -> None:
        """Record a person's decision on the publication of a release, or on a check (`what`).

        Repeated decisions and unknown releases are ignored.
        """
        row = {"release": release, "what": what, "who": who[:MAX_NAME], "answer": answer, "reason": reason, "at": at}
        with self._sessions.begin() as session:
            is_stored = session.scalar(select(Approval).filter_by(**row)) is not None
            if not is_stored and session.get(Release, release) is not None:
                session.add(Approval(**row))

    def _all(self, query: Select[Row]) -> list[Row]:
        with self._sessions() as session:
            return list(session.scalars(query))

    def _of(self, release: str, table: type[Row], *order: str) -> list[Row]:
        """Return the rows of a release in a table, sorted by columns."""
        return self._all(select(table).filter_by(release=release).order_by(*(getattr(table, name) for name in order)))

    def release(self, release: str) -> Release | None:
        """Return a release, or None if this catalog has no record of it."""
        with self._sessions() as session:
            return session.get(Release, release)

    def approvals(self, release: str) -> list[Approval]:
        """Return the decisions on a release, in order."""
        return self._of(release, Approval, "at", "id")

    def releases(self) -> list[Release]:
        """Return all releases, the latest as_of first."""
        return self._all(select(Release).order_by(Release.as_of.desc(), Release.release))

    def stages(self, release: str) -> list[StageRun]:
        """Return the stages of a release in the order of their start."""
        return self._of(release, StageRun, "started_at")

    def quality(self, release: str) -> list[CheckResult]:
        """Return the check results of a release."""
        return self._of(release, CheckResult, "stage", "name")

    def mark(self, release: str, marker: str, marks: Mapping[str, tuple[bool | None, bool | None]]) -> None:
        """Store one person's marks (title, authors) by item; a later mark replaces an earlier one."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            for item, (title, authors) in sorted(marks.items()):
                key = {"release": release, "item": item, "marker": marker[:MAX_NAME]}
                session.merge(EvaluationMark(**key, title=title, authors=authors, at=now))

    def marks(self, release: str) -> list[EvaluationMark]:
        """Return all marks of a release, sorted by item and marker."""
        return self._of(release, EvaluationMark, "item", "marker")

    def mark_parses(
        self, release: str, marker: str, marks: Mapping[str, tuple[Sequence[int], Sequence[int], int]]
    ) -> None:
        """Store one person's marks of parses (wrong lines, unsure lines, number of missing ones) by item."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            for item, (wrong, unsure, missing) in sorted(marks.items()):
                key = {"release": release, "item": item, "marker": marker[:MAX_NAME]}
                session.merge(ParseMark(**key, wrong=list(wrong), unsure=list(unsure), missing=missing, at=now))

    def parse_marks(self, release: str) -> list[ParseMark]:
        """Return all marks of the parses of a release, sorted by item and marker."""
        return self._of(release, ParseMark, "item", "marker")
