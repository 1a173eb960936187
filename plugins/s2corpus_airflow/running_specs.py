"""Keep the DAG of a spec whose file was renamed, removed or made invalid during its run.

Airflow runs no task of a DAG that its DAG file no longer contains. The DAG processor reads specs and Airflow's variables, not the lake.
`intake.plan` therefore stores the spec in the variable `s2corpus_run__<spec>`. `run_listener` deletes it when the run has succeeded. The
variable only keeps the tasks: what they do depends on the record of the run in the lake. Such a DAG has no schedule.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator

from airflow.sdk import Variable

from s2corpus.spec import ReleaseSpec, ScheduleRules
from s2corpus_airflow.run_listener import SPEC

log = logging.getLogger(__name__)


def keep(spec: ReleaseSpec) -> None:
    """Store the spec of a run."""
    Variable.set(SPEC + spec.name, spec.model_dump_json(), "Spec of a planned run (docs/releases.md)")


def list_removed(existing: Collection[str], name: str | None) -> Iterator[ReleaseSpec]:
    """Yield the specs of planned runs that are not among the existing specs; `name` is the name of the current task's spec, if any."""
    if name in existing:
        return
    try:
        names = [key.removeprefix(SPEC) for key in Variable.keys(SPEC)] if name is None else [name]
    except ImportError:  # neither Airflow's DAG processor nor a task reads this DAG file
        return
    for missing in sorted(set(names) - set(existing)):
        try:
            spec = ReleaseSpec.model_validate_json(Variable.get(SPEC + missing, default=""), extra="ignore")
        except ValueError as error:  # an unplanned run, or a spec of another version
            log.warning(
                "%s%s is not a valid spec: restore %s.yaml to continue its run (%s)", SPEC, missing, missing, error
            )
            continue
        yield spec.model_copy(update={"schedule": ScheduleRules(cron=None)})
