"""`corpus clean`: clean documents in files by the rules of the S2 V2 card."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from s2corpus.commands._options import FILE, with_examples
from s2corpus.errors import UserError

if TYPE_CHECKING:
    from s2corpus.spec import ReleaseSpec
    from s2corpus.text.documents import Set
    from s2corpus.text.unigrams import Unigrams


@with_examples(
    "corpus clean --in docs.jsonl --set s2orc --out kept.jsonl --dropped dropped.jsonl",
    "corpus clean --in docs.jsonl --set s2ag --profile card --unigrams unigram_freq.csv --out kept.jsonl",
)
@click.option("--in", "source", required=True, type=FILE, help="Documents: .jsonl, .jsonl.gz or .parquet.")
@click.option(
    "--set", "set_", required=True, type=click.Choice(["s2orc", "s2ag"]), help="Full texts, or titles and abstracts."
)
@click.option(
    "--profile",
    type=click.Choice(["card", "card-wordfreq", "recipe-2024"]),
    help="Cleaning profile.  [default: the spec's, or card-wordfreq]",
)
@click.option("--unigrams", help="Word list of card and recipe-2024: CSV word,count or word TAB count; a path or URI.")
@click.option("--spec", "spec_file", type=FILE, help="Release spec that gives thresholds and split.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), help="Reference day of a rolling split (UTC).")
@click.option(
    "--out", required=True, type=FILE, help="Write the kept documents: lines of a snapshot, with their split."
)
@click.option("--dropped", type=FILE, help="Write the dropped documents with id, reason and measured values.")
def command(
    source: Path,
    set_: Set,
    profile: str | None,
    unigrams: str | None,
    spec_file: Path | None,
    as_of: datetime | None,
    out: Path,
    dropped: Path | None,
) -> None:
    """Clean documents and drop unsuitable ones.

    A document has id, title, abstract, date (ISO) or year, and body; sha1, sources and open_access are optional. The body
    is a list of {section, text}: section is null, a heading, or a path of headings joined by "::". Each dropped document has
    its first reason. A value that the decision did not need is null.
    """
    from s2corpus.text.files import clean_file, format_outcomes

    spec = _spec(spec_file, profile, unigrams)
    word_list = _load_word_list(spec, is_checked=unigrams is None)
    outcomes = clean_file(source, set_, spec.clean, spec.split, word_list, out, dropped, as_of)
    click.echo(format_outcomes(outcomes), err=True)


def _spec(spec_file: Path | None, profile: str | None, unigrams: str | None) -> ReleaseSpec:
    """Return the given or default spec, changed by the options."""
    from s2corpus.spec import CleanRules, ReleaseSpec, SplitRules, UnigramRules, load_spec
    from s2corpus.text.recipe import CUTOFF

    spec = load_spec(spec_file) if spec_file else ReleaseSpec(name="files")
    profile = profile or spec.clean.profile
    word_list = UnigramRules(uri=unigrams, sha256="0" * 64) if unigrams else spec.clean.unigrams
    if profile == "card-wordfreq" and unigrams:
        raise UserError(
            "--unigrams was given, but card-wordfreq has its own list: choose --profile card or recipe-2024"
        )
    if profile != "card-wordfreq" and word_list is None:
        raise UserError(f"profile {profile} needs --unigrams FILE, the card's word list; without one use card-wordfreq")
    values = {**spec.clean.model_dump(), "profile": profile}
    clean = CleanRules.model_validate({**values, "unigrams": word_list if profile != "card-wordfreq" else None})
    split = spec.split
    if profile == "recipe-2024" and not spec_file:
        split = SplitRules(train_before=CUTOFF, valid_until=CUTOFF)
    return spec.model_copy(update={"clean": clean, "split": split})


def _load_word_list(spec: ReleaseSpec, *, is_checked: bool) -> Unigrams:
    """Load the word list of the profile. With `is_checked`, its SHA-256 must be that of the spec."""
    from s2corpus.storage.uris import fetch
    from s2corpus.text.unigrams import parse_unigrams, wordfreq_unigrams

    if spec.clean.unigrams is None:
        return wordfreq_unigrams()
    uri = spec.clean.unigrams.uri
    return parse_unigrams(uri, fetch(uri), spec.clean.unigrams.sha256 if is_checked else None)
