"""Make the casts of the samples from `cases.yaml`. No code here computes a rule of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import yaml

from devtools.sample import sources
from devtools.sample.cast import Case, Cast, delivered, preprint, published
from devtools.sample.model import InlineStyle
from devtools.sample.prose import WORDS

Entry = dict[str, Any]
_EXPRESSIONS = jinja2.Environment()
_OF_PAPER = frozenset({"key", "why", "date", "title", "authors", "style", "columns"})
_ELSEWHERE = frozenset({"each", "paper", "pdfs", "records"})
_WITH_CHANCE = ("dblp", "pubmed")


def sample_cast() -> Cast:
    """Return the complete cast: every special case, and ordinary papers up to 66 papers with a PDF."""
    given = _read()
    cast = Cast()
    cast.extras, cast.conflicts = tuple(given["extras"]), tuple(given["conflicts"])
    _add_cases(cast, given["sample"])
    specials = sum(any(p.belongs for p in c.pdfs) for c in cast.cases)
    for i in range(66 - specials):
        regular(cast, i)
    return cast


def tiny_cast() -> Cast:
    """Return eight papers that cover all splits.

    They include both main citation styles, two papers that cite each other, a pair of versions and a closed paper.
    """
    cast = Cast()
    _add_cases(cast, _read()["tiny"])
    return cast


def _read() -> Entry:
    given: Entry = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return given


def _add_cases(cast: Cast, entries: list[Entry]) -> None:
    """Add the papers with their PDFs; then their records and outcomes, which may refer to any paper."""
    made: list[tuple[Case, Entry, Entry]] = []
    for entry, row in ((given, row) for given in entries for row in given.get("each", [{}])):
        names = row | {"of": {case.key: case.paper for case in cast.cases}}
        options = _evaluate({name: entry[name] for name in _OF_PAPER & entry.keys()}, names)
        if "style" in options:
            options["style"] = InlineStyle(options["style"])
        case = cast.add(**options)
        p, w = case.paper, case.writer
        names |= {"p": p, "w": w, "n": cast.number(case)}
        names["abstracts"] = lambda n, sentences, joint, w=w: joint.join(w.abstract(sentences) for _ in range(n))
        for name, value in entry.get("paper", {}).items():
            setattr(p, name, _evaluate(value, names))
        if (body := entry.get("body")) in ("german", "chinese"):
            p.language = "de" if body == "german" else "zh"
            p.title, p.abstract = WORDS[body]["title"], WORDS[body]["abstract"]
        for pdf in _evaluate(entry.get("pdfs", [{}]), names):
            if "drops" in pdf:
                pdf["drops"] = tuple(pdf["drops"])
            if pdf.get("make") == "preprint":
                preprint(cast, case, **pdf)
            else:
                published(case, **pdf)
        made.append((case, entry, names))
    papers = {case.key: case.paper for case in cast.cases}
    for case, entry, names in made:
        names["of"] = papers
        for name in entry.keys() - _OF_PAPER - _ELSEWHERE:
            setattr(case, name.removeprefix("case_"), _evaluate(entry[name], names))
        for source, changes in _list_records(entry):
            _deliver(cast, case, source, _evaluate(changes, names), papers)


def _list_records(entry: Entry) -> Iterator[tuple[str, Entry]]:
    for record in entry.get("records", ["crossref"]):
        yield from [(record, {})] if isinstance(record, str) else record.items()


def _deliver(cast: Cast, case: Case, source: str, changes: Entry, papers: Mapping[str, Any]) -> None:
    """Add a record of a source to the case."""
    paper, delivery = papers[changes.pop("of", case.key)], changes.pop("delivery", "full")
    chance = [cast.rng(*changes.pop("rng", (case.key, source)))] if source in _WITH_CHANCE else []
    text = {"abstract": changes.pop("abstract_text")} if "abstract_text" in changes else {}
    arguments = () if source == "tombstone" else (*chance, paper)
    delivered(case, getattr(sources, source)(*arguments, **changes) | text, delivery=delivery)


def _evaluate(value: Any, names: Mapping[str, Any]) -> Any:
    """Return a value of the file, with the results of its expressions."""
    match value:
        case str() if value.startswith("="):
            return _EXPRESSIONS.compile_expression(value[1:])(**names)
        case dict():
            return {name: _evaluate(item, names) for name, item in value.items()}
        case list():
            return [_evaluate(item, names) for item in value]
    return value


def regular(cast: Cast, i: int) -> Case:
    """Return an ordinary paper before the split dates, with two to three sources that disagree a little."""
    key = f"regular-{i:02d}"
    rng = cast.rng(key, "records")
    year = 2003 + (i * 7) % 19
    date = f"{year}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    style = InlineStyle.BRACKET if i == 0 else None  # the extractor finds its cited title `Editorial` in this style
    case = cast.add(key, "an ordinary paper", date, authors=1 + i % 5, style=style)
    p = case.paper
    pdf = published(case, drops=(("2023-01-a", "2023-01-b")[i % 2],))
    named: dict[str, Any] = {"file_sha1": f"@{pdf.name}"} if i % 3 else {}
    if p.field in ("Medicine", "Biology"):
        p.pubmed_id = f"9{cast.number(case):07d}"
        p.journal, p.venue = p.journal or cast.rng(key, "journal").choice(case.writer.field.journals), None
        delivered(case, sources.crossref(p, abstract=False, **named), sources.pubmed(rng, p))
    else:
        delivered(case, sources.crossref(p, **named))
        if i % 2:
            delivered(case, sources.dblp(rng, p))
    if i % 3 == 0:
        pdf.declared, case.evidence, case.license = None, "unpaywall", "CC-BY"
        delivered(case, sources.unpaywall(p))
    return case
