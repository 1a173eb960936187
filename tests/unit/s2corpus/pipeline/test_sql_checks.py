"""Checks of contradictory tables always block; checks of shares compare a release with its parent (SPEC §11.2–11.5)."""

import re
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from s2corpus.pipeline import checks, quality
from s2corpus.pipeline.checks import list_all_checks
from s2corpus.spec import ReleaseSpec
from s2corpus.tables.schema import TABLES

CHECKS = {f"{check.stage}.{check.name}": check for check in list_all_checks()}
METRICS = pa.schema([("stage", pa.string()), ("name", pa.string()), ("value", pa.float64())])
SCHEMAS = {name: table.schema for name, table in TABLES.items()} | dict.fromkeys(("metrics", "parent_metrics"), METRICS)
DEFAULTS = {
    "string": "p", "bool": "true", "outcome": "ok", "filtered.outcome": "kept", "documents.outcome": "kept", "set": "s2orc",
    "selections.outcome": "selected", "deliveries.outcome": "taken", "corrections.outcome": "applied",
    "kind": "pdf", "deliveries.kind": "delivery", "parse_kind": "pdf", "stage": "export", "split": "train",
    "access": "[{kind: jats, sha1: p, open_access: true, oa_evidence: p}]",
}  # fmt: skip
"""values of types and columns; others are null"""
CONTRADICTIONS = """
intake.few_records_dropped: deliveries(rows=1000,dropped=1) | deliveries(rows=1,dropped=9)
extract.few_given_up: extractions | extractions(outcome=gave_up:busy)
select.every_pdf_has_an_outcome: pdfs selections | pdfs | selections
select.selections_outcome_is_known: selections | selections(outcome=ok)
extract.every_selected_pdf_has_an_answer: selections extractions | selections | selections(outcome=encrypted) extractions
extract.what_is_ok_is_stored: extractions | extractions(stored=) | extractions(tei_sha1=)
extract.one_extractor: extractions extractions | extractions extractions(version=q)
extract.extractor_has_its_own_name: extractions(extractor=q) deliveries | extractions deliveries
postprocess.headers_are_not_delivered: records pdf_records(record_id=q) | records pdf_records
postprocess.every_extraction_has_a_parse: extractions parses | extractions | parses
postprocess.every_latex_source_has_its_outcome: latex_sources latex_parses | latex_sources | latex_parses
postprocess.every_article_has_its_outcome: articles article_parses | articles | article_parses
postprocess.every_parse_has_a_record: parses pdf_records | parses
cluster.every_record_has_a_paper: records clusters pdf_records(record_id=q) clusters(record_id=q) | records | pdf_records | clusters
cluster.members_are_the_clusters: members clusters | members | clusters
cluster.edges_resolve: edges clusters | edges(left=q) clusters | edges(right=q) clusters
cluster.taken_edges_join: edges clusters | edges(left=q) clusters clusters(record_id=q,paper_id=q)
cluster.aliases_resolve: aliases clusters | aliases clusters(paper_id=q)
vote.every_cluster_is_a_paper: clusters papers | clusters | papers
vote.canonical_pdf_is_parsed: papers parses | papers | papers parses(outcome=failed)
vote.one_paper_a_canonical_pdf: papers papers(canonical_pdf=q) | papers papers(paper_id=q)
vote.corrections_are_applied: corrections(field=title) papers(provenance={title={rule: correction}}) | corrections(field=title) papers
vote.corrections_outcome_is_known: corrections corrections(outcome=refused) | corrections(outcome=ok)
vote.open_has_evidence: papers | papers(oa_evidence=) | papers(access=[{open_access: true}])
assemble.every_canonical_pdf_has_its_text: papers fulltexts | papers | papers fulltexts(parse_kind=jats)
assemble.every_latex_parse_is_there: papers fulltexts(parse_kind=latex) | papers fulltexts
assemble.every_article_is_there: papers fulltexts article_parses(kind=jats) | papers article_parses(kind=jats)
assemble.access_is_the_files: papers fulltexts | papers fulltexts(open_access=false) | papers fulltexts(file_sha1=q)
assemble.entries_resolve: entries fulltexts | entries | entries fulltexts(parse_kind=latex)
filter.every_paper_has_an_outcome: papers filtered | papers | filtered
filter.filtered_outcome_is_known: filtered filtered(outcome=rule:few) | filtered(outcome=ok) | filtered(outcome=rule:more)
intake.deliveries_outcome_is_known: deliveries deliveries(outcome=refused:changed) | deliveries(outcome=changed)
extract.extractions_outcome_is_known: extractions | extractions(outcome=kept)
postprocess.parses_outcome_is_known: parses parses(outcome=none:gave_up:busy) | parses(outcome=gave_up:busy)
postprocess.latex_parses_outcome_is_known: latex_parses | latex_parses(outcome=unsafe)
postprocess.article_parses_outcome_is_known: article_parses | article_parses(outcome=kept)
link.links_reason_is_known: links(reason=none) | links(reason=kept)
link.links_warning_is_known: links(warning=tie) links(warning=) | links(warning=none)
clean.documents_outcome_is_known: documents documents(outcome=closed) | documents(outcome=ok)
link.every_entry_has_a_row: filtered entries links | filtered entries | links
link.links_resolve: links filtered | links | links filtered(outcome=short_text)
link.never_to_itself: links(cited_paper_id=q) | links
link.fuzzy_is_above_the_threshold: links(reason=fuzzy,score=0.81) | links(reason=fuzzy,score=0.8)
link.contexts_are_open: contexts fulltexts | contexts fulltexts(open_access=false)
link.contexts_hold: contexts(start=0,end=1) | contexts(start=-1,end=1) | contexts(start=1,end=1) | contexts(start=0,end=2)
clean.every_kept_paper_is_decided: filtered documents | filtered | documents
clean.one_set_a_paper: documents documents(set=q,outcome=closed) | documents documents(set=q)
clean.text_is_there_if_kept: documents | documents(text=) | documents(outcome=closed)
clean.no_closed_text: papers documents | documents | papers(access=[{sha1: p, open_access: false}]) documents
split.every_document_has_a_split: documents splits | documents | splits
split.splits_split_is_known: splits splits(split=held_back:late) | splits(split=test)
split.one_split_a_paper: splits splits(set=q) | splits splits(set=q,split=valid)
split.no_duplicate_of_a_train_text: documents splits | documents splits documents(set=q,text=P!) splits(set=q)
split.no_cluster_in_train_and_valid: duplicates duplicates(paper_id=q) | duplicates duplicates(paper_id=q,split=valid)
split.every_duplicate_is_split_as_its_cluster_says: duplicates splits | duplicates splits(split=valid) | splits(split=held_back:duplicate)
export.published_is_what_was_split: splits metrics(name=documents.x,value=1) | splits | metrics(name=documents.x,value=1)
export.everything_has_its_license: filtered papers fulltexts metrics(name=rights,value=2) | filtered papers metrics(name=rights,value=0)
"""
SHARES = """
select.selected_pdfs outcome.selected rows
extract.extracted_pdfs outcome.ok rows
postprocess.parsed_pdfs outcome.ok rows
vote.open_papers open_access rows.papers
filter.kept_papers outcome.kept rows
filter.own_rules outcome.rule:few rows
clean.own_rules s2orc.rule:few s2orc.rows
clean.own_rules s2ag.rule:few s2ag.rows
link.linked_entries linked rows
clean.full_text_documents s2orc.kept s2orc.rows
cluster.gold gold.clusters.right gold.clusters.predicted
cluster.gold gold.titles.found gold.titles.known
link.gold gold.links.right gold.links.predicted
assemble.gold gold.xml_title.found gold.xml_title.known
assemble.gold gold.xml_citations.right gold.xml_citations.predicted
"""


def count_offending(name: str, rows: str) -> int:
    """Return the number of rows that a check finds if the tables have only these rows."""
    check, rules = CHECKS[name], ReleaseSpec(name="t")
    threshold = check.read_threshold(rules)
    given: dict[str, Any] = {
        "threshold": threshold, "drift_min_n": rules.quality.drift_min_n, "near_duplicates": "publish",
    }  # fmt: skip
    given["own_rules"] = ["rule:few"]
    with duckdb.connect() as connection:
        for table in (name for name in SCHEMAS if quality.mentions_table(f"{check.sql} metrics parent_metrics", name)):
            connection.register("empty", SCHEMAS[table].empty_table())
            connection.execute(f"CREATE TABLE {table} AS FROM empty")
        connection.execute("CREATE VIEW parent_counts AS FROM parent_metrics")
        connection.execute((checks.SQL / "macros.sql").read_text("utf-8"))
        for table, changed in re.findall(r"(\w+)(?:\((.*?)\))?", rows):
            names = {f.name: (f"{table}.{f.name}", f.name, str(f.type)) for f in SCHEMAS[table]}
            values = {column: next(filter(None, map(DEFAULTS.get, keys)), None) for column, keys in names.items()}
            values |= dict(pair.split("=", 1) for pair in re.split(r",(?=\w+=)", changed) if changed)
            columns = ", ".join(f"'{value}' AS \"{column}\"" for column, value in values.items() if value)
            connection.execute(f"INSERT INTO {table} BY NAME SELECT {columns}")
        return len(connection.execute(check.sql, {k: v for k, v in given.items() if f"${k}" in check.sql}).fetchall())


@pytest.mark.parametrize("line", CONTRADICTIONS.strip().splitlines(), ids=lambda line: line.partition(":")[0])
def test_contradictory_tables_are_found(line: str) -> None:
    """Check that only the first rows agree with each other."""
    name, _, cases = line.partition(": ")
    agreeing, *others = (count_offending(name, rows) for rows in cases.split(" | "))
    assert agreeing == 0 and all(others), others


@pytest.mark.parametrize("name", [name for name in CHECKS if name.endswith("_key_is_unique")])
def test_repeated_key_is_found(name: str) -> None:
    table = name.partition(".")[2].removesuffix("_key_is_unique")
    assert count_offending(name, f"{table} {table}") == 1
    for column in TABLES[table].key:
        other = 1 if pa.types.is_integer(TABLES[table].schema.field(column).type) else "q"
        assert count_offending(name, f"{table} {table}({column}={other})") == 0, column


@pytest.mark.parametrize("line", SHARES.strip().splitlines())
def test_drift_of_a_tenth_warns_and_of_a_half_blocks(line: str) -> None:
    (name, part, all_), stage = line.replace(".", ".drift_of_", 1).split(), line.partition(".")[0]
    for severity, value, n, found in [
        ("warn", 721, 1000, 0), ("warn", 719, 1000, 1), ("warn", 881, 1000, 1), ("warn", 1, 999, 0),
        ("block", 401, 1000, 0), ("block", 399, 1000, 1),
    ]:  # fmt: skip
        one, of = f"stage={stage},name={part},value=", f"stage={stage},name={all_},value="
        metrics = f"metrics({one}{value}) metrics({of}{n}) parent_metrics({one}800) parent_metrics({of}1000)"
        assert count_offending(f"{name}_{severity}", metrics) == found


def test_release_without_input_is_found() -> None:
    assert [count_offending("intake.something_to_do", rows) for rows in ("pdfs", "records", "")] == [0, 0, 1]


def test_paper_of_too_many_records_is_found() -> None:
    limit = 200
    assert [count_offending("cluster.clusters_are_small", "clusters " * n) for n in (limit, limit + 1)] == [0, 1]


def test_only_checks_of_shares_and_losses_can_be_overridden() -> None:
    blocking = {name: check.overridable for name, check in CHECKS.items() if check.severity == "block"}
    shares = re.compile("drift_of_|half_of_|lost_documents|some_documents|recall_reaches_the_goal")
    assert blocking == {name: bool(shares.search(name)) for name in blocking}
