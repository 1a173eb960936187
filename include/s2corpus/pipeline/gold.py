"""Measure the quality of a release against gold data: clusters without identifiers, and data read from PDFs.

Each measure has four counts, stored as metrics `gold.<measure>.<count>` of its stage. `known` counts gold items,
`found` the gold items that the release contains, `said` the items of the release that gold can judge, and `right` the
correct ones of these. Recall is found/known and precision is right/said; both have drift checks. All counts use seeded
samples of a slice of the papers. They do not depend on the size of the release or on its shards.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.comparison import count_common_names, normalize_title, titles_match
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.sources.record import SCIENCEPARSE
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables import FULLTEXTS, MEMBERS, PAPERS
from s2orc_parse.parse_model import ParseKind

SLICE = 100_000
"""number of papers from which samples are drawn"""
MAX_ALIKE = 20
"""maximum number of additional records clustered with the sample, for each title beginning"""
IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
_RECORDS = (
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
    said: int = 0
    right: int = 0

    def __add__(self, other: Gold) -> Gold:
        return Gold(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Gold)))

    def metrics(self, measure: str) -> Metrics:
        """Return the counts as metrics; return no metrics if there is no gold item."""
        return {f"gold.{measure}.{f.name}": float(getattr(self, f.name)) for f in fields(Gold)} if self.known else {}


def measure(run: Run, stage: str, metrics: Metrics) -> Metrics:
    """Return the gold metrics that are available after a stage has committed its tables; `metrics` are the stage's metrics."""
    if stage == "cluster":
        return measure_titles(run).metrics("titles")
    if stage == "assemble":
        return {
            name: n for field, found in measure_parses(run).items() for name, n in found.metrics(f"xml_{field}").items()
        }
    return {}


def select_slice(run: Run, papers: int) -> pc.Expression | None:
    """Return the range of paper ids from which samples are drawn, or None for all papers. Ids are hashes."""
    if papers <= SLICE:
        return None
    first = int(hashlib.sha256(str(run.spec.quality.gold_seed).encode()).hexdigest()[: _ID_BITS // 4], 16)
    last = first + (SLICE << _ID_BITS) // papers
    ids = pc.field("paper_id")
    if last < 1 << _ID_BITS:
        return (ids >= f"{first:015x}") & (ids < f"{last:015x}")
    return (ids >= f"{first:015x}") | (ids < f"{last - (1 << _ID_BITS):015x}")


def measure_clusters(run: Run, papers: int, cluster: Callable[[pa.Table], pa.Table]) -> Gold:
    """Measure pairs of records: `cluster` joins a sample of papers, and records with the same title beginnings.

    The records have no identifiers.

    Known pairs belong to one paper and share an identifier. A joined pair is right if it shares an identifier. It is
    wrong if both records have an identifier of one kind but different values (except DOIs of preprints).
    """
    from s2corpus.clustering.preprints import from_preprint_server
    from s2corpus.compiled import interpret_if_small

    read = run.table(MEMBERS).read(list(_RECORDS), where=select_slice(run, papers))
    prefixes = run.spec.cluster.preprint_prefixes
    preprint = pc.or_(
        pa.array(from_preprint_server(pc.fill_null(read["doi"], "").combine_chunks(), prefixes)),
        pc.fill_null(pc.equal(read["type"], "preprint"), False),
    )
    final = pc.if_else(preprint, pa.scalar(None, pa.string()), read["doi"])
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("slice", read.append_column("final_doi", final).drop_columns(["authors"]))
        connection.execute(_LIGHT)
        quality = run.spec.quality
        connection.execute(_CHOSEN, {"seed": str(quality.gold_seed), "n": quality.gold_sample})
        connection.execute(_SAMPLE, {"seed": str(quality.gold_seed)})
        wanted = connection.execute("SELECT record_id FROM sample").to_arrow_table()["record_id"]
        some = read.filter(pc.is_in(read["record_id"], wanted.combine_chunks())).drop_columns(["paper_id"])
        if not len(some):
            return Gold()
        for name in (*IDENTIFIERS, "file_sha1"):
            some = some.set_column(some.column_names.index(name), name, pa.nulls(len(some), pa.string()))
        with interpret_if_small(len(some) * some.nbytes):
            again = cluster(some.combine_chunks())
        connection.register("again", again)
        return Gold(*(connection.execute(_PAIRS).fetchone() or ()))


_SAME = " OR ".join(f"coalesce(a.{name} = b.{name}, false)" for name in IDENTIFIERS)
_OTHER = " OR ".join(f"coalesce(a.{name} <> b.{name}, false)" for name in ("final_doi", *IDENTIFIERS[1:]))
_LIGHT = r"""
CREATE TEMP TABLE light AS
  SELECT * EXCLUDE title, left(regexp_replace(strip_accents(lower(title)), '[^\p{L}\p{N}]', '', 'g'), 16) AS beginning FROM slice
  WHERE title IS NOT NULL
"""
_CHOSEN = f"""
CREATE TEMP TABLE chosen AS
  SELECT paper_id FROM (
    SELECT DISTINCT paper_id FROM (UNPIVOT light ON {", ".join(IDENTIFIERS)} INTO NAME named VALUE value)
    GROUP BY paper_id, named, value HAVING count(*) > 1
  ) ORDER BY md5($seed || paper_id), paper_id LIMIT $n
"""
_SAMPLE = f"""
CREATE TEMP TABLE sample AS
  SELECT * FROM light WHERE paper_id IN (FROM chosen)
  UNION ALL (
    SELECT * FROM light
    WHERE paper_id NOT IN (FROM chosen) AND beginning <> ''
      AND beginning IN (SELECT beginning FROM light WHERE paper_id IN (FROM chosen))
    QUALIFY row_number() OVER (PARTITION BY beginning ORDER BY md5($seed || record_id), record_id) <= {MAX_ALIKE}
  )
"""
_PAIRS = f"""
WITH pairs AS (
  SELECT a.paper_id = b.paper_id AS one_paper, x.paper_id = y.paper_id AS joined, ({_SAME}) AS same, ({_OTHER}) AS other
  FROM sample a JOIN sample b ON a.record_id < b.record_id AND (a.paper_id = b.paper_id OR a.beginning = b.beginning)
    JOIN again x ON x.record_id = a.record_id JOIN again y ON y.record_id = b.record_id
)
SELECT count(*) FILTER (one_paper AND same), count(*) FILTER (one_paper AND same AND joined),
  count(*) FILTER (joined AND (same OR other)), count(*) FILTER (joined AND same) FROM pairs
"""


def measure_titles(run: Run) -> Gold:
    """Compare titles read from PDFs with the titles of other records of the same DOI or arXiv id; one match is enough."""
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        run.table(MEMBERS).view(connection)
        rows = connection.execute(
            _TITLES, {"seed": str(run.spec.quality.gold_seed), "n": run.spec.quality.gold_sample, "other": SCIENCEPARSE}
        ).fetchall()
    found = Gold()
    for read, given in rows:
        right = any(titles_match(read, title) for title in given)
        found += Gold(1, right, read is not None, right)
    return found


_TITLES = """
WITH read AS (
  SELECT record_id, title, doi, arxiv_id FROM members
  WHERE kind = 'pdf' AND source <> $other AND (doi IS NOT NULL OR arxiv_id IS NOT NULL)
  ORDER BY md5($seed || record_id), record_id LIMIT $n
), given AS (SELECT title, doi, arxiv_id FROM members WHERE kind <> 'pdf' AND title IS NOT NULL),
both_titles AS (
  SELECT record_id, read.title AS read, given.title AS given FROM read JOIN given USING (doi)
  UNION SELECT record_id, read.title, given.title FROM read JOIN given USING (arxiv_id)
)
SELECT read, list(given ORDER BY given) FROM both_titles GROUP BY record_id, read ORDER BY record_id
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
    both = [paper_id for paper_id, of in kinds.items() if "pdf" in of and of & publishers]
    seed = str(run.spec.quality.gold_seed)
    both.sort(key=lambda paper_id: hashlib.sha256(f"{seed}{paper_id}".encode()).digest())
    wanted = pc.field("paper_id").isin(pa.array(both[: run.spec.quality.gold_sample], pa.string()))
    found = {name: Gold() for name in ("title", "authors", "abstract", "bibliography", "citations")}
    for parses in _group_parses(run, wanted if where is None else wanted & where):
        read = parses["pdf"]
        given = parses.get("jats") or parses["elsevier"]
        if given["title"]:
            right = bool(titles_match(read["title"], given["title"]))
            found["title"] += Gold(1, right, bool(read["title"]), right)
        if given["authors"]:
            common, said, known = count_common_names(read["authors"], given["authors"])
            found["authors"] += Gold(known, common, said, common)
        if given["abstract"]:
            one, two = (Counter(_words(parse["abstract"])) for parse in (read, given))
            common = (one & two).total()
            found["abstract"] += Gold(two.total(), common, one.total(), common)
        mine, theirs = (_named_entries(parse) for parse in (read, given))
        if theirs:
            pairs = _pair_entries(mine, theirs)
            found["bibliography"] += Gold(len(theirs), len(pairs), len(mine), len(pairs))
            one, two = (Counter(_cited(parse, named)) for parse, named in ((read, mine), (given, theirs)))
            common = sum(min(one[ref_id], two[partner]) for ref_id, partner in pairs.items())
            found["citations"] += Gold(two.total(), common, one.total(), common)
    return found


_Key = tuple[str, str]
"""a DOI or a normalized title"""


def _named_entries(parse: dict[str, Any]) -> dict[str, list[_Key]]:
    """Return the keys of each bibliography entry with a DOI or title, the most reliable first. Other entries cannot be judged."""
    found = {}
    for ref_id, entry in parse["bib_entries"].items():
        keys = [("doi", doi.casefold()) for doi in (entry.get("other_ids") or {}).get("DOI", ())]
        if title := normalize_title(entry.get("title") or ""):
            keys.append(("title", title))
        if keys:
            found[ref_id] = keys
    return found


def _pair_entries(read: dict[str, list[_Key]], given: dict[str, list[_Key]]) -> dict[str, str]:
    """Return pairs of entries with a common key (id in the PDF's parse → id in the XML). Each entry has at most one partner."""
    left: dict[_Key, list[str]] = {}
    for ref_id, keys in given.items():
        for key in keys:
            left.setdefault(key, []).append(ref_id)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for ref_id, keys in read.items():
        partners = (other for key in keys for other in left.get(key, ()) if other not in taken)
        if (partner := next(partners, None)) is not None:
            pairs[ref_id] = partner
            taken.add(partner)
    return pairs


def _cited(parse: dict[str, Any], entries: Container[str]) -> Iterator[str]:
    """Yield the entry that each citation mark of the body names, if it is one of these entries."""
    for paragraph in parse["body_text"]:
        yield from (span["ref_id"] for span in paragraph["cite_spans"] if span.get("ref_id") in entries)


_MEASURED = ("title", "authors", "abstract", "bib_entries", "body_text")


def _group_parses(run: Run, where: pc.Expression) -> Iterator[dict[str, Any]]:
    """Yield the parses of each paper by kind; the rows are sorted by paper."""
    paper_id = ""
    parses: dict[str, Any] = {}
    for row in run.table(FULLTEXTS).rows(["paper_id", "parse_kind", "parse"], where=where, at_once=16):
        if row["paper_id"] != paper_id and parses:
            yield parses
            parses = {}
        paper_id = row["paper_id"]
        parse = orjson.loads(row["parse"])
        parses[row["parse_kind"]] = {name: parse[name] for name in _MEASURED}
    if parses:
        yield parses


def _words(paragraphs: Iterable[dict[str, Any]]) -> list[str]:
    return re.findall(r"\w+", " ".join(paragraph["text"] for paragraph in paragraphs).casefold())
