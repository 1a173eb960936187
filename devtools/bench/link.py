"""Measure linking at corpus scale: CPU and clock seconds, peak memory, number of links, and recall of noisy titles.

    python -m devtools.bench.link [--titles 1000000]

The titles are the real titles in REAL_DATA, and titles made of the halves of two real titles. These are as similar to each other as real
titles. The number of entries is twice the number of titles. An eighth of the entries have noise, an eighth have a title that no paper
has, and the others equal a title. The process links few entries before, so that imports and the compilation of kernels are
not counted.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import time
import unicodedata

import pyarrow as pa

from devtools.measure import cpu_seconds, peak_mb
from devtools.real_data import REAL_DATA, require
from s2corpus import compiled
from s2corpus.corpora.link_tables import link_tables
from s2corpus.titles import normalize_one

TITLES = REAL_DATA / "titles" / "titles_dev.tsv.gz"
VENUES = ("In Proceedings of NeurIPS", "arXiv preprint", "Physical Review Letters", "Bioinformatics", "LNCS", "J. ACM")
CONFUSED = (("rn", "m"), ("m", "rn"), ("l", "1"), ("o", "0"), ("cl", "d"), ("ti", "fi"), ("h", "b"), ("e", "c"))
ROWS = 50_000
"""entries in a table"""
MEMORY_MB = 2048


def read_titles() -> list[str]:
    """Return the real titles, without titles that have the same normalized form."""
    with gzip.open(TITLES, "rt", encoding="utf-8") as lines:
        titles = [line.split("\t")[4] for line in lines.read().split("\n")[1:] if line]
    return list({normalize_one(title): title for title in titles if title.strip()}.values())


def recombine(real: list[str], count: int, seed: int) -> list[str]:
    """Return new titles, each made of the first half of one real title and the second half of another."""
    rng = random.Random(seed)
    words = [title.split() for title in real]
    titles: dict[str, None] = {}
    while len(titles) < count:
        a, b = words[int(rng.random() * len(words))], words[int(rng.random() * len(words))]
        titles[" ".join(a[: (len(a) + 1) // 2] + b[len(b) // 2 :])] = None
    return list(titles)


def _add_typos(title: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(title))
        letter = rng.choice("abcdefghijklmnopqrstuvwxyz")
        title = title[:at] + rng.choice((letter + title[at + 1 :], letter + title[at:], title[at + 1 :]))
    return title


def add_noise(title: str, kind: int, rng: random.Random) -> str:
    """Return a title with one of seven kinds of noise."""
    match kind % 7:
        case 1:  # OCR
            wrong, right = rng.choice(CONFUSED)
            title = title.replace(wrong, right, rng.randint(1, 2)) if wrong in title else _add_typos(title, rng)
            at = rng.randrange(len(title))
            return title[:at] + " " + title[at:]
        case 2:
            title = title.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("ff", "ﬀ")
        case 3:
            plain = "".join(c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c))
            title = plain if plain != title else title.replace("o", "ø", 1)
        case 4:
            at = rng.randrange(1, max(len(title), 2))
            title = title[:at] + "-\n" + title[at:]
        case 5:  # without its subtitle or last word
            head = re.split(r"[:?–—]", title)[0]
            return head if len(head) < len(title) and len(head.split()) >= 2 else " ".join(title.split()[:-1]) or title
        case 6:
            return f"{title}. {rng.choice(VENUES)}"
    return _add_typos(title, rng)


def make_noisy(titles: list[str], count: int, seed: int) -> list[tuple[str, int]]:
    """Return (noisy title, place of its title), with every kind of noise alternately. None normalizes to its own title."""
    rng = random.Random(seed)
    entries: list[tuple[str, int]] = []
    while len(entries) < count:
        at = int(rng.random() * len(titles))
        made = add_noise(titles[at], len(entries), rng)
        if made.strip() and normalize_one(made) != normalize_one(titles[at]):
            entries.append((made, at))
    return entries


def describe(titles: list[str], places: list[int], **ids: list[str]) -> pa.Table:
    """Return titles with year and surname by place, so that a thousand papers have the same."""
    years, surnames = [place % 50 + 1970 for place in places], [f"Author{place % 1000}" for place in places]
    return pa.table({**ids, "title": titles, "year": pa.array(years, pa.int32()), "surname": surnames})


def measure(count: int) -> str:
    """Link the entries of `count` titles; return the figures."""
    real = read_titles()
    titles = (real + recombine(real, max(count - len(real), 0), 1))[:count]
    rng = random.Random(5)
    known = make_noisy(titles, count // 4, 3)
    absent = [(title, -1) for title in recombine(real, count // 4, 4)]
    places = (int(rng.random() * count) for _ in range(2 * count - len(known) - len(absent)))
    equal = [(titles[at], at) for at in places]
    entries = [(title, at, title != titles[at]) for title, at in (*known, *absent, *equal)]
    rng.shuffle(entries)
    papers = describe(titles, list(range(count)), paper_id=[f"{at:015x}" for at in range(count)])
    tables = [
        describe([title for title, _, _ in some], [at for _, at, _ in some], citing_paper_id=[""] * len(some))
        for some in (entries[begin : begin + ROWS] for begin in range(0, len(entries), ROWS))
    ]
    compiled.MAX_PYTHON_COMPARISONS = 0  # Few entries also use the compiled kernels.
    link_tables(papers.slice(0, 64), [tables[0].slice(0, 64)], memory_mb=MEMORY_MB)
    began, clock, before = cpu_seconds(), time.monotonic(), peak_mb()
    found = link_tables(papers, tables, memory_mb=MEMORY_MB)["paper_id"].to_pylist()
    seconds, clock = cpu_seconds() - began, time.monotonic() - clock
    right = sum(is_noisy and id_ == f"{at:015x}" for id_, (_, at, is_noisy) in zip(found, entries, strict=True))
    return (
        f"{count:,} titles × {len(entries):,} entries: {seconds:.1f} CPU s, {clock:.1f} s, peak {peak_mb():,.0f} MB "
        f"({before:,.0f} MB before), {len(found) - found.count(None):,} linked, {right:,} of {len(known):,} noisy titles linked right"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--titles", type=int, default=1_000_000)
    given = options.parse_args()
    require()
    print(measure(given.titles))


if __name__ == "__main__":
    main()
