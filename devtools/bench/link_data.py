"""Make the data of `link.py`: real and recombined titles; noisy, equal and absent entries; their tables."""

from __future__ import annotations

import gzip
import itertools
import random
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from s2corpus.pipeline.run import Run
from s2corpus.tables.columns import ENTRY_AUTHORS
from s2corpus.tables.intake import DELIVERIES
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import ENTRIES, FILTERED, FULLTEXTS
from s2corpus.titles import normalize_one

VENUES = (
    "In Proceedings of NeurIPS",
    "arXiv preprint",
    "Physical Review Letters",
    "In ICML",
    "Bioinformatics",
    "LNCS",
    "J. ACM",
)
CONFUSED = (("rn", "m"), ("m", "rn"), ("l", "1"), ("o", "0"), ("cl", "d"), ("ti", "fi"), ("h", "b"), ("e", "c"))


def real_titles(data: Path) -> list[str]:
    """Return the real titles, without titles that have the same normalized form."""
    with gzip.open(data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        titles = [line.split("\t")[4] for line in lines.read().split("\n")[1:] if line]
    return list({normalize_one(title): title for title in titles if title.strip()}.values())


def recombined(real: list[str], count: int, seed: int) -> list[str]:
    """Return new titles, each made of the first half of one real title and the second half of another.

    They are as similar to each other as real titles are.
    """
    rng = random.Random(seed)
    words = [title.split() for title in real]
    titles: dict[str, None] = {}
    while len(titles) < count:
        a, b = words[int(rng.random() * len(words))], words[int(rng.random() * len(words))]
        titles[" ".join(a[: (len(a) + 1) // 2] + b[len(b) // 2 :])] = None
    return list(titles)


def titles_up_to(data: Path, count: int) -> list[str]:
    """Return the real titles, then recombined titles up to `count`."""
    real = real_titles(data)
    return (real + recombined(real, max(count - len(real), 0), 1))[:count]


def _typo(title: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(title))
        letter = rng.choice("abcdefghijklmnopqrstuvwxyz")
        title = rng.choice(
            (title[:at] + letter + title[at + 1 :], title[:at] + letter + title[at:], title[:at] + title[at + 1 :])
        )
    return title


def _ocr(title: str, rng: random.Random) -> str:
    wrong, right = rng.choice(CONFUSED)
    title = title.replace(wrong, right, rng.randint(1, 2)) if wrong in title else _typo(title, rng)
    at = rng.randrange(len(title))
    return title[:at] + " " + title[at:]


def _ligature(title: str, rng: random.Random) -> str:
    return _typo(title.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("ff", "ﬀ"), rng)


def _diacritics(title: str, rng: random.Random) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c))
    return _typo(plain if plain != title else title.replace("o", "ø", 1), rng)


def _hyphenated(title: str, rng: random.Random) -> str:
    at = rng.randrange(1, max(len(title), 2))
    return _typo(title[:at] + "-\n" + title[at:], rng)


def _without_subtitle(title: str, rng: random.Random) -> str:
    head = re.split(r"[:?–—]", title)[0]
    return head if len(head) < len(title) and len(head.split()) >= 2 else " ".join(title.split()[:-1]) or title


def _with_venue(title: str, rng: random.Random) -> str:
    return f"{title}. {rng.choice(VENUES)}"


NOISE = (_typo, _ocr, _ligature, _diacritics, _hyphenated, _without_subtitle, _with_venue)


def noisy(titles: list[str], count: int, seed: int) -> list[str]:
    """Return entries, each made from one of the titles, with every kind of noise alternately.

    No entry normalizes to its own title.
    """
    rng = random.Random(seed)
    entries: list[str] = []
    while len(entries) < count:
        title = titles[int(rng.random() * len(titles))]
        made = NOISE[len(entries) % len(NOISE)](title, rng)
        if made.strip() and normalize_one(made) != normalize_one(title):
            entries.append(made)
    return entries


def fuzzy_entries(titles: list[str], real: list[str], count: int, seed: int) -> pa.Array:
    """Return entries in random order: half noisy, half absent (recombined titles that no paper has)."""
    absent = recombined(real, count - count // 2, seed + 1)
    both = noisy(titles, count // 2, seed) + absent
    random.Random(seed).shuffle(both)
    return pa.array(both)


def authors_of(count: int) -> pa.Array:
    """Return one author per row."""
    last = pa.array([f"Author{i}" for i in range(1000)]).take(pa.array(np.arange(count) % 1000))
    none = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
    first = pa.array(["A."]).take(pa.array(np.zeros(count, np.int64)))
    suffix = pa.array([""]).take(pa.array(np.zeros(count, np.int64)))
    one = pa.StructArray.from_arrays([first, none, last, suffix], fields=list(ENTRY_AUTHORS.value_type))
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32)), one).cast(ENTRY_AUTHORS)


def _rows(table: Any, count: int, **columns: Any) -> pa.Table:
    """Return rows of a table. A column that is not given is null, or empty if null is not allowed."""
    arrays = []
    for field in table.schema:
        if field.name in columns:
            arrays.append(pa.array(columns[field.name]).cast(field.type))
        elif field.nullable:
            arrays.append(pa.nulls(count, field.type))
        else:
            empty = {"map": [], "list": [], "bool": False}.get(str(field.type).split("<")[0].rstrip("_"), "")
            arrays.append(pa.array([empty], field.type).take(pa.array(np.zeros(count, np.int64))))
    return pa.Table.from_arrays(arrays, schema=table.schema)


def lake_of(run: Run, titles: pa.Array, entries: pa.Array, shards: int) -> None:
    """Write the tables that linking reads: one paper per title, and the same number of entries for each paper."""
    count, each = len(titles), len(entries) // len(titles)
    ids = pa.array([f"{i:015x}" for i in range(count)])
    bounds = np.linspace(0, count, shards + 1).astype(int)
    for shard, (begin, end) in enumerate(itertools.pairwise(bounds)):
        n = int(end - begin)
        mine = ids.slice(begin, n)
        years = pa.array(np.arange(begin, end) % 50 + 1970).cast(pa.string())
        papers = _rows(PAPERS, n, paper_id=mine, title=titles.slice(begin, n), date=years, authors=authors_of(n))
        run.table(PAPERS).write(shard, papers)
        run.table(FILTERED).write(shard, _rows(FILTERED, n, paper_id=mine, outcome=["kept"] * n))
        run.table(FULLTEXTS).write(shard, [])
        run.table(MEMBERS).write(shard, [])
        citing = mine.take(pa.array(np.repeat(np.arange(n), each)))
        some = _rows(
            ENTRIES, each * n, paper_id=citing, parse_kind=["pdf"] * (each * n),
            ref_id=[f"BIBREF{i % each}" for i in range(each * n)], parse_id=citing,
            title=entries.slice(each * begin, each * n), authors=authors_of(each * n),
            year=pa.array(np.arange(each * n) % 50 + 1970),
        )  # fmt: skip
        run.table(ENTRIES).write(shard, some)
    for table in (PAPERS, FILTERED, FULLTEXTS, ENTRIES):
        run.table(table).commit(range(shards))
    run.table(MEMBERS).commit(range(shards), {"paper_shards": shards})
    run.table(DELIVERIES).write(0, [])
    run.table(DELIVERIES).commit([0], {"parent": None})
