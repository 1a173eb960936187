"""Compare canonical metadata by similarity and by literal majority, on noisy copies of real records.

No copy is certainly right. Each paper of `titles_dev` has 3–6 sources, each with its own faults: typing errors, cut
titles, lost accents, case, shuffled initials, a wrong year. No source has the true record. A title is right if its
normalized form is right.

    python -m devtools.bench.vote [--papers 2000] [--seed 1]
"""

from __future__ import annotations

import argparse
import gzip
import random
import time
import unicodedata
from collections.abc import Sequence
from typing import Literal

from devtools.real_data import REAL_DATA
from s2corpus.papers.vote import DeliveredRecord, elect_metadata, to_comparison_form
from s2corpus.sources import Record, RecordKind
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_authors

TITLES = REAL_DATA / "titles" / "titles_dev.tsv.gz"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def papers(count: int, rng: random.Random) -> list[Record]:
    with gzip.open(TITLES, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    chosen = rng.sample([row for row in lines if row[2].isdigit() and len(row[4]) > 20 and row[5]], count)
    return [
        Record("true:1", "true", RecordKind.ARCHIVE, title=row[4], authors=parse_authors(row[5] + ";"), date=row[2], date_precision="year")
        for row in chosen
    ]  # fmt: skip


def typo(text: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(text) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + rng.choice(LETTERS) + text[at:]
    if kind == 2:
        return text[:at] + rng.choice(LETTERS) + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def noisy(true: Record, source: int, rng: random.Random) -> DeliveredRecord:
    title = true.title or ""
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        title = typo(title, rng)
    if rng.random() < 0.18:
        title = title.split(": ")[0] if ": " in title else " ".join(title.split()[:-1])
    if rng.random() < 0.2:
        title = "".join(c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c))
    if rng.random() < 0.2:
        title = title.title() if rng.random() < 0.5 else title.lower()
    if title == true.title:
        title += "."
    authors = [_author(author, rng) for author in true.authors]
    if len(authors) > 2 and rng.random() < 0.15:
        authors = authors[: rng.randrange(1, len(authors))]
    year = int(true.date or 0) + (rng.choice((-1, 1)) if rng.random() < 0.2 else 0)
    return DeliveredRecord(
        Record(f"s{source}:1", f"s{source}", RecordKind.ARCHIVE, title=title, authors=tuple(authors), date=str(year), date_precision="year")
    )  # fmt: skip


def _author(author: Author, rng: random.Random) -> Author:
    first, middle, last = author.first, list(author.middle), author.last
    if rng.random() < 0.3:
        first, middle = first[:1], [name[:1] for name in middle]
    if middle and rng.random() < 0.1:
        first, middle[0] = middle[0], first
    if len(last) > 3 and rng.random() < 0.05:
        last = typo(last, rng)
    return Author(first, tuple(middle), last, author.suffix)


def right(true: Record, copies: Sequence[DeliveredRecord], support: Literal["similar", "equal"]) -> dict[str, bool]:
    values = elect_metadata("p", copies, trust=(), support=support).values
    return {
        "title": to_comparison_form("title", values["title"]) == to_comparison_form("title", true.title),
        "authors": to_comparison_form("authors", values.get("authors", ()))
        == to_comparison_form("authors", true.authors),
        "year": values["date"][0] == true.date,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    clusters = []
    for true in papers(options.papers, rng):
        copies = [noisy(true, source, rng) for source in range(rng.randrange(3, 7))]
        if all(copy.record.title != true.title for copy in copies):
            clusters.append((true, copies))
    print(f"{len(clusters)} papers of {options.papers}: those of which no copy has the true title as it is")
    said = [
        any(to_comparison_form("title", c.record.title) == to_comparison_form("title", t.title) for c in cs)
        for t, cs in clusters
    ]
    print(f"normalised, some copy has the true title in {sum(said) / len(said):.1%}")
    supports: tuple[Literal["similar", "equal"], ...] = ("similar", "equal")
    for support in supports:
        start = time.perf_counter()
        found = [right(true, copies, support) for true, copies in clusters]
        shares = ", ".join(f"{name} {sum(one[name] for one in found) / len(found):.1%}" for name in found[0])
        among = sum(one["title"] for one, can in zip(found, said, strict=True) if can) / max(sum(said), 1)
        print(
            f"support: {support:<8} {shares}; title where a copy has it {among:.1%}; {time.perf_counter() - start:.1f} s"
        )


if __name__ == "__main__":
    main()
