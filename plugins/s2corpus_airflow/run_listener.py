"""Actions of the scheduler when a run starts or ends.

- Start: compare the slots that its tasks need with those of their pools. A task that needs more than its pool has would wait forever,
  without an alert. Only the scheduler can read pools. It therefore stores the problem in the run's conf, and the first task fails with it.
- Success: delete the spec that `running_specs` stored for the run.
"""

from __future__ import annotations

from typing import Any

from airflow.listeners import hookimpl

PROBLEM = "pool_problem"
"""key of a run's conf"""
RELEASE = "corpus_release__"
_DAGS = (RELEASE, "pdf_drops")
SPEC = "s2corpus_run__"
"""prefix of the variable with the spec of a planned run"""


@hookimpl
def on_dag_run_running(dag_run: Any, msg: str) -> None:
    """Store the problem of the run's pools in its conf, or remove that of an earlier start."""
    if not dag_run.dag_id.startswith(_DAGS):
        return
    from airflow.models.pool import Pool
    from sqlalchemy import select
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    if session is None:
        return
    slots = {str(name): int(count) for name, count in session.execute(select(Pool.pool, Pool.slots))}
    needed = {(task.task_id, task.pool, task.pool_slots) for task in dag_run.dag.tasks}
    conf = {name: value for name, value in (dag_run.conf or {}).items() if name != PROBLEM}
    problem = next(filter(None, (_describe(*each, slots) for each in sorted(needed))), None)
    dag_run.conf = conf | ({PROBLEM: problem} if problem else {})


@hookimpl
def on_dag_run_success(dag_run: Any, msg: str) -> None:
    """Delete the spec of the run: if its file was removed, its DAG disappears."""
    from airflow.models.variable import Variable
    from sqlalchemy import delete
    from sqlalchemy.orm import object_session

    if dag_run.dag_id.startswith(RELEASE) and (session := object_session(dag_run)):
        session.execute(delete(Variable).where(Variable.key == SPEC + dag_run.dag_id.removeprefix(RELEASE)))


def _describe(task: str, pool: str, needed: int, slots: dict[str, int]) -> str | None:
    """Return the reason why a task can never start, or None. A pool with -1 slots is unlimited."""
    if pool not in slots:
        return f"{task} needs the pool {pool}, which does not exist: add it (airflow pools set), then clear this task"
    if 0 <= slots[pool] < needed:
        return (
            f"{task} needs {needed} slots, but the pool {pool} has {slots[pool]}, so it would wait forever: set resources.in_flight to "
            f"at most {slots[pool]}, or enlarge the pool (airflow pools set {pool} {needed} …), then clear this task"
        )
    return None
