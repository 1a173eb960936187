"""`python -m devtools sample`: papers with known truth, to try a release on."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._options import Command


@click.command(cls=Command, epilog="python -m devtools sample --out sample && corpus select sample/drops/*/*.pdf")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Output folder: new, empty, or an earlier sample.",
)
@click.option(
    "--papers", type=click.IntRange(1), default=66, show_default=True, help="Number of papers, including special cases."
)
@click.option("--seed", type=int, default=20200705, show_default=True, help="Seed of the random papers.")
@click.option("--tiny", is_flag=True, help="Generate eight papers only.")
def command(out: Path, papers: int, seed: int, tiny: bool) -> None:
    """Generate sample papers with known truth.

    Typeset the PDFs of a sample drop, write their metadata by source, and the truth (truth.json).
    """
    from devtools import sample

    truth = sample.tiny(out, seed=seed) if tiny else sample.generate(out, seed=seed, papers=papers)
    click.echo(f"{out}: {len(truth.pdfs)} PDFs, {len(truth.papers)} papers, for a release as of {truth.as_of}")
