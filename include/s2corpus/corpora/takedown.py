"""Take down a paper in all corpora: a line in `suppress.jsonl`."""

from __future__ import annotations

import orjson

from s2corpus.corpora.found_papers import FoundPaper, append_lines, find_papers, read_name
from s2corpus.corpora.listing import list_corpora
from s2corpus.corpora.plans import PAPER, REASON, Action, Plan, Values
from s2corpus.errors import UserError
from s2corpus.snapshot import pointer
from s2corpus.stages.filter import read_suppressions
from s2corpus.storage.lake import Lake

SUPPRESSED = "suppress.jsonl"


def _plan_takedown(lake: Lake, values: Values) -> Plan:
    pointer.check_reason(values["reason"])
    found, (kind, _) = find_papers(lake, values["paper"]), read_name(values["paper"])
    if not found and kind == "title":
        raise UserError(
            f"no latest snapshot has a paper {values['paper']!r}; corpora: {', '.join(list_corpora(lake)) or 'none'}"
        )
    effects = [
        f"{p.snapshot} has the paper {p.paper_id} “{p.title or 'without title'}”; the next release of {p.corpus} omits it."
        for p in found
    ]
    if not found:
        effects.append(f"No latest snapshot has {values['paper']}; later releases of all corpora omit it.")
    effects.append("Published snapshots do not change. To withdraw them, yank them.")
    return Plan(
        tuple(effects),
        f"{len(_list_lines(found, values))} lines in {SUPPRESSED}",
        frozenset(p.corpus for p in found) or frozenset(list_corpora(lake)),
    )


def _list_lines(found: list[FoundPaper], values: Values) -> list[dict[str, str]]:
    """Return the lines of `suppress.jsonl`: one for the given identifier, each DOI and each paper id."""
    kind, value = read_name(values["paper"])
    given = [] if kind == "title" else [("paper_id" if kind == "id" else kind, value)]
    dois = [("doi", paper.doi) for paper in found if paper.doi]
    ids = [("paper_id", paper.paper_id) for paper in found]
    return [{key: name, "reason": values["reason"].strip()} for key, name in dict.fromkeys([*given, *dois, *ids])]


def _take_down(lake: Lake, values: Values, _: str) -> str:
    found = find_papers(lake, values["paper"])
    append_lines(lake, SUPPRESSED, map(orjson.dumps, _list_lines(found, values)), read_suppressions)
    ids = ", ".join(dict.fromkeys(paper.paper_id for paper in found)) or values["paper"]
    return f"{ids}: later releases of {', '.join(sorted({p.corpus for p in found})) or 'all corpora'} omit the paper"


def _prove_takedown(lake: Lake, values: Values) -> dict[str, str]:
    """Return corpus → sentence: whether its latest snapshot still has the paper."""
    has_paper = {paper.corpus: paper for paper in find_papers(lake, values["paper"])}
    sentences = {}
    for corpus in list_corpora(lake):
        if snapshot := pointer.read_latest(lake, corpus).snapshot:
            state = (
                "still has the paper: its next release omits it" if corpus in has_paper else "does not have the paper"
            )
            sentences[corpus] = f"{snapshot} {state}"
    return sentences


TAKEDOWN = Action(
    "takedown", "Take down a paper in all corpora", PAPER | REASON, _plan_takedown, _take_down, _prove_takedown
)
