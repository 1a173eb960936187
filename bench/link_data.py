"""Titles and entries for `bench/link.py`: real titles, recombined ones up to any number, and noisy, equal and absent entries."""

from __future__ import annotations

import gzip
import random
import re
import unicodedata
from pathlib import Path

import pyarrow as pa

from s2corpus.titles import normalise_one

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
    """The real titles, each normalised form once."""
    with gzip.open(data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        titles = [line.split("\t")[4] for line in lines.read().split("\n")[1:] if line]
    return list({normalise_one(title): title for title in titles if title.strip()}.values())


def recombined(real: list[str], count: int, seed: int) -> list[str]:
    """Titles made of the first half of one real title and the second half of another: similar as real ones are, and new."""
    rng = random.Random(seed)
    words = [title.split() for title in real]
    titles: dict[str, None] = {}
    while len(titles) < count:
        a, b = words[int(rng.random() * len(words))], words[int(rng.random() * len(words))]
        titles[" ".join(a[: (len(a) + 1) // 2] + b[len(b) // 2 :])] = None
    return list(titles)


def titles_up_to(data: Path, count: int) -> list[str]:
    """The real titles, then recombined ones up to `count`."""
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
    """Entries each from one of the titles, by every kind of noise in turn; none normalises to its own title."""
    rng = random.Random(seed)
    entries: list[str] = []
    while len(entries) < count:
        title = titles[int(rng.random() * len(titles))]
        made = NOISE[len(entries) % len(NOISE)](title, rng)
        if made.strip() and normalise_one(made) != normalise_one(title):
            entries.append(made)
    return entries


def fuzzy_entries(titles: list[str], real: list[str], count: int, seed: int) -> pa.Array:
    """Half noisy entries, half absent ones: recombined titles that no paper has."""
    absent = recombined(real, count - count // 2, seed + 1)
    both = noisy(titles, count // 2, seed) + absent
    random.Random(seed).shuffle(both)
    return pa.array(both)
