"""Receipts of work: a stage is committed and published only if its work was done with the current rules and inputs (SPEC §10.19).

Otherwise a person could edit the spec, plan the run again, and mark the work of a stage as success: its tables would follow the
former rules, and the manifest would state the new rules. A receipt is an empty object `_worked/<stage>/<step>-<basis>`. The step is
the plan of a round or a shard. The basis is a hash of rules, code, commits of the tables that the stage reads, plan and overrides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run, load_stage
from s2corpus.pipeline.stage_rows import Shards
from s2corpus.pipeline.stages import stage_row
from s2corpus.version import code_version


def hash_basis(run: Run, stage: str, *, with_plan: bool = True) -> str:
    """Return the SHA-256 of everything that determines the output of a stage, or the first round of its plan."""
    digest = hashlib.sha256(f"{run.spec.digest} {code_version()} {run.as_of.isoformat()}".encode())
    row = stage_row(stage)
    inputs = [run.table(table).read_commit() for table in row.read_tables]
    if with_plan and row.shards is Shards.PLANNED:
        try:
            inputs.append(run.lake.get(run.plan_key(stage))[0])
        except FileNotFoundError:
            inputs.append(b"")
    if not row.writes:  # the last stage writes the snapshot; overrides are part of its id
        digest.update(run.snapshot_id.encode())
    for data in inputs:
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def name_plan(round: int) -> str:
    """Return the step that plans a round."""
    return f"plan-{round}"


def name_shard(round: int, shard: int) -> str:
    """Return the step that processes a shard in a round."""
    return f"{round}-{shard}"


def put_receipt(run: Run, stage: str, step: str, basis: str) -> None:
    """Record that a step was done on this basis."""
    run.lake.put(f"{_folder(run, stage)}{step}-{basis}", b"")


def withdraw_receipts(run: Run, stage: str, steps: Collection[str], basis: str) -> None:
    """Delete the receipts that steps have on another basis, before they are repeated on this one and perhaps killed."""
    for entry in run.lake.list(_folder(run, stage)):
        step, _, on = entry.key.rpartition("/")[2].rpartition("-")
        if step in steps and on != basis:
            run.lake.delete(entry.key)


def check_receipts(run: Run, stage: str) -> None:
    """Check that all rounds were planned and all their shards processed on the current basis.

    Raises:
        UserError: names the first step without a receipt, and the tasks to clear.
    """
    row, basis = stage_row(stage), hash_basis(run, stage)
    found = {entry.key.rpartition("/")[2] for entry in run.lake.list(_folder(run, stage))}
    for round in range(row.rounds):
        needed = {f"the plan of round {round + 1}": f"{name_plan(round)}-{basis}"}
        if row.shards is not Shards.PLANNED:
            needed, shards = {}, load_stage(stage).plan(run, round)
        else:
            if round == 0:
                needed = {"the plan": f"{name_plan(0)}-{hash_basis(run, stage, with_plan=False)}"}
            shards = run.read_plan(stage, round)
        for shard in shards:
            needed[f"shard {shard.index} of round {round + 1}"] = f"{name_shard(round, shard.index)}-{basis}"
        for what, receipt in needed.items():
            if receipt not in found:
                raise UserError(
                    f"{run.release_id}: {what} of {stage} was not processed with the current rules and inputs: clear all tasks of "
                    f"{stage}; marking a task as success does no work"
                )


def _folder(run: Run, stage: str) -> str:
    return f"{run.folder}/_worked/{stage}/"
