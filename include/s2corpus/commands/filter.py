"""`corpus filter`: filter papers by the rules of S2ORC §2.5."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from s2corpus.commands._help import FILE, PATH, Command
from s2corpus.commands._outputs import format_counts


@click.command(cls=Command, epilog="corpus filter --papers papers.parquet --bodies bodies.jsonl --out filtered.parquet")
@click.option("--papers", required=True, type=PATH, help="Papers, Parquet: output of `corpus vote`.")
@click.option("--bodies", type=PATH, help="Body texts of the papers, JSON Lines {paper_id, text}.")
@click.option("--suppress", type=PATH, help="Papers to remove, JSON Lines {doi | sha1 | paper_id, reason}.")
@click.option("--out", required=True, type=FILE, help="Outcomes, .parquet or .jsonl.")
def command(papers: Path, bodies: Path | None, suppress: Path | None, out: Path) -> None:
    """Filter papers by the rules of S2ORC.

    The outcome of a paper is suppressed, no_title, no_authors, short_text, not_english or kept.
    """
    import orjson

    from s2corpus import spec
    from s2corpus.errors import UserError
    from s2corpus.papers.filter import decide
    from s2corpus.stages.filter import read_suppressions
    from s2corpus.storage.output_tables import check_table, write_rows
    from s2corpus.storage.parquet import read_parquet
    from s2corpus.tables.texts import FILTERED

    check_table(out)
    try:
        columns = ["paper_id", "title", "authors", "abstract", "doi", "canonical_pdf"]
        rows = read_parquet(papers, columns).to_pylist()
        listed = read_suppressions(suppress.read_bytes()) if suppress else set()
        lines = [orjson.loads(line) for line in bodies.read_bytes().splitlines()] if bodies else []
        text_of = {line["paper_id"]: line["text"] for line in lines}
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise UserError(
            f"{papers}: expected papers as `corpus vote` writes them, bodies as {{paper_id, text}}: {error}"
        ) from None
    rules = spec.FilterRules()
    outcomes = []
    for paper in rows:
        decision = decide(
            [name for name in (paper["paper_id"], paper["doi"], paper["canonical_pdf"]) if name],
            listed,
            rules,
            title=paper["title"],
            author_count=len(paper["authors"] or ()),
            text="\n".join(part for part in (paper["abstract"], text_of.get(paper["paper_id"])) if part),
        )
        outcomes.append({"paper_id": paper["paper_id"], **asdict(decision)})
    write_rows(out, FILTERED, outcomes)
    counts = Counter(str(row["outcome"]) for row in outcomes)
    click.echo(f"{len(outcomes)} papers: {format_counts(counts)}", err=True)
