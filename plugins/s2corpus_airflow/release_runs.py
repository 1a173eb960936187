"""Open the pipeline run of an Airflow run of a release. Each function takes the context of the current task."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG, ReleaseId
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus_airflow.connections import apply_connections


def open_current(context: Any) -> Any:
    """Return the run from the record that `intake.plan` wrote; no task reads the YAML file again."""
    from s2corpus.pipeline.sealed import open_run
    from s2corpus.storage.lake import lake_uri, open_lake
    from s2orc_parse.scratch import private

    apply_connections()
    release = ReleaseId.from_spec(_spec_name(context), _interval(context)[1])
    return open_run(open_lake(lake_uri()), release, context["run_id"], private())


def seal(context: Any) -> Any:
    """Write the record of the run: the spec as it is now, the interval, the parameters and the starter; return the run.

    Raises:
        UserError: the run has no interval, or the spec excludes it.
    """
    from s2corpus.pipeline import sealed
    from s2corpus.pipeline.run import Run

    spec = load_spec(releases_folder() / f"{_spec_name(context)}.yaml")
    start, end = _interval(context)
    sealed.check_interval(spec.schedule, start, end, datetime.now(UTC))
    apply_connections()
    return sealed.seal(
        Run.open(spec, end), name=context["run_id"], start=start, drops=context["params"]["drops"] or None,
        accepted=context["params"]["accept"] or {}, started_by=get_starter(context),
    )  # fmt: skip


def get_starter(context: Any) -> str | None:
    """Return the user who started the run or its backfill; None for a scheduled run."""
    return getattr(context["dag_run"], "triggering_user_name", None)


def _spec_name(context: Any) -> str:
    return str(context["dag"].dag_id.removeprefix(RELEASE_DAG))


def _interval(context: Any) -> tuple[datetime, datetime]:
    start, end = context.get("data_interval_start"), context.get("data_interval_end")
    if start is None or end is None:
        raise UserError("this run has no data interval: trigger it with one, or backfill the interval")
    return start, end
