"""The twelve stages of a release, in order: start reading here.

A stage `x` is the class `XStage` in `stages/x.py` or in the package `stages/x/`. It has three methods (`pipeline.run.Stage`):

- `plan` lists the shards of a round;
- `work` does one shard of a round: it may run on any machine, twice or concurrently, and writes only its own parts;
- `finish` commits the tables and returns the metrics.

Its checks are the queries in `sql/quality/x.sql`. The DAG, `corpus build`, the page, the reports, the generated checks and the
documentation follow this table. `s2corpus.outcomes` declares the outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator

from s2corpus.outcomes import (
    CleanOutcome,
    CorrectionOutcome,
    DeliveryOutcome,
    ExtractOutcome,
    FilterOutcome,
    LinkReason,
    LinkWarning,
    PdfParseOutcome,
    Refusal,
    SelectOutcome,
    Split,
)
from s2corpus.pipeline.stage_rows import Metric, OutcomeColumn, Shards, StageRow
from s2orc_parse.outcomes import JatsOutcome, LatexOutcome, TeiRefusal

COMMON_METRICS = (
    Metric("rows", "rows", "rows of the stage's main table"),
    Metric("run.rows", "rows", "rows of the stage's main table; another run may see other deliveries"),
    Metric("rows.*", "rows", "rows of each table"),
    Metric("outcome.*", "rows", "rows by outcome"),
    Metric("run.outcome.*", "rows", "rows by outcome; another run may see other deliveries"),
    Metric("gold.*", "items", "items that `pipeline.gold` compares: known, found, predicted and right"),
)


PIPELINE = (
    StageRow(
        "intake",
        reads=(),  # drops/ and sources/
        writes=("pdfs", "latex_sources", "articles", "records", "notices", "deliveries"),
        shards=Shards.PLANNED,  # a drop or a delivery each
        items=("PDFs and records", ("pdfs", "records")),
        rounds=2,
        determines=Shards.PDFS,
        outcomes=(OutcomeColumn("deliveries", "outcome", (("", DeliveryOutcome), ("refused:", Refusal))),),
        metrics=(
            Metric("pdfs", "PDFs", "PDFs delivered, each once"),
            Metric("files.*", "files", "files of the drops that no later stage counts, by outcome"),
            Metric("latex_sources", "files", "LaTeX sources delivered"),
            Metric("articles", "files", "publishers' full texts delivered"),
            Metric("*bytes", "bytes", "size of the PDFs, LaTeX sources and articles"),
            Metric("records", "records", "metadata records of all sources"),
            Metric("records.*", "records", "metadata records of each source"),
        ),
    ),
    StageRow(
        "select",
        reads=("pdfs",),
        writes=("selections",),
        shards=Shards.PDFS,
        items=("PDFs", ("rows",)),
        outcomes=(OutcomeColumn("selections", "outcome", (("", SelectOutcome),)),),
        metrics=(Metric("pages.selected", "pages", "pages of the selected PDFs"),),
    ),
    StageRow(
        "extract",
        reads=("pdfs", "selections"),
        writes=("extractions",),
        shards=Shards.PLANNED,
        items=("PDFs", ("rows",)),
        outcomes=(OutcomeColumn("extractions", "outcome", (("", ExtractOutcome),)),),
        metrics=(
            Metric("run.tries", "requests", "requests to the extractor"),
            Metric("run.seconds.mean", "seconds", "mean duration of the last request of each PDF"),
        ),
    ),
    StageRow(
        "postprocess",
        reads=("pdfs", "selections", "extractions", "latex_sources", "articles"),
        writes=("parses", "pdf_records", "latex_parses", "article_parses"),
        shards=Shards.PDFS,
        items=("parses", ("rows", "latex.rows", "article.rows")),
        outcomes=(
            OutcomeColumn(
                "parses",
                "outcome",
                (
                    ("", PdfParseOutcome),
                    ("bad_tei:", TeiRefusal),
                    ("bad_answer:", TeiRefusal),
                    ("none:", ExtractOutcome),
                ),
            ),
            OutcomeColumn("latex_parses", "outcome", (("", LatexOutcome),)),
            OutcomeColumn("article_parses", "outcome", (("", JatsOutcome),)),
        ),
        metrics=(
            Metric("citation_style.*", "parses", "parses of PDFs by style of their citations"),
            Metric("latex.*", "parses", "the same for LaTeX sources"),
            Metric("article.*", "parses", "the same for publishers' full texts"),
            Metric("bytes", "bytes", "size of the parses of PDFs"),
        ),
    ),
    StageRow(
        "cluster",
        reads=("records", "pdf_records"),
        writes=("edges", "clusters", "aliases", "members"),
        shards=Shards.ONE,
        items=("records", ("rows.clusters",)),
        determines=Shards.PAPERS,
        metrics=(
            Metric("papers", "papers", "clusters of records"),
            Metric("of_one_record", "papers", "papers with one record"),
            Metric("largest", "records", "records of the largest paper"),
            Metric("edges.*", "edges", "joined pairs of records by reason"),
            Metric("conflicts", "edges", "pairs of records that a conflict keeps apart"),
        ),
    ),
    StageRow(
        "vote",
        reads=("members", "aliases", "pdfs", "latex_sources", "latex_parses", "articles", "article_parses", "notices"),
        writes=("papers", "corrections"),
        shards=Shards.PAPERS,
        items=("papers", ("rows.papers",)),
        rounds=2,
        meets_first=True,
        outcomes=(OutcomeColumn("corrections", "outcome", (("", CorrectionOutcome),)),),
        metrics=(
            Metric("has.*", "papers", "papers with each field (S2ORC Table 3)"),
            Metric("with_pdf", "papers", "papers with a canonical PDF"),
            Metric("open_access", "papers", "papers with an open full text"),
            Metric("rule.*", "fields", "fields that each rule of the vote decided"),
            Metric(
                "fields.*", "papers", "papers whose field of study is inferred, and hidden fields that measure this"
            ),
        ),
    ),
    StageRow(
        "assemble",
        reads=("papers", "parses", "latex_parses", "article_parses"),
        writes=("fulltexts", "entries"),
        shards=Shards.PAPERS,
        items=("entries", ("rows.entries",)),
        rounds=3,
        metrics=(
            Metric("fulltexts.*", "full texts", "full texts by kind and access"),
            Metric("entries.*", "entries", "bibliography entries with a title or an identifier"),
            Metric("agreement.*", "pairs", "agreement of two forms of one paper"),
        ),
    ),
    StageRow(
        "filter",
        reads=("papers", "fulltexts", "members", "aliases"),
        writes=("filtered",),
        shards=Shards.PAPERS,
        items=("papers", ("rows",)),
        outcomes=(OutcomeColumn("filtered", "outcome", (("", FilterOutcome),), has_own_rules=True),),
        metrics=(
            Metric("english.mean", "probability", "mean P(en) of the kept papers"),
            Metric("language.*", "papers", "papers that CLD2 and CLD3 decided, and decided differently"),
        ),
    ),
    StageRow(
        "link",
        reads=("papers", "members", "filtered", "fulltexts", "entries"),
        writes=("links", "contexts"),
        shards=Shards.PAPERS,
        items=("entries", ("rows.links",)),
        rounds=2,
        meets_first=True,
        outcomes=(
            OutcomeColumn("links", "reason", (("", LinkReason),)),
            OutcomeColumn("links", "warning", (("", LinkWarning),)),
        ),
        metrics=(
            Metric("linked", "entries", "linked entries of kept papers"),
            Metric("reason.*", "entries", "entries by reason of the link"),
            Metric("warning.*", "entries", "entries by warning"),
            Metric("contexts*", "citations", "inline citations, and those with a link"),
            Metric("run.*", "titles", "effort of the search"),
            Metric("sampled", "titles", "titles of the sample that measures recall (SPEC §7)"),
            Metric("similar", "titles", "sampled titles with a similar title"),
            Metric("found", "titles", "similar titles that the search finds"),
            Metric("recall", "share", "found titles per similar title"),
            Metric("tried", "entries", "entries with an identifier that link without it"),
            Metric("agreed", "entries", "tried entries that link to the paper of their identifier"),
            Metric("precision", "share", "agreed entries per tried entry"),
            Metric("*.parses", "parses", "full texts of each kind"),
            Metric("*_mean", "items", "mean contents of a parse of each kind (S2ORC Table 4)"),
        ),
    ),
    StageRow(
        "clean",
        reads=("papers", "members", "filtered", "fulltexts"),
        writes=("documents",),
        shards=Shards.PAPERS,
        items=("candidates", ("rows.documents",)),
        outcomes=(OutcomeColumn("documents", "outcome", (("", CleanOutcome),), has_own_rules=True),),
        metrics=(
            Metric("*.rows", "documents", "documents decided in each set"),
            Metric("*.words", "words", "words of the kept documents of each set"),
            Metric("s2orc.*", "documents", "full texts by outcome"),
            Metric("s2ag.*", "documents", "abstracts by outcome"),
        ),
    ),
    StageRow(
        "split",
        reads=("documents", "papers"),
        writes=("splits", "duplicates"),
        shards=Shards.ONE,
        items=("documents", ("rows.splits",)),
        outcomes=(OutcomeColumn("splits", "split", (("", Split),)),),
        metrics=(
            Metric("*.words", "words", "words of each set and split"),
            Metric("s2orc.*", "documents", "full texts by split"),
            Metric("s2ag.*", "documents", "abstracts by split"),
        ),
    ),
    StageRow(
        "export",
        reads=(
            "documents",
            "splits",
            "papers",
            "corrections",
            "members",
            "filtered",
            "fulltexts",
            "links",
            "contexts",
            "aliases",
            "clusters",
            "duplicates",
        ),
        writes=(),  # snapshots/<id>/
        shards=Shards.PAPERS,
        items=("files", ("files",)),
        rounds=2,
        metrics=(
            Metric("files", "files", "files of the snapshot"),
            Metric("bytes", "bytes", "size of the files"),
            Metric("documents.*", "documents", "documents of each set and split"),
            Metric("words.*", "words", "words of each set and split"),
            Metric("rights", "rows", "abstracts and parses with a license"),
        ),
    ),
)
STAGE_NAMES = tuple(row.name for row in PIPELINE)


def stage_row(name: str) -> StageRow:
    """Return the row of a stage."""
    return PIPELINE[STAGE_NAMES.index(name)]


def find_planning_stage(name: str) -> str:
    """Return the stage that determines the shards of a stage, or the stage itself if it has a plan."""
    shards = stage_row(name).shards
    return next((row.name for row in PIPELINE if row.determines is shards), name)


def list_outcome_columns() -> Iterator[tuple[str, OutcomeColumn]]:
    """Yield each column with outcomes and its stage, in the order of the stages."""
    for row in PIPELINE:
        for column in row.outcomes:
            yield row.name, column
