"""Generate English scientific prose from sentence patterns: distinct per paper, reproducible per random state.

A paragraph is a list of runs: plain strings and `InlineCite`s. Required citations are inside the sentence, so that the
printed text reads the same in every citation style.
"""

from __future__ import annotations

import dataclasses
import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["intro", "related", "method", "data", "results", "discussion", "conclusion"]
"""The role of a paragraph in its paper."""


@dataclass(frozen=True, slots=True)
class Field:
    """The topics of one field of study."""

    name: str
    area: list[str]
    things: list[str]
    methods: list[str]
    materials: list[str]
    measures: list[str]
    qualities: list[str]
    places: list[str]
    journals: list[str]
    venues: list[str]


WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
FIELDS = tuple(Field(**field) for field in WORDS["fields"])
OPENING: dict[Role, list[str]] = WORDS["opening"]
SENTENCES: dict[Role, list[str]] = WORDS["sentences"]


@dataclass(frozen=True, slots=True)
class InlineCite:
    """An inline citation of bibliography entries (indices from 0); `textual` names the authors in the sentence."""

    refs: tuple[int, ...]
    textual: bool = False


Run = str | InlineCite
Paragraph = list[Run]


@dataclass(slots=True)
class SentenceWriter:
    """A writer of sentences about one topic.

    `things` and `method` are fixed for the paper, the rest varies randomly.
    """

    rng: random.Random
    field: Field
    things: str
    method: str
    measure: str
    used: Counter[str] = dataclasses.field(default_factory=Counter)

    def paragraph(self, role: Role, sentences: int, cites: list[InlineCite] | None = None) -> Paragraph:
        """Return a paragraph of `sentences` sentences; remove the citations that it uses from the front of `cites`."""
        patterns = [self._least_used(OPENING[role])]
        patterns += [self._least_used(SENTENCES[role]) for _ in range(sentences - 1)]
        queue = cites if cites is not None else []
        runs: Paragraph = []
        for pattern in patterns:
            if "{C}" in pattern and not queue:
                pattern = self._least_used([p for p in SENTENCES[role] if "{C}" not in p])
            runs.extend(self._sentence(pattern, queue))
            runs.append(" ")
        runs.pop()
        return _merge(runs)

    def abstract(self, sentences: int = 6) -> str:
        """Return an abstract with 15 to 20 words per sentence, without citations."""
        roles: list[Role] = ["intro", "intro", "method", "data", "results", "results", "discussion", "conclusion"]
        out: list[str] = []
        for i in range(sentences):
            role = roles[i % len(roles)]
            pool = [
                p
                for p in (OPENING if i % 2 == 0 else SENTENCES)[role]
                if not any(mark in p for mark in ("{C}", "Section", "Table"))
            ]
            out.append("".join(r for r in self._sentence(self.rng.choice(pool), []) if isinstance(r, str)))
        return " ".join(dict.fromkeys(out))

    def _least_used(self, patterns: Sequence[str]) -> str:
        """Return one of the patterns that this writer has used least, so that no paper repeats itself early."""
        least = min(self.used[p] for p in patterns)
        pattern = self.rng.choice([p for p in patterns if self.used[p] == least])
        self.used[pattern] += 1
        return pattern

    def _sentence(self, pattern: str, queue: list[InlineCite]) -> Paragraph:
        text = pattern.format(c="\x00", C="\x01", **self._words())
        text = text[0].upper() + text[1:]
        runs: Paragraph = []
        start = 0
        for at, char in enumerate(text):
            if char in "\x00\x01":
                runs.append(text[start:at])
                start = at + 1
                if char == "\x01":
                    first, *others = queue.pop(0).refs
                    runs.append(InlineCite((first,), textual=True))
                    if others:
                        queue.insert(0, InlineCite(tuple(others)))
                elif queue and self.rng.random() < 0.65:
                    runs.append(queue.pop(0))
        runs.append(text[start:])
        return runs

    def _words(self) -> dict[str, str]:
        rng, f = self.rng, self.field
        adj, adj2 = rng.sample(f.qualities, 2)
        year = rng.randrange(1995, 2018)
        return {
            "area": rng.choice(f.area), "things": self.things if rng.random() < 0.6 else rng.choice(f.things),
            "things2": rng.choice([t for t in f.things if t != self.things]),
            "method": self.method if rng.random() < 0.7 else rng.choice(f.methods),
            "method2": rng.choice([m for m in f.methods if m != self.method]), "materials": rng.choice(f.materials),
            "measure": self.measure if rng.random() < 0.6 else rng.choice(f.measures),
            "measure2": rng.choice([m for m in f.measures if m != self.measure]), "adj": adj, "adj2": adj2, "place": rng.choice(f.places),
            "n": str(rng.randrange(40, 980)), "small": rng.choice(("three", "four", "five", "seven", "nine", "twelve")),
            "p": f"{rng.uniform(3, 60):.1f}", "p2": f"{rng.uniform(2, 40):.1f}", "y1": str(year), "y2": str(year + rng.randrange(1, 4)),
        }  # fmt: skip


def writer(rng: random.Random, field: Field) -> SentenceWriter:
    """Return a writer on a topic of the field, drawn from `rng`."""
    return SentenceWriter(rng, field, rng.choice(field.things), rng.choice(field.methods), rng.choice(field.measures))


def title(rng: random.Random, w: SentenceWriter) -> str:
    """Return a title of six to twelve words about the writer's topic."""
    f = w.field
    other = rng.choice([t for t in f.things if t != w.things])
    place, material = rng.choice(f.places), rng.choice(f.materials)
    adj, area = rng.choice(f.qualities), rng.choice(f.area)
    pattern = rng.choice(WORDS["titles"])
    found: str = pattern.format(w=w, other=other, place=place, material=material, adj=adj, area=area)
    return found[0].upper() + found[1:]


def gibberish(rng: random.Random, words: int) -> str:
    """Return sentences of invented words that no word list contains, as from broken fonts and bad OCR."""
    onsets = ("qz", "xv", "bl", "wrk", "tz", "gn", "kh", "vl", "pf", "dzr", "zw", "mx")
    rests = ("oqua", "iixt", "uvrm", "eqqo", "aazk", "yxle", "orfz", "uzzt", "ewqi", "akxo")
    out = []
    for i in range(words):
        word = "".join(rng.choice(onsets) + rng.choice(rests) for _ in range(rng.randrange(1, 3)))
        out.append(word.capitalize() if i % 11 == 0 else word + ("." if i % 11 == 10 else ""))
    return " ".join(out).rstrip(".") + "."


def _merge(runs: Paragraph) -> Paragraph:
    """Merge neighboring strings; remove empty strings."""
    out: Paragraph = []
    for run in runs:
        if isinstance(run, str) and out and isinstance(out[-1], str):
            out[-1] += run
        elif run != "":
            out.append(run)
    return out
