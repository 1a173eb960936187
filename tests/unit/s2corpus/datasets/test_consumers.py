"""Each dataset loads with the tools that its consumers use, and its rows are those of the files.

`figures` is loaded in test_figures.py, because its images need a PDF.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas
import pytest

from s2corpus.datasets.job import Job
from s2corpus.datasets.pretraining import SPECIAL
from tests.unit.s2corpus.datasets.conftest import lines, rows


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
    expected = rows(made["contexts"], ".parquet")
    assert load(made["contexts"], tmp_path, split="train").to_list() == expected
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
    index = load(job, tmp_path, "index", split="train")
    assert sorted(index["file"]) == sorted(f"articles/{name}.json" for name in files)


def test_gensim_loads_vectors_most_mentioned_first(made: dict[str, Job], tmp_path: Path) -> None:
    models = pytest.importorskip("gensim.models")
    job = made["vectors"]
    vectors = models.KeyedVectors.load_word2vec_format(folder(job) / "word2vec.bin", binary=True)
    expected = {row["paper_id"]: row for row in load(job, tmp_path, "vectors", split="train")}
    assert {*vectors.index_to_key} == expected.keys() and len(expected) == 60
    for paper, row in expected.items():
        assert np.array_equal(vectors[paper], np.asarray(row["vector"], np.float32))
    mentions = [expected[paper]["mentions"] for paper in vectors.index_to_key]
    assert mentions == sorted(mentions, reverse=True)
    for row in load(job, tmp_path, "neighbours", split="train"):
        if row["rank"] == 1:
            (nearest, cosine), *_ = vectors.most_similar(row["paper_id"], topn=1)
            assert cosine == pytest.approx(row["cosine"], abs=1e-5) and nearest == row["neighbour_id"]
