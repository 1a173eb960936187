"""Make a sample: typeset the cast, write its drops and deliveries, and write the truth."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from devtools.sample import articles, broken, formats, typeset
from devtools.sample.cases import sample_cast, tiny_cast
from devtools.sample.cast import Case, Cast, PdfCase
from devtools.sample.model import PrintedReference
from devtools.sample.texts import write_all
from devtools.sample.tree import DELIVERIES, DROPS, drops_of, sha1, write_drops, write_sources, write_suppressions
from devtools.sample.truth import EntryTruth, PaperTruth, PdfTruth, Truth
from s2corpus.errors import UserError

TRUTHS = ("truth.json", "truth-2023-02.json")
"""The truths of two monthly releases. In the second, papers are added, merged, split and withdrawn."""
AS_OFS = ("2023-02-01T00:00:00Z", "2023-03-01T00:00:00Z")
AS_OF = AS_OFS[0]
_MARK = ".sample.json"


def generate(out: Path) -> Truth:
    """Write a sample into `out` and return its truth, which is also written to `truth.json`.

    Files: `drops/<drop>/`, `sources/<source>/<delivery>/`, `suppress.jsonl`, `truth.json`. The bytes are always the same. An
    earlier sample is replaced. Raises `UserError` if `out` contains anything else.
    """
    return _generate(out, sample_cast())


def tiny(out: Path) -> Truth:
    """Make eight papers in about a second, enough for most tests; otherwise like `generate`."""
    return _generate(out, tiny_cast())


def _generate(out: Path, cast: Cast) -> Truth:
    mark = out / _MARK
    if out.exists() and any(out.iterdir()) and not mark.exists():
        raise UserError(f"{out} is not empty and contains no sample: give a new or an empty folder")
    for folder in ("drops", "sources"):
        shutil.rmtree(out / folder, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    mark.touch()
    write_all(cast)
    contents = _pdfs(cast)
    write_drops(out, cast, contents)
    write_sources(out, cast, contents)
    write_suppressions(out, cast, contents)
    for number, name in enumerate(TRUTHS, 1):
        (out / name).write_text(_truth(cast, contents, number).to_json(), encoding="utf-8")
    return truths(out)[0]


def truths(out: Path) -> tuple[Truth, ...]:
    """Return the truths of both releases of a sample."""
    return tuple(Truth.from_json((out / name).read_text(encoding="utf-8")) for name in TRUTHS)


def _pdfs(cast: Cast) -> dict[str, bytes]:
    """Return name → bytes of every PDF. Typst compiles outside the interpreter's lock, so threads are enough."""
    jobs = [(pdf, _data(cast, case, pdf)) for case in cast.cases for pdf in case.pdfs]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda job: broken.treat(typeset.compile_pdf(job[1]), job[0].treat), jobs))
    contents = {pdf.name: content for (pdf, _), content in zip(jobs, made, strict=True)}
    contents |= {case.full_text: _kind(case.full_text)[1](case) for case in cast.cases if case.full_text}
    for name in cast.extras:
        contents[name] = EXTRAS[name](jobs[0][1])
    return contents


KINDS: dict[str, tuple[str, Callable[[Case], bytes]]] = {
    ".gz": ("latex", lambda case: articles.latex(case.paper)),
    ".nxml": ("jats", lambda case: articles.jats(case.paper, case.license or "")),
    ".json": ("elsevier", lambda case: articles.elsevier(case.paper)),
}
"""Suffix of a full text that is not a PDF → its kind, and the function that writes it."""
_IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")


def _kind(name: str) -> tuple[str, Callable[[Case], bytes]]:
    return KINDS[Path(name).suffix]


EXTRAS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "empty.pdf": lambda _: b"",  # as after a failed download
    "blank.pdf": lambda _: broken.blank(),
    "not-found.pdf": lambda data: typeset.compile_pdf(broken.not_found_page(data)),
}
_EXTRA_SELECTION = {"empty.pdf": "unreadable", "blank.pdf": "pdfalto_failed", "not-found.pdf": "selected"}


def _data(cast: Cast, case: Case, pdf: PdfCase) -> dict[str, Any]:
    data = typeset.template_data(case.paper, preprint=pdf.make == "preprint")
    data["title"] = pdf.title or data["title"]
    if not pdf.prints_doi:
        data["doi_line"] = None
    if pdf.prints_pmc:
        data["doi_line"] = f"{data['doi_line']}\nPMCID: {pdf.prints_pmc}"
    if pdf.make == "slides":
        data["landscape"] = True
    if pdf.make == "scan":
        svg = broken.scan_svg(cast.rng(case.key, "scan"))
        data |= dict.fromkeys(("title", "affiliation", "abstract", "banner", "header", "doi_line", "keywords"))
        data["authors"] = ""
        data |= {"blocks": [{"t": "image", "svg": svg}], "refs": [], "page_numbers": False}
    return data


def _truth(cast: Cast, contents: dict[str, bytes], release: int) -> Truth:
    """Return the truth of release 1 or 2 of the sample."""
    drops = drops_of(cast)
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for drop, names in sorted(drops.items()):
        for name in sorted(names):
            places[name].append((drop, name))
    seen = {name for drop, names in drops.items() if DROPS[drop][0] <= release for name in names}
    records = _records(cast, release)
    records |= {c.key: (f"declared:{c.pdfs[0].drops[0]}/{c.pdfs[0].name}",) for c in cast.cases if c.declares}
    for c in cast.cases:
        if c.full_text and (kind := _kind(c.full_text)[0]) != "latex":  # a publisher's file also becomes a record
            records[c.key] = tuple(sorted((*records[c.key], f"{kind}:{sha1(contents[c.full_text])}")))
    cases = {c.key: c.at(release) for c in cast.cases}
    cases = {
        key: c for key, c in cases.items() if records[key] or (not c.records and any(p.name in seen for p in c.pdfs))
    }
    pdfs = [
        PdfTruth(
            sha1(contents[pdf.name]), tuple(places[pdf.name]), pdf.name in seen, pdf.selection, case.key,
            doi=case.paper.doi if pdf.make != "preprint" and pdf.prints_doi else None,
            arxiv_id=case.paper.arxiv_id if pdf.make == "preprint" else None, pmc_id=pdf.prints_pmc,
        )
        for case in cast.cases
        for pdf in case.pdfs
    ]  # fmt: skip
    pdfs += [PdfTruth(sha1(contents[n]), tuple(places[n]), True, _EXTRA_SELECTION[n], None) for n in cast.extras]
    return Truth(
        AS_OFS[release - 1], tuple(sorted(pdfs, key=lambda p: p.sha1)),
        tuple(_paper_truth(case, records[key], cases, seen, contents) for key, case in cases.items()),
        tuple(sorted(record for key in cast.conflicts if key in cases for record in records[key])),
    )  # fmt: skip


def _records(cast: Cast, release: int) -> dict[str, tuple[str, ...]]:
    """Return case → its records.

    A record belongs to the case that delivered it last; a withdrawn record belongs to no case.
    """
    order = list(DELIVERIES)
    latest: dict[str, tuple[int, str | None]] = {}
    for case in cast.cases:
        for delivery, row in case.records:
            at = order.index(delivery)
            if DELIVERIES[delivery][0] <= release and at >= latest.get(row["record_id"], (-1, None))[0]:
                latest[row["record_id"]] = (at, None if row.get("deleted") else case.key)
    return {c.key: tuple(sorted(r for r, (_, key) in latest.items() if key == c.key)) for c in cast.cases}


def _paper_truth(
    case: Case,
    records: tuple[str, ...],
    cases: Mapping[str, Case],
    seen: Collection[str],
    contents: Mapping[str, bytes],
) -> PaperTruth:
    p = case.paper
    selected = [pdf for pdf in case.pdfs if pdf.selection == "selected" and pdf.name in seen]
    kinds = (("pdf",) if case.canonical else ()) + ((_kind(case.full_text)[0],) if case.full_text else ())
    has_text = bool(kinds)
    says = [row for _, row in case.records]
    says += [pdf.declared for pdf in case.pdfs if pdf.declared and case.declares]
    return PaperTruth(
        key=case.key, why=case.why, title=None if case.filtered == "no_title" else case.title or p.title,
        authors=tuple(a.last for a in p.authors), date=case.date or p.date, record_ids=records,
        pdfs=tuple(sorted(sha1(contents[pdf.name]) for pdf in selected)),
        canonical_pdf=sha1(contents[case.canonical]) if case.canonical else None, open_access=case.open_access,
        oa_evidence=case.evidence if case.open_access and has_text else None,
        field=case.filed_under or p.field if any("subjects" in said for said in says) else None,
        abstract_delivered=any(said.get("abstract") for said in says), identifiers=tuple(sorted(_identifiers(case, records, selected))),
        fulltexts=kinds, license=case.license if case.open_access and has_text else None, declared=_declared(case), filtered=case.filtered,
        s2orc=case.s2orc, s2ag=case.s2ag, split=case.split, citation_style=p.style.value if case.canonical and p.references else None,
        abstract=p.abstract and p.abstract.replace(formats.PARTS, "\n"),
        removed_heads=("Supplementary readings",) if case.body == "gibberish" else (),
        body=tuple(typeset.body(p)) if has_text else (),
        bibliography=tuple(_entry(r, cases) for r in p.references) if has_text else (),
    )  # fmt: skip


def _identifiers(case: Case, records: tuple[str, ...], pdfs: Collection[PdfCase]) -> set[str]:
    """Return the identifiers that the paper has.

    They come from its records, from its PDFs, and from its LaTeX source or publisher's article.
    """
    p = case.paper
    found = {name for _, row in case.records for name in _IDENTIFIERS if row["record_id"] in records and row.get(name)}
    for pdf in pdfs:
        printed = {"doi": pdf.make != "preprint" and pdf.prints_doi and p.doi, "pmc_id": pdf.prints_pmc}
        printed["arxiv_id"] = pdf.make == "preprint" and p.arxiv_id
        found |= {name for name, value in printed.items() if value}
        if printed["arxiv_id"] and not p.doi:
            found.add("doi")  # the DOI that arXiv registers for each preprint
    if case.full_text:
        found |= {"arxiv_id"} if _kind(case.full_text)[0] == "latex" else {"doi"}
    return found


def _declared(case: Case) -> tuple[tuple[str, str], ...]:
    """Return the declared values (column, value) that the paper must have, from the drop of its canonical PDF.

    If the declaration is a record, return all values; otherwise only the license that makes the paper open.
    """
    said = next((pdf.declared for pdf in case.pdfs if pdf.name == case.canonical and pdf.declared), {})
    if not case.declares:
        said = {"license": said["license"]} if case.evidence == "declared" and "license" in said else {}
    columns = {"title": "title", "published": "date", "abstract": "abstract", "license": "license"}
    return tuple((column, said[name]) for name, column in columns.items() if name in said)


def _entry(r: PrintedReference, cases: Mapping[str, Case]) -> EntryTruth:
    """Return the truth of an entry. A paper that the filter dropped is not a link target."""
    cited = cases.get(r.cites or "")
    links_to = cited.key if cited and cited.filtered == "kept" else None
    return EntryTruth(r.title, links_to, "numeral" if r.numeral else None)
