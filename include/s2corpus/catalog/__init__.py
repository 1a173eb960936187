"""Catalog: run times, metrics, check results and approvals of releases.

It uses a separate PostgreSQL database, or any database that SQLAlchemy supports. The lake stores the corpus itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, delete, select, update
from sqlalchemy.orm import Session

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

LONGEST = 128
"""maximum length of a person's name"""


class Catalog:
    """Catalog in the database at a URL."""

    def __init__(self, url: str) -> None:
        self._engine: Engine = create_engine(url, pool_pre_ping=True)

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

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with Session(self._engine) as session, session.begin():
            yield session

    def start_stage(self, release: str, spec: str, as_of: datetime, stage: str) -> None:
        """Record the start of a stage; overwrite the record of an earlier run."""
        now = datetime.now(UTC)
        with self._session() as session:
            found = session.get(Release, release, with_for_update=True) or Release(
                release=release, spec=spec, as_of=as_of, started_at=now
            )
            found.state, found.ended_at = ReleaseState.RUNNING, None
            if stage == "intake":
                found.started_at = now
            session.add(found)
            session.flush()
            session.merge(
                StageRun(release=release, stage=stage, started_at=now, ended_at=None, failed_at=None, error=None)
            )

    def fail_stage(self, release: str, stage: str, state: ReleaseState, error: str) -> bool:
        """Record the failure of a stage and the state of its release; return whether this is the first failure of this run."""
        now = datetime.now(UTC)
        with self._session() as session:
            if found := session.get(Release, release):
                found.state, found.ended_at = state, now
            of_stage = (StageRun.release == release, StageRun.stage == stage)
            if session.scalar(select(StageRun).where(*of_stage)) is None:
                return True
            first = session.execute(
                update(StageRun).where(*of_stage, StageRun.failed_at.is_(None)).values(failed_at=now, error=error)
            )
            return bool(first.rowcount)  # type: ignore[attr-defined]

    def end_stage(
        self, release: str, stage: str, metrics: Mapping[str, float], verdicts: Sequence[Mapping[str, Any]]
    ) -> None:
        """Record the end of a stage, with its metrics and check results."""
        with self._session() as session:
            if run := session.get(StageRun, (release, stage)):
                run.ended_at = datetime.now(UTC)
            for model in (Metric, CheckResult):
                session.execute(delete(model).where(model.release == release, model.stage == stage))
            session.add_all(Metric(release=release, stage=stage, name=n, value=v) for n, v in sorted(metrics.items()))
            session.add_all(
                CheckResult(
                    release=release,
                    stage=stage,
                    name=v["check"],
                    severity=v["severity"],
                    verdict=v["verdict"],
                    offending=v["offending"],
                    threshold=v["threshold"],
                    reason=v["reason"],
                    overridden_by=v["accepted_by"] and v["accepted_by"][:LONGEST],
                    overridden_because=v["accepted"],
                )
                for v in verdicts
            )

    def end_release(self, release: str, state: ReleaseState, snapshot: str | None) -> None:
        """Record the final state of a release, or that it awaits approval."""
        with self._session() as session:
            if found := session.get(Release, release):
                found.state, found.snapshot = state, snapshot
                found.ended_at = None if state is ReleaseState.AWAITING else datetime.now(UTC)

    def approve(self, release: str, what: str, who: str, answer: ReleaseDecision, reason: str, at: datetime) -> None:
        """Record a person's decision on the publication of a release, or on a check (`what`).

        Repeated decisions and unknown releases are ignored.
        """
        said = {"release": release, "what": what, "who": who[:LONGEST], "answer": answer, "reason": reason, "at": at}
        with self._session() as session:
            known = session.scalar(select(Approval).filter_by(**said)) is not None
            if not known and session.get(Release, release) is not None:
                session.add(Approval(**said))

    def release(self, release: str) -> Release | None:
        """Return a release, or None if this catalog has no record of it."""
        with Session(self._engine, expire_on_commit=False) as session:
            return session.get(Release, release)

    def approvals(self, release: str) -> list[Approval]:
        """Return the decisions on a release, in order."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(
                session.scalars(select(Approval).where(Approval.release == release).order_by(Approval.at, Approval.id))
            )

    def releases(self) -> list[Release]:
        """Return all releases, the latest as_of first."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(session.scalars(select(Release).order_by(Release.as_of.desc(), Release.release)))

    def stages(self, release: str) -> list[StageRun]:
        """Return the stages of a release in the order of their start."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(
                session.scalars(select(StageRun).where(StageRun.release == release).order_by(StageRun.started_at))
            )

    def quality(self, release: str) -> list[CheckResult]:
        """Return the check results of a release."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(
                session.scalars(
                    select(CheckResult)
                    .where(CheckResult.release == release)
                    .order_by(CheckResult.stage, CheckResult.name)
                )
            )

    def mark(self, release: str, marker: str, marks: Mapping[str, tuple[bool | None, bool | None]]) -> None:
        """Store one person's marks (title, authors) by item; a later mark replaces an earlier one."""
        now = datetime.now(UTC)
        with self._session() as session:
            for item, (title, authors) in sorted(marks.items()):
                said = {"release": release, "item": item, "marker": marker[:LONGEST]}
                session.merge(EvaluationMark(**said, title=title, authors=authors, at=now))

    def marks(self, release: str) -> list[EvaluationMark]:
        """Return all marks of a release, sorted by item and marker."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(
                session.scalars(
                    select(EvaluationMark)
                    .where(EvaluationMark.release == release)
                    .order_by(EvaluationMark.item, EvaluationMark.marker)
                )
            )

    def mark_parses(
        self, release: str, marker: str, marks: Mapping[str, tuple[Sequence[int], Sequence[int], int]]
    ) -> None:
        """Store one person's marks of parses (wrong lines, unsure lines, number of missing ones) by item."""
        now = datetime.now(UTC)
        with self._session() as session:
            for item, (wrong, unsure, missing) in sorted(marks.items()):
                said = {"release": release, "item": item, "marker": marker[:LONGEST]}
                session.merge(ParseMark(**said, wrong=list(wrong), unsure=list(unsure), missing=missing, at=now))

    def parse_marks(self, release: str) -> list[ParseMark]:
        """Return all marks of the parses of a release, sorted by item and marker."""
        with Session(self._engine, expire_on_commit=False) as session:
            return list(
                session.scalars(
                    select(ParseMark).where(ParseMark.release == release).order_by(ParseMark.item, ParseMark.marker)
                )
            )
