"""Compare a release with the truth of the sample that it was made from."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from devtools.sample.truth import PaperTruth, Truth

TABLES = ("selections", "clusters", "papers", "filtered", "links", "documents", "splits", "edges", "fulltexts")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: the number of expected values, the number of right values, and the misses as readable text."""

    what: str
    expected: int
    right: int
    misses: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of right values; 1 if no value was expected."""
        return self.right / self.expected if self.expected else 1.0


def row_of(what: str, pairs: Iterable[tuple[str, Any, Any]]) -> Row:
    """Return a row from (name, expected, got)."""
    listed = list(pairs)
    misses = tuple(
        f"{name}: expected {_show(expected)}, got {_show(got)}" for name, expected, got in listed if expected != got
    )
    return Row(what, len(listed), len(listed) - len(misses), misses)


def _show(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_show, value)) or "none"
    return "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of a release made from a sample, compared with the truth."""

    rows: tuple[Row, ...]
    text_f1: float  # mean token F1 of the full texts with outcome `kept`

    def __str__(self) -> str:
        width = max(len(row.what) for row in self.rows)
        lines = [f"{'compared with the truth':<{width}}  expected  right  share"]
        for row in self.rows:
            lines.append(f"{row.what:<{width}}  {row.expected:>8}  {row.right:>5}  {row.share:>5.0%}")
            lines += [f"{'':<{width}}    {miss}" for miss in row.misses[:5]]
            if len(row.misses) > 5:
                lines.append(f"{'':<{width}}    … and {len(row.misses) - 5} more")
        lines.append(f"{'full texts, mean token F1':<{width}}  {self.text_f1:.3f}")
        return "\n".join(lines)


def compare(truth: Truth, tables: Mapping[str, pa.Table]) -> Comparison:
    """Compare a release's tables with the truth.

    `tables` maps the names in `TABLES` to Arrow tables with the columns of `s2corpus.tables`. A paper of the truth is
    found by its records, or by its canonical PDF if no source has the paper. Raises `KeyError` if a table is missing.
    """
    ids = _paper_ids(truth, tables)
    papers = {row["paper_id"]: row for row in tables["papers"].to_pylist()}
    documents = {(row["set"], row["paper_id"]): row for row in tables["documents"].to_pylist()}

    def fields(what: str, expected: Callable[[PaperTruth], object], got: Callable[[Any], object]) -> Row:
        return row_of(what, ((p.key, expected(p), got(found(p)) if found(p) else "no paper") for p in truth.papers))

    def found(paper: PaperTruth) -> Any:
        return papers.get(ids.get(paper.key, ""))

    def outcomes(what: str, field: str, got: Mapping[str, str]) -> Row:
        expected = ((p, getattr(p, field)) for p in truth.papers)
        return row_of(what, ((p.key, value, got.get(ids.get(p.key, ""))) for p, value in expected if value is not None))

    def column_of(table: str, column: str, set_: str = "") -> dict[str, str]:
        return {r["paper_id"]: r[column] for r in tables[table].to_pylist() if not set_ or r["set"] == set_}

    def facts(what: str, listed: Iterable[tuple[PaperTruth, str, object]]) -> Row:
        return row_of(
            what, ((f"{p.key}, {name}", value, found(p)[name] if found(p) else "no paper") for p, name, value in listed)
        )

    rows = [
        selections(truth, tables["selections"]), _clusters(truth, tables), conflicts(truth, tables["edges"]),
        fields("title", lambda p: _plain(p.title), lambda row: _plain(row["title"])),
        fields("authors", lambda p: list(p.authors), lambda row: [author["last"] for author in row["authors"] or []]),
        fields("date", lambda p: p.date, lambda row: row["date"]),
        facts("abstract", ((p, "abstract", p.abstract) for p in truth.papers if p.abstract_delivered)),
        facts("declared facts", ((p, name, value) for p in truth.papers for name, value in p.declared)),
        fields("field of study", lambda p: p.field, lambda row: next(iter(row["fields_of_study"]), None)),
        fields("canonical PDF", lambda p: p.canonical_pdf, lambda row: row["canonical_pdf"]),
        fields("open access by", lambda p: p.oa_evidence, lambda row: row["oa_evidence"]),
        fields("open access", lambda p: bool(p.fulltexts and p.open_access), lambda row: bool(row["open_access"])),
        fields("license", lambda p: p.license, lambda row: row["license"]), identifiers(truth, tables["selections"]),
        kinds(truth, ids, tables["fulltexts"]), contents(truth, ids, tables["fulltexts"]),
        outcomes("filter", "filtered", column_of("filtered", "outcome")), *_links(truth, ids, tables["links"]),
        outcomes("clean: s2orc", "s2orc", column_of("documents", "outcome", "s2orc")),
        outcomes("clean: s2ag", "s2ag", column_of("documents", "outcome", "s2ag")),
        outcomes("split", "split", column_of("splits", "split")),
    ]  # fmt: skip
    scores = [
        token_f1(expected_text(p), documents["s2orc", ids[p.key]]["text"] or "")
        for p in truth.papers
        if p.s2orc == "kept" and ("s2orc", ids.get(p.key, "")) in documents
    ]
    return Comparison(tuple(rows), sum(scores) / len(scores) if scores else 0.0)


def expected_text(paper: PaperTruth) -> str:
    """Return the document of a paper in the layout of SPEC §10.4, from the typeset text."""
    blocks: list[list[str]] = []
    last: str | None = None
    for p in paper.body:
        if p.section in paper.removed_heads:
            continue
        if p.section != last or not blocks:
            blocks.append([p.section] if p.section else [])
            last = p.section
        blocks[-1].append(p.text)
    return "\n\n".join([paper.title or "", paper.abstract or "", *("\n".join(block) for block in blocks)])


def token_f1(expected: str, got: str) -> float:
    """Return the F1 of two texts as bags of words, without case and punctuation."""
    a, b = (Counter(re.findall(r"\w+", text.casefold())) for text in (expected, got))
    both = (a & b).total()
    return 2 * both / (a.total() + b.total()) if both else 0.0


def _paper_ids(truth: Truth, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Return key of the truth → paper_id of the release: the cluster with most of the paper's records."""
    cluster_of = dict(zip(*(tables["clusters"].column(c).to_pylist() for c in ("record_id", "paper_id")), strict=True))
    by_pdf = {r["canonical_pdf"]: r["paper_id"] for r in tables["papers"].to_pylist() if r["canonical_pdf"]}
    ids: dict[str, str] = {}
    for paper in truth.papers:
        found = Counter(cluster_of[r] for r in paper.record_ids if r in cluster_of)
        if found:
            ids[paper.key] = min(found, key=lambda paper_id: (-found[paper_id], paper_id))
        elif paper.canonical_pdf in by_pdf:
            ids[paper.key] = by_pdf[paper.canonical_pdf]
    return ids


def _clusters(truth: Truth, tables: Mapping[str, pa.Table]) -> Row:
    """Compare clusters: a paper is right if one cluster contains all its records and no record of another paper.

    Records outside the truth are ignored.
    """
    key_of = {record: p.key for p in truth.papers for record in p.record_ids}
    clusters: dict[str, set[str]] = {}
    for row in tables["clusters"].to_pylist():
        if row["record_id"] in key_of:
            clusters.setdefault(row["paper_id"], set()).add(row["record_id"])
    found = {frozenset(records) for records in clusters.values()}
    pairs = []
    for p in truth.papers:
        if p.record_ids:
            whole = frozenset(p.record_ids) in found
            parts = sorted(sorted(records) for records in found if records & set(p.record_ids))
            pairs.append((p.key, [list(p.record_ids)], [list(p.record_ids)] if whole else parts))
    return row_of("clusters", pairs)


def _links(truth: Truth, ids: Mapping[str, str], links: pa.Table) -> list[Row]:
    """Compare the citations between papers of the sample: required, forbidden, and with a numeral warning."""
    key_of = {paper_id: key for key, paper_id in ids.items()}
    got: set[tuple[str, str]] = set()
    warned: set[tuple[str, str]] = set()
    for row in links.to_pylist():
        if row["cited_paper_id"] is not None and row["paper_id"] in key_of:
            pair = (key_of[row["paper_id"]], key_of.get(row["cited_paper_id"], row["cited_paper_id"]))
            if row["warning"] is None:
                got.add(pair)
            elif row["warning"] == "numeral":
                warned.add(pair)
    citing = {p.key for p in truth.papers if p.filtered == "kept"}
    expected = {(p.key, e.links_to) for p in truth.papers if p.key in citing for e in p.bibliography if e.links_to}
    numeral = sorted(p.key for p in truth.papers for e in p.bibliography if e.warning == "numeral")
    false = sorted(f"{a} → {b}" for a, b in got - expected if a in citing)
    pairs = ((f"{a} → {b}", "linked", "linked" if (a, b) in got else None) for a, b in sorted(expected))
    return [
        row_of("citations found", pairs),
        Row("citations right", len({g for g in got if g[0] in citing}), len(got & expected), tuple(false)),
        row_of("numeral warnings", ((key, True, any(a == key for a, _ in warned)) for key in numeral)),
    ]


def _plain(title: str | None) -> str:
    return re.sub(r"\W", "", title or "").casefold()


def selections(truth: Truth, table: pa.Table) -> Row:
    """Compare the selection outcome of every PDF; a PDF that the release must not see has no outcome."""
    got = {r["file_sha1"]: r["outcome"] for r in table.to_pylist()}
    return row_of("selection", ((p.places[0][1], p.selection if p.seen else None, got.get(p.sha1)) for p in truth.pdfs))


def conflicts(truth: Truth, edges: pa.Table) -> Row:
    """Compare the edges cut because of two different DOIs: each record in `truth.conflicts` must have a cut edge."""
    cut = {record for row in edges.to_pylist() if not row["taken"] for record in (row["left"], row["right"])}
    return row_of("conflicts of DOIs", ((record, True, record in cut) for record in truth.conflicts))


def identifiers(truth: Truth, selections: pa.Table) -> Row:
    """Compare the identifiers read from the selected PDFs with the printed identifiers.

    If a PDF prints no identifier, none may be found."""
    got = {row["file_sha1"]: row for row in selections.to_pylist()}
    read = [pdf for pdf in truth.pdfs if pdf.seen and pdf.selection == "selected"]
    pairs = (
        (f"{pdf.places[0][1]}, {name}", getattr(pdf, name), got.get(pdf.sha1, {}).get(name, "no PDF"))
        for pdf in read for name in ("doi", "arxiv_id", "pmc_id")
    )  # fmt: skip
    return row_of("identifiers read from PDFs", pairs)


def kinds(truth: Truth, ids: Mapping[str, str], fulltexts: pa.Table) -> Row:
    """Compare the kinds of each paper's full texts: pdf, latex, jats, elsevier."""
    found = [(row["paper_id"], row["parse_kind"]) for row in fulltexts.select(["paper_id", "parse_kind"]).to_pylist()]
    pairs = ((p, sorted(kind for id_, kind in found if id_ == ids.get(p.key))) for p in truth.papers)
    return row_of("kind of full text", ((p.key, sorted(p.fulltexts), got) for p, got in pairs))


def contents(truth: Truth, ids: Mapping[str, str], fulltexts: pa.Table) -> Row:
    """Compare the ordered section heads and the number of entries of full texts that are not from PDFs."""
    got: dict[str, tuple[list[str], int]] = {}
    for row in fulltexts.to_pylist():
        if row["parse_kind"] != "pdf":
            parse = json.loads(row["parse"])
            heads = list(dict.fromkeys(p["section"] for p in parse["body_text"]))
            got[row["paper_id"]] = heads, len(parse["bib_entries"])
    papers = [p for p in truth.papers if set(p.fulltexts) - {"pdf"}]
    expected = ((p.key, (list(dict.fromkeys(b.section for b in p.body)), len(p.bibliography))) for p in papers)
    return row_of("sections, entries of sources", ((key, value, got.get(ids.get(key, ""))) for key, value in expected))
