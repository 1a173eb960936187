"""Compare a training team's computations on a corpus with datatrove: `python -m devtools.bench.consume [FOLDER]`.

FOLDER contains articles as JATS XML (default REAL_DATA/jats). The figures are CPU seconds of one core, the best of
two rounds, in one run.
Both sides read the same texts.

- Signals: `text.signals` against datatrove's Gopher quality and repetition filters, set to compute all their measures.
- MinHash: `text.minhash` (n-grams, keys, candidate pairs, and the exact Jaccard index of each) against datatrove's
  first two steps (signatures, pairs of each bucket) with the same n-grams, bands and rows. The texts are the articles,
  and versions of each with some words replaced, so that pairs are around the threshold. Recall and precision are over
  all pairs, against every pair's exact index.

datatrove splits words by spaCy; this script splits by white space, which is faster and favors datatrove.
"""

from __future__ import annotations

import argparse
import random
import re
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from datatrove.data import Document
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupSignature
from datatrove.pipeline.filters import GopherQualityFilter, GopherRepetitionFilter
from datatrove.utils.logging import logger
from datatrove.utils.word_tokenizers import WordTokenizer

from devtools.real_data import REAL_DATA
from s2corpus.spec import SplitRules
from s2corpus.text import minhash, signals
from tests.unit.clean.jats import documents

ROUNDS = 2
BANDS, ROWS = 14, 8
"""datatrove's default"""
NOTHING = 1e9
"""A limit above every document, so that datatrove's filters compute all measures."""


class Spaces(WordTokenizer):  # type: ignore[misc]  # datatrove has no types
    """Words split at white space."""

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        return text.split(". ")

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer(r"(?:(?!\. ).)+", text, re.DOTALL)]


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of the fastest of some rounds, and its result."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        given = work()
        found.append((time.process_time() - start, given))
    return min(found, key=lambda pair: pair[0])


def texts(folder: Path) -> list[str]:
    """Return title, abstract and body of each article, in the layout of a document's text."""
    found = []
    for article in documents(folder):
        body = "\n".join(part["text"] for part in article["body"] if part["text"])
        found.append("\n\n".join(filter(None, (article["title"], article["abstract"], body))))
    return found


def bench_signals(given: list[str]) -> None:
    size = sum(len(text.encode()) for text in given) / 1e6
    filters = [
        GopherQualityFilter(language=Spaces(), min_doc_words=0, max_doc_words=10**9),
        GopherRepetitionFilter(
            NOTHING, NOTHING, NOTHING, NOTHING, tuple((n, NOTHING) for n in (2, 3, 4)),
            tuple((n, NOTHING) for n in (5, 6, 7, 8, 9, 10)), language=Spaces(),
        ),
    ]  # fmt: skip

    def theirs() -> None:
        for text in given:
            for one in filters:
                one.filter(Document(text, "0"))

    signals.compute_signals(given[0])
    ours, _ = best(lambda: [signals.compute_signals(text) for text in given])
    peer, _ = best(theirs)
    print(f"signals: {len(given)} texts, {size:.1f} MB, {len(signals.NAMES)} signals")
    print(f"  s2corpus  {size / ours:7.1f} MB/s")
    print(f"  datatrove {size / peer:7.1f} MB/s   ours is {peer / ours:.1f}×")


def versions(given: list[str]) -> list[str]:
    """Return each text, and five versions of it with a share of the words replaced by other words of the collection."""
    rng = random.Random(19)
    vocabulary = [word for text in given for word in text.split()]
    found = []
    for text in given:
        found.append(text)
        for share in (0.005, 0.01, 0.02, 0.03, 0.05):
            words = text.split()
            for at in rng.sample(range(len(words)), int(share * len(words))):
                words[at] = rng.choice(vocabulary)
            found.append(" ".join(words))
    return found


def ours(given: list[str], bands: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs and the exact Jaccard index of each."""
    sets = [minhash.hash_shingles(text, 5) for text in given]
    keys = [minhash.compute_keys(one, bands, rows, 1) for one in sets]
    nodes = np.repeat(np.arange(len(given)), [len(one) for one in keys])
    pairs = minhash.list_candidate_pairs(np.concatenate(keys), nodes, SplitRules().max_group)
    unique = [np.unique(one) for one in sets]
    ends = np.cumsum([len(one) for one in unique])
    starts = ends - [len(one) for one in unique]
    return pairs, minhash.compute_jaccards(np.concatenate(unique), starts, ends, pairs[:, 0], pairs[:, 1])


def theirs(given: list[str]) -> set[tuple[int, int]]:
    """Return the pairs that datatrove's second step writes."""
    config = MinhashConfig(n_grams=5, num_buckets=BANDS, hashes_per_bucket=ROWS)
    with tempfile.TemporaryDirectory() as folder:
        signatures, buckets = f"{folder}/signatures", f"{folder}/buckets"
        step = MinhashDedupSignature(signatures, config=config, language=Spaces())
        step._hash_func = lambda words: xxhash.xxh64_intdigest(words.encode())  # xxhash 4 takes bytes only
        step.run((Document(text, str(i)) for i, text in enumerate(given)), 0, 1)
        for rank in range(BANDS):
            MinhashDedupBuckets(signatures, buckets, config=config).run(None, rank, BANDS)
        found = set()
        for path in Path(buckets).glob("*.dups"):
            for _, left, _, right in struct.iter_unpack("<4I", path.read_bytes()):
                found.add((min(left, right), max(left, right)))
    return found


def connected(count: int, pairs: Iterator[tuple[int, int]]) -> list[int]:
    """Return, for each document, the smallest document of its connected component."""
    parents = list(range(count))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = at = parents[parents[at]]
        return at

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        parents[high] = low
    return [root(at) for at in range(count)]


def bench_minhash(articles: list[str]) -> None:
    given, threshold = versions(articles), SplitRules().min_jaccard
    size = sum(len(text.encode()) for text in given) / 1e6
    sets = [np.unique(minhash.hash_shingles(text, 5)) for text in given]
    exact = {(a, b): minhash.compute_jaccard(sets[a], sets[b]) for a, b in combinations(range(len(given)), 2)}
    similar = {pair for pair, index in exact.items() if index >= threshold}
    ours(given[:2], BANDS, ROWS)
    print(
        f"MinHash: {len(given)} texts, {size:.1f} MB, {len(similar)} pairs with a Jaccard index of {threshold} or more"
    )
    peer, found = best(lambda: theirs(given))
    groups = connected(len(given), iter(found))
    recall = sum(groups[a] == groups[b] for a, b in similar) / len(similar)
    right = sum(pair in similar for pair in found) / max(len(found), 1)
    print(
        f"  datatrove {BANDS} × {ROWS}: {size / peer:6.1f} MB/s, recall {recall:.4f}, precision of its pairs {right:.3f}"
    )
    for bands, rows in ((BANDS, ROWS), (SplitRules().minhash_bands, SplitRules().minhash_rows)):
        seconds, (pairs, index) = best(partial(ours, given, bands, rows))
        verified = {(int(a), int(b)) for (a, b), one in zip(pairs, index, strict=True) if one >= threshold}
        groups = connected(len(given), iter(verified))
        recall = sum(groups[a] == groups[b] for a, b in similar) / len(similar)
        right = len(verified & similar) / max(len(verified), 1)
        direct = len(verified & similar) / len(similar)
        print(
            f"  s2corpus  {bands} × {rows}: {size / seconds:6.1f} MB/s, recall {recall:.4f} (of pairs {direct:.4f}), precision "
            f"{right:.3f}, {len(pairs)} candidates   ours is {peer / seconds:.1f}×"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=REAL_DATA / "jats")
    parser.add_argument("--signals", action="store_true", help="only these")
    parser.add_argument("--minhash", action="store_true", help="only this")
    asked = parser.parse_args()
    logger.remove()
    given = texts(asked.folder)
    if asked.signals or not asked.minhash:
        bench_signals(given)
    if asked.minhash or not asked.signals:
        bench_minhash(given)


if __name__ == "__main__":
    main()
