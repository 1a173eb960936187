"""The example DAG delivers each of PubMed's update files once, with its checksum; it fetches damaged files again.

A local server replaces NLM's. `tests/unit/s2corpus/deliveries/test_deliver.py` checks the download.
"""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.errors import TransientError
from s2corpus.storage.lake import open_lake
from tests.unit.s2corpus.deliveries.test_deliver import Shelf, shelf

pytestmark = pytest.mark.airflow
__all__ = ["shelf"]  # a fixture
ONE, TWO = "pubmed26n1335.xml.gz", "pubmed26n1336.xml.gz"


def test_each_update_file_is_delivered_once(shelf: Shelf, load: Callable[..., Any], tmp_path: Path) -> None:
    one, two = (gzip.compress(b"<PubmedArticleSet>%s</PubmedArticleSet>" % text, mtime=0) for text in (b"", b" "))
    for name, data in ((ONE, one), (TWO, two), ("README.xml.gz", b"not one of them")):
        shelf.put(name, data, "MD5({name})= {md5}\n")
    shelf.files[""] = "".join(f'<a href="{name}">{name}</a>' for name in shelf.files).encode()
    shelf.files[TWO] = two[:-3]
    deliver_new = load("example_pubmed", S2CORPUS_PUBMED=shelf.url).deliver_new.function
    with pytest.raises(TransientError, match=rf"{TWO}: \d+ bytes, MD5 [0-9a-f]{{32}} expected"):
        deliver_new()
    lake = open_lake(str(tmp_path / "lake"))
    assert list(lake.folders("sources/pubmed/")) == ["pubmed26n1335"], "those before it are delivered"
    ready = orjson.loads(lake.get("sources/pubmed/pubmed26n1335/_READY")[0])
    assert ready["files"] == [{"name": ONE, "bytes": len(one), "sha256": hashlib.sha256(one).hexdigest()}]
    assert lake.get(f"sources/pubmed/pubmed26n1335/{ONE}")[0] == one
    shelf.files[TWO] = two
    assert deliver_new() == ["pubmed26n1336"]
    shelf.asked.clear()
    assert deliver_new() == [] and shelf.asked == [""], "nothing is fetched twice"
