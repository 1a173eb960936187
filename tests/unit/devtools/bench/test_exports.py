"""Search exports of databases are read as records: one entry in each format, as the database writes it."""

from pathlib import Path

import pytest

from devtools.bench.exports import decode, read_export, read_values
from s2corpus.errors import UserError
from s2corpus.sources import Dropped, Record

SCOPUS_BIBTEX = """Scopus
EXPORT DATE: 12 August 2023

@CONFERENCE{Stoldt2020,
\tauthor = {Stoldt, J.-P. and M{\\"a}der, P.},
\ttitle = {Safety of {SMART} on {FHIR}},
\tyear = {2020},
\tjournal = {Proceedings - ICSA-C 2020},
\tpages = {192 – 195},
\tdoi = {10.1109/ICSA-C50368.2020.00041},
\ttype = {Conference paper},
\tsource = {Scopus}
}
@ARTICLE{Stoldt2020,
\tauthor = {Stoldt, J.-P.},
\ttitle = {Another paper of this key},
\tyear = {2020}
}"""
MEDLINE = """
PMID- 33819127
IS  - 1549-7852 (Electronic)
DP  - 2020 Mar 29
TI  - Safety of SMART on
      FHIR.
PG  - 192-195
LID - 10.1109/ICSA-C50368.2020.00041 [doi]
FAU - Stoldt, Jean-Philippe
FAU - Mäder, Patrick
JT  - Critical reviews
PT  - Journal Article
PT  - Review
"""
RIS = """TY  - JOUR
AU  - Stoldt, J.-P.
AU  - Mäder, P.
TI  - Safety of SMART on FHIR
T2  - Critical reviews
PY  - 2020/03/29
SP  - 192
EP  - 195
DO  - 10.1109/ICSA-C50368.2020.00041
DB  - Scopus
ER  -
"""
WEB_OF_SCIENCE = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Stoldt, JP
   Mader, P
AF Stoldt, Jean-Philippe
   Maeder, Patrick
TI Safety of SMART
   on FHIR
SO CRITICAL REVIEWS
DT Article
SP IEEE
PY 2020
BP 192
EP 195
DI 10.1109/ICSA-C50368.2020.00041
ER

EF"""
XPLORE = (
    '"Document Title",Authors,"Publication Title","Publication Year","Start Page","End Page","DOI"\n'
    '"Safety of SMART on FHIR","J. -P. Stoldt; P. Mäder","Critical reviews","2020","192","195","10.1109/icsa-c50368.2020.00041"\n'
)
PUBMED = (
    "\ufeffPMID,Title,Authors,Citation,Journal/Book,Publication Year,DOI\n"
    '7,Safety of SMART on FHIR.,"Stoldt JP, Mäder P.",Critical reviews. 2020 Mar;4(2):192-195.,Critical reviews,2020,'
    "10.1109/icsa-c50368.2020.00041\n"
)


@pytest.mark.parametrize("text", [SCOPUS_BIBTEX, MEDLINE, RIS, WEB_OF_SCIENCE, XPLORE, PUBMED])
def test_entry_of_each_format_is_a_record(text: str, tmp_path: Path) -> None:
    (tmp_path / "export").write_text(text, "utf-8")
    record = next(read_export(tmp_path / "export"))
    assert isinstance(record, Record) and record.date
    found = record.title, record.date[:4], record.pages, record.doi
    assert found == ("Safety of SMART on FHIR", "2020", "192-195", "10.1109/icsa-c50368.2020.00041")
    assert [author.last for author in record.authors] in (["Stoldt", "Mäder"], ["Stoldt", "Maeder"])
    assert record.journal is not None and record.issue in (None, "2")


def test_entries_with_one_key_remain() -> None:
    assert [values["kind"] for values in read_values(SCOPUS_BIBTEX)] == [["CONFERENCE"], ["ARTICLE"]]


def test_entry_without_title_and_identifier_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text("Title,DOI\n,\nSafety of SMART on FHIR,\n", "utf-8")
    assert [type(entry) for entry in read_export(tmp_path / "export.csv")] == [Dropped, Record]


@pytest.mark.parametrize("data", [b"", b"<html><body>Not found</body></html>\n", b"PK\x03\x04\x14\x00,\xff\n\x01\x02"])
def test_file_of_another_format_is_an_error(data: bytes, tmp_path: Path) -> None:
    """An answer of a server, or a workbook, does not count as an export without records."""
    (tmp_path / "export.csv").write_bytes(data)
    with pytest.raises(UserError, match=r"export\.csv: no entry has a title: expected BibTeX"):
        list(read_export(tmp_path / "export.csv"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encoding_is_recognized(encoding: str) -> None:
    assert decode("Mäder".encode(encoding)) == "Mäder"
