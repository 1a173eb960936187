"""Add the noise of printing and PDF parsing to a reference string."""

from __future__ import annotations

import random
import re

from pdf2tei.references.crf import TokenLabel

from .marks import SURNAME_ENDS, mark
from .render import WORDS


def roughen(string: str, rng: random.Random) -> str:
    """Return a marked string with noise.

    The noise: labels before it, identifiers after it, broken words, lost or added spaces, other quotes and capitals.
    """
    string = re.sub(r"^\s*(?:\[\d+\]|\(\d+\)|\d+\.?)\s*", "", string)
    if rng.random() < 0.12:
        string = rng.choice(["[{}] ", "{}. ", "({}) ", "{} ", "[{} ]", "{}."]).format(rng.randint(1, 99)) + string
    string = _quotes(string, rng)
    if rng.random() < 0.3:
        string = string.replace("–", "-")
    if rng.random() < 0.18:
        string = f"{string.rstrip()} {_tail(rng)}"
    if rng.random() < 0.05:
        string += " " + mark(TokenLabel.NOTE, rng.choice(WORDS["notes"]))
    if rng.random() < 0.05:
        string = re.sub(rf"(?<=[^\W\d_])[^\W\d_]+(?=[{SURNAME_ENDS}])", lambda m: m.group().upper(), string)
    if rng.random() < 0.06:
        string = re.sub(r"(?<=[.,;:)]) (?=\w)", lambda m: "" if rng.random() < 0.4 else " ", string)
    if rng.random() < 0.06:
        string = re.sub(r"(?=[.,;:)])", lambda m: " " if rng.random() < 0.3 else "", string)
    if rng.random() < 0.05:
        string = re.sub(r"(?<=\w) (?=\w)", lambda m: "" if rng.random() < 0.15 else " ", string)
    if rng.random() < 0.08:
        string = re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", lambda m: "- " if rng.random() < 0.02 else "", string)
    return string


def _quotes(string: str, rng: random.Random) -> str:
    left, right = rng.choice(
        [("“", "”")] * 5 + [('"', '"'), ('"', '"'), ("‘", "’"), ("'", "'"), ("‘‘", "’’"), ("«", "»"), ("", "")]
    )
    return string.replace("“", left).replace("”", right)


def _tail(rng: random.Random) -> str:
    """Return an identifier or address that follows a reference."""
    values = {"a": rng.randint(10, 999), "b": rng.randint(1000, 99999), "c": rng.randint(1, 9), "d": rng.randint(1, 60)}
    doi = rng.choice(WORDS["dois"]).format(
        **values, y=rng.randint(1995, 2022), w=rng.choice(["jmlr", "cell", "eswa", "neuro", "bioinformatics", "tia"])
    )
    kind = rng.random()
    if kind < 0.45:
        prefix = rng.choice(["doi:", "doi: ", "DOI:", "DOI: ", "doi :", "DOI=", "DOI "])
        return mark(TokenLabel.IDNO, prefix + doi) + rng.choice([".", ""])
    if kind < 0.65:
        before = rng.choice(["", "", "URL ", "[DOI: "])
        url = mark(TokenLabel.URL, rng.choice(["https://doi.org/", "http://dx.doi.org/"]) + doi)
        return before + url + rng.choice([".", ""])
    if kind < 0.75:
        kind_of_id = rng.choice(["PMID: ", "PMCID: PMC", "ISBN ", "ISSN ", "MR0"])
        return mark(TokenLabel.IDNO, kind_of_id + str(rng.randint(1000000, 39999999)))
    path = f"{rng.choice(WORDS['hosts'])}/{rng.choice(['reports', 'special', 'abstract', 'index'])}{rng.choice(['.html', '/', '.pdf', ''])}"
    before = rng.choice(["", "URL ", "URL: ", "Available at: ", "Available from: "])
    return before + mark(TokenLabel.URL, f"http{rng.choice(['', 's'])}://{path}")
