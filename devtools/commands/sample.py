"""`python -m devtools sample`: papers with known truth, to try a release on."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="Example: python -m devtools sample --out sample && corpus select sample/drops/*/*.pdf",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write; new, empty or a sample.",
)
@click.option(
    "--papers",
    type=click.IntRange(1),
    default=66,
    show_default=True,
    help="PDFs that are papers, special cases included.",
)
@click.option("--seed", type=int, default=20200705, show_default=True, help="Another seed, other papers.")
@click.option("--tiny", is_flag=True, help="Eight papers instead.")
def command(out: Path, papers: int, seed: int, tiny: bool) -> None:
    """Typeset a sample drop: PDFs, what metadata sources say about them, and the truth (truth.json)."""
    from devtools import sample

    truth = sample.tiny(out, seed=seed) if tiny else sample.generate(out, seed=seed, papers=papers)
    click.echo(f"{out}: {len(truth.pdfs)} PDFs, {len(truth.papers)} papers, for a release as of {truth.as_of}")
