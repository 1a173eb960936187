"""Write deliveries in the sources' own formats, from the rows of `sources`; `formats.xml.j2` has the formats in XML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import jinja2

from devtools.sample.deliver import jsonl

Row = dict[str, Any]
PARTS = " ::: "
"""Separator between the parts of a structured abstract."""

_SUBJECTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Computer Science": ("Information Systems", "cs.IR", ("Information Storage and Retrieval", "Natural Language Processing")),
    "Biology": ("Ecology, Evolution, Behavior and Systematics", "q-bio.PE", ("Ecology", "Animals")),
    "Medicine": ("General Medicine", "q-bio.TO", ("Humans", "Patients")),
    "Materials Science": ("Metals and Alloys", "cond-mat.mtrl-sci", ("Manufactured Materials",)),
    "Physics": ("Astronomy and Astrophysics", "astro-ph.SR", ("Astronomy", "Physics")),
    "Economics": ("Economics and Econometrics", "econ.GN", ("Economics", "Commerce")),
}  # fmt: skip
"""Field → an ASJC name (Crossref), an arXiv category, MeSH headings. A medical preprint is filed under biology."""


def subjects(source: str, field: str) -> list[str]:
    """Return a source's subjects for a paper of a field; empty if the source has no subjects."""
    asjc, category, headings = _SUBJECTS[field]
    return {"crossref": [asjc], "arxiv": [category], "pubmed": list(headings)}.get(source, [])


def files_of(source: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the files of one delivery, name → content.

    Rows are written in the source's own format. `records.jsonl`, the generic form, contains only rows that this format
    cannot express: the file of a record (`file_sha1`), and, for most sources, a withdrawal.
    """
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    own = [row for row in rows if source in _FORMATS and not _is_generic(source, row)]
    generic = [row for row in rows if row not in own]
    made = {"records.jsonl": jsonl(generic)} if generic else {}
    if own:
        name, write = _FORMATS[source]
        made[name] = write(own) if write else render(source, [show(row) for row in own])
    return made


def _is_generic(source: str, row: Row) -> bool:
    return "file_sha1" in row or "deleted" in row or (source == "crossref" and "arxiv_id" in row)


def _names(row: Row) -> Iterable[tuple[str, str, str]]:
    """Yield (given names, surname, suffix) of the authors."""
    for author in row.get("authors", ()):
        yield " ".join([author["first"], *author["middle"]]), author["last"], author["suffix"]


def _parts(row: Row) -> list[tuple[str, str]]:
    """Return the parts of an abstract: (label or "", text)."""
    found = []
    for part in (row.get("abstract") or "").split(PARTS):
        label, colon, text = part.partition(": ")
        found.append((label, text) if colon and label.isupper() else ("", part))
    return [(label, text) for label, text in found if text]


def _work(row: Row) -> Row:
    work: Row = {
        "DOI": row["doi"].upper(),  # publishers deposit DOIs in upper or lower case
        "type": row.get("type", "journal-article" if row.get("journal") else "proceedings-article"),
        "title": [row["title"]] if "title" in row else [],
        "author": [
            {"given": given, "family": family, "sequence": "additional", **({"suffix": suffix} if suffix else {})}
            for given, family, suffix in _names(row)
        ],
        "container-title": [place] if (place := row.get("journal") or row.get("venue")) else [],
        "subject": row.get("subjects", []),
        **{key: row[name] for key, name in (("volume", "volume"), ("page", "pages")) if name in row},
    }
    if "license_url" in row:
        work["license"] = [{"URL": row["license_url"], "content-version": "vor"}]
    if row.get("date"):
        work["issued"] = {"date-parts": [[int(part) for part in row["date"].split("-")]]}
    if abstract := _parts(row):
        sections = [
            f"<jats:sec><jats:title>{label}</jats:title><jats:p>{escape(text)}</jats:p></jats:sec>" if label
            else f"<jats:p>{escape(text)}</jats:p>"
            for label, text in abstract
        ]  # fmt: skip
        work["abstract"] = f"<jats:title>Abstract</jats:title>{''.join(sections)}"
    return work


def show(row: Row) -> Mapping[str, Any]:
    """Return a row with the values that the templates read; a missing field is empty text."""
    return defaultdict(
        str, {"native": row["record_id"].partition(":")[2], "names": list(_names(row)), "parts": _parts(row), **row}
    )


def render(name: str, *values: object) -> bytes:
    """Return the XML of a template."""
    text = str(getattr(_read_templates(), name)(*values))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text.strip()}\n".encode()


@cache
def _read_templates() -> Any:
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["e"] = escape
    return environment.from_string(Path(__file__).with_suffix(".xml.j2").read_text("utf-8")).module


def _unpaywall(rows: Sequence[Row]) -> bytes:
    location = {"host_type": "publisher", "is_best": True, "license": "cc-by", "version": "publishedVersion"}
    lines = []
    for row in rows:
        found = [location] if row.get("is_open", True) else []
        best = found[0] if found else None
        lines.append({"doi": row["doi"], "is_oa": bool(found), "best_oa_location": best, "oa_locations": found})
    return jsonl(lines)


_FORMATS: Mapping[str, tuple[str, Callable[[Sequence[Row]], bytes] | None]] = {
    "crossref": ("works.jsonl", lambda rows: jsonl([_work(row) for row in rows])), "unpaywall": ("snapshot.jsonl", _unpaywall),
    "pubmed": ("pubmed.xml", None), "arxiv": ("oai.xml", None), "dblp": ("dblp.xml", None), "acl": ("anthology.xml", None),
    "jats": ("articles.xml", None),
}  # fmt: skip
"""Source → the file name of a delivery, and the function that writes it; None for a template of the same name."""
