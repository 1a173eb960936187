"""Measure precision on real text: link bibliographies by title alone, and compare the DOIs of both sides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from lxml import etree

from devtools.bench.link_table import note, row
from devtools.bench.link_tables import link_tables
from s2corpus.titles.facts import IDENTIFIERS
from s2orc_parse import tei
from s2orc_parse.bibliography.identifiers import normalise_doi

Work = dict[str, Any]
SCHEMA = pa.schema([("title", pa.string()), ("year", pa.int32()), ("surname", pa.string()), ("doi", pa.string())])


def works(data: Path) -> Iterator[tuple[str, Work, list[Work]]]:
    """Yield every article: its file name, the article, and the works it cites.

    The articles are publishers' JATS, and GROBID's TEI of 13 PDFs.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    for path in sorted(
        [*data.glob("jats/**/*.xml"), *data.glob("jats/**/*.nxml"), *data.glob("pmc-with-tei/**/*.nxml")]
    ):
        root = etree.parse(path, parser).getroot()
        meta = root.find(".//article-meta")
        if meta is None:
            continue
        yield (
            path.name,
            _work(meta, ".//title-group/article-title", ".//article-id"),
            [_work(ref, ".//article-title", ".//pub-id") for ref in root.iterfind(".//ref-list//ref")],
        )
    for path in sorted(data.glob("pairs/*.tei.xml")):
        parse = tei.convert(path.read_bytes(), file_sha1=path.name.split(".")[0])
        line = tei.to_s2orc(parse, None)
        yield (
            path.name,
            {"title": line.get("title")},
            [
                {
                    "title": entry["title"],
                    "year": entry["year"],
                    "surname": next((a["last"] for a in entry["authors"]), None),
                    "doi": next(iter(entry["other_ids"].get("DOI", [])), None),
                }
                for entry in line["bib_entries"].values()
            ],
        )


def _work(element: Any, title: str, identifier: str) -> Work:
    found = element.find(title)
    year = element.findtext(".//year") or ""
    dois = [i.text for i in element.iterfind(identifier) if i.get("pub-id-type") == "doi"]
    links = [text for i in element.iterfind(".//{*}ext-link") for text in (i.text, *i.attrib.values())]
    dois += [text for text in links if "10." in (text or "")]
    return {
        "title": " ".join("".join(found.itertext()).split()) if found is not None else None,
        "year": int(year[:4]) if year[:4].isdecimal() else None,
        "surname": element.findtext(".//surname"),
        "doi": next((d for d in map(normalise_doi, filter(None, dois)) if d), None),
    }


def report(data: Path) -> None:
    """Link every entry by title alone to the works with DOIs, one work per DOI, and count the agreements."""
    entries: list[Work] = []
    targets: dict[str, Work] = {}
    articles = 0
    for _, article, cited in works(data):
        articles += 1
        entries += cited
        for work in (article, *cited):
            if work.get("doi") and work.get("title"):
                targets.setdefault(work["doi"], work)
    nothing = {name: pa.nulls(len(entries), pa.string()) for name in (*IDENTIFIERS, "citing_paper_id")}
    table = pa.Table.from_pylist(entries, schema=SCHEMA)
    doi = table["doi"].to_pylist()
    for name, column in nothing.items():
        table = table.drop_columns([name]) if name in table.column_names else table
        table = table.append_column(name, column)
    papers = pa.Table.from_pylist(list(targets.values()), schema=SCHEMA).rename_columns({"doi": "paper_id"})
    for name in IDENTIFIERS:
        papers = papers.append_column(name, pa.nulls(len(papers), pa.string()))
    links = link_tables(table, papers).rows.to_pylist()
    both = [(e, d, found) for e, d, found in zip(entries, doi, links, strict=True) if found["paper_id"] and d]
    wrong = [(e, d, found) for e, d, found in both if d != found["paper_id"]]
    note(f"real text: {articles} articles, entries, works with DOIs", f"{len(entries):,}, {len(targets):,}")
    note("    entries with a title, linked by title alone",
        f"{sum(bool(e['title']) for e in entries):,}, {sum(bool(found['paper_id']) for found in links):,}")  # fmt: skip
    for reason in ("exact", "fuzzy"):
        mine = [d == found["paper_id"] for _, d, found in both if found["reason"] == reason]
        note(f"    {reason}: DOIs on both sides agree", f"{sum(mine):,} of {len(mine):,}")
    precision = 1 - len(wrong) / len(both)
    what = f"precision on real text, {articles} articles: DOIs on both sides agree"
    row(what, f"{precision:.4%} of {len(both):,}", "≥ 99.5 %", "", precision >= 0.995)
    others = [d == found["paper_id"] for e, d, found in zip(entries, doi, links, strict=True)
              if found["paper_id"] and d and targets[found["paper_id"]] is not e]  # fmt: skip
    note("    of them, the title from another bibliography or the article itself", f"{sum(others)} of {len(others)}")
    for entry, given, found in wrong:
        print(f"    {found['reason']} {found['score']:.3f} {found['warning'] or ''}")
        print(f"        {given:40} {entry['year']} {entry['surname']}: {entry['title']}")
        other = targets[found["paper_id"]]
        print(f"        {found['paper_id']:40} {other.get('year')} {other.get('surname')}: {other['title']}")
