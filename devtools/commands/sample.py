"""`python -m devtools sample`: papers with known truth, to try a release on."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._options import Command


@click.command(cls=Command, epilog="python -m devtools sample --out sample && corpus select sample/drops/*/*.pdf")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Output folder: new, empty, or an earlier sample.",
)  # fmt: skip
@click.option("--tiny", is_flag=True, help="Generate eight papers only.")
def command(out: Path, tiny: bool) -> None:
    """Generate sample papers with known truth.

    Typeset the PDFs of a sample drop, write their metadata by source, and the truth (truth.json).
    """
    from devtools import sample

    truth = sample.tiny(out) if tiny else sample.generate(out)
    click.echo(f"{out}: {len(truth.pdfs)} PDFs, {len(truth.papers)} papers, for a release as of {truth.as_of}")
