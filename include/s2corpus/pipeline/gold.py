"""Measure the quality of a release against gold data: clusters without identifiers, and data read from PDFs.

Each measure has four counts, which are metrics `gold.<measure>.<count>` of its stage:

- `known`: gold items;
- `found`: gold items that the release contains;
- `predicted`: items of the release that can be compared with gold;
- `right`: correct items among these.

Recall is found/known and precision is right/predicted; both have drift checks. All counts use seeded samples of a slice of the
papers. They do not depend on the size of the release or on its shards.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.comparison import count_common_names, normalize_title, titles_match
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.sources.record import SCIENCEPARSE
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import FULLTEXTS
from s2orc_parse.parse_model import ParseKind

GOLD_SEED = 20200705
"""seed of the samples: the date of the S2ORC release"""
GOLD_SAMPLE = 2000
"""papers, PDFs and bibliography entries in a sample"""
SLICE = 100_000
"""number of papers from which samples are drawn"""
MAX_DISTRACTORS = 20
"""maximum number of records of other papers that are clustered with the sample, for each title prefix"""
IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
_COLUMNS = (
    "paper_id", "record_id", "source", "kind", "ready_at", "title", "authors", "date", "journal", "volume", "issue", "pages", "type",
    *IDENTIFIERS, "file_sha1",
)  # fmt: skip
_ID_BITS = 60
"""length of a paper's id: 15 hexadecimal digits"""


@dataclass(frozen=True, slots=True)
class Gold:
    """The counts of one measure; they can be added."""

    known: int = 0
    found: int = 0
    predicted: int = 0
    right: int = 0

    def __add__(self, other: Gold) -> Gold:
        return Gold(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Gold)))

    def metrics(self, measure: str) -> Metrics:
        """Return the counts as metrics; return no metrics without gold items."""
        return {f"gold.{measure}.{f.name}": float(getattr(self, f.name)) for f in fields(Gold)} if self.known else {}


def measure_stage(run: Run, stage: str) -> Metrics:
    """Return the gold metrics that are available after a stage has committed its tables."""
    if stage == "cluster":
        return measure_titles(run).metrics("titles")
    metrics: Metrics = {}
    if stage == "assemble":
        for field, counts in measure_parses(run).items():
            metrics |= counts.metrics(f"xml_{field}")
    return metrics


def select_slice(run: Run, papers: int) -> pc.Expression | None:
    """Return the range of paper ids from which samples are drawn, or None for all papers. Ids are hashes."""
    if papers <= SLICE:
        return None
    first = int(hashlib.sha256(str(GOLD_SEED).encode()).hexdigest()[: _ID_BITS // 4], 16)
    last = first + (SLICE << _ID_BITS) // papers
    ids = pc.field("paper_id")
    if last < 1 << _ID_BITS:
        return (ids >= f"{first:015x}") & (ids < f"{last:015x}")
    return (ids >= f"{first:015x}") | (ids < f"{last - (1 << _ID_BITS):015x}")


def measure_clusters(run: Run, papers: int, cluster: Callable[[pa.Table], pa.Table]) -> Gold:
    """Measure the pairs of records that `cluster` joins without identifiers.

    The records belong to a sample of papers, and to other papers with the same title prefixes.

    Known pairs belong to one paper and share an identifier. A joined pair is right if it shares an identifier. It is
    wrong if both records have an identifier of one kind but different values (except DOIs of preprints).
    """
    from s2corpus.compiled import interpret_if_small
    from s2corpus.sources.preprints import find_preprints

    members = run.table(MEMBERS).read(list(_COLUMNS), where=select_slice(run, papers))
    preprint = pc.or_(
        pa.array(find_preprints(pc.fill_null(members["doi"], "").combine_chunks())),
        pc.fill_null(pc.equal(members["type"], "preprint"), False),
    )
    final = pc.if_else(preprint, pa.scalar(None, pa.string()), members["doi"])
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("slice", members.append_column("final_doi", final).drop_columns(["authors"]))
        connection.execute(_CREATE_TITLED)
        connection.execute(_CREATE_SAMPLED_PAPERS, {"seed": str(GOLD_SEED), "n": GOLD_SAMPLE})
        connection.execute(_CREATE_SAMPLE, {"seed": str(GOLD_SEED)})
        ids = connection.execute("SELECT record_id FROM sample").to_arrow_table()["record_id"]
        sample = members.filter(pc.is_in(members["record_id"], ids.combine_chunks())).drop_columns(["paper_id"])
        if not len(sample):
            return Gold()
        for name in (*IDENTIFIERS, "file_sha1"):
            sample = sample.set_column(sample.column_names.index(name), name, pa.nulls(len(sample), pa.string()))
        with interpret_if_small(len(sample) * sample.nbytes):
            connection.register("reclustered", cluster(sample.combine_chunks()))
        return Gold(*(connection.execute(_PAIRS).fetchone() or ()))


_SHARES_ID = " OR ".join(f"coalesce(a.{name} = b.{name}, false)" for name in IDENTIFIERS)
_CONTRADICTS = " OR ".join(f"coalesce(a.{name} <> b.{name}, false)" for name in ("final_doi", *IDENTIFIERS[1:]))
_CREATE_TITLED = r"""
CREATE TEMP TABLE titled AS
  SELECT * EXCLUDE title, left(regexp_replace(strip_accents(lower(title)), '[^\p{L}\p{N}]', '', 'g'), 16) AS prefix FROM slice
  WHERE title IS NOT NULL
"""
_CREATE_SAMPLED_PAPERS = f"""
CREATE TEMP TABLE sampled_papers AS
  SELECT paper_id FROM (
    SELECT DISTINCT paper_id FROM (UNPIVOT titled ON {", ".join(IDENTIFIERS)} INTO NAME kind_of_id VALUE value)
    GROUP BY paper_id, kind_of_id, value HAVING count(*) > 1
  ) ORDER BY md5($seed || paper_id), paper_id LIMIT $n
"""
_CREATE_SAMPLE = f"""
CREATE TEMP TABLE sample AS
  SELECT * FROM titled WHERE paper_id IN (FROM sampled_papers)
  UNION ALL (
    SELECT * FROM titled
    WHERE paper_id NOT IN (FROM sampled_papers) AND prefix <> ''
      AND prefix IN (SELECT prefix FROM titled WHERE paper_id IN (FROM sampled_papers))
    QUALIFY row_number() OVER (PARTITION BY prefix ORDER BY md5($seed || record_id), record_id) <= {MAX_DISTRACTORS}
  )
"""
_PAIRS = f"""
WITH pairs AS (
  SELECT a.paper_id = b.paper_id AS one_paper, x.paper_id = y.paper_id AS joined, ({_SHARES_ID}) AS shares_id,
    ({_CONTRADICTS}) AS contradicts
  FROM sample a JOIN sample b ON a.record_id < b.record_id AND (a.paper_id = b.paper_id OR a.prefix = b.prefix)
    JOIN reclustered x ON x.record_id = a.record_id JOIN reclustered y ON y.record_id = b.record_id
)
SELECT count(*) FILTER (one_paper AND shares_id), count(*) FILTER (one_paper AND shares_id AND joined),
  count(*) FILTER (joined AND (shares_id OR contradicts)), count(*) FILTER (joined AND shares_id) FROM pairs
"""


def measure_titles(run: Run) -> Gold:
    """Compare titles read from PDFs with the titles of other records of the same DOI or arXiv id; one match is enough."""
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        run.table(MEMBERS).view(connection)
        rows = connection.execute(_TITLES, {"seed": str(GOLD_SEED), "n": GOLD_SAMPLE, "other": SCIENCEPARSE}).fetchall()
    counts = Gold()
    for pdf_title, record_titles in rows:
        right = any(titles_match(pdf_title, title) for title in record_titles)
        counts += Gold(1, right, pdf_title is not None, right)
    return counts


_TITLES = """
WITH pdfs AS (
  SELECT record_id, title, doi, arxiv_id FROM members
  WHERE kind = 'pdf' AND source <> $other AND (doi IS NOT NULL OR arxiv_id IS NOT NULL)
  ORDER BY md5($seed || record_id), record_id LIMIT $n
), records AS (SELECT title, doi, arxiv_id FROM members WHERE kind <> 'pdf' AND title IS NOT NULL),
pairs AS (
  SELECT record_id, pdfs.title AS pdf_title, records.title AS record_title FROM pdfs JOIN records USING (doi)
  UNION SELECT record_id, pdfs.title, records.title FROM pdfs JOIN records USING (arxiv_id)
)
SELECT pdf_title, list(record_title ORDER BY record_title) FROM pairs GROUP BY record_id, pdf_title ORDER BY record_id
"""


def measure_parses(run: Run) -> dict[str, Gold]:
    """Compare PDF parses with the publisher's XML of the same paper.

    The measures are titles, author names, abstract words, bibliography entries (matched by DOI or title), and inline citations of
    these entries (S2ORC §4).
    """
    where = select_slice(run, run.table(PAPERS).committed().rows)
    kinds: dict[str, set[str]] = {}
    for row in run.table(FULLTEXTS).rows(["paper_id", "parse_kind"], where=where):
        kinds.setdefault(row["paper_id"], set()).add(row["parse_kind"])
    publishers = {ParseKind.JATS.value, ParseKind.ELSEVIER.value}
    with_both = [paper_id for paper_id, of_paper in kinds.items() if "pdf" in of_paper and of_paper & publishers]
    seed = str(GOLD_SEED)
    with_both.sort(key=lambda paper_id: hashlib.sha256(f"{seed}{paper_id}".encode()).digest())
    in_sample = pc.field("paper_id").isin(pa.array(with_both[:GOLD_SAMPLE], pa.string()))
    counts = {name: Gold() for name in ("title", "authors", "abstract", "bibliography", "citations")}
    for parses in _group_parses(run, in_sample if where is None else in_sample & where):
        pdf = parses["pdf"]
        xml = parses.get("jats") or parses["elsevier"]
        if xml["title"]:
            right = bool(titles_match(pdf["title"], xml["title"]))
            counts["title"] += Gold(1, right, bool(pdf["title"]), right)
        if xml["authors"]:
            common, predicted, known = count_common_names(pdf["authors"], xml["authors"])
            counts["authors"] += Gold(known, common, predicted, common)
        if xml["abstract"]:
            pdf_words, xml_words = (Counter(_words(parse["abstract"])) for parse in (pdf, xml))
            common = (pdf_words & xml_words).total()
            counts["abstract"] += Gold(xml_words.total(), common, pdf_words.total(), common)
        pdf_entries, xml_entries = (_key_entries(parse) for parse in (pdf, xml))
        if xml_entries:
            pairs = _pair_entries(pdf_entries, xml_entries)
            counts["bibliography"] += Gold(len(xml_entries), len(pairs), len(pdf_entries), len(pairs))
            pdf_cited, xml_cited = Counter(_list_cited(pdf, pdf_entries)), Counter(_list_cited(xml, xml_entries))
            common = sum(min(pdf_cited[ref_id], xml_cited[partner]) for ref_id, partner in pairs.items())
            counts["citations"] += Gold(xml_cited.total(), common, pdf_cited.total(), common)
    return counts


_Key = tuple[str, str]
"""a DOI or a normalized title"""


def _key_entries(parse: dict[str, Any]) -> dict[str, list[_Key]]:
    """Return the keys of each bibliography entry with a DOI or title, DOIs first. Other entries cannot be compared."""
    entries = {}
    for ref_id, entry in parse["bib_entries"].items():
        keys = [("doi", doi.casefold()) for doi in (entry.get("other_ids") or {}).get("DOI", ())]
        if title := normalize_title(entry.get("title") or ""):
            keys.append(("title", title))
        if keys:
            entries[ref_id] = keys
    return entries


def _pair_entries(pdf_entries: dict[str, list[_Key]], xml_entries: dict[str, list[_Key]]) -> dict[str, str]:
    """Return pairs of entries with a common key (id in the PDF's parse → id in the XML). Each entry has at most one partner."""
    by_key: dict[_Key, list[str]] = {}
    for ref_id, keys in xml_entries.items():
        for key in keys:
            by_key.setdefault(key, []).append(ref_id)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for ref_id, keys in pdf_entries.items():
        partners = (other for key in keys for other in by_key.get(key, ()) if other not in taken)
        if (partner := next(partners, None)) is not None:
            pairs[ref_id] = partner
            taken.add(partner)
    return pairs


def _list_cited(parse: dict[str, Any], entries: Container[str]) -> Iterator[str]:
    """Yield the ref_id of each inline citation of the body that cites one of these entries."""
    for paragraph in parse["body_text"]:
        yield from (span["ref_id"] for span in paragraph["cite_spans"] if span.get("ref_id") in entries)


_PARSE_FIELDS = ("title", "authors", "abstract", "bib_entries", "body_text")


def _group_parses(run: Run, where: pc.Expression) -> Iterator[dict[str, Any]]:
    """Yield the parses of each paper by kind; the rows are sorted by paper."""
    rows = run.table(FULLTEXTS).rows(["paper_id", "parse_kind", "parse"], where=where, batch_size=16)
    for _, rows_of_paper in groupby(rows, key=lambda row: row["paper_id"]):
        parses = {row["parse_kind"]: orjson.loads(row["parse"]) for row in rows_of_paper}
        yield {kind: {name: parse[name] for name in _PARSE_FIELDS} for kind, parse in parses.items()}


def _words(paragraphs: Iterable[dict[str, Any]]) -> list[str]:
    return re.findall(r"\w+", " ".join(paragraph["text"] for paragraph in paragraphs).casefold())
