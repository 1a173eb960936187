"""Compare the real release with its truth, one row for each paper and fact."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from devtools.measure import letters
from devtools.real.truth import RealPaper, real_papers
from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, SPLITS
from tests.releases import rows

FACTS = ("title", "authors", "date", "open by", "license", "sections", "references", "field", "set", "split")
_NUMBER = re.compile(r"^(?:[IVX]+|[A-Z]|\d+(?:\.\d+)*)\.?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """One fact of one paper: the truth found by a reader, and the release's value."""

    paper: str
    fact: str
    expected: str
    found: str
    right: bool


def compare(run: Run) -> list[Line]:
    """Return all comparisons, by paper and fact."""
    by_file = {key: row for row in rows(run, PAPERS) for key in (row["canonical_pdf"], row["arxiv_id"]) if key}
    outcomes = {("", row["paper_id"]): row["outcome"] for row in rows(run, FILTERED)}
    outcomes |= {(row["set"], row["paper_id"]): row["outcome"] for row in rows(run, DOCUMENTS)}
    splits = {(row["set"], row["paper_id"]): row["split"] for row in rows(run, SPLITS)}
    fulltexts = {(row["paper_id"], row["parse_kind"]): row for row in rows(run, FULLTEXTS)}
    lines: list[Line] = []
    for truth in real_papers():
        paper = by_file.get((truth.arxiv_id if truth.is_latex else truth.sha1) or "")
        if paper is None:
            lines += [Line(truth.key, fact, "a paper", "no paper has this file", False) for fact in FACTS]
            continue
        id_ = paper["paper_id"]
        in_set = next((s for s in ("s2orc", "s2ag") if outcomes.get((s, id_)) == "kept"), None)
        reason = outcomes.get(("s2orc", id_)) or outcomes.get(("", id_), "not filtered")
        fulltext, wanted = fulltexts.get((id_, "latex" if truth.is_latex else "pdf")), truth.why.split(":")[0] or "kept"
        for fact, (expected, found, right) in {
            **_metadata(truth, paper, fulltext),
            "set": (truth.set or truth.why, f"{in_set} ({reason})", (in_set, reason) == (truth.set, wanted)),
            "split": (truth.split, splits.get((str(in_set), id_)), truth.split == splits.get((str(in_set), id_))),
        }.items():
            lines.append(Line(truth.key, fact, str(expected), str(found), right))
    return lines


def _metadata(
    truth: RealPaper, paper: Mapping[str, Any], fulltext: Mapping[str, Any] | None
) -> dict[str, tuple[object, object, bool]]:
    """Return fact → (truth, value of the release, whether it is right)."""
    names = [" ".join([a["first"], *a["middle"], a["last"], a["suffix"]]) for a in paper["authors"] or ()]
    evidence, license = (fulltext["oa_evidence"], fulltext["license"]) if fulltext else (None, None)
    fields, title = paper["fields_of_study"] or [], str(paper["title"])
    parse = orjson.loads(fulltext["parse"]) if fulltext else {"body_text": [], "bib_entries": {}}
    missing, heads = [], list(_heads(parse["body_text"]))
    for section in truth.sections:  # in their order
        if (head := letters(section)) in heads:
            heads = heads[heads.index(head) + 1 :]
        else:
            missing.append(section)
    # Unpaywall's evidence has no version of a license.
    license_ = truth.license
    licenses = {license_, license_.rpartition("-")[0] if truth.open_by == "unpaywall" and license_ else license_}
    return {
        "title": (truth.title, title, letters(truth.title) == letters(title)),
        "authors": (truth.authors, names, [letters(n) for n in names] == [letters(n) for n in truth.authors]),
        "date": (truth.date, paper["date"], truth.date == paper["date"]),
        "open by": (truth.open_by, evidence, truth.open_by == evidence),
        "license": (truth.license, license, license in licenses),
        "field": (truth.fields, fields, fields[0] in truth.fields if fields else not truth.fields),
        "sections": (truth.sections, f"without {'; '.join(missing)}" if missing else "all", not missing),
        "references": (truth.references, len(parse["bib_entries"]), truth.references == len(parse["bib_entries"])),
    }


def _heads(paragraphs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the letters of every section head when its section begins."""
    before: list[str] = []
    for paragraph in paragraphs:
        path = [letters(_NUMBER.sub("", head)) for head in (paragraph["section_path"] or "").split("::") if head]
        yield from (head for depth, head in enumerate(path) if path[: depth + 1] != before[: depth + 1])
        before = path
