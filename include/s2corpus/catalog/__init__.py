"""Catalog: run times, metrics, check results and approvals of releases.

It uses a separate PostgreSQL database, or any database that SQLAlchemy supports. The lake stores the corpus itself.
`corpus catalog upgrade` creates and migrates the tables; the schema's version is the name of its newest migration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Select, create_engine, delete, select, text, update
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
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
from s2corpus.errors import UserError
from s2corpus.secret_files import read_secret

if TYPE_CHECKING:
    from alembic.config import Config

Row = TypeVar("Row")
MAX_NAME = 128
"""Maximum length of a person's name."""
_MIGRATION_LOCK = 6_020_112
"""key of PostgreSQL's advisory lock during a migration"""
_CURRENT: set[str] = set()
"""URLs of the catalogs that this process has checked"""


class Catalog:
    """Catalog in the database at a URL."""

    def __init__(self, url: str) -> None:
        try:
            self._engine = create_engine(url, pool_pre_ping=True)
        except (ArgumentError, NoSuchModuleError, ImportError):  # ImportError: of another driver
            raise UserError(
                "S2CORPUS_CATALOG is not the URL of a database: expected postgresql+psycopg2://user:password@host/database "
                "or sqlite:////folder/catalog.db"
            ) from None
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)

    @staticmethod
    def from_environment() -> Catalog | None:
        """Return the catalog at the address `S2CORPUS_CATALOG`, or None if it is not set; stages also run without a catalog.

        Raises:
            UserError: the catalog has no tables, or tables of another schema version.
        """
        url = read_secret("S2CORPUS_CATALOG")
        if not url:
            return None
        catalog = Catalog(url)
        if url not in _CURRENT:
            catalog.check()
            _CURRENT.add(url)
        return catalog

    @property
    def address(self) -> str:
        """The URL without the password."""
        return self._engine.url.render_as_string(hide_password=True)

    def versions(self) -> tuple[str | None, str]:
        """Return the schema version of the database, or None without tables, and the version that this code needs."""
        from alembic.migration import MigrationContext
        from alembic.script import ScriptDirectory

        with self._engine.connect() as connection:
            stored = MigrationContext.configure(connection).get_current_revision()
        needed = ScriptDirectory.from_config(self._alembic_config()).get_current_head()
        return stored, str(needed)

    def check(self) -> None:
        """Check that the database has the schema that this code needs.

        Raises:
            UserError: the catalog has no tables, or tables of another schema version.
        """
        stored, needed = self.versions()
        if stored == needed:
            return
        if stored is None:
            raise UserError(f"the catalog {self.address} has no tables: run corpus catalog upgrade")
        if stored < needed:
            raise UserError(
                f"the catalog {self.address} has schema {stored}, this code needs {needed}: run corpus catalog upgrade"
            )
        raise UserError(
            f"the catalog {self.address} has schema {stored}, this code reads up to {needed}: "
            "install the version of s2corpus that upgraded it, or a later one"
        )

    def migrate(self) -> None:
        """Bring the database to the current schema (Alembic). One process migrates at a time; the others wait.

        Raises:
            UserError: newer code has upgraded the database.
        """
        from alembic import command

        stored, needed = self.versions()
        if stored is not None and stored > needed:
            self.check()
        config = self._alembic_config()
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @staticmethod
    def _alembic_config() -> Config:
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        return config

    def restore_release(self, release: Release, decisions: Sequence[Approval]) -> bool:
        """Add a release with its decisions; return False if the catalog already has the release."""
        with self._sessions.begin() as session:
            if session.get(Release, release.release) is not None:
                return False
            session.add(release)
            session.flush()
            session.add_all(decisions)
            return True

    def start_stage(self, release: str, spec: str, as_of: datetime, stage: str) -> None:
        """Record the start of a stage; overwrite the record of an earlier run."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            row = session.get(Release, release, with_for_update=True)
            row = row or Release(release=release, spec=spec, as_of=as_of, started_at=now)
            if row.state != ReleaseState.PUBLISHED:  # a repeated or failed run does not withdraw a publication
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
            if (row := session.get(Release, release)) and row.state != ReleaseState.PUBLISHED:
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
        """Record the final state of a release, or that it awaits approval. A published snapshot remains published."""
        with self._sessions.begin() as session:
            row = session.get(Release, release)
            if row and not (row.state == ReleaseState.PUBLISHED and row.snapshot == snapshot):
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
        """Store one person's marks of parses (wrong lines, unsure lines, number of missing lines) by item."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            for item, (wrong, unsure, missing) in sorted(marks.items()):
                key = {"release": release, "item": item, "marker": marker[:MAX_NAME]}
                session.merge(ParseMark(**key, wrong=list(wrong), unsure=list(unsure), missing=missing, at=now))

    def parse_marks(self, release: str) -> list[ParseMark]:
        """Return all marks of the parses of a release, sorted by item and marker."""
        return self._of(release, ParseMark, "item", "marker")
