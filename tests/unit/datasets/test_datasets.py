"""Datasets of a small snapshot have the same bytes each time, only changed parts are rebuilt, and each dataset has the right content."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.datasets import runner
from s2corpus.datasets.contexts import Contexts, ContextsParams
from s2corpus.datasets.elsevier.article import SUBJECTS, article_of, markup_share, subjects_of
from s2corpus.datasets.job import Job
from s2corpus.datasets.pretraining import PretrainingParams, jaccard, judge
from s2corpus.datasets.protocol import Made
from s2corpus.datasets.registry import DATASETS
from s2corpus.datasets.source import SnapshotPaper, SnapshotSource, published
from s2corpus.datasets.spec import DatasetSpec, load_dataset_spec
from s2corpus.datasets.summary import summary
from s2corpus.datasets.vectors.learning import Learnt, agreement
from s2corpus.errors import QualityBlocked, UserError
from s2corpus.snapshot.metadata import released_parse
from s2corpus.storage.lake import open_lake
from s2corpus_reader.files import file_number
from s2orc_parse.jats.elsevier import convert
from s2orc_parse.tei.s2orc import to_s2orc
from tests.snapshots import paper, write_snapshot

Row = dict[str, Any]
FIELDS = ("Biology", "Medicine", "Computer Science")
PARAMS: dict[str, Row] = {
    "citeworth": {"fields": list(FIELDS), "min_citations": 3},
    "contexts": {"negatives": 2, "years": 1},
    "pretraining": {"vocabulary_size": 300, "vocabulary_sample": 0.5},
    "elsevier": {"min_sentences": 3, "per_subject": 3},
    "vectors": {"dimensions": 16, "neighbours": 3, "epochs": 20},
    "figures": {},
}
WORDS = {
    "Biology": "frogs ponds breed larvae amphibians embryos", "Medicine": "patients dose trial therapy tumours survival",
    "Computer Science": "networks training parsing graphs models layers",
}  # fmt: skip
PIECE = st.sampled_from(["We saw it. ", "Fig. 2 shows x [1]. ", "It is é… ", "A (Lee, 2010). ", "et al. ", "B? "])


def papers(extra: int = 0) -> list[Row]:
    """Return sixty papers that cite papers of their field, and `extra` more papers."""
    found = []
    for n in range(60 + extra):
        field = FIELDS[n % 3]
        id_ = f"{n:015x}"
        cited = [f"{(n + 3 * k) % 60:015x}" for k in (1, 2, 3)]
        words = WORDS[field].split()
        body, entries = [], {}
        for p in range(3):
            text, spans = "", []
            for s, word in enumerate(itertools.islice(itertools.cycle(words[p:] + words[:p]), 4)):
                sentence = f"We measured {word} with {words[s]} in study {n} of {words[(s + p) % 6]}"
                text += (" " if text else "") + sentence
                if s < 3:
                    ref = f"BIBREF{s}"
                    spans.append({"start": len(text) + 1, "end": len(text) + 4, "text": f"[{s + 1}]", "ref_id": ref})
                    text += f" [{s + 1}]"
                    entries[ref] = {
                        "title": f"Paper {cited[s]}", "authors": [], "year": 2014, "venue": "", "link": cited[s], "other_ids": {}
                    }  # fmt: skip
                text += "."
            body.append({"section": "Introduction", "text": text, "cite_spans": spans, "ref_spans": []})
        parse = {
            "abstract": [], "body_text": body, "bib_entries": entries, "back_matter": [], "title": f"Paper {id_}",
            "ref_entries": {"FIGREF0": {"type": "figure", "text": "A figure."}},
            "_pdf_hash": hashlib.sha1(id_.encode()).hexdigest(),
        }  # fmt: skip
        found.append(
            paper(id_, {"pdf": parse}, inbound=[f"{(n + 57) % 60:015x}"] if n < 60 else [], title=f"Paper {id_}", date=f"{2014 + n % 4}",
                  abstract="We looked at many things. They were as expected.", journal="Journal", fields_of_study=[field],
                  subjects=["2700", "MEDI"] if field == "Medicine" else ["Botany"])
        )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    write_snapshot(folder, papers(), files=3)
    return folder


def job(lake: Path, name: str, out: Path | None = None, snapshot: Path | None = None) -> Job:
    folder = snapshot or next((lake / "snapshots").glob("real-20260401-*"))
    return Job(
        DatasetSpec(name=name, dataset=name, params=PARAMS[name]),
        SnapshotSource(open_lake(str(folder))),
        open_lake(str(out or lake)),
    )


def content(one: Job, pattern: str = "") -> dict[str, bytes]:
    return {
        e.key.removeprefix(one.prefix): one.lake.get(e.key)[0]
        for e in one.lake.list(f"{one.prefix}/")
        if pattern in e.key
    }


@pytest.fixture(scope="module")
def made(lake: Path) -> dict[str, Job]:
    found = {}
    for name in DATASETS:
        found[name] = job(lake, name)
        runner.make(found[name])
    return found


@pytest.mark.parametrize("name", DATASETS)
def test_the_same_snapshot_and_rules_make_the_same_bytes(
    name: str, lake: Path, made: dict[str, Job], tmp_path: Path
) -> None:
    again = job(lake, name, tmp_path)
    shards = runner.plan(again)
    runner.work(again, shards[::-1])
    runner.choose(again)
    for shard in shards[::-1]:
        runner.write(again, [shard])
    runner.finish(again)
    runner.check(again)
    assert content(again) == content(made[name])


@pytest.mark.parametrize("name", DATASETS)
def test_what_is_published_is_described(name: str, made: dict[str, Job]) -> None:
    one = made[name]
    manifest = orjson.loads(one.lake.get(f"{one.prefix}/manifest.json")[0])
    for file in manifest["files"]:
        data = one.lake.get(f"{one.prefix}/{file['path']}")[0]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    assert {file["path"] for file in manifest["files"]} >= {"README.md", "stats.json", "funnel.csv", "croissant.json"}
    stats = orjson.loads(one.lake.get(f"{one.prefix}/stats.json")[0])
    steps: dict[str, list[int]] = {}
    for row in stats["funnel"]:
        steps.setdefault(row["step"], []).append(row["count"])
    for step, (entered, *outcomes) in steps.items():
        assert entered == sum(outcomes) > 0, step
    assert stats["licences"]["CC-BY-4.0"] > 0


@pytest.mark.parametrize("name", DATASETS)
def test_a_second_snapshot_works_on_changed_shards_only(name: str, lake: Path, made: dict[str, Job]) -> None:
    grown = papers()
    changed = file_number(grown[0]["paper_id"], 3)
    grown[0]["title"] = "Another title"
    folder = write_snapshot(lake, grown, files=3, day="20260501")
    later = job(lake, name, snapshot=folder)
    assert [shard for shard in range(3) if later.receipt(shard) is None] == [changed]
    runner.plan(later)
    assert later.noted("plan")["new"] == [changed]
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", DATASETS)
def test_a_snapshot_without_papers_makes_an_empty_dataset(name: str, tmp_path: Path) -> None:
    one = job(tmp_path, name, snapshot=write_snapshot(tmp_path, [], files=2))
    assert not any(runner.make(one).get(figure) for figure in ("sentences", "contexts", "papers", "articles"))
    assert one.published() is not None


def test_a_file_that_is_lost_blocks_publishing(lake: Path, tmp_path: Path) -> None:
    one = job(lake, "contexts", tmp_path)
    shards = runner.plan(one)
    runner.work(one, shards)
    runner.choose(one)
    runner.write(one, shards)
    runner.finish(one)
    one.lake.delete(f"{one.prefix}/contexts/00.parquet")
    with pytest.raises(QualityBlocked, match="files_there: 1"):
        runner.check(one)
    assert one.lake.size(f"{one.prefix}/manifest.json") is None


def test_an_article_that_is_lost_blocks_publishing_though_only_the_index_lists_it(
    lake: Path, made: dict[str, Job], tmp_path: Path
) -> None:
    manifest = made["elsevier"].published()
    assert manifest is not None and manifest["listed_files"] == 9
    assert not [file for file in manifest["files"] if file["path"].startswith("articles/")]
    one = job(lake, "elsevier", tmp_path)
    shards = runner.plan(one)
    runner.work(one, shards)
    runner.choose(one)
    runner.write(one, shards)
    runner.finish(one)
    files = []
    for path, data in content(one, "index/").items():
        for row in pq.read_table(pa.BufferReader(data)).to_pylist():
            article = one.lake.get(f"{one.prefix}/{row['file']}")[0]
            files.append(row["file"])
            assert (row["bytes"], row["sha256"]) == (len(article), hashlib.sha256(article).hexdigest()), path
    one.lake.delete(f"{one.prefix}/{files[0]}")
    one.lake.put(f"{one.prefix}/{files[1]}", b"{}")
    with pytest.raises(QualityBlocked, match="articles_there: 2"):
        runner.check(one)
    assert one.published() is None
    runner.write(one, shards)
    runner.check(one)
    assert content(one) == content(made["elsevier"])


def test_a_snapshot_that_says_nothing_of_a_licence_is_read(tmp_path: Path) -> None:
    """Check a snapshot of an early release, in which a license could be null."""
    one = job(tmp_path, "contexts", snapshot=write_snapshot(tmp_path, [{**row, "licence": None} for row in papers()]))
    runner.make(one)
    assert one.receipt(0).licences.keys() == {"NOASSERTION"}  # type: ignore[union-attr]


def test_what_is_published_is_not_changed_and_what_is_lost_of_it_is_made_again(
    lake: Path, made: dict[str, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made["contexts"]
    before = content(one)
    one.lake.delete(f"{one.prefix}/contexts/01.parquet")
    runner.make(one)
    assert content(one) == before
    monkeypatch.setattr(
        "s2corpus.datasets.contexts._TRIES", 0
    )  # Another version of a library could also draw other negatives.
    with pytest.raises(UserError, match=r"is published, and contexts/0\d.parquet made again is another"):
        runner.make(one)
    assert content(one) == before


def test_vectors_are_learnt_again_only_where_a_document_has_changed(
    lake: Path, made: dict[str, Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = job(lake, "vectors", snapshot=write_snapshot(tmp_path, papers(), files=3, day="20260601"))
    assert later.source.id != made["vectors"].source.id
    monkeypatch.setattr("s2corpus.datasets.vectors.dataset.learn", lambda *_: pytest.fail("learnt again"))
    runner.make(later)
    assert content(later, "vectors/0") == content(made["vectors"], "vectors/0")
    grown = papers()
    grown[0]["title"] = "Another title"
    changed = job(lake, "vectors", snapshot=write_snapshot(tmp_path, grown, files=3, day="20260701"))
    with pytest.raises(pytest.fail.Exception, match="learnt again"):
        runner.make(changed)


OTHER_CPU = """
import sys; from pathlib import Path
from s2corpus.datasets.vectors import learning
learning.project = lambda vectors, seed: vectors[:, :2]  # the picture is exempt
texts = [line.split() for line in Path(sys.argv[1]).read_text().splitlines()]
params = learning.VectorsParams(dimensions=64, epochs=20)
Path(sys.argv[2]).write_bytes(learning.learn(params, texts).as_bytes())
"""


def test_on_another_kind_of_cpu_the_nearest_papers_are_nearly_the_same(tmp_path: Path) -> None:
    """Check the nearest papers with other OpenBLAS instructions, as on an older machine.

    The last digits differ; only a few neighbors may change.
    """
    lines = []
    for row in papers():
        for paragraph in row["parses"]["pdf"]["body_text"]:
            for sentence in paragraph["text"].casefold().split(". "):
                for ref, entry in row["parses"]["pdf"]["bib_entries"].items():
                    sentence = sentence.replace(f"[{int(ref[-1]) + 1}]", f"paper:{entry['link']}")
                lines.append(sentence)
    (tmp_path / "texts").write_text("\n".join(lines))
    kinds = ("Haswell", "Nehalem")
    learning = [
        subprocess.Popen(
            [sys.executable, "-c", OTHER_CPU, str(tmp_path / "texts"), str(tmp_path / kind)],
            env={**os.environ, "OPENBLAS_CORETYPE": kind},
        )
        for kind in kinds
    ]
    assert [process.wait() for process in learning] == [0, 0]
    one, other = (Learnt.of_bytes((tmp_path / kind).read_bytes()) for kind in kinds)
    assert len(one.ids) == 60 and agreement(one, one) == 1
    assert agreement(one, other) >= 0.95 and abs(one.vectors - other.vectors).max() < 0.05
    shuffled = replace(other, near=np.roll(other.near, 1, axis=0))
    assert agreement(one, shuffled) < 0.95, "others are seen to be others"


def test_a_small_snapshot_is_one_task_and_a_large_one_as_many_as_are_allowed(lake: Path) -> None:
    one = job(lake, "contexts")
    assert runner.batches(one, [0, 1, 2]) == [[0, 1, 2]]
    size = one.source.size
    one.source.size = lambda shard: size(shard) + (200 << 20)  # type: ignore[method-assign]
    assert runner.batches(one, [0, 1, 2]) == [[0], [1], [2]]
    one.spec = one.spec.model_copy(update={"max_tasks": 2})
    assert runner.batches(one, [0, 1, 2]) == [[0], [1, 2]]


def test_the_figures_stand_beside_those_of_the_paper(made: dict[str, Job]) -> None:
    for name, figure, theirs in (
        ("citeworth", "check_worthy_share", 0.3176), ("pretraining", "papers_share.biomedicine", 0.427),
        ("elsevier", "coverage.author_highlights", 0.6131),
    ):  # fmt: skip
        one = made[name]
        stats = orjson.loads(one.lake.get(f"{one.prefix}/stats.json")[0])
        assert stats["paper"][figure] == theirs and figure in stats["metrics"]
        assert f"| {theirs} |" in one.lake.get(f"{one.prefix}/README.md")[0].decode()
        assert re.search(rf"{figure} +[\d.,]+ +{theirs}\n", summary(one))


def test_other_rules_under_the_same_name_are_refused(lake: Path, made: dict[str, Job]) -> None:
    spec = DatasetSpec(name="contexts", dataset="contexts", params={"window": 1})
    with pytest.raises(UserError, match="published with other rules"):
        runner.plan(Job(spec, made["contexts"].source, open_lake(str(lake))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\ndataset: nothing\n", "'nothing' is not a dataset: expected one of citeworth"),
        ("name: x\ndataset: contexts\nparams: {windows: 3}\n", "windows: 3 given"),
        ("name: x\ndataset: contexts\nparams: {kinds: [word]}\n", "kinds.0: 'word' given"),
        ("name: x\ndataset: citeworth\nparams: {dev_share: 3}\n", "dev_share: 3 given"),
        (
            "name: x\ndataset: citeworth\nparams: {dev_share: 0.5, test_share: 0.5}\n",
            "dev_share and test_share leave nothing to train on",
        ),
        ("name: y\ndataset: contexts\n", "a spec is named like its file: 'x'"),
        ("name: [", "not readable as YAML"),
    ],
)
def test_a_wrong_spec_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(UserError, match=said.replace("[", r"\[")):
        load_dataset_spec(tmp_path / "x.yaml")


def test_the_vocabulary_is_compared_with_another_one(lake: Path, made: dict[str, Job], tmp_path: Path) -> None:
    ours = content(made["pretraining"], "vocab.txt")["/vocab.txt"].decode().splitlines()
    other = tmp_path / "other.txt"
    params = {**PARAMS["pretraining"], "compare_vocabulary": str(other)}
    spec = DatasetSpec(name="pretraining", dataset="pretraining", params=params)
    one = Job(spec, made["pretraining"].source, open_lake(str(tmp_path)))
    other.write_text("".join(f"{entry}\n" for entry in [*ours[:100], *(f"other {n}" for n in range(50))]))
    assert runner.make(one)["vocabulary_jaccard"] == pytest.approx(100 / (len(ours) + 50))
    other.write_bytes(b"\xd0\xff")
    with pytest.raises(UserError, match=r"other.txt: not a vocabulary: expected UTF-8, an entry a line"):
        runner.finish(one)


def test_a_snapshot_is_found_by_release_and_as_of(lake: Path) -> None:
    with pytest.raises(UserError, match="no snapshot of real as of 2026-04-01T00:00:00Z is published"):
        published(open_lake(str(lake)), "real", "2026-04-01T00:00:00Z")
    with pytest.raises(UserError, match="is not an instant"):
        published(open_lake(str(lake)), "real", "today")


def test_citeworth_is_balanced_and_split_by_papers(made: dict[str, Job]) -> None:
    splits: dict[str, set[str]] = {}
    fields: dict[str, int] = {}
    sentences = 0
    for path, data in content(made["citeworth"], ".jsonl.gz").items():
        for line in gzip.decompress(data).splitlines():
            value = orjson.loads(line)
            splits.setdefault(path.split("/")[1], set()).add(value["paper_id"])
            fields[value["mag_field_of_study"][0]] = fields.get(value["mag_field_of_study"][0], 0) + 1
            sentences += len(value["samples"])
            assert [s["label"] for s in value["samples"]] == ["check-worthy"] * 3 + ["non-check-worthy"]
            assert all("[" not in s["text"] for s in value["samples"])
    assert len(set(fields.values())) == 1 and len(fields) == 3
    assert (
        not splits["train"] & splits["dev"]
        and not splits["train"] & splits["test"]
        and not splits["dev"] & splits["test"]
    )
    assert sentences == 60 * 3 * 4
    assert abs(len(splits["train"]) - 48) <= 1


def test_a_citation_context_has_its_mark_its_neighbours_and_negatives(made: dict[str, Job]) -> None:
    cites = {row["paper_id"]: set(row["outbound"]) for row in papers()}
    fields = {row["paper_id"]: row["fields_of_study"][0] for row in papers()}
    rows = [
        r
        for data in content(made["contexts"], ".parquet").values()
        for r in pq.read_table(pa.BufferReader(data)).to_pylist()
    ]
    assert len(rows) == 60 * 3 * 3
    for row in rows:
        assert row["sentence"][row["start"] : row["end"]] == f"[{int(row['ref_id'][-1]) + 1}]"
        assert row["cited_title"] == f"Paper {row['cited_paper_id']}"
        assert len(row["before"]) <= 2 and len(row["after"]) <= 2 and len(row["before"]) + len(row["after"]) >= 2
        assert len(set(row["negatives"])) == 2
        for negative in row["negatives"]:
            assert negative not in cites[row["paper_id"]] | {row["paper_id"]} and fields[negative] == row["cited_field"]


@given(st.lists(st.tuples(PIECE, PIECE, PIECE), min_size=1, max_size=4), st.integers(0, 3))
def test_places_of_citations_in_their_contexts_are_exact(drawn: list[tuple[str, str, str]], window: int) -> None:
    body = []
    for pieces in drawn:
        text = "".join(pieces).strip()
        found = re.finditer(r"\[1\]|\(Lee, 2010\)", text)
        spans = [{"start": m.start(), "end": m.end(), "text": m[0], "ref_id": "BIBREF0"} for m in found]
        body.append({"section": "S", "text": text, "cite_spans": spans})
    parse = {"body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "year": None, "link": "c"}}}
    rows = list(
        Contexts().rows(ContextsParams(window=window), SnapshotPaper({"paper_id": "p"}, {}, {"pdf": parse}), Made())
    )
    assert len(rows) <= sum(len(paragraph["cite_spans"]) for paragraph in body)
    for row in rows:
        text, mark = body[row["paragraph"]]["text"], row["sentence"][row["start"] : row["end"]]
        assert mark in ("[1]", "(Lee, 2010)") or re.fullmatch(r"(?:(?:\[1\]|\(Lee, 2010\))[.\s]*)+", mark), mark
        assert len(row["before"]) <= window and len(row["after"]) <= window
        assert re.search(r"\s*".join(map(re.escape, [*row["before"], row["sentence"], *row["after"]])), text)
    marked = {row["paragraph"] for row in rows}
    assert marked == {number for number, paragraph in enumerate(body) if paragraph["cite_spans"]}


def test_pretraining_text_has_a_sentence_a_line_and_its_vocabulary(made: dict[str, Job]) -> None:
    texts = [gzip.decompress(data).decode() for data in content(made["pretraining"], ".txt.gz").values()]
    assert sum(text.count("\n\n") for text in texts) == 60, "an empty line after each paper"
    assert all(line.endswith(".") for text in texts for line in text.splitlines() if line)
    vocabulary = content(made["pretraining"], "vocab.txt")["/vocab.txt"].decode().splitlines()
    assert vocabulary[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert 100 < len(vocabulary) == len({*vocabulary}) <= 300
    assert jaccard({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("We measured the pH of 12 ponds.", "kept"),
        ("Figure 3 (continued)", "too_short"),
        ("∂ ∑ √ ∫ ≈ ≠ ≤ ≥ x y z = + + + = 1", "too_many_symbols"),
        ("Group A 12.3 14.5 16.7 18.9 21.0 33.1 12.2", "too_many_digits"),
        ("we set x to y and z if a b c d", "too_many_single_characters"),
        (f"The sequence {'ACGT' * 30} was found in it.", "too_long_a_word"),
        ("No data no data no no no no no no", "repeats_itself"),
    ],
)
def test_ill_formed_paragraphs_are_dropped_with_the_reason(text: str, outcome: str) -> None:
    assert judge(PretrainingParams(), text) == outcome


def test_neighbours_share_the_field_far_more_often_than_by_chance(made: dict[str, Job]) -> None:
    metrics = orjson.loads(made["vectors"].lake.get(f"{made['vectors'].prefix}/stats.json")[0])["metrics"]
    assert metrics["neighbours_same_field"] > 2 * metrics["chance_same_field"]


def test_articles_in_elseviers_form_are_sampled_once(made: dict[str, Job]) -> None:
    index = [
        r
        for data in content(made["elsevier"], "index/").values()
        for r in pq.read_table(pa.BufferReader(data)).to_pylist()
    ]
    sampled = [row["sampled_for"] for row in index]
    assert len(index) == 9, "the corpus is the balanced sample"
    assert {name: sampled.count(name) for name in sampled} == {
        "Medicine": 3,
        "Agricultural and Biological Sciences": 3,
        "Computer Science": 3,
    }
    assert len(SUBJECTS) == 27 and subjects_of({"metadata": {"asjc": [2713, 1705], "subjareas": ["MEDI"]}}) == [
        "Computer Science",
        "Medicine",
    ]


GIVEN = {
    "docId": "S0140673618300101",
    "metadata": {
        "title": "T", "authors": [{"first": "A. B.", "initial": "A.B.", "last": "Lee", "email": "lee@example.org"}], "issn": "01406736",
        "volume": "391", "firstpage": "1", "lastpage": "9", "pub_year": 2018, "doi": "10.1016/S0140-6736(18)30010-1", "pmid": "1",
        "openaccess": "Full", "subjareas": ["MEDI"], "keywords": ["frogs", "ponds"], "asjc": [2700],
    },
    "abstract": [{"sentence": "We saw frogs.", "startOffset": 0, "endOffset": 13}],
    "author_highlights": [{"sentence": "Frogs are loud.", "startOffset": 0, "endOffset": 15}],
    "bib_entries": {
        "bib1": {
            "title": "Toads", "authors": [{"first": "C.", "initial": "C.", "last": "Roy"}], "issn": "12345678", "volume": "2",
            "firstpage": "3", "lastpage": "4", "pub_year": 2010, "doi": "10.1000/x", "pmid": "2",
        },
    },
    "body_text": [
        {"sentence": "We saw it  [1].", "secId": "s1", "startOffset": 3, "endOffset": 18, "title": "Frogs",
         "refoffsets": {"bib1": {"startOffset": 11, "endOffset": 14}}, "parents": [{"id": "s0", "title": "Results"}]},
        {"sentence": "<b>x</b>", "secId": "s1", "startOffset": 19, "endOffset": 27, "title": "Frogs", "refoffsets": {}, "parents": []},
    ],
    "other": {"kept": None},
}  # fmt: skip


def test_elseviers_own_article_goes_out_as_it_came() -> None:
    """Check every key of the corpus' schema, and one unknown key, from the delivered file through the parse to its release."""
    parse = released_parse(to_s2orc(convert(orjson.dumps(GIVEN), sha1="0" * 40)), {}, open_access=True)
    one = SnapshotPaper({"paper_id": "p", "doi": None}, {}, {"elsevier": orjson.loads(orjson.dumps(parse))})
    assert article_of(one, one.parses["elsevier"], 0.2) == (GIVEN, 2, 1), "most of the second sentence is markup"
    assert markup_share("The value is $x_{1}$.") < 0.5 < markup_share("<i>x</i>")


@given(st.lists(st.tuples(PIECE, PIECE, st.sampled_from(["A", "A::B", "C", ""])), min_size=1, max_size=5))
def test_offsets_of_elseviers_form_are_exact(drawn: list[tuple[str, str, str]]) -> None:
    body = []
    for one, two, path in drawn:
        text = (one + two).strip()
        spans = (
            [{"start": text.index("[1]"), "end": text.index("[1]") + 3, "text": "[1]", "ref_id": "BIBREF0"}]
            if "[1]" in text
            else []
        )
        body.append({"section": path.split("::")[-1], "section_path": path, "text": text, "cite_spans": spans})
    parse = {"body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "year": None}}}
    metadata = {
        "paper_id": "p",
        "doi": "10.1016/S0140-6736(18)30010-1",
        "title": "T",
        "authors": [],
        "abstract": "One. Two.",
        "year": 2020,
    }
    known = {"subjects": [], "pages": None, "volume": None}
    article, number_, removed = article_of(
        SnapshotPaper({**metadata, "journal": "J", "venue": None, "pubmed_id": None}, known), parse, 0.2
    )
    whole = "\n".join(paragraph["text"] for paragraph in body)
    assert article["docId"] == "S0140673618300101" and number_ == len(article["body_text"]) and not removed
    for sentence in article["body_text"]:
        assert whole[sentence["startOffset"] : sentence["endOffset"]] == sentence["sentence"]
        for place in sentence["refoffsets"].values():
            assert sentence["sentence"][place["startOffset"] : place["endOffset"]] == "[1]"
    assert sum(len(s["sentence"].replace(" ", "")) for s in article["body_text"]) == len("".join(whole.split()))
    for sentence in article["abstract"]:
        assert "One. Two."[sentence["startOffset"] : sentence["endOffset"]] == sentence["sentence"]
