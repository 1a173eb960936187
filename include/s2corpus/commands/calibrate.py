"""`corpus calibrate`: calibrate the threshold of wordfreq's word list."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._options import FILE, with_examples


@with_examples("corpus calibrate --in plos.jsonl --in elife.jsonl --unigrams unigram_freq.csv")
@click.option(
    "--in",
    "sources",
    multiple=True,
    required=True,
    type=FILE,
    help="Documents in the format of `corpus clean`; may be repeated.",
)
@click.option("--unigrams", required=True, help="Word list of the card: a path or URI.")
def command(sources: tuple[Path, ...], unigrams: str) -> None:
    """Calibrate the word-probability threshold of card-wordfreq.

    Find the mean log2 probability at which wordfreq's list drops the same share of sections as the card's list.
    Use articles like those of the corpus. docs/quality.md has an example.
    """
    from s2corpus.errors import UserError
    from s2corpus.storage.uris import fetch
    from s2corpus.text.files import read_documents, section_texts
    from s2corpus.text.unigrams import calibrate, parse_unigrams, wordfreq_unigrams
    from s2corpus_reader.layout import IMPROBABLE

    threshold = IMPROBABLE["card"]
    reference = parse_unigrams(unigrams, fetch(unigrams))
    texts = section_texts(document for source in sources for document in read_documents(source))
    if not texts:
        raise UserError(f"{', '.join(map(str, sources))}: no document has a section with paragraphs")
    result = calibrate(texts, reference, wordfreq_unigrams(), threshold)
    means = ", ".join(f"{mean:.2f}" for mean in result.own_quantiles)
    click.echo(
        f"sections            {result.sections:,}\n"
        f"dropped by the list {result.dropped:,} ({result.dropped / result.sections:.2%}) below {threshold:g}\n"
        f"dropped by wordfreq {result.dropped_at_threshold:,} below {result.threshold:g}, "
        f"{result.both:,} of which the list also drops\n"
        f"wordfreq's means    {means} (quantiles 1, 5, 50, 95, 99 %)\n"
        f"threshold           {result.threshold:g}"
    )
