"""ScienceParse's output is read as the tool writes it: the form of 11,915 files in allenai/PeerRead, of which these are two, shortened.

Each file has one indented object. The tool names it after the PDF, so only PDFs that are named by their SHA-1 are identified.
"""

from __future__ import annotations

import io
from typing import Any

import pytest

from s2corpus.sources import scienceparse
from s2corpus.sources.record import Dropped, Record, RejectReason

SHA1 = "6b3c1a2d" * 5
ICLR = """{
  "name" : "%s.pdf",
  "metadata" : {
    "source" : "CRF",
    "title" : "SEMI-SUPERVISED KNOWLEDGE TRANSFER FOR DEEP LEARNING FROM PRIVATE TRAINING DATA",
    "authors" : [ "Nicolas Papernot" ],
    "emails" : [ "ngp5056@cse.psu.edu", "abadi@google.com" ],
    "sections" : [ {
      "heading" : "1 INTRODUCTION",
      "text" : "Some machine learning applications with great benefits are enabled only through the analysis of sensitive data."
    } ],
    "references" : [ {
      "title" : "Text segmentation based on semantic word embeddings",
      "author" : [ "Alexander A. Alemi", "Paul Ginsparg" ],
      "venue" : "CoRR, abs/1503.05543,",
      "citeRegEx" : "Alemi and Ginsparg.,? \\\\Q2015\\\\E",
      "shortCiteRegEx" : "Alemi and Ginsparg.",
      "year" : 2015
    } ],
    "referenceMentions" : [ {
      "referenceID" : 0,
      "context" : "(5) Locality Preserving Projection (LPP) (He and Niyogi, 2004).",
      "startOffset" : 41,
      "endOffset" : 62
    } ],
    "year" : 2017,
    "abstractText" : "Some machine learning applications involve training data that is sensitive.",
    "creator" : "LaTeX with hyperref package"
  }
}
"""
ACL = """{
  "name" : "%s.pdf",
  "metadata" : {
    "source" : "CRF",
    "title" : "Determining Gains Acquired from Word Embedding Quantitatively using Discrete Distribution Clustering",
    "authors" : [ ],
    "emails" : [ ],
    "sections" : [ {
      "heading" : null,
      "text" : "1 000\\n013\\n014"
    } ],
    "references" : [ ],
    "referenceMentions" : [ ],
    "year" : 2017,
    "abstractText" : "Word embeddings have become widelyused in document analysis.",
    "creator" : "Preview"
  }
}
"""


def read(text: str) -> Any:
    (entry,) = scienceparse.read(io.BytesIO(text.encode()))
    return entry


@pytest.mark.parametrize(
    ("text", "title", "authors", "date", "abstract"),
    [
        (ICLR, "SEMI-SUPERVISED KNOWLEDGE TRANSFER", ["Papernot"], "2017", "Some machine learning"),
        (ACL, "Determining Gains Acquired", [], "2017", "Word embeddings have become"),
    ],
)
def test_real_file_gives_a_record_of_its_pdf(
    text: str, title: str, authors: list[str], date: str, abstract: str
) -> None:
    record = read(text % SHA1)
    assert isinstance(record, Record) and record.file_sha1 == SHA1
    assert record.title and record.title.startswith(title) and record.date == date
    assert [author.last for author in record.authors] == authors
    assert record.abstract and record.abstract.startswith(abstract)


def test_file_named_by_a_number_identifies_no_pdf() -> None:
    entry = read(ICLR % "316")
    assert isinstance(entry, Dropped) and entry.reason is RejectReason.NO_ID
