"""Each dataset loads with the tools that its consumers use, and its rows equal the rows of the files.

Figures are cropped from the PDF of open papers with a license that permits copies.
"""

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas
import pytest

from s2corpus_datasets import runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.pretraining import SPECIAL
from s2corpus_datasets.protocol import DatasetBlocked
from s2corpus_datasets.spec import DatasetSpec
from s2orc_parse.errors import UserError
from tests.snapshots import paper, write_snapshot
from tests.unit.s2corpus_datasets.conftest import FIGURE, SHA1, build_unchecked, deliver_pdf, job, lines, outcomes, rows
from tests.unit.s2corpus_datasets.test_crops import CAPTION


def load(job: Job, tmp_path: Path, config: str | None = None, **options: Any) -> Any:
    """Return `datasets.load_dataset` of the dataset's folder: the card configures files and splits."""
    datasets = pytest.importorskip("datasets")
    return datasets.load_dataset(job.lake.uri(job.prefix), config, cache_dir=str(tmp_path / "cache"), **options)


def folder(job: Job) -> Path:
    return Path(job.lake.uri(job.prefix))


def test_datasets_loads_citeworth(made: dict[str, Job], tmp_path: Path) -> None:
    loaded = load(made["citeworth"], tmp_path)
    for split in ("train", "dev", "test"):
        expected = [line["samples"] for line in lines(made["citeworth"], f"/{split}/")]
        assert loaded[split]["samples"] == [[{"citation_text": None, **s} for s in samples] for samples in expected]


def test_datasets_and_pandas_load_contexts(made: dict[str, Job], tmp_path: Path) -> None:
    expected = load(made["contexts"], tmp_path, split="train").to_list()
    assert expected == rows(made["contexts"], ".parquet")
    frame = pandas.read_parquet(folder(made["contexts"]) / "contexts")
    marks = [text[start:end] for text, start, end in zip(frame["sentence"], frame["start"], frame["end"], strict=True)]
    assert marks == [row["sentence"][row["start"] : row["end"]] for row in expected]


def test_datasets_loads_pretraining_text_and_tokenizers_its_vocabulary(made: dict[str, Job], tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    text = [row["text"] for row in load(made["pretraining"], tmp_path, split="train")]
    assert sum(not line for line in text) == 60, "an empty line ends each paper"
    assert all(line.endswith(".") for line in filter(None, text))
    vocabulary = str(folder(made["pretraining"]) / "vocab.txt")
    tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=False, strip_accents=False)
    assert [tokenizer.id_to_token(number) for number in range(len(SPECIAL))] == list(SPECIAL)
    assert 100 < tokenizer.get_vocab_size() <= 300
    for line in filter(None, text[:50]):
        encoded = tokenizer.encode(line)
        assert "[UNK]" not in encoded.tokens and (encoded.tokens[0], encoded.tokens[-1]) == ("[CLS]", "[SEP]")
        assert tokenizer.decode(encoded.ids).replace(" ", "") == line.replace(" ", "")


def test_datasets_loads_elseviers_articles(made: dict[str, Job], tmp_path: Path) -> None:
    job = made["elsevier"]
    loaded = load(job, tmp_path, split="train")
    files = {path.stem: orjson.loads(path.read_bytes()) for path in (folder(job) / "articles").iterdir()}
    assert len(loaded) == len(files) == 9
    for row in loaded:
        article = files[row["docId"]]
        assert [s["sentence"] for s in row["body_text"]] == [s["sentence"] for s in article["body_text"]]
        assert row["metadata"]["title"] == article["metadata"]["title"]


def test_gensim_loads_vectors_most_mentioned_first(made: dict[str, Job], tmp_path: Path) -> None:
    models = pytest.importorskip("gensim.models")
    job = made["vectors"]
    vectors = models.KeyedVectors.load_word2vec_format(folder(job) / "word2vec.bin", binary=True)
    expected = {row["paper_id"]: row for row in load(job, tmp_path, "vectors", split="train")}
    assert {*vectors.index_to_key} == expected.keys() and len(expected) == 60
    for paper_id, row in expected.items():
        assert np.array_equal(vectors[paper_id], np.asarray(row["vector"], np.float32))
    mentions = [expected[paper_id]["mentions"] for paper_id in vectors.index_to_key]
    assert mentions == sorted(mentions, reverse=True)
    for row in load(job, tmp_path, "neighbors", split="train"):
        if row["rank"] == 1:
            (nearest, cosine), *_ = vectors.most_similar(row["paper_id"], topn=1)
            assert cosine == pytest.approx(row["cosine"], abs=1e-5) and nearest == row["neighbor_id"]


ENTRIES = {
    "FIGREF0": FIGURE,
    "TABREF0": {"type": "table", "num": "1", "text": "Numbers of frogs in each pond."},
    "FIGREF1": {"type": "figure", "num": "2", "text": "A caption that the PDF does not contain."},
}


def figures_of(folder: Path, **known: Any) -> Job:
    """Return the dataset's job for a snapshot with one paper and its PDF."""
    mention = {"start": 3, "end": 9, "text": "Fig. 1", "ref_id": "FIGREF0"}
    text = "In Fig. 1 frogs grow. They rest."
    paragraph = {"section": "Results", "text": text, "cite_spans": [], "ref_spans": [mention]}
    parse = {
        "_pdf_hash": SHA1, "title": "Frogs", "abstract": [], "body_text": [paragraph], "back_matter": [], "bib_entries": {},
        "ref_entries": ENTRIES,
    }  # fmt: skip
    write_snapshot(folder, [paper("a" * 15, {"pdf": parse}, title="Frogs", **known)], files=1)
    deliver_pdf(folder)
    return job(folder, "figures")


def test_hugging_face_loads_rows_and_each_has_its_image(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    job = figures_of(tmp_path, license="CC-BY-4.0")
    runner.make(job)
    folder, cache = tmp_path / job.prefix, str(tmp_path / "cache")
    rows = datasets.load_dataset(str(folder), split="train", cache_dir=cache)
    assert {row["label"]: row["mentions"] for row in rows} == {"Figure 1": ["In Fig. 1 frogs grow."], "Table 1": []}
    assert rows[0]["caption"] == CAPTION and rows[0]["license"] == "CC-BY-4.0"
    with tarfile.open(folder / rows[0]["image"]) as tar:
        names = tar.getnames()
        described, image = map(tar.extractfile, names[:2])
        assert described and orjson.loads(described.read()) == rows[0]
        assert image and image.read().startswith(b"\x89PNG")
    assert names == [f"{row['key']}.{kind}" for row in rows for kind in ("json", "png")]


@pytest.mark.parametrize(
    ("license", "outcome", "count"),
    [("LicenseRef-CC-BY", "cropped", 2), ("LicenseRef-CC-BY-NC", "license_forbids_copies", 3)],
)
def test_only_licenses_for_copies_give_images(license: str | None, outcome: str, count: int, tmp_path: Path) -> None:
    job = figures_of(tmp_path, license=license)
    build_unchecked(job)
    assert outcomes(job)[outcome] == count


def test_dataset_without_any_pdf_is_not_published(tmp_path: Path) -> None:
    one = figures_of(tmp_path)
    (pdf,) = (tmp_path / "pdfs").iterdir()
    for content in (b"%PDF-1.7 another file", None):
        pdf.write_bytes(content) if content else pdf.unlink()
        with pytest.raises(DatasetBlocked, match=r"pdfs_available: 3 \(PDFs are missing: set `pdfs`"):
            runner.make(one)
    one = Job(DatasetSpec(name="none", dataset="figures"), one.source, one.lake)
    with pytest.raises(UserError, match="set the parameter `pdfs` to a folder"):
        runner.make(one)
