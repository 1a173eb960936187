"""Infer the field of study of a paper from the other papers of its journal (SPEC §5.14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import pyarrow as pa

from s2corpus.papers.vote import FieldDecision, VotedPaper, VoteRule
from s2corpus.sources.record import OPENALEX, Record, RecordKind
from s2corpus.titles import normalize_one
from s2orc_parse.bibliography.fields_of_study import FIELDS, fields_of_study

MIN_PAPERS, MIN_SHARE = 5, Fraction(4, 5)
"""other papers of the journal that declare a field, and the share of them that declares the inferred field; our choice"""
ANY = ""
"""the key of `JournalCounts` for papers that declare any field"""

JournalCounts = Mapping[str, Mapping[str, int]]
"""journal → field, or `ANY` → number of papers that declare it"""


def list_journals(records: Iterable[Record]) -> tuple[list[str], list[str]]:
    """Return the keys of a paper's journal: `issn:<ISSN>`, and `name:<normalized name>`. Headers of PDFs do not count."""
    listed = [record for record in records if record.kind is not RecordKind.PDF]
    names = {normalize_one(record.journal) for record in listed if record.journal} - {""}
    return sorted({f"issn:{issn}" for record in listed for issn in record.issns}), sorted(f"name:{n}" for n in names)


def list_declared_fields(records: Iterable[Record]) -> set[str]:
    """Return the fields that records declare. OpenAlex's model assigns fields; it does not declare them."""
    declared = (r for r in records if r.source != OPENALEX and r.kind is not RecordKind.PDF)
    return {field for record in declared for field in fields_of_study(record.subjects)}


_READ = ("record_id", "source", "kind", "journal", "issns", "subjects")
DECLARED_FIELDS = pa.schema(
    {"paper_id": pa.string(), "journals": pa.list_(pa.string()), "fields": pa.list_(pa.string())}
)


def read_declared_fields(members: pa.Table) -> pa.Table:
    """Return the journals of records and the fields that they declare, with `ANY` before them: rows of DECLARED_FIELDS."""
    journals, fields = [], []
    for id_, source, kind, journal, issns, subjects in zip(*(members[name].to_pylist() for name in _READ), strict=True):
        given = {"journal": journal, "issns": tuple(issns or ()), "subjects": tuple(subjects or ())}
        records = [Record(id_, source, RecordKind(kind), **given)]
        journals.append([*chain(*list_journals(records))])
        declared = sorted(list_declared_fields(records))
        fields.append([ANY, *declared] if declared else [])
    return pa.table([members["paper_id"], journals, fields], schema=DECLARED_FIELDS)


class FieldInference:
    """Inference of the fields of study of papers that declare none; `tally` measures it on papers that declare one."""

    def __init__(self, counts: JournalCounts) -> None:
        self._counts = counts
        self.tally: Counter[str] = Counter()

    def complete(self, paper: VotedPaper, records: Sequence[Record]) -> VotedPaper:
        """Return the paper with an inferred field if it has none, or unchanged. Hide declared fields to measure the inference."""
        journals, declared = list_journals(records), list_declared_fields(records)
        decision = self._infer(journals, declared)
        if declared:
            self.tally["hidden"] += 1
            if decision is not None:
                self.tally["hidden.inferred"] += 1
                self.tally["hidden.correct"] += decision[0] in declared
        if "fields_of_study" in paper.values:
            return paper
        self.tally["missing"] += 1
        if decision is None:
            return paper
        self.tally["inferred"] += 1
        field, why = decision
        values = {**paper.values, "fields_of_study": (field,)}
        return replace(paper, values=values, provenance={**paper.provenance, "fields_of_study": why})

    def _infer(self, journals: Iterable[Sequence[str]], own: set[str]) -> tuple[str, FieldDecision] | None:
        """Return the field that most other papers of the journal declare, if they suffice: by ISSN, else by name.

        `own` are the fields that this paper contributes to the counts.
        """
        for keys in journals:
            others = {key: self._counts.get(key, {}).get(ANY, 0) - bool(own) for key in keys}
            key = max(keys, key=others.__getitem__, default=None)  # the first of the keys with the most papers
            if key is None or others[key] < MIN_PAPERS:
                continue
            counts = {field: self._counts[key].get(field, 0) - (field in own) for field in FIELDS}
            field = max(FIELDS, key=counts.__getitem__)
            if counts[field] < MIN_SHARE * others[key]:
                return None
            return field, FieldDecision("journal", key, VoteRule.INFERRED, counts[field], others[key] - counts[field])
        return None
