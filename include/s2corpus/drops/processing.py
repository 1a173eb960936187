"""Process new drops before any release: register them, then run select, extract and postprocess on their files.

The results are stored by content (`registered/`, `stored_*`) and reused by releases. A release does not read a processed drop again
and sends no PDF again. The steps are `list_pending` → `register` → `gather` → `batches.process_batch` → `settle`. They depend only on the
lake, and each may run twice. The DAG `pdf_drops` maps them over its tasks; `process` runs all of them in this process.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from s2corpus.deliveries import registration
from s2corpus.deliveries.files import delivered_files, group_by_content
from s2corpus.deliveries.ready import Delivery, Refused, UnexpectedReadError, convert_content_errors, read_ready
from s2corpus.deliveries.status import (
    Arrival,
    ArrivalState,
    ArrivalStatus,
    Watch,
    hash_ready_file,
    list_open,
    put_row,
    read_status,
    read_statuses,
)
from s2corpus.drops import batches
from s2corpus.errors import UnreadableObject, UserError
from s2corpus.outcomes import Refusal
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake

log = logging.getLogger(__name__)
_THREADS = 8


def list_pending(lake: Lake, selected_by: Sequence[ReleaseSpec] | None = None) -> list[Arrival]:
    """Return all announced arrivals that no run has finished.

    If some spec is invalid, pass the valid specs as `selected_by`: other arrivals wait, because the invalid spec may select them.
    """
    selected = [a for a in list_open(lake) if selected_by is None or _specs_selecting(a, selected_by)]
    return list({arrival.folder: arrival for arrival in selected}.values())  # `register` reads the current `_READY`.


def register(lake: Lake, arrival: Arrival, specs: Sequence[ReleaseSpec]) -> ArrivalStatus | None:
    """Verify an arrival against its `_READY` and store its contents; return its row, or None if its `_READY` no longer exists.

    Errors of the arrival itself are stored in the row and not raised, so that other arrivals continue.

    Raises:
        TransientError: the lake does not respond.
    """
    mark = hash_ready_file(lake, arrival.folder)
    if mark is None:
        return None
    arrival = replace(arrival, mark=mark)  # `_READY` may have changed since the announcement.
    before = read_status(lake, arrival)
    if before is not None and not before.is_open:
        return before
    row = ArrivalStatus(arrival.folder, mark, ArrivalState.REGISTERED, tries=before.tries if before else 0)
    kind, source, id_ = arrival.identity
    try:
        with convert_content_errors(row.name):
            if not _specs_selecting(arrival, specs):
                row = replace(row, state=ArrivalState.NOT_SELECTED, detail="no release spec selects it")
            elif delivery := read_ready(lake, kind, source, id_):
                row = replace(row, ready_at=delivery.ready_at, key=delivery.digest, files=delivery.files)
                facts = registration.register(lake, delivery)
                row = replace(row, rows=facts.rows, dropped=facts.dropped, pdfs=facts.pdfs, warnings=facts.warnings)
                if kind == "delivery":
                    row = replace(row, state=ArrivalState.PROCESSED)
    except (UnexpectedReadError, UserError) as error:
        log.exception("%s cannot be registered", row.name)
        is_unreadable = isinstance(error, UnreadableObject)
        state = ArrivalState.UNREADABLE_OBJECT if is_unreadable else ArrivalState.FAILED
        detail = (
            error.detail if isinstance(error, UnexpectedReadError) else str(error)[: None if is_unreadable else 300]
        )
        row = replace(row, state=state, detail=detail, tries=row.tries + 1)
    except Refused as refused:
        row = replace(row, state=ArrivalState.REFUSED, refusal=refused.refusal, detail=refused.detail)
    put_row(lake, row)
    log.log(logging.WARNING if row.detail or row.warnings else logging.INFO, "%s", row)
    return row


def register_all(lake: Lake, arrivals: Iterable[Arrival], specs: Sequence[ReleaseSpec]) -> list[ArrivalStatus]:
    """Register arrivals in parallel and return their rows; skip arrivals without `_READY`."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return [row for row in pool.map(lambda arrival: register(lake, arrival, specs), arrivals) if row]


def gather(
    lake: Lake, arrivals: Iterable[Arrival], specs: Sequence[ReleaseSpec], scratch: Path | None = None
) -> list[str]:
    """Write the files of registered drops to the lake as batches and return the ids of the batches.

    Drops are processed once for each distinct set of rules of the specs that select them.
    """
    drops = sorted(read_statuses(lake, arrivals), key=lambda row: row.folder)
    ids: list[str] = []
    for rules, spec in batches.group_by_rules(specs).items():
        selected = [
            _delivery(row)
            for row in drops
            if row.state == ArrivalState.REGISTERED
            and rules in map(batches.digest, _specs_selecting(Arrival(row.folder, row.mark), specs))
        ]
        if selected:
            run = batches.run_of(lake, spec, scratch)
            files = group_by_content(run, delivered_files(run, selected))
            ids += [batch.id for batch in batches.write_batches(run, *files)]
    return ids


def list_releases_to_start(
    rows: Iterable[ArrivalStatus], specs: Sequence[ReleaseSpec], now: datetime
) -> list[tuple[str, datetime]]:
    """Return the releases that processed drops and deliveries start: (spec, as_of), for specs with `schedule.on_drop`.

    A release contains the files that were ready before its `as_of`: the second after the latest `ready_at`. The same drops always start the
    same release. An arrival with a `ready_at` in the future starts no release: only later releases contain it.
    """
    releases = []
    past = [row for row in rows if row.ready_at and datetime.fromisoformat(row.ready_at) <= now]
    for spec in specs:
        ready = [
            datetime.fromisoformat(row.ready_at)
            for row in past
            if row.ready_at
            and row.state is ArrivalState.PROCESSED
            and _specs_selecting(Arrival(row.folder, row.mark), [spec])
        ]
        if spec.schedule.on_drop and ready:
            releases.append((spec.name, max(ready).astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)))
    return releases


def settle(
    lake: Lake, arrivals: Iterable[Arrival], ids: Iterable[str], specs: Sequence[ReleaseSpec]
) -> list[ArrivalStatus]:
    """Write the results of the batches to the rows of the arrivals and return the rows.

    A drop with a file in an unfinished batch remains registered; the next run retries it.
    """
    unfinished: set[str] = set()
    results: list[batches.BatchResult] = []
    for id_ in ids:
        batch = batches.read_batch(lake, id_, specs, None)
        if (batch_result := batches.read_result(batch)) is None:
            unfinished |= set(batch.drops)
        else:
            results.append(batch_result)
    result = batches.merge_results(results)

    def settle_row(row: ArrivalStatus) -> ArrivalStatus:
        if row.state == ArrivalState.REGISTERED and row.folder not in unfinished:
            state, detail = result.stopped.get(row.folder, (ArrivalState.PROCESSED, None))
            counts = result.outcomes.get(row.folder, {})
            row = replace(row, state=state, detail=detail, outcomes=counts, tries=row.tries + 1)
            if state == ArrivalState.REFUSED:
                registration.forget(lake, _delivery(row))  # Otherwise a release would stop at the changed file.
                row = replace(row, refusal=Refusal.CHANGED)
            put_row(lake, row)
        log.log(logging.INFO if row.state == ArrivalState.PROCESSED else logging.WARNING, "%s", row)
        return row

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(settle_row, read_statuses(lake, arrivals)))


def process(lake: Lake, specs: Sequence[ReleaseSpec], scratch: Path | None = None) -> list[ArrivalStatus]:
    """Process new and unfinished arrivals in this process; return their rows.

    Raises:
        TransientError: the lake or the extractor does not respond; finished work is stored.
    """
    Watch(lake).poll()
    rows = register_all(lake, list_pending(lake), specs)
    arrivals = [Arrival(row.folder, row.mark) for row in rows]
    ids = gather(lake, arrivals, specs, scratch)
    for id_ in ids:
        batches.process_batch(batches.read_batch(lake, id_, specs, scratch), last=True)
    return settle(lake, arrivals, ids, specs)


def _delivery(row: ArrivalStatus) -> Delivery:
    """Return the drop of a row as it was registered, regardless of its current `_READY`."""
    _, _, id_ = Arrival(row.folder, row.mark).identity
    return Delivery("drop", "", id_, str(row.ready_at), "delta", str(row.key), row.files)


def _specs_selecting(arrival: Arrival, specs: Sequence[ReleaseSpec]) -> list[ReleaseSpec]:
    """Return the specs that select a drop or delivery."""
    return [spec for spec in specs if spec.selects(*arrival.identity)]
