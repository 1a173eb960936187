"""Writes snapshots directly, with the files that datasets read, for tests and benchmarks that need no release.

Content comes from JATS or is generated.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from devtools.real_data import REAL_DATA
from s2corpus.rules import CleanRules
from s2corpus.snapshot import flat
from s2corpus.snapshot.metadata import metadata_row, released_parse
from s2corpus.tables.papers import PAPERS
from s2corpus_reader.files import (
    SNAPSHOT_FORMAT,
    GzipLines,
    SnapshotFile,
    corpus_path,
    describe_file,
    file_number,
    json_line,
    table_path,
)
from s2corpus_reader.parquet import ParquetFile
from s2orc_parse.bibliography.fields_of_study import fields_of_study
from s2orc_parse.jats import BadArticle, convert
from s2orc_parse.parse_model import ParseKind
from s2orc_parse.tei.s2orc import to_s2orc

Row = dict[str, Any]


def paper(paper_id: str, parses: Mapping[str, Row], *, inbound: Iterable[str] = (), **known: Any) -> Row:
    """Return a paper as a release passes it to the export; omitted values are unknown.

    Its links are the `link` values of its bibliography.
    """
    parses = {kind: {**parse, "paper_id": paper_id} for kind, parse in parses.items()}
    links = {entry.get("link") for parse in parses.values() for entry in parse["bib_entries"].values()} - {None}
    lists = ("preprints", "mag_ids", "record_ids", "authors", "editorial_by", "fields_of_study", "issns", "subjects")
    row: Row = {column.name: None for column in PAPERS.columns} | {name: [] for name in lists}
    row |= {"open_access": True, "license": "CC-BY-4.0"} | known | {"paper_id": paper_id}
    text = {"file_sha1": None, "open_access": row["open_access"], "oa_evidence": "publisher", "license": row["license"]}
    return {
        **row, "parses": parses, "fulltexts": dict.fromkeys(parses, text), "abstract_from": None,
        "outbound": sorted(links), "inbound": sorted(inbound),
    }  # fmt: skip


def write_snapshot(lake: Path, papers: Iterable[Row], *, files: int = 2, day: str = "20260401") -> Path:
    """Write papers (sorted by id here) as a snapshot's files below `lake/snapshots/`; return the snapshot's folder."""
    groups: dict[int, list[Row]] = {nn: [] for nn in range(files)}
    for row in papers:
        groups[file_number(row["paper_id"], files)].append(row)
    work = lake / "snapshots" / "unnamed"
    written: list[SnapshotFile] = []
    for nn, rows in groups.items():
        written += _write_group(work, nn, sorted(rows, key=lambda row: str(row["paper_id"])))
    digest = hashlib.sha256(b"".join(f.sha256.encode() for f in written)).hexdigest()[:8]
    snapshot = f"real-{day}-{digest}"
    manifest = {
        "format": f"s2corpus-snapshot-{SNAPSHOT_FORMAT}", "snapshot": snapshot, "spec": "real",
        "as_of": f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00Z", "rules": {"export.files": files},
        "files": [file.as_json() for file in written],
    }  # fmt: skip
    (work / "manifest.json").write_bytes(orjson.dumps(manifest))
    folder = work.with_name(snapshot)
    work.rename(folder)
    return folder


def _write_group(folder: Path, nn: int, rows: list[Row]) -> list[SnapshotFile]:
    kinds = [str(kind) for kind in ParseKind]
    paths = {name: corpus_path(name, nn) for name in ("metadata", *(f"{kind}_parses" for kind in kinds))}
    for path in (*paths.values(), table_path("papers", nn)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    table = folder / table_path("papers", nn)
    with ExitStack() as stack:
        lines = {name: stack.enter_context(GzipLines(folder / path)) for name, path in paths.items()}
        parquet = stack.enter_context(ParquetFile(table, flat.SCHEMAS["papers"]))
        for row in rows:
            row["parses"] = {
                kind: _linked(parse, open_access=row["open_access"]) for kind, parse in row["parses"].items()
            }
            metadata = metadata_row(row, row["outbound"], row["inbound"], row["parses"].get("pdf"))
            lines["metadata"].write(json_line(metadata))
            for kind, parse in row["parses"].items():
                lines[f"{kind}_parses"].write(json_line(parse))
            for name, flat_row, size in flat.rows(row | {"decisions": []}, CleanRules()):
                if name == "papers":
                    parquet.write(flat_row, size)
    return [
        *(lines[name].describe(path) for name, path in paths.items()),
        describe_file(table_path("papers", nn), table, parquet.count),
    ]


def _linked(parse: Row, *, open_access: bool) -> Row:
    links = {ref: entry["link"] for ref, entry in parse["bib_entries"].items() if entry.get("link")}
    return released_parse(parse, links, open_access=open_access)


def real_articles() -> list[Row]:
    """Return the convertible publisher articles of the shared data as papers. An entry with the DOI of another article is linked to it."""
    files = sorted(
        path
        for folder in ("jats", "pmc-pdf")
        for path in (REAL_DATA / folder).rglob("*")
        if path.suffix in (".xml", ".nxml")
    )
    found: dict[str, tuple[str, Row, Any]] = {}
    for path in files:
        try:
            article = convert(path.read_bytes(), sha1=hashlib.sha1(path.read_bytes()).hexdigest())
        except BadArticle:
            continue
        doi = article.header.doi
        if doi and article.header.title and doi not in found:
            found[doi] = (hashlib.sha256(doi.encode()).hexdigest()[:15], to_s2orc(article), article.header)
    ids = {doi: id_ for doi, (id_, _, _) in found.items()}
    inbound: dict[str, set[str]] = {}
    for id_, parse, _ in found.values():
        for entry in parse["bib_entries"].values():
            cited = ids.get((entry.get("other_ids", {}).get("DOI") or [""])[0])
            if cited and cited != id_:
                entry["link"] = cited
                inbound.setdefault(cited, set()).add(id_)
    return [
        paper(
            id_, {"jats": parse}, inbound=inbound.get(id_, ()), title=header.title, doi=doi, date=header.date,
            journal=header.journal, venue=header.venue, license=header.license or "CC-BY-4.0",
            abstract=" ".join(p["text"] for p in parse["abstract"]) or None,
            fields_of_study=list(fields_of_study([header.journal or ""]))[:1] or ["Biology"],
        )
        for doi, (id_, parse, header) in found.items()
    ]  # fmt: skip
