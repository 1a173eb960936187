"""`corpus preview`: show what other thresholds would change in a release."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from s2corpus.commands._options import FILE, lake_option, open_release, progress_bar, with_examples
from s2corpus.errors import UserError

_SHOWN = 20


def _read_assignments(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Return rule → value for `<rule>=<value>`.

    Raises:
        UserError: there is no `=`.
    """
    import yaml

    for text in given:
        if "=" not in text:
            raise UserError(f"--set {text}: expected <rule>=<value>, such as clean.min_log_prob=-22")
    return {rule: yaml.safe_load(value) for rule, _, value in (text.partition("=") for text in given)}


@with_examples(
    "corpus preview s2_v2 --set clean.min_log_prob=-22",
    "corpus preview s2_v2-20230201 --set filter.min_english=0.8 --set split.valid_until=2023-01-31 --out changes.jsonl",
)
@click.argument("release")
@click.option(
    "--set", "rules", multiple=True, required=True, callback=_read_assignments, help="<rule>=<value>; may repeat."
)
@click.option("--out", type=FILE, help="Write each change (JSONL).")
@lake_option()
def command(release: str, rules: dict[str, Any], out: Path | None, lake: str) -> None:
    """Show what other thresholds of filter, clean, split or link would change in a release, without building it.

    Each change names the paper, document, section or link that would come back, go or move. Later stages are not evaluated: a
    returning paper may still be dropped by clean. Nothing is written to the lake.
    """
    import tempfile
    from datetime import datetime

    import orjson

    from s2corpus.evaluation.preview import change_spec, preview
    from s2corpus.pipeline.run import Run
    from s2corpus.pipeline.sealed import read_record
    from s2corpus.spec import ReleaseSpec
    from s2orc_parse.outputs import open_atomic

    opened, id_ = open_release(lake, release)
    record = read_record(opened, id_)
    spec = ReleaseSpec.model_validate(record.spec, extra="ignore")
    changed = change_spec(spec, rules)
    with (
        tempfile.TemporaryDirectory(prefix="s2corpus-preview-") as scratch,
        progress_bar(str(id_), "buckets") as progress,
    ):
        run = Run(spec, datetime.fromisoformat(record.as_of), opened, Path(scratch))
        changes = list(preview(run, changed, progress))
    if out is not None:
        with open_atomic(out) as file:
            file.writelines(orjson.dumps(asdict(change), option=orjson.OPT_APPEND_NEWLINE) for change in changes)
    for (item, effect), n in sorted(Counter((change.item, change.effect) for change in changes).items()):
        words = sum(change.words or 0 for change in changes if (change.item, change.effect) == (item, effect))
        click.echo(f"{n:>8,} {item}{'' if n == 1 else 's'}: {effect}{f', {words:,} words' if words else ''}")
    if not changes:
        click.echo("nothing would change")
    for change in changes[:_SHOWN]:
        click.echo(f"{change.paper_id}  {change.item} {change.effect}: {change.before} → {change.after}")
    if len(changes) > _SHOWN:
        click.echo(f"… {len(changes) - _SHOWN:,} more{'' if out else ': --out FILE writes them'}")
