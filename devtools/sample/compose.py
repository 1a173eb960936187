"""Write the papers: first titles and metadata, then the citations between papers, then the text with its citations."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from devtools.sample import prose
from devtools.sample.model import (
    Block,
    Equation,
    Figure,
    InlineStyle,
    Paper,
    Person,
    PrintedReference,
    SectionHead,
    TableBlock,
)
from devtools.sample.prose import FIELDS, WORDS, Field, InlineCite, Role, SentenceWriter

DOI_PREFIX = "10.70112"


def people(rng: random.Random, n: int) -> tuple[Person, ...]:
    """Return `n` authors with different surnames."""
    lasts = rng.sample(WORDS["last_names"], n)
    return tuple(
        Person(
            rng.choice(WORDS["first_names"]), (f"{rng.choice('ABCDEFGHJKLMPRST')}.",) if rng.random() < 0.35 else (), last,
            "Jr." if rng.random() < 0.04 else "",
        )
        for last in lasts
    )  # fmt: skip


class Titles:
    """A source of titles that no rule about similar titles can confuse.

    Their 3-grams overlap too little to reach S > 0.8."""

    def __init__(self) -> None:
        self._taken: list[frozenset[str]] = []

    def add(self, title: str) -> None:
        """Reserve a title that a case prescribes."""
        self._taken.append(_grams(title))

    def new(self, rng: random.Random, w: SentenceWriter, *, take: bool = True) -> str:
        """Return a title that differs from all taken titles; reserve it if `take` (not for an absent work)."""
        for _ in range(1000):
            title = prose.title(rng, w)
            grams = _grams(title)
            # S = 2JC/(J+C) > 0.8 needs a containment C > 0.8 at least.
            if all(len(grams & other) <= 0.7 * min(len(grams), len(other)) for other in self._taken):
                if take:
                    self._taken.append(grams)
                return title
            w = prose.writer(rng, rng.choice(FIELDS))
        raise RuntimeError("the vocabulary has no more titles that differ enough")


def _grams(title: str) -> frozenset[str]:
    text = re.sub(r"\W", "", title).casefold()
    return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2)))


def outline(
    rng: random.Random,
    key: str,
    number: int,
    titles: Titles,
    *,
    date: str | None,
    title: str | None = None,
    authors: int = 3,
) -> tuple[Paper, SentenceWriter]:
    """Return a paper's metadata, and the writer of its text. `number` determines its field and identifiers."""
    field = FIELDS[number % len(FIELDS)]
    w = prose.writer(rng, field)
    if title is None:
        title = titles.new(rng, w)
    else:
        titles.add(title)
    is_journal = rng.random() < 0.6
    paper = Paper(
        key=key, field=field.name, title=title, authors=people(rng, authors), date=date,
        journal=rng.choice(field.journals) if is_journal else None,
        venue=None if is_journal else rng.choice(field.venues),
        abstract=w.abstract(6),
        doi=f"{DOI_PREFIX}/sample.{number:04d}",
        ranges="split" if number % 4 == 0 else "joined",
        square=number % 8 == 5,
        affiliation=f"Department of {field.name}, University of {rng.choice(field.places)}" if number % 2 else None,
        keywords=", ".join(rng.sample(field.things, 3)) if rng.random() < 0.4 else None,
    )  # fmt: skip
    return paper, w


def reference_to(rng: random.Random, cited: Paper, *, with_id: bool) -> PrintedReference:
    """Return an entry that cites a sample paper, with its title in another form: other case, hyphens and colons."""
    title = cited.title
    kind = rng.randrange(4)
    if kind == 1:
        title = title.replace(": ", " – ")
    elif kind == 2:
        title = " ".join(w if w.islower() and len(w) < 4 else w[0].upper() + w[1:] for w in title.split())
    return PrintedReference(
        authors=cited.authors, year=cited.year or 2015, title=title,
        source=cited.journal or cited.venue or "Unpublished manuscript",
        is_journal=cited.journal is not None, volume=cited.volume, pages=cited.pages,
        doi=cited.doi if with_id and cited.doi else None,
        arxiv_id=cited.arxiv_id if with_id and not cited.doi else None, cites=cited.key,
    )  # fmt: skip


def absent_works(rng: random.Random, field: Field, titles: Titles) -> list[PrintedReference]:
    """Return works of a field that are not in the sample, for its papers to cite."""
    works = []
    for _ in range(60):
        is_journal = rng.random() < 0.6
        title = titles.new(rng, prose.writer(rng, field), take=False)
        works.append(
            PrintedReference(
                people(rng, rng.randrange(1, 5)), int(rng.triangular(1948, 2022, 2008)), title,
                rng.choice(field.journals if is_journal else field.venues), is_journal,
                volume=rng.randrange(2, 60), pages=_pages(rng),
            )
        )  # fmt: skip
    return works


def _pages(rng: random.Random) -> str:
    first = rng.randrange(1, 900)
    return f"{first}–{first + rng.randrange(6, 24)}"


def order_references(rng: random.Random, paper: Paper, references: Sequence[PrintedReference]) -> None:
    """Set the paper's references in the order of its style: by name, or in random order.

    The text cites them in this order.
    """
    entries = list(references)
    if paper.style is InlineStyle.NAME_YEAR:
        entries.sort(key=lambda r: (r.authors[0].last.casefold(), r.year, r.title))
    else:
        rng.shuffle(entries)
    paper.references = entries


def groups(rng: random.Random, n: int) -> list[InlineCite]:
    """Return citations that cover all of `n` entries, singly, in pairs and in ranges of three to four."""
    out: list[InlineCite] = []
    i = 0
    while i < n:
        size = min(n - i, rng.choice((1, 1, 1, 2, 2, 3, 4)))
        out.append(InlineCite(tuple(range(i, i + size))))
        i += size
    out.extend(InlineCite((rng.randrange(n),)) for _ in range(n // 3))  # some are cited again
    return out


def write_body(rng: random.Random, paper: Paper, w: SentenceWriter, *, length: int = 5) -> None:
    """Write the usual body: seven sections, an equation, a figure, a table; `length` or more sentences per paragraph."""
    cites = groups(rng, len(paper.references)) if paper.references else []
    blocks: list[Block] = []

    def section(num: int, head: str, role: Role, paragraphs: int) -> None:
        blocks.append(SectionHead(head, str(num)))
        blocks.extend(w.paragraph(role, length + rng.randrange(3), cites) for _ in range(paragraphs))

    section(1, "Introduction", "intro", 3)
    section(2, rng.choice(("Related Work", "Background", "Previous Studies")), "related", 3)
    blocks += [
        SectionHead(rng.choice(("Methods", "Our Approach", "Study Design")), "3"),
        SectionHead(rng.choice(("Notation", "Overview")), "3.1", 2), w.paragraph("method", length, cites),
        SectionHead(rng.choice(("Model", "Estimation")), "3.2", 2), w.paragraph("method", length, cites),
        ["Written in full, our central quantity is"], Equation(rng.randrange(5)),
        [f"where all symbols have their usual meaning. Equation (1) is evaluated once for each of our {w.things}."],
    ]  # fmt: skip
    section(4, rng.choice(("Data", "Materials", "Data Collection")), "data", 2)
    figures = f"Table 1 lists {w.measure} by group, and Figure 1 shows how it changed between years. Both use all observations."
    blocks += [[figures], _table(rng, w)]
    section(5, "Results", "results", 2)
    values = tuple(rng.randrange(10, 100) for _ in range(6))
    blocks.append(Figure(1, f"Change of {w.measure} between years, in percent.", values))
    blocks.append(w.paragraph("results", length + 1, cites))
    section(6, "Discussion", "discussion", 2)
    section(7, rng.choice(("Conclusion", "Conclusions")), "conclusion", 1)
    blocks.extend(_leftovers(w, cites))
    paper.blocks = blocks
    if rng.random() < 0.6:
        paper.back_matter = [
            SectionHead("Acknowledgements", None),
            [f"We thank two anonymous readers and our colleagues in {rng.choice(w.field.places)} for their advice."],
        ]


def _leftovers(w: SentenceWriter, cites: list[InlineCite]) -> list[Block]:
    """Return last paragraphs with the citations that no earlier paragraph contains."""
    out: list[Block] = []
    while cites:
        paragraph: prose.Paragraph = [f"Further evidence on {w.measure} of {w.things} comes from related fields"]
        for cite in cites[:3]:
            paragraph += [cite, ", and from work on " + w.rng.choice(w.field.things)]
        del cites[:3]
        out.append([*paragraph, ", all of which lies beyond what we can discuss here."])
    return out


def _table(rng: random.Random, w: SentenceWriter) -> TableBlock:
    rows = [("Group", "Number", "Mean", "Deviation")]
    for thing in rng.sample(w.field.things, 4):
        rows.append((thing, str(rng.randrange(12, 300)), f"{rng.uniform(1, 90):.2f}", f"{rng.uniform(0.1, 9):.2f}"))
    return TableBlock(1, f"Mean and deviation of {w.measure} by group.", tuple(rows))


def paragraphs(heads: Sequence[str], texts: Collection[str]) -> list[Block]:
    """Return numbered sections; the texts are spread over them in order."""
    blocks: list[Block] = []
    queue = list(texts)
    per_head = max(1, len(queue) // len(heads))
    for i, head in enumerate(heads, start=1):
        blocks.append(SectionHead(head, str(i)))
        take = queue if i == len(heads) else queue[:per_head]
        blocks.extend([text] for text in take)
        queue = [] if i == len(heads) else queue[per_head:]
    return blocks
