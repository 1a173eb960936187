"""`corpus clean`: clean documents in files by the rules of the S2 V2 card."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from s2corpus.commands._options import FILE, with_examples

if TYPE_CHECKING:
    from s2corpus.text.documents import Set


@with_examples(
    "corpus clean --in docs.jsonl --set s2orc --out kept.jsonl --dropped dropped.jsonl",
    "corpus clean --in docs.jsonl --set s2ag --spec own.yaml --out kept.jsonl",
)
@click.option("--in", "source", required=True, type=FILE, help="Documents: .jsonl, .jsonl.gz or .parquet.")
@click.option(
    "--set", "set_", required=True, type=click.Choice(["s2orc", "s2ag"]), help="Full texts, or titles and abstracts."
)
@click.option(
    "--spec",
    "spec_file",
    type=FILE,
    help="Release spec that gives profile, word list, thresholds and split (`clean`, `split`).",
)
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), help="Reference day of a rolling split (UTC).")
@click.option(
    "--out", required=True, type=FILE, help="Write the kept documents: lines of a snapshot, with their split."
)
@click.option("--dropped", type=FILE, help="Write the dropped documents with id, reason and measured values.")
def command(
    source: Path,
    set_: Set,
    spec_file: Path | None,
    as_of: datetime | None,
    out: Path,
    dropped: Path | None,
) -> None:
    """Clean documents, and drop unsuitable documents.

    A document has id, title, abstract, date (ISO) or year, and body; sha1, sources and open_access are optional. The body
    is a list of {section, text}: section is null, a heading, or a path of headings joined by "::". Each dropped document has
    its first reason. A value that the decision did not need is null.
    """
    from s2corpus.spec import ReleaseSpec
    from s2corpus.spec_files import load_spec
    from s2corpus.storage.uris import fetch
    from s2corpus.text.files import clean_file, format_outcomes
    from s2corpus.text.unigrams import parse_unigrams, wordfreq_unigrams

    spec = load_spec(spec_file) if spec_file else ReleaseSpec(name="files")
    words = spec.clean.unigrams
    word_list = parse_unigrams(words.uri, fetch(words.uri), words.sha256) if words else wordfreq_unigrams()
    outcomes = clean_file(source, set_, spec.clean, spec.split, word_list, out, dropped, as_of)
    click.echo(format_outcomes(outcomes), err=True)
