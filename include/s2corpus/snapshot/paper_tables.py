"""Build the tables of the S2ORC paper for a snapshot, with the numbers of the paper for comparison (`paper_numbers`).

Shares make corpora of different sizes comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from s2corpus.outcomes import S2ORC_PAPERS, FilterOutcome, SelectOutcome
from s2corpus.snapshot import paper_numbers
from s2corpus.snapshot.agreement import FIELDS
from s2corpus.snapshot.census import KINDS
from s2orc_parse.outcomes import Outcome, PaperRow, format_word

Counts = Mapping[tuple[str, str], int]
Row = list[str | float | None]
_SHARES = (("Share", "share"), ("S2ORC", "share"))


def tables(
    counts: Counts,
    filtered: Mapping[str, int],
    languages: Mapping[str, int],
    measured: Mapping[str, Mapping[str, float]],
) -> list[dict[str, Any]]:
    """Return the tables of a snapshot: `name`, `title`, `source`, `columns` (`name` and `unit`: count, share or mean), `rows`.

    `counts` is the census of the papers, and `filtered` the outcomes of the filter. `languages` counts the languages of the
    full texts that were candidates for s2orc. `measured` contains the metrics of the stages. The first value of a row is its
    label. A value is null if its divisor is zero, or if the paper does not state it.
    """
    # Shares are of the rejected PDFs: S2ORC does not state the number of all PDFs.
    selected = {name.removeprefix("outcome."): n for name, n in measured.get("select", {}).items()}
    pdfs = _count_rows((word for word in SelectOutcome if not word.is_kept), selected)
    totals = sum(n for _, n, _ in pdfs), sum(theirs or 0 for _, _, theirs in pdfs)
    filters = _count_rows(FilterOutcome, filtered)
    filters += [(format_word(word), n, None) for word, n in sorted(filtered.items()) if word not in set(FilterOutcome)]
    sources = [(label, counts[key], theirs) for key, label, theirs in paper_numbers.SOURCES]
    pairs, mentioned = counts["citations", "pairs"], counts["citations", "mentioned"]
    cited = [
        ("Citations: pairs of papers", pairs, paper_numbers.PAIRS),
        ("with a mention in the text", mentioned, paper_numbers.MENTIONED),
    ]
    return [
        _compare("pdfs", "PDFs filtered out before extraction", "S2ORC Table 8", "PDFs", pdfs, *totals),
        _compare(
            "filters",
            "Filters of papers",
            "S2ORC Table 2",
            "Papers",
            filters,
            sum(filtered.values()),
            paper_numbers.CLUSTERS,
        ),
        _compare(
            "sources",
            "Where papers come from",
            "S2ORC Table 3",
            "Papers",
            sources,
            counts["papers", "all"],
            S2ORC_PAPERS,
        ),
        _parses(counts),
        _fields(counts),
        _inferred_fields(measured.get("vote", {})),
        _compare(
            "citations",
            "Citations between papers of the corpus",
            "S2ORC §3",
            "Pairs",
            cited,
            pairs,
            paper_numbers.PAIRS,
        ),
        _tokens(counts),
        _removed(counts),
        _removed_sections(counts),
        _years(counts),
        _rank("licenses", "Licenses of papers with full text", _select(counts, "license")),
        _rank(
            "rights",
            "Licenses of abstracts and parses (SPDX; NOASSERTION: no license stated)",
            _select(counts, "license_of"),
        ),
        _rank("languages", "Languages of full texts before cleaning, by majority of their paragraphs", languages),
        _gold(measured),
        _agreement(counts),
    ]


_GOLD: tuple[tuple[str, str, str, float | None], ...] = (
    ("cluster", "clusters", "Clustering without identifiers, on record pairs that share an identifier", None),
    ("link", "links", "Linking without identifiers, on entries linked by an identifier", None),
    ("cluster", "titles", "Titles from PDFs, compared with metadata records", None),
    ("assemble", "xml_title", "Titles from PDFs, compared with publishers' XML", None),
    ("assemble", "xml_authors", "Authors from PDFs, compared with publishers' XML", None),
    ("assemble", "xml_abstract", "Words of abstracts from PDFs, compared with publishers' XML", None),
    ("assemble", "xml_bibliography", "Bibliography entries from PDFs, compared with publishers' XML", 0.89),
    ("assemble", "xml_citations", "Inline citations from PDFs, compared with publishers' XML", 0.89),
)
"""stage, measure (`pipeline.gold`), label, and the F1 of GROBID in S2ORC §4"""


def _gold(measured: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    rows: list[Row] = []
    for stage, measure, label, theirs in _GOLD:
        relevant, recalled, predicted, correct = (
            measured.get(stage, {}).get(f"gold.{measure}.{name}", 0.0)
            for name in ("known", "found", "predicted", "right")
        )
        precision, recall = _share(correct, predicted), _share(recalled, relevant)
        f1 = round(2 * precision * recall / (precision + recall), 6) if precision and recall else None
        rows.append([label, relevant, precision, recall, f1, theirs])
    columns = (("Known", "count"), ("Precision", "share"), ("Recall", "share"), ("F1", "share"), ("S2ORC F1", "share"))
    return _table("gold", "Precision and recall against gold data", "S2ORC §4", columns, rows)


def _agreement(counts: Counts) -> dict[str, Any]:
    """Return how far the full texts of one paper agree, by pair of forms and field (`s2corpus.snapshot.agreement`)."""
    rows: list[Row] = []
    for pair in sorted({which for what, which in counts if what.startswith("agreement.")}):
        for name in FIELDS:
            papers, equal, common, items = (
                counts[f"agreement.{name}.{what}", pair] for what in ("papers", "equal", "common", "items")
            )
            if papers:
                rows.append([f"{pair}: {name}", papers, _share(equal, papers), _share(common, items)])
    columns = (("Papers", "count"), ("Equal", "share"), ("Common items", "share"))
    return _table("agreement", "Agreement of two forms of one paper", "not in the paper", columns, rows)


def _count_rows(words: Iterable[Outcome], counts: Mapping[str, float]) -> list[tuple[str, float, float | None]]:
    """Return the rows of a paper's table for outcomes: label, our number and the paper's number."""
    rows: dict[PaperRow, float] = {}
    for word in words:
        rows[word.paper] = rows.get(word.paper, 0) + counts.get(word, 0)
    return [(row.label, n, row.number) for row, n in rows.items()]


def _compare(
    name: str,
    title: str,
    source: str,
    unit: str,
    counted: Sequence[tuple[str, float, float | None]],
    total: float,
    their_total: float,
) -> dict[str, Any]:
    """Return a table of counts with the shares of ours and theirs. `counted` contains label, our number and their number."""
    rows: list[Row] = [[label, n, _share(n, total), _share(theirs, their_total)] for label, n, theirs in counted]
    return _table(name, title, source, ((unit, "count"), *_SHARES), rows)


def _parses(counts: Counts) -> dict[str, Any]:
    rows: list[Row] = [["Full texts", *(counts["parses.parses", kind] for kind in KINDS), None, None]]
    rows += [
        [
            label,
            *(_mean(counts[what, kind], counts[f"{what.partition('.')[0]}.parses", kind]) for kind in KINDS),
            pdf,
            latex,
        ]
        for what, label, pdf, latex in paper_numbers.PARSES
    ]
    columns = [(name, "mean") for name in ("PDF", "LaTeX", "JATS", "Elsevier", "S2ORC GROBID", "S2ORC LaTeX")]
    title = "Mean contents of a parse (All: with closed papers, of which only the bibliography is published)"
    return _table("parses", title, "S2ORC Table 4, GORC Table 3", columns, rows)


def _fields(counts: Counts) -> dict[str, Any]:
    theirs = {name: (papers, full) for name, papers, full in paper_numbers.FIELDS_OF_STUDY}
    ours = sorted(_select(counts, "field").keys() | theirs.keys(), key=lambda name: (-counts["field", name], name))
    papers, full = counts["papers", "all"], counts["papers", "full_text"]
    rows: list[Row] = []
    for name in ours:
        their_papers, their_texts = theirs.get(name, (None, None))
        n_papers, n_texts = counts["field", name], counts["field_full_text", name]
        shares = _share(n_papers, papers), _share(their_papers, S2ORC_PAPERS)
        rows.append(
            [
                name,
                n_papers,
                *shares,
                n_texts,
                _share(n_texts, full),
                _share(their_texts, paper_numbers.PAPER_FULL_TEXTS),
            ]
        )
    several = counts["papers", "several_fields"]
    shares = _share(several, papers), _share(paper_numbers.SEVERAL_FIELDS, S2ORC_PAPERS)
    rows.append(["more than one field", several, *shares, None, None, None])
    texts = (("Full texts", "count"), ("Share of full texts", "share"), ("S2ORC full texts", "share"))
    columns = (("Papers", "count"), *_SHARES, *texts)
    return _table("fields", "Fields of study: the first of each paper", "S2ORC Figure 2, Appendix G", columns, rows)


def _inferred_fields(vote: Mapping[str, float]) -> dict[str, Any]:
    """Return the number of papers that took the field of their journal, and the accuracy of such fields on hidden declared fields."""
    hidden, inferred, missing = (vote.get(f"fields.{name}", 0.0) for name in ("hidden", "hidden.inferred", "missing"))
    correct, given = vote.get("fields.hidden.correct", 0.0), vote.get("fields.inferred", 0.0)
    rows: list[Row] = [
        ["Papers without a field", missing, None],
        ["of these, field inferred", given, _share(given, missing)],
        ["Papers with a declared field, hidden for the measurement", hidden, None],
        ["of these, field inferred (coverage)", inferred, _share(inferred, hidden)],
        ["of these, declared by the paper (accuracy)", correct, _share(correct, inferred)],
    ]
    columns = (("Papers", "count"), ("Share", "share"))
    return _table("inferred_fields", "Fields of study inferred from the journal", "not in the paper", columns, rows)


def _tokens(counts: Counts) -> dict[str, Any]:
    rows: list[Row] = []
    for label, what, papers, theirs, of in (
        ("Body text", "body", "full_text", paper_numbers.BODY_TOKENS, paper_numbers.PAPER_FULL_TEXTS),
        ("Abstracts", "abstract", "abstract", paper_numbers.ABSTRACT_TOKENS, paper_numbers.ABSTRACTS),
    ):
        n, total = counts["tokens", what], counts["papers", papers]
        rows.append([label, n, total, _mean(n, total), _mean(theirs, of)])
    columns = (("Tokens", "count"), ("Papers", "count"), ("Tokens per paper", "mean"), ("S2ORC", "mean"))
    return _table("tokens", "Tokens between white space, one full text per paper", "S2ORC Appendix E", columns, rows)


def _years(counts: Counts) -> dict[str, Any]:
    years = sorted(_select(counts, "year"), reverse=True)
    papers, full = counts["papers", "all"], counts["papers", "full_text"]
    rows: list[Row] = [
        [year, n := counts["year", year], _share(n, papers), m := counts["year_full_text", year], _share(m, full)]
        for year in years
    ]
    columns = (("Papers", "count"), ("Share", "share"), ("Full texts", "count"), ("Share of full texts", "share"))
    return _table("years", "Years of papers", "not in the paper", columns, rows)


def _removed(counts: Counts) -> dict[str, Any]:
    words = _select(counts, "removed.words")
    rows: list[Row] = [[part, counts["removed.parts", part], words[part]] for part in sorted(words)]
    columns = (("Parts", "count"), ("Words", "count"))
    return _table("removed", "Removed parts, by rule and kind (`tables/removed`)", "not in the paper", columns, rows)


def _removed_sections(counts: Counts) -> dict[str, Any]:
    body = _select(counts, "body_words")
    rows: list[Row] = [
        [field, n, removed := counts["section_words", field], _share(removed, n)]
        for field, n in sorted(body.items(), key=lambda item: (-item[1], item[0]))
    ]
    columns = (("Words of full texts", "count"), ("Removed words", "count"), ("Share", "share"))
    title = "Improbable sections (`clean.min_log_prob`) by field of study"
    return _table("removed_sections", title, "not in the paper", columns, rows)


def _select(counts: Counts, what: str) -> dict[str, int]:
    return {which: n for (name, which), n in counts.items() if name == what}


def _rank(name: str, title: str, counts: Mapping[str, int]) -> dict[str, Any]:
    total = sum(counts.values())
    rows: list[Row] = [
        [label, n, _share(n, total)] for label, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return _table(name, title, "not in the paper", (("Papers", "count"), ("Share", "share")), rows)


def _table(name: str, title: str, source: str, columns: Sequence[tuple[str, str]], rows: list[Row]) -> dict[str, Any]:
    units = [{"name": column, "unit": unit} for column, unit in columns]
    return {"name": name, "title": title, "source": source, "columns": units, "rows": rows}


def _share(part: float | None, total: float) -> float | None:
    return None if part is None or not total else round(part / total, 6)


def _mean(total: float, number: float) -> float | None:
    return round(total / number, 2) if number else None


def format_value(value: float | str | None, unit: str) -> str:
    """Return a value as a table prints it: 1,234, 35.6% or 9.9."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if unit == "share":
        return f"{value:.1%}" if value >= 0.001 or not value else f"{value:.3%}"
    return f"{value:,.0f}" if unit == "count" or value == int(value) else f"{value:,.1f}"
