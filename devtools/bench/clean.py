"""Compare cleaning on one core with a straightforward implementation: `python -m devtools.bench.clean [FOLDER]`.

The speeds are documents and megabytes per second. FOLDER contains articles as JATS XML (default REAL_DATA/jats);
the word list is REAL_DATA/unigrams/count_1w.txt.gz. The straightforward implementation follows the published
recipe: pandas `apply`, `Counter`, one language call and one log-probability call per paragraph. Both process the same
documents in the same run, by profile; every decision and text must be equal.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from devtools.bench import straightforward
from devtools.bench.variants import variants
from devtools.real_data import REAL_DATA
from s2corpus.spec import CleanRules
from s2corpus.text import card, clean, recipe, unigrams
from s2corpus.text.documents import CleanedDocument, CleanOutcome
from s2corpus.text.input_files import read_document
from tests.unit.clean.jats import documents

ROUNDS = 2


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of the fastest of some rounds, and its result."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        given = work()
        found.append(time.process_time() - start)
    return min(found), given


def with_pandas(
    raw: list[dict[str, Any]], profile: str, perplexity: straightforward.Perplexity
) -> list[tuple[bool, Any]]:
    """Compute every value of every document as a column, then apply the rules to the columns."""
    frame = pd.DataFrame({key: pd.Series([document[key] for document in raw], dtype=object) for key in raw[0]})
    if profile == "card":
        decided = frame.apply(lambda row: straightforward.card(row, perplexity), axis=1)
        return [(outcome == "kept", text) for outcome, text in decided]
    frame["paragraphs"] = frame["body"].apply(straightforward.merged)
    frame["languages"] = frame["paragraphs"].apply(lambda ps: [straightforward.language(p) for p in ps])
    frame["means"] = frame["paragraphs"].apply(lambda ps: [perplexity(p) for p in ps])
    frame["count"] = frame["paragraphs"].apply(lambda ps: sum(len(p.split()) for p in ps))
    frame["top"] = frame["paragraphs"].apply(lambda ps: Counter(t for p in ps for t in p.split()).most_common(100))
    return [
        straightforward.recipe_decision({str(key): value for key, value in row.items()})
        for row in frame.to_dict("records")
    ]


def fast(docs: list[CleanedDocument], rules: CleanRules, words: unigrams.Unigrams) -> list[tuple[bool, Any]]:
    decided = (clean.clean("s2orc", document, rules, words) for document in docs)
    return [(decision.outcome is CleanOutcome.KEPT, decision.text) for decision in decided]


def where_time_goes(docs: list[CleanedDocument], rules: CleanRules, words: unigrams.Unigrams) -> dict[str, float]:
    """Return the seconds inside each part of the fast implementation, measured by wrapping the parts."""
    spent: dict[str, float] = {}

    def timed(name: str, module: Any, attribute: str) -> Callable[[], None]:
        inner = getattr(module, attribute)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        setattr(module, attribute, wrapped)
        return lambda: setattr(module, attribute, inner)

    undo = [
        timed(name, profile, attribute)
        for profile, layout in ((card, "build_blocks"), (recipe, "merge_paragraphs"))
        for name, attribute in (
            ("CLD3 vote", "vote_language"), ("log probability", "log_probabilities"), ("layout", layout), ("words", "count_words"),
        )
    ]  # fmt: skip
    start = time.perf_counter()
    fast(docs, rules, words)
    total = time.perf_counter() - start
    for each in undo:
        each()
    return {**spent, "else": total - sum(spent.values())}


def calls(docs: list[CleanedDocument], rules: CleanRules, words: unigrams.Unigrams) -> str:
    """Return, as text, the number of paragraphs with language detection and the number of all paragraphs."""
    asked = 0
    all_of_them = 0
    for document in docs:
        decision = clean.clean("s2orc", document, rules, words)
        asked += sum((decision.language_votes or {}).values())
        all_of_them += len([unit for unit in document.body or () if unit.text])
    return f"{asked} of {all_of_them} paragraphs asked for their language"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REAL_DATA / "jats"
    articles = documents(folder)
    content = (REAL_DATA / "unigrams" / "count_1w.txt.gz").read_bytes()
    words = unigrams.parse_unigrams("count_1w", content)
    counts = dict(line.split("\t") for line in gzip.decompress(content).decode().splitlines())
    perplexity = straightforward.Perplexity({word: int(count) for word, count in counts.items()})
    kinds = {"articles": articles, "of them whole, cut, mixed and noisy": list(variants(articles[::4]))}
    for name, raw in kinds.items():
        raw = [{**d, "body": [u for u in d["body"] if u["text"]]} for d in raw]
        docs = [read_document(document, document["id"]) for document in raw]
        fast(docs[:1], CleanRules(), words)  # trigger the compilation of the kernels
        megabytes = sum(len(unit["text"].encode()) for document in raw for unit in document["body"]) / 1e6
        print(f"{len(raw)} {name}, {megabytes:.1f} MB")
        for profile in ("card", "recipe-2024"):
            rules = CleanRules.model_validate({"profile": profile, "unigrams": {"uri": "x", "sha256": "0" * 64}})
            slow_seconds, slow_decided = best(lambda: with_pandas(raw, profile, perplexity))  # noqa: B023
            fast_seconds, fast_decided = best(lambda: fast(docs, rules, words))  # noqa: B023
            equal = sum(a == b for a, b in zip(slow_decided, fast_decided, strict=True))
            for label, seconds in (("straightforward", slow_seconds), ("s2corpus", fast_seconds)):
                print(
                    f"  {profile:12} {label:16} {len(raw) / seconds:7.0f} documents/s {megabytes / seconds:6.2f} MB/s"
                )
            print(
                f"  {profile:12} {slow_seconds / fast_seconds:.2f} times as fast, {equal} of {len(raw)} decisions equal"
            )
            spent = where_time_goes(docs, rules, words)
            shares = ", ".join(
                f"{k} {v / sum(spent.values()):.0%}" for k, v in sorted(spent.items(), key=lambda s: -s[1])
            )
            print(f"  {profile:12} {shares}; {calls(docs, rules, words)}")
            if equal != len(raw):
                sys.exit("decisions differ")


if __name__ == "__main__":
    main()
