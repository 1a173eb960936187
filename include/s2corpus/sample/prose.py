"""English scientific prose from sentence patterns: real-looking, distinct per paper, the same for the same random state.

A paragraph is a list of runs: plain strings and `Cite`s. Where citations are due they stand inside the sentence, so that the
printed text reads the same in every citation style.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from s2corpus.sample.vocabulary import Field


@dataclass(frozen=True, slots=True)
class Cite:
    """An inline citation of bibliography entries (indices from 0); `textual` names the authors in the sentence."""

    refs: tuple[int, ...]
    textual: bool = False


Run = str | Cite
Paragraph = list[Run]
Role = Literal["intro", "related", "method", "data", "results", "discussion", "conclusion"]

# {c} marks where a citation may stand, {C} one whose authors are the subject of the sentence.
_OPENING = {
    "intro": (
        "Over the past decade, {things} have become central to work on {area}{c}.",
        "Research on {area} depends more and more on what can be learned from {things}{c}.",
        "Few questions in {area} have been asked as often as how {things} shape {measure}{c}.",
        "Anyone who works on {area} meets {adj} {things} sooner or later{c}.",
        "The study of {things} has a long history in {area}{c}.",
        "It is widely held that the fate of {things} depends on {measure} more than on anything else{c}.",
    ),
    "related": (
        "Earlier studies of {things} fall into two groups{c}.",
        "{C} were among the first to apply a {method} to {things}.",
        "Our work builds on a long line of research about {measure} and {adj} {things}{c}.",
        "Several authors have compared a {method} with simpler ways to describe {things}{c}.",
        "The literature on {adj} {things} is large, and we can only sketch the main lines of it{c}.",
        "Two traditions have shaped the way in which {measure} is studied today{c}.",
    ),
    "method": (
        "We describe each group of {things} by a small number of {adj} features.",
        "Our approach starts from a {method} and adds one step for {adj} {things}{c}.",
        "Let us first assume that {measure} can be observed for all {things} at no cost.",
        "All estimates in this section come from a {method} that was fitted once and then left alone.",
        "The idea behind the {method} can be stated in a few words.",
        "In what follows, the unit of analysis is the single group of {things}.",
    ),
    "data": (
        "We collected {n} {materials} near {place} between {y1} and {y2}.",
        "Most of our {materials} were gathered by volunteers, who recorded {measure} twice a week.",
        "This study uses {n} {materials} that had been prepared for another purpose{c}.",
        "The {materials} behind this study were assembled in {place} over a period of {small} years.",
    ),
    "results": (
        "Across all {materials}, {measure} rose by {p} percent once {things} were taken into account.",
        "Our main finding is that {adj} {things} differ from the rest in {measure}.",
        "With a {method}, {measure} reached {p} percent, compared with {p2} percent before.",
        "The first result concerns the relation between {things} and {measure}.",
        "Table 1 and the figure tell the same story: {measure} depends on {things} in every group.",
    ),
    "discussion": (
        "These results suggest that {things} matter for {measure} in ways that earlier work has missed{c}.",
        "Why should {adj} {things} behave so differently from what theory predicts?",
        "Two explanations seem possible, and our {materials} speak for one of them.",
        "Taken together, the findings change the way we should think about {things} in {area}.",
        "The results raise the question of how far they can be generalised.",
    ),
    "conclusion": (
        "We have shown that a {method} can be used to study {things} at modest cost.",
        "This paper has asked how {things} relate to {measure}, and has given a first answer.",
        "The aim of this paper was to find out what {things} can tell us about {measure}.",
    ),
}
_SENTENCES = {
    "intro": (
        "Despite this interest, {adj} {things} remain difficult to study, because {measure} is rarely recorded.",
        "In this paper we ask whether a {method} can improve {measure} when only {adj} {things} are available.",
        "Our contribution is a simple procedure that others can repeat with their own {materials}.",
        "A better understanding of {measure} would help practitioners as much as it would help theory{c}.",
        "Existing accounts treat {things} and {things2} as if they were independent of each other{c}.",
        "We argue that this view is too narrow, and that {things2} deserve attention of their own.",
        "If {measure} could be predicted from {materials} alone, a good deal of effort would be saved.",
        "Such a comparison has, to our knowledge, never been made for {adj} {things} before.",
        "Section 2 reviews what is known, and Section 5 presents the outcome.",
        "The reason is simple: the usual instruments were never made for {adj} {things}.",
        "From {place} to other regions, the same question returns with every new set of {materials}{c}.",
        "The practical stakes are considerable, for {measure} decides what is funded and what is not.",
        "What we still lack is an account of the way in which {things2} change once {measure} has settled.",
        "{C} called this the most neglected problem of {area}, and little has changed since.",
        "Our starting point is the observation that {adj} {things} and {adj2} {things2} often occur together.",
        "The remainder of the paper is organised around three questions, each with its own {materials}.",
    ),
    "related": (
        "{C} showed that {measure} falls when {things} are grouped by season.",
        "A second group of papers looks at {things2} instead, often with a {method2}{c}.",
        "{C} reported a similar pattern for {adj2} {things2}, although with fewer {materials}.",
        "Those studies agree that {measure} is hard to compare between sites{c}.",
        "None of them, however, considers {things} and {things2} together.",
        "A careful review of {measure} in {area} can be found elsewhere{c}.",
        "What separates our work from this literature is its use of {adj} {materials}.",
        "{C} argued against this reading and proposed a {method2} in its place.",
        "Later experiments with {materials} have confirmed parts of that picture{c}.",
        "The first group asks how {measure} varies in space, the second how it varies in time{c}.",
        "{C} found the opposite for {adj} {things}, which has puzzled the field ever since.",
        "The debate was sharpened when {materials} from {place} became available{c}.",
        "Closest to the present study is the analysis by {C}, on which we improve in two respects.",
        "In the meantime, the {method2} has become the standard tool for such {materials}{c}.",
        "Whether {measure2} plays a role as well was left open by most of the authors named above.",
    ),
    "method": (
        "For every sample we then compute {measure} and keep its median over ten repetitions.",
        "This choice follows earlier practice and keeps our numbers comparable{c}.",
        "Parameters were chosen on a separate set of {materials} and never changed afterwards.",
        "A {method2} serves as our baseline, since it is widely used in {area}{c}.",
        "When {things2} overlap, we count them once and note how often this happened.",
        "Missing values were replaced by their mean within each site, which affects fewer than {p} percent of all rows.",
        "Because {measure2} varies with time, we include it as a {adj} covariate.",
        "Two of us labelled {things} independently, and disagreements were settled by discussion.",
        "Our code fits on a page and runs in under {small} minutes on an ordinary laptop.",
        "The procedure has three steps, and each of them can be checked by hand on a small example.",
        "We then drop the lowest and the highest tenth of the values to guard against gross errors.",
        "In the second step, {things2} that belong together are merged into one unit.",
        "The resulting scores lie between zero and one and can be read as a share of {measure}.",
        "Where the {method2} needs a starting value, we take the one that was published for {area}{c}.",
        "A pilot with {small} {materials} had shown that the order of the steps does not matter.",
        "All of this was fixed before the first of the {materials} was opened.",
        "To keep the comparison fair, both procedures saw the same {materials} in the same order.",
    ),
    "data": (
        "Each of them was described by {small} variables, among them {measure} and {measure2}.",
        "We removed {small} {materials} in which {things} could not be identified with confidence.",
        "Sampling followed a protocol that has been used in {area} for many years{c}.",
        "About {p} percent of our {materials} come from a single site, which we treat separately.",
        "Ethical approval was not required, because no personal details were stored.",
        "Weather, distance and observer were recorded as well, so that {measure} could be adjusted.",
        "The {materials} differ in age and origin, but the share of {adj} {things} is close to one half in each.",
        "Whenever two observers disagreed on {measure}, a third one decided without knowing the site.",
        "In the end, {n} complete cases were left for the analysis of {things2}.",
        "Copies of the {materials} were kept in {place}, where they can be consulted on request.",
    ),
    "results": (
        "This difference is larger than what {measure2} alone would explain.",
        "For {adj2} {things2} we saw no clear change, and our intervals include zero.",
        "A {method2} gave almost identical values, which makes an artefact unlikely{c}.",
        "Only {small} of {n} {materials} went against this general trend.",
        "Repeating our analysis without {place} left every conclusion as it was.",
        "When we doubled how many {materials} were used, {measure} improved by another {small} points.",
        "Errors were most common among {adj2} {things}, where even experts disagree.",
        "Both {measure} and {measure2} were stable over time, with small differences between years.",
        "The strongest effect was found for {adj} {things} in {place}, the weakest for {things2}.",
        "At the level of single {materials}, the picture is less clear but points the same way.",
        "After correction for {measure2}, the estimate fell from {p} to {p2} percent.",
        "No such pattern was visible in the {materials} that had been set aside at the beginning.",
        "In contrast, {measure2} hardly reacted to the number of {things2} at all{c}.",
        "The order of the groups remained the same in every one of the years we looked at.",
    ),
    "discussion": (
        "First, {adj} {things} may simply be easier to observe than {things2}{c}.",
        "Second, {measure} could depend on how {materials} were handled before we received them.",
        "Our findings are in line with {C}, who studied {adj2} {things2} with other means.",
        "They differ, however, from reports that {measure} does not change at all{c}.",
        "One limitation is that all {materials} come from {place} and its surroundings.",
        "Future studies should therefore include {things2} from several regions at once.",
        "It would also be useful to know whether a {method2} leads to similar conclusions.",
        "For practice, this means that {measure} should be reported together with {measure2}.",
        "The size of the effect is modest, yet it is of the same order as that of {measure2}{c}.",
        "It is tempting to conclude that {adj} {things} cause the change, but our design does not allow it.",
        "The alternative, that {materials} of poor quality explain the result, can be ruled out.",
        "In this respect the {method} behaves much like the {method2} described by {C}.",
        "The lesson for {area} is that a single number can hide more than it shows.",
    ),
    "conclusion": (
        "Our results hold for {adj} {things} and, with some caution, for {things2} too.",
        "We hope that our {materials} will be useful to others who work on {area}.",
        "Next we plan to repeat this study with a {method2} and with more {materials} from {place}.",
        "Until then, claims about {measure} and {things2} should be read with care{c}.",
        "Much remains to be done before {measure} can be predicted for {adj2} {things} in general.",
        "The main obstacle is no longer the {method} but the small number of {materials}.",
        "In the longer run, the same idea could be carried over from {things} to {things2}.",
        "The evidence assembled here points to {measure} as the quantity that deserves to be measured first.",
    ),
}


@dataclass(slots=True)
class Writer:
    """Writes sentences about one topic: `things` and `method` stay the paper's, all else varies with the random state."""

    rng: random.Random
    field: Field
    things: str
    method: str
    measure: str
    used: Counter[str] = dataclasses.field(default_factory=Counter)

    def paragraph(self, role: Role, sentences: int, cites: list[Cite] | None = None) -> Paragraph:
        """A paragraph of `sentences` sentences; takes from the front of `cites` what it finds place for."""
        patterns = [self._least_used(_OPENING[role])]
        patterns += [self._least_used(_SENTENCES[role]) for _ in range(sentences - 1)]
        queue = cites if cites is not None else []
        runs: Paragraph = []
        for pattern in patterns:
            if "{C}" in pattern and not queue:
                pattern = self._least_used([p for p in _SENTENCES[role] if "{C}" not in p])
            runs.extend(self._sentence(pattern, queue))
            runs.append(" ")
        runs.pop()
        return _merge(runs)

    def abstract(self, sentences: int = 6) -> str:
        """An abstract of 15 to 20 words a sentence, without citations."""
        roles: list[Role] = ["intro", "intro", "method", "data", "results", "results", "discussion", "conclusion"]
        out: list[str] = []
        for i in range(sentences):
            role = roles[i % len(roles)]
            pool = [
                p
                for p in (_OPENING if i % 2 == 0 else _SENTENCES)[role]
                if not any(mark in p for mark in ("{C}", "Section", "Table"))
            ]
            out.append("".join(r for r in self._sentence(self.rng.choice(pool), []) if isinstance(r, str)))
        return " ".join(dict.fromkeys(out))

    def _least_used(self, patterns: Sequence[str]) -> str:
        """One of the patterns this writer has used least, so that no paper repeats itself early."""
        least = min(self.used[p] for p in patterns)
        pattern = self.rng.choice([p for p in patterns if self.used[p] == least])
        self.used[pattern] += 1
        return pattern

    def _sentence(self, pattern: str, queue: list[Cite]) -> Paragraph:
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
                    runs.append(Cite((first,), textual=True))
                    if others:
                        queue.insert(0, Cite(tuple(others)))
                elif queue and self.rng.random() < 0.65:
                    runs.append(queue.pop(0))
        runs.append(text[start:])
        return runs

    def _words(self) -> dict[str, str]:
        rng, f = self.rng, self.field
        adj, adj2 = rng.sample(f.qualities, 2)
        year = rng.randrange(1995, 2018)
        return {
            "area": rng.choice(f.area),
            "things": self.things if rng.random() < 0.6 else rng.choice(f.things),
            "things2": rng.choice([t for t in f.things if t != self.things]),
            "method": self.method if rng.random() < 0.7 else rng.choice(f.methods),
            "method2": rng.choice([m for m in f.methods if m != self.method]),
            "materials": rng.choice(f.materials),
            "measure": self.measure if rng.random() < 0.6 else rng.choice(f.measures),
            "measure2": rng.choice([m for m in f.measures if m != self.measure]),
            "adj": adj,
            "adj2": adj2,
            "place": rng.choice(f.places),
            "n": str(rng.randrange(40, 980)),
            "small": rng.choice(("three", "four", "five", "seven", "nine", "twelve")),
            "p": f"{rng.uniform(3, 60):.1f}",
            "p2": f"{rng.uniform(2, 40):.1f}",
            "y1": str(year),
            "y2": str(year + rng.randrange(1, 4)),
        }


def writer(rng: random.Random, field: Field) -> Writer:
    """A writer on a topic of the field, drawn from `rng`."""
    return Writer(rng, field, rng.choice(field.things), rng.choice(field.methods), rng.choice(field.measures))


def title(rng: random.Random, w: Writer) -> str:
    """A title of six to twelve words about the writer's topic."""
    f = w.field
    other = rng.choice([t for t in f.things if t != w.things])
    place, material = rng.choice(f.places), rng.choice(f.materials)
    adj, area = rng.choice(f.qualities), rng.choice(f.area)
    a_method = w.method[0].upper() + w.method[1:]
    things = w.things[0].upper() + w.things[1:]
    patterns = (
        f"{things} and {w.measure}: evidence from {material} in {place}",
        f"A {w.method} for {adj} {w.things} in {area}",
        f"How {w.things} change {w.measure}: lessons from {area}",
        f"Predicting {w.measure} of {adj} {w.things} with a {w.method}",
        f"{a_method} reveals {adj} {w.things} among {other}",
        f"What {other} tell us about {w.things} and {w.measure}",
        f"Beyond {other}: {w.measure} in {area} near {place}",
        f"Estimating {w.measure} from {material} when {w.things} are {adj}",
        f"On {adj} {w.things}, {other} and their {w.measure}",
        f"{things} around {place} studied by a {w.method}",
    )
    return rng.choice(patterns)


def gibberish(rng: random.Random, words: int) -> str:
    """Sentences of invented words that no word list knows, as broken fonts and bad recognition give them."""
    onsets = ("qz", "xv", "bl", "wrk", "tz", "gn", "kh", "vl", "pf", "dzr", "zw", "mx")
    rests = ("oqua", "iixt", "uvrm", "eqqo", "aazk", "yxle", "orfz", "uzzt", "ewqi", "akxo")
    out = []
    for i in range(words):
        word = "".join(rng.choice(onsets) + rng.choice(rests) for _ in range(rng.randrange(1, 3)))
        out.append(word.capitalize() if i % 11 == 0 else word + ("." if i % 11 == 10 else ""))
    return " ".join(out).rstrip(".") + "."


def _merge(runs: Paragraph) -> Paragraph:
    """Neighbouring strings as one, empty ones gone."""
    out: Paragraph = []
    for run in runs:
        if isinstance(run, str) and out and isinstance(out[-1], str):
            out[-1] += run
        elif run != "":
            out.append(run)
    return out
