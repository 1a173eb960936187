"""Assign citations and write the bodies of the cases: the second pass over the cast, after all titles exist."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

from devtools.sample import prose
from devtools.sample.cast import Case, Cast
from devtools.sample.compose import absent_works, order_references, paragraphs, reference_to, write_body
from devtools.sample.model import Block, PageBreak, PrintedReference, SectionHead
from devtools.sample.prose import FIELDS, WORDS, Role

_WITHOUT_REFERENCES = frozenset({"german", "chinese", "editorial", "short", "few", "slides", "thesis", "scan"})


def write_all(cast: Cast) -> None:
    """Write the references and the body of every case."""
    citable = [c for c in cast.cases if c.citable and c.filtered == "kept"]
    absent = {f.name: absent_works(cast.rng(f.name, "absent"), f, cast.titles) for f in FIELDS}
    regular = [c for c in cast.cases if c.key.startswith("regular-")]
    for case in cast.cases:
        if case.body not in _WITHOUT_REFERENCES and (case.pdfs or case.full_text):
            rng = cast.rng(case.key, "references")
            entries = _references(rng, cast, case, citable, absent[case.paper.field])
            if case in regular:
                entries += _special(cast, regular.index(case), entries)
            order_references(rng, case.paper, entries)
        if case.pdfs or case.full_text:
            _body(cast, case)
    _copy_twin(cast)


def _references(
    rng: random.Random, cast: Cast, case: Case, citable: list[Case], absent: list[PrintedReference]
) -> list[PrintedReference]:
    """Return two to five entries for older sample papers, and twice as many for works outside the sample."""
    year = case.paper.year or 2015
    older = [c for c in citable if c is not case and c.paper.year is not None and c.paper.year < year]
    cited = [c for c in cast.cases if c.key in case.cites]
    cited += rng.sample(older, min(len(older), rng.randrange(2, 6)))
    before = [work for work in absent if work.year < year]
    return [
        *(reference_to(rng, c.paper, with_id=rng.random() < 0.25) for c in cited),
        *rng.sample(before, min(len(before), rng.randrange(5, 10))),
    ]


def _special(cast: Cast, i: int, entries: list[PrintedReference]) -> list[PrintedReference]:
    """Return the citations that need care, one set for each of the first ordinary papers."""
    by_key = {c.key: c for c in cast.cases}

    def to(key: str, **changes: Any) -> PrintedReference:
        entry = reference_to(random.Random(0), by_key[key].paper, with_id=False)
        return dataclasses.replace(entry, **changes)

    part_one = by_key["part-i"].paper.title
    table = (
        [to("editorial", title="Editorial")],  # generic, but year and surname agree
        [to("editorial", title="Editorial", year=2001, volume=61, pages="11-14", cites=None)],  # year and place differ
        [to("part-i", title=part_one), to("part-ii", title=part_one + "I")],
        [to("part-ii", title=part_one + "II", cites=None, numeral=True)],  # Part III, which does not exist
        [to("suppressed-doi"), to("german", title=by_key["german"].paper.title)],  # filtered out: not link targets
        [to("pair-other-title", title="Seasonal drift in pulsar timings in long archival series of two observatories")],
        [to("preprint-only", arxiv_id=by_key["preprint-only"].paper.arxiv_id)],
        [to("closed"), to("record-train")],
    )
    taken = {e.cites for e in entries}
    return [e for e in (table[i] if i < len(table) else []) if e.cites is None or e.cites not in taken]


def _body(cast: Cast, case: Case) -> None:
    rng, p, w = cast.rng(case.key, "body"), case.paper, case.writer
    english = ("Introduction", "Methods", "Results", "Discussion")
    match case.body:
        case "usual":
            write_body(rng, p, w)
        case "short":
            p.blocks = paragraphs(english, [_plain(w, r, 4) for r in ("intro", "method", "results", "discussion")])
        case "german" | "chinese":
            words, space = WORDS[case.body], " " if case.body == "german" else ""
            p.blocks = paragraphs(words["heads"], [space.join(rng.sample(words["sentences"], 8)) for _ in range(12)])
        case "editorial":
            p.blocks = [
                SectionHead("A new volume", None), [_plain(w, "intro", 7)], [_plain(w, "discussion", 7)],
                SectionHead("What comes next", None), [_plain(w, "conclusion", 7)],
            ]  # fmt: skip
        case "the":
            _usual_with(rng, case, [[" ".join(rng.sample(WORDS["the_heavy"] * 2, 8))] for _ in range(5)])
        case "0.05":
            _usual_with(rng, case, [[_write_thresholds(rng)] for _ in range(6)])
        case "figures":
            _usual_with(rng, case, [[f"{rng.uniform(1, 99):.2f} ± {rng.uniform(0, 3):.2f}"] for _ in range(40)])
        case "few":
            # Two in about 270 words: fewer than five, even if a page break splits one.
            p.blocks = paragraphs(("Introduction", "Discussion"), [_plain(w, "intro", 18), _plain(w, "discussion", 18)])
        case "gibberish":
            readings: list[Block] = [[prose.gibberish(rng, 90)] for _ in range(2)]
            _usual_with(rng, case, [SectionHead("Supplementary readings", None), *readings])
        case "slides":
            for _ in range(9):
                p.blocks += [
                    SectionHead(w.rng.choice(w.field.things).capitalize(), None), [_plain(w, "results", 2)], PageBreak(),
                ]  # fmt: skip
        case "thesis":
            for i in range(60):
                chapter: list[Block] = [[_plain(w, r, 6)] for r in ("related", "method", "results", "discussion")]
                p.blocks += [SectionHead(f"Chapter {i + 1}", None), *chapter, PageBreak()]
        case _:
            p.blocks = []


def _usual_with(rng: random.Random, case: Case, more: Sequence[Block]) -> None:
    """Write an ordinary body with more blocks before its discussion."""
    write_body(rng, case.paper, case.writer)
    blocks = case.paper.blocks
    at = next(i for i, b in enumerate(blocks) if isinstance(b, SectionHead) and b.text == "Discussion")
    blocks[at:at] = more


def _write_thresholds(rng: random.Random) -> str:
    """Return English with `0.05` as its most frequent word, which is not all letters."""
    samples = (rng.sample(WORDS["habitats"], 4) for _ in range(6))
    return " ".join(
        f"A level of 0.05 suits {a}, yet 0.05 hides {b}, while 0.05 overstates {c} as much as 0.05 does {d}."
        for a, b, c, d in samples
    )


def _plain(w: prose.SentenceWriter, role: Role, sentences: int) -> str:
    """Return a paragraph without citations."""
    return "".join(r for r in w.paragraph(role, sentences) if isinstance(r, str))


def _copy_twin(cast: Cast) -> None:
    """Copy the text of the first version to the later twin."""
    by_key = {c.key: c for c in cast.cases}
    if "twin-first" not in by_key:
        return
    first, again = by_key["twin-first"].paper, by_key["twin-again"].paper
    again.blocks, again.back_matter, again.references = first.blocks, first.back_matter, first.references
    again.style, again.ranges = first.style, first.ranges
