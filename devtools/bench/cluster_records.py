"""Generate records with known clusters and with the noise of real sources, for `devtools/bench/cluster.py`.

A paper has a title of Zipf-distributed made-up words, authors with surnames of very different frequency, a year, and
the identifiers that are usual in its field. Each source describes the paper in its own way: DBLP and PubMed in their
own styles, arXiv up to two years earlier, PDF headers with OCR errors. Some identifiers are missing and a few are
wrong, as in real dumps. Some papers must not be joined: parts I and II, the same title by other authors or in other
years, editorials without number.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.tables.intake import RECORDS

SYLLABLES = tuple(
    "ba ce di fo gu ha ki lo mu na pe qui ra so ti vu wa xe yo za bra cle dri flo gru ster tion ment ness al er ing ous ive".split()  # noqa: SIM905
)
GENERIC = ("Editorial", "Book review", "Introduction", "Erratum", "Letters to the editor", "In memoriam")


def write(path: Path, records: int) -> None:
    """Write about `records` records as Parquet (RECORDS and a column `truth`)."""
    schema, made = RECORDS.schema.append(pa.field("truth", pa.int64())), rows(records, random.Random(0))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while chunk := list(itertools.islice(made, 50_000)):
            writer.write_table(pa.Table.from_pylist(chunk, schema))


def rows(records: int, rng: random.Random, words: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """Yield about `records` records, each with the number of its paper as `truth`.

    Titles consist of the given words by rank, or of made-up words.
    """
    words = words or _vocabulary(rng, 60_000)
    surnames = [word.capitalize() for word in _vocabulary(rng, 40_000)]
    word_ranks = _draw_ranks(len(words), 1.05, rng.randrange(1 << 32))
    surname_ranks = _draw_ranks(len(surnames), 1.02, rng.randrange(1 << 32))
    number, paper, previous = 0, 0, None
    while number < records:
        paper += 1
        kind, year = rng.random(), rng.randint(1980, 2023)
        number_of_authors = min(8, 1 + int(rng.expovariate(0.4)))
        authors = [(surnames[next(surname_ranks)], rng.choice("ABCDEFGHJKLMNPRSTW")) for _ in range(number_of_authors)]
        if kind < 0.01:
            title = rng.choice(GENERIC)
        elif kind < 0.02 and previous is not None:
            title, authors, year = f"{previous[0]}: part {rng.choice(['II', 'III', '2'])}", *previous[1:]
        elif kind < 0.025 and previous is not None:
            title = previous[0]  # the same title by others
        else:
            title = " ".join(words[next(word_ranks)] for _ in range(rng.randint(5, 14))).capitalize()
        previous = (title, authors, year)
        for row in _said(rng, paper, title, authors, year):
            yield {**row, "truth": paper}
            number += 1


def _said(
    rng: random.Random, paper: int, title: str, authors: list[tuple[str, str]], year: int
) -> Iterator[dict[str, object]]:
    doi = _doi(paper) if rng.random() < 0.75 else None
    arxiv = f"{year % 100:02d}{paper % 12 + 1:02d}.{paper:06d}" if year >= 2007 and rng.random() < 0.3 else None
    pubmed = str(10_000_000 + paper) if rng.random() < 0.3 else None
    sources: list[tuple[str, str, dict[str, str | None]]] = []
    if doi:
        sources.append(("crossref", "publisher", {"doi": doi}))
    if arxiv:
        sources.append(("arxiv", "archive", {"arxiv_id": arxiv, "doi": doi if rng.random() < 0.3 else None}))
    if pubmed:
        sources.append(("pubmed", "archive", {"pubmed_id": pubmed, "doi": doi if rng.random() < 0.85 else None}))
    if rng.random() < 0.4:
        sources.append(("dblp", "archive", {"doi": doi if rng.random() < 0.6 else None}))
    if rng.random() < 0.6 or not sources:
        sources.append(("s2", "archive", {"doi": doi, "arxiv_id": arxiv, "pubmed_id": pubmed}))
    if rng.random() < 0.35:
        sha1 = f"{paper:040x}"
        sources.append(("grobid", "pdf", {"file_sha1": sha1, "doi": doi if rng.random() < 0.4 else None}))
    for source, kind, ids in sources:
        if ids.get("doi") and source != "crossref" and rng.random() < 0.00002:
            ids["doi"] = _doi(paper + 1)  # the neighbor's, by mistake
        yield _row(rng, paper, source, kind, ids, title, authors, year)


def _doi(paper: int) -> str:
    return f"10.{1000 + paper % 8000}/j.{paper:08d}"


def _row(
    rng: random.Random, paper: int, source: str, kind: str, ids: dict[str, str | None], title: str,
    authors: list[tuple[str, str]], year: int,
) -> dict[str, object]:  # fmt: skip
    said = title
    if source == "dblp":
        said = title.title() + "."
    elif source == "grobid":
        said = _ocr(rng, title)
    elif rng.random() < 0.05:
        said = _typo(rng, title)
    names = [{"first": first, "middle": [], "last": last, "suffix": ""} for last, first in authors]
    if rng.random() < 0.03:
        names = []
    elif rng.random() < 0.05:
        names = names[: max(1, len(names) // 2)]
    said_year: int | None = year
    if source == "arxiv":
        said_year = year - rng.choice([0, 0, 1, 1, 2])
    elif source == "grobid" and rng.random() < 0.5:
        said_year = None
    elif rng.random() < 0.005:
        said_year = year - 1
    return {
        "record_id": f"{source}:{paper:08d}", "source": source, "kind": kind, "ready_at": "2023-01-01T00:00:00Z", "title": said,
        "authors": names, "date": None if said_year is None else str(said_year),
        "date_precision": None if said_year is None else "year", **ids,
    }  # fmt: skip


def _typo(rng: random.Random, title: str) -> str:
    at = rng.randrange(1, len(title))
    added = title[:at] + rng.choice("aeinrst") + title[at:]
    return rng.choice([title[:at] + title[at + 1 :], added, title.replace(" ", "  ", 1)])


def _ocr(rng: random.Random, title: str) -> str:
    """Return the title with OCR noise: case, a hyphenated line end, a footnote mark.

    Sometimes the noise is a misread letter or a running head before the title.
    """
    said = title.upper() if rng.random() < 0.2 else title
    if rng.random() < 0.1:
        at = rng.randrange(1, len(said))
        said = said[:at] + "- " + said[at:]
    if rng.random() < 0.1:
        said += rng.choice(["*", "†", " 1"])
    if rng.random() < 0.1:
        said = _typo(rng, said)
    return said


def _vocabulary(rng: random.Random, size: int) -> list[str]:
    """Return words by rank; frequent words are short, as in every language."""
    found: dict[str, None] = {}
    while len(found) < size:
        syllables = 1 if len(found) < 30 else rng.randint(1, 2) if len(found) < 500 else rng.randint(2, 4)
        found["".join(rng.choice(SYLLABLES) for _ in range(syllables))] = None
    return list(found)


def _draw_ranks(size: int, exponent: float, seed: int) -> Iterator[int]:
    """Yield ranks by Zipf's law, without end. Many are drawn in one batch for speed."""
    weights = 1 / np.arange(1, size + 1) ** exponent
    generator = np.random.default_rng(seed)
    while True:
        yield from reversed(generator.choice(size, 1 << 16, p=weights / weights.sum()).tolist())
