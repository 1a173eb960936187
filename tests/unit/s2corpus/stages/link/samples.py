"""Links of entries to papers in one call, for tables of cases."""

from collections.abc import Iterable
from random import Random
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import pyarrow as pa

from s2corpus.corpora.link_tables import link_tables
from s2corpus.rules import LinkRules
from s2corpus.titles.facts import IDENTIFIERS

Row = dict[str, Any]
Case = tuple[Row, list[Row]]
"""An entry and the only papers that it may link to."""
TEXT = ("title", "surname", "journal", "volume", "pages", *IDENTIFIERS)
COLUMNS = pa.schema([("year", pa.int32()), *((name, pa.string()) for name in TEXT)])
PAPERS = COLUMNS.append(pa.field("paper_id", pa.string()))
ENTRIES = pa.schema([*COLUMNS, ("citing_paper_id", pa.string()), ("raw_text", pa.string())])


def link_all(entries: Iterable[Row], papers: Iterable[Row], rules: LinkRules | None = None) -> list[Row]:
    """Return the links of entries that share their papers."""
    tables = pa.Table.from_pylist(list(papers), PAPERS), [pa.Table.from_pylist(list(entries), ENTRIES)]
    rows: list[Row] = link_tables(*tables, rules).to_pylist()
    return rows


def link_cases(cases: Iterable[Case]) -> list[Row]:
    """Return the link of each case. A case has its own ids, identifiers and alphabet, so it never links to papers of another case."""
    entries: list[Row] = []
    papers: list[Row] = []
    for number, (entry, own_papers) in enumerate(cases):
        entries.append(_separate(entry, number))
        papers += [_separate(paper, number) for paper in own_papers]
    found = link_all(entries, papers)
    return [{**row, "paper_id": row["paper_id"] and row["paper_id"].partition(":")[2]} for row in found]


def _separate(row: Row, number: int) -> Row:
    letters = "".join(Random(number).sample(ascii_lowercase, 26))
    alphabet = str.maketrans(ascii_lowercase + ascii_uppercase, letters + letters.upper())
    separate = {
        name: f"{number}:{row[name]}" for name in ("paper_id", "citing_paper_id", *IDENTIFIERS) if row.get(name)
    }
    title = row.get("title")
    return {**row, **separate, "title": title and title.translate(alphabet)}
