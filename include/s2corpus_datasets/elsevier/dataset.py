"""Build a dataset in the form of the Elsevier OA CC-BY corpus, with its balanced sample (Kershaw and Koeling 2020, §3)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.dataset as ds
from pydantic import NonNegativeInt

from s2corpus_datasets import sentences
from s2corpus_datasets.elsevier.article import ARTICLE, SUBJECTS, build_article, build_row, file_name, list_subjects
from s2corpus_datasets.job import Dataset, Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Params, Row, Share, StepResult, hash_number
from s2corpus_datasets.source import SnapshotPaper
from s2corpus_reader.escaping import format_csv
from s2orc_parse.parse_model import ParseKind

NO_SUBJECT = "no subject"
_PARTS = ("abstract", "body_text", "author_highlights", "metadata", "bib_entries")
_FIELDS = ("issn", "firstpage", "lastpage", "pub_year", "doi", "openaccess", "subjareas", "keywords", "asjc")


class ArticleOutcome(StrEnum):
    """The outcome of a paper: the first rule that it fails (§3.1)."""

    KEPT = "kept"
    NO_TEXT = "no_open_full_text"
    LICENSE = "other_license"
    TOO_OLD = "too_old"
    FEW_SENTENCES = "few_sentences"
    UNCLEAN = "too_many_sentences_removed"


class ElsevierParams(Params):
    """Parameters of the corpus in Elsevier's form."""

    kinds: tuple[ParseKind, ...] = (ParseKind.ELSEVIER, ParseKind.JATS, ParseKind.LATEX, ParseKind.PDF)
    """kinds of full text in order of preference; the first available kind is used"""
    licenses: tuple[str, ...] = ("CC-BY-4.0", "CC-BY-3.0", "CC-BY-2.5", "CC-BY-2.0", "CC-BY")
    """accepted licenses of papers (§3.1: CC-BY 4.0; older versions permit the same)"""
    since: int = 2014
    """first year of publication (§3.1)"""
    min_sentences: NonNegativeInt = 20
    """minimum number of sentences in an article (§3.1)"""
    max_removed_share: Share = 0.2
    """maximum share of removed sentences in an article (§3.1)"""
    max_markup_share: Share = 0.2
    """maximum share of XML or LaTeX characters in a sentence; the paper writes "excessive" without a number, so this value is our choice"""
    per_subject: NonNegativeInt = 2_000
    """number of articles sampled for each top-level ASJC subject. Each article is sampled for one subject only (§3.1).

    An article without ASJC codes is sampled for the subject nearest to its primary field.
    """
    keep_all: bool = False
    """whether the dataset contains all articles; the corpus is the balanced sample (§3.1)"""
    seed: int = 2020
    """seed of the sample"""


_INDEX = pa.schema([
    ("doc_id", pa.string()), ("paper_id", pa.string()), ("file", pa.string()), ("bytes", pa.int64()), ("sha256", pa.string()),
    ("pub_year", pa.int32()), ("subjects", pa.list_(pa.string())), ("sampled_for", pa.string()),
])  # fmt: skip


class ElsevierCorpus(Dataset):
    """The dataset of articles in Elsevier's form."""

    version = f"5.{sentences.VERSION}"
    description = (
        "CC-BY articles, one JSON file each, as clean sentences with offsets, sections and references, in the form of the Elsevier "
        "OA CC-BY corpus (Kershaw and Koeling 2020), with a sample balanced over subjects."
    )
    params = ElsevierParams
    tables = (
        DatasetTable("articles", ARTICLE, {"train": "data/*.parquet"}),
        DatasetTable("index", _INDEX, {"train": "index/*.parquet"}),
    )
    schema = pa.schema([
        ("paper_id", pa.string()), ("name", pa.string()), ("rank", pa.int64()), ("subjects", pa.list_(pa.string())),
        ("article", pa.binary()),
    ])  # fmt: skip
    published_metrics: Mapping[str, float] = {
        "articles": 40_091, "coverage.abstract": 0.9925, "coverage.body_text": 1, "coverage.author_highlights": 0.6131,
        "coverage.metadata": 1, "coverage.metadata.issn": 1, "coverage.metadata.firstpage": 0.8550, "coverage.metadata.lastpage": 0.8534,
        "coverage.metadata.pub_year": 1, "coverage.metadata.doi": 1, "coverage.metadata.openaccess": 1, "coverage.metadata.subjareas": 1,
        "coverage.metadata.keywords": 1, "coverage.metadata.asjc": 1, "coverage.bib_entries": 0.9760,
    }  # fmt: skip
    """figures of Table 1"""

    def rows(self, params: ElsevierParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield the article, if it is kept."""
        result.add_input("papers")
        full_text = paper.full_text(params.kinds)
        if full_text is None:
            result.add_outcome("papers", ArticleOutcome.NO_TEXT)
            return
        outcome = ArticleOutcome.KEPT
        _, parse = full_text
        article, number, removed = build_article(paper, parse, params.max_markup_share)
        if _name_license(paper.columns["license"]) not in map(_name_license, params.licenses):
            outcome = ArticleOutcome.LICENSE
        elif (paper.metadata["year"] or 0) < params.since:
            outcome = ArticleOutcome.TOO_OLD
        elif number - removed < params.min_sentences:
            outcome = ArticleOutcome.FEW_SENTENCES
        elif removed > params.max_removed_share * number:
            outcome = ArticleOutcome.UNCLEAN
        result.add_outcome("papers", outcome)
        if outcome is not ArticleOutcome.KEPT:
            return
        result.tally["sentences"] += number - removed
        result.tally["sentences_removed"] += removed
        yield {
            "paper_id": paper.id,
            "name": file_name(article, paper.id),
            "rank": hash_number(f"{params.seed}:{paper.id}") >> 1,
            "subjects": list_subjects(article) or [NO_SUBJECT],
            "article": orjson.dumps(article),
        }

    def choose(self, job: Job) -> dict[str, Any]:
        """Return the sample (paper id → subject that it is sampled for), and the file names that several articles have."""
        params: ElsevierParams = job.params
        sample: dict[str, str] = {}
        with job.sql() as sql:
            extra_subjects = sql.execute(
                "SELECT DISTINCT unnest(subjects) AS subject FROM cached ORDER BY subject"
            ).fetchall()
            for subject in dict.fromkeys([*SUBJECTS, *(subject for (subject,) in extra_subjects)]):
                found = sql.execute(
                    "SELECT paper_id FROM cached WHERE list_contains(subjects, ?) ORDER BY rank, paper_id", [subject]
                )
                free = (paper_id for (paper_id,) in iter(found.fetchone, None) if paper_id not in sample)
                sample |= dict.fromkeys(islice(free, params.per_subject), subject)
            ambiguous = sql.execute(
                "SELECT name FROM cached GROUP BY name HAVING count(*) > 1 ORDER BY name"
            ).fetchall()
        return {"sample": sample, "ambiguous_names": [name for (name,) in ambiguous]}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write three outputs for a shard.

        `index/` lists each article with its checksum, `data/` contains the articles as rows, and
        `articles/<docId>.json` contains one article.
        """
        ambiguous_names = set(choice["ambiguous_names"])
        sample = choice["sample"]
        keeps_all = job.params.keep_all
        with (
            out.open_parquet(f"index/{shard:02d}.parquet", _INDEX) as index,
            out.open_parquet(f"data/{shard:02d}.parquet", ARTICLE) as data,
        ):
            for row in job.rows([shard], batch_rows=16):
                sampled = sample.get(row["paper_id"])
                out.result.add_input("sample")
                out.result.add_outcome(
                    "sample", "sampled" if sampled else "kept_by_keep_all" if keeps_all else "over_quota"
                )
                if not (sampled or keeps_all):
                    continue
                article = orjson.loads(row["article"])
                data.write(build_row(article), len(row["article"]))
                index.write({
                    "doc_id": str(article.get("docId")), "paper_id": row["paper_id"], "file": _path(row, ambiguous_names),
                    "bytes": len(row["article"]), "sha256": hashlib.sha256(row["article"]).hexdigest(),
                    "pub_year": _year(article), "subjects": row["subjects"], "sampled_for": sampled,
                }, 300)  # fmt: skip
                _tally(out.result.tally, article, row["subjects"], "articles")
                if sampled:
                    _tally(out.result.tally, article, row["subjects"], "sample")
                    out.result.tally[f"sample.for.{sampled}"] += 1
        for row in job.rows([shard], batch_rows=16):
            if keeps_all or row["paper_id"] in sample:
                out.write_listed_file(_path(row, ambiguous_names), row["article"])

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Write the paper's Tables 1 (coverage), 2 (years) and 3 (disciplines), for all articles and for the sample; return the metrics."""
        tally = result.tally
        out.write_bytes("coverage.csv", _format_table("field", tally, "has").encode())
        out.write_bytes("years.csv", _format_table("year", tally, "year").encode())
        out.write_bytes("disciplines.csv", _format_table("discipline", tally, "subject").encode())
        articles = tally["articles"]
        metrics = {
            "articles": float(articles),
            "sample": float(tally["sample"]),
            "sentences": float(tally["sentences"]),
            "sentences_removed": float(tally["sentences_removed"]),
        }
        for name in (*_PARTS, *(f"metadata.{name}" for name in _FIELDS)):
            metrics[f"coverage.{name}"] = tally[f"articles.has.{name}"] / articles if articles else 0.0
        return metrics

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that every kept article is a file, the sample has no duplicates, and no subject exceeds its limit."""
        written = result.funnel["sample", "in"] - result.funnel["sample", "over_quota"]
        sampled = {name: n for name, n in result.tally.items() if name.startswith("sample.for.")}
        limit = job.params.per_subject
        return [
            DatasetCheck(
                "articles_written", abs(written - int(metrics["articles"])), "articles are missing, or written twice"
            ),
            DatasetCheck("articles_match_index", _count_index_mismatches(job), "files differ from the index"),
            DatasetCheck(
                "sample_once", abs(sum(sampled.values()) - int(metrics["sample"])), "articles are sampled twice"
            ),
            DatasetCheck("sample_balanced", sum(n > limit for n in sampled.values()), "subjects exceed `per_subject`"),
        ]


def _name_license(license: str | None) -> str:
    """Return a license for comparison: a version of CC BY that is unknown has no SPDX id."""
    return (license or "").removeprefix("LicenseRef-").casefold()


def _path(row: Row, ambiguous_names: set[str]) -> str:
    return f"articles/{row['paper_id'] if row['name'] in ambiguous_names else row['name']}.json"


def _count_index_mismatches(job: Job) -> int:
    """Return the number of files that differ from the index. Both lists are read in the order of names, so memory is bounded."""
    prefix = f"{job.prefix}/"
    entries = ((entry.key.removeprefix(prefix), entry.bytes) for entry in job.lake.list(f"{prefix}articles/"))
    filesystem, root = job.lake.filesystem()
    paths = [f"{root}{prefix}index/{shard:02d}.parquet" for shard in range(job.source.shards)]
    lost, at = 0, next(entries, None)
    with job.sql() as sql:
        sql.register("listed", ds.dataset(paths, schema=_INDEX, filesystem=filesystem, format="parquet"))
        found = sql.execute("SELECT file, bytes FROM listed ORDER BY file")
        for listed in iter(found.fetchone, None):
            while at is not None and at[0] < listed[0]:
                at = next(entries, None)
            lost += at != listed
    return lost


def _tally(tally: Counter[str], article: Mapping[str, Any], subjects: Iterable[str], of: str) -> None:
    metadata = article.get("metadata") or {}
    tally[of] += 1
    tally[f"{of}.year.{_year(article)}"] += 1
    for subject in subjects:
        tally[f"{of}.subject.{subject}"] += 1
    for name in _PARTS:
        tally[f"{of}.has.{name}"] += bool(article.get(name))
    if not article.get("author_highlights"):
        tally[f"{of}.has.author_highlights"] += bool(metadata.get("highlights"))
    for name in _FIELDS:
        tally[f"{of}.has.metadata.{name}"] += bool(metadata.get(name))


def _year(article: Mapping[str, Any]) -> int | None:
    year = str((article.get("metadata") or {}).get("pub_year") or "")[:4]
    return int(year) if year.isascii() and year.isdecimal() else None


def _format_table(header: str, tally: Mapping[str, int], what: str) -> str:
    """Return CSV `<header>,articles,articles_percent,sample` with a line for each value, in order."""
    names = sorted({name.partition(f".{what}.")[2] for name in tally if f".{what}." in name})
    total = tally.get("articles", 0)
    rows: list[tuple[object, ...]] = [(header, "articles", "articles_percent", "sample")]
    for name in names:
        number = tally.get(f"articles.{what}.{name}", 0)
        share = f"{100 * number / total:.2f}" if total else "0.00"
        rows.append((name, number, share, tally.get(f"sample.{what}.{name}", 0)))
    return format_csv(rows)
