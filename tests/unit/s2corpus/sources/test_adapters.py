"""Each adapter reads entries in the form of its source's documentation, and real files if available (docs/sources.md)."""

# ruff: noqa: E501 (the sources' own lines are long)
import bz2
import gzip
import io
import json
import lzma
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from s2corpus.sources import SOURCES, Deleted, Dropped, Record, RecordKind, RejectReason, read
from s2corpus.sources.arrow import batches, read_record
from s2corpus.tables.intake import RECORDS
from s2orc_parse.bibliography.author import Affiliation
from tests.unit.s2corpus.sources.samples import entries, names, one

CROSSREF = {
    "DOI": "10.18653/V1/2020.acl-main.447", "type": "proceedings-article", "title": ["S2ORC: The <i>Semantic Scholar</i> Open Research Corpus"],
    "author": [{"given": "Kyle", "family": "Lo", "sequence": "first"}, {"given": "Lucy Lu", "family": "Wang"}, {"name": "AI2"}],
    "issued": {"date-parts": [[2020, 7]]}, "container-title": ["Proceedings of ACL"], "event": {"name": "ACL 2020"},
    "abstract": "<jats:p>We introduce S2ORC.</jats:p>", "subject": ["Linguistics"],
    "license": [{"URL": "https://www.aclweb.org/terms", "content-version": "tdm"}, {"URL": "https://creativecommons.org/licenses/by/4.0/"}],
}  # fmt: skip
PUBMED = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE PubmedArticleSet SYSTEM "pubmed_250101.dtd"><PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">31452104</PMID><Article><Journal><JournalIssue><PubDate><Year>2019</Year>
<Month>Sep</Month></PubDate><Volume>12</Volume><Issue>3</Issue></JournalIssue><Title>Nature methods</Title></Journal><ArticleTitle>Parsing of <i>papers</i> &amp; more.</ArticleTitle>
<Abstract><AbstractText Label="AIM">To parse.</AbstractText><AbstractText>We did.</AbstractText></Abstract><AuthorList>
<Author ValidYN="Y"><LastName>Lovelace</LastName><ForeName>Ada M</ForeName><Suffix>Jr</Suffix></Author>
<Author ValidYN="Y"><CollectiveName>The Parsers</CollectiveName></Author></AuthorList><Pagination><MedlinePgn>288-297</MedlinePgn></Pagination></Article></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">31452104</ArticleId><ArticleId IdType="doi">10.1038/s41592-019-0001</ArticleId><ArticleId IdType="pmc">PMC6742314</ArticleId>
</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1038/another</ArticleId></ArticleIdList></Reference></ReferenceList>
</PubmedData></PubmedArticle><PubmedArticle><MedlineCitation><PMID>2</PMID><Article><ArticleTitle>Broken</PubmedArticle>
<PubmedArticle><MedlineCitation><Article><ArticleTitle>No id</ArticleTitle></Article></MedlineCitation></PubmedArticle>
<DeleteCitation><PMID>77</PMID></DeleteCitation><DeleteDocument><PMID>78</PMID></DeleteDocument></PubmedArticleSet>"""
OAI = """<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>
<record><header><identifier>oai:arXiv.org:1911.02782</identifier></header><metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>1911.02782</id>
<created>2019-11-07</created><authors><author><keyname>Lo</keyname><forenames>Kyle</forenames></author><author><keyname>Neumann</keyname>
<forenames>Mark</forenames><suffix>Jr.</suffix></author></authors><title>S2ORC: The Semantic
  Scholar Open Research Corpus</title><categories>cs.CL cs.DL</categories><doi>10.18653/v1/2020.acl-main.447</doi>
<journal-ref>Phys.Rev. D76 (2007) 013009</journal-ref><license>http://creativecommons.org/licenses/by/4.0/</license><abstract>  We introduce
S2ORC. </abstract></arXiv></metadata></record>
<record><header status="deleted"><identifier>oai:arXiv.org:hep-th/9711200</identifier></header></record>
<record><header><identifier>oai:arXiv.org:1911.02783</identifier></header></record></ListRecords></OAI-PMH>"""
ARXIV = {
    "id": "0704.0001", "authors": "C. Bal\\'azs, E. L. Berger", "title": "Calculation of prompt\n  diphotons", "doi": "10.1103/PhysRevD.76.013009",
    "journal-ref": "Phys.Rev.D76:013009,2007", "categories": "hep-ph", "license": None, "abstract": "  A fully differential\ncalculation.\n",
    "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}, {"version": "v2", "created": "Tue, 24 Jul 2007 20:10:27 GMT"}],
    "update_date": "2008-11-26", "authors_parsed": [["Balázs", "C.", ""], ["Berger", "E. L.", ""]],
}  # fmt: skip
DBLP = b"""<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE dblp SYSTEM "dblp.dtd"><dblp>
<inproceedings key="conf/acl/LoW20" mdate="2020-01-01"><author>J&ouml;rg M&uuml;ller 0002</author><author orcid="0000">Wei Wang</author>
<title>Gr\xf6bner bases &amp; <i>parsing</i>.</title><booktitle>ACL</booktitle><year>2020</year><ee>https://doi.org/10.18653/V1/2020.ACL-MAIN.447</ee></inproceedings>
<article publtype="informal" key="journals/corr/abs-1911-02782"><author>Kyle Lo</author><title>S2ORC.</title><journal>CoRR</journal>
<volume>abs/1911.02782</volume><year>2019</year></article><www key="homepages/1"><author>Kyle Lo</author></www>
<proceedings key="conf/acl/2020"><title>Proceedings</title></proceedings><article key="x"><title>&bogus; & so on</title></article></dblp>"""
ACL = """<collection id="2020.acl"><volume id="main"><meta><booktitle>Proceedings of the 58th Annual Meeting</booktitle><month>July</month>
<year>2020</year></meta><frontmatter><url hash="a">2020.acl-main.0</url></frontmatter><paper id="447"><title><fixed-case>S</fixed-case>2<fixed-case>ORC</fixed-case>: A corpus</title>
<author><first>Kyle</first><last>Lo</last></author><abstract>We introduce.</abstract><url hash="b">2020.acl-main.447</url><doi>10.18653/v1/2020.acl-main.447</doi></paper></volume></collection>"""
ACL_OLD = """<collection id="P15"><volume id="1"><meta><booktitle>ACL</booktitle><year>2015</year></meta><paper id="7"><title>T one two</title></paper></volume></collection>"""
S2AG = {
    "corpusid": 215416146, "externalids": {"ACL": "2020.acl-main.447", "ArXiv": "1911.02782", "DOI": "10.18653/V1/2020.ACL-MAIN.447", "MAG": "3104062172", "PubMed": None},
    "title": "S2ORC", "authors": [{"authorId": "1", "name": "Kyle Lo"}], "venue": "ACL", "year": 2020, "publicationdate": "2020-07-01", "isopenaccess": True,
    "s2fieldsofstudy": [{"category": "Computer Science", "source": "s2-fos-model"}, {"category": "Computer Science", "source": "external"}], "journal": {"name": "ArXiv"},
}  # fmt: skip
ELSEVIER = {
    "docId": "S0022169416304498", "metadata": {"title": "Flood prediction", "authors": [{"first": "Ada", "initial": "A.", "last": "Lovelace", "email": None}],
    "doi": "10.1016/j.jhydrol.2016.07.018", "pub_year": 2016, "openaccess": "Full", "subjareas": ["ENVI"]},
    "abstract": [{"sentence": "Second.", "startOffset": 10}, {"sentence": "First.", "startOffset": 0}], "body_text": [], "bib_entries": {},
}  # fmt: skip
UNPAYWALL = {"doi": "10.18653/v1/X", "is_oa": True, "title": "T", "best_oa_location": {"license": "cc-by", "url": "u"}}
SHA1 = "0123456789abcdef0123456789abcdef01234567"
S2ORC = {
    "paper_id": "77", "title": "S2ORC", "authors": [{"first": "Kyle", "middle": ["J"], "last": "Lo", "suffix": ""}], "year": 2020,
    "pdf_hash": SHA1, "mag_field_of_study": ["Biology"],
}  # fmt: skip
PARSED = {"title": "T", "authors": ["Ada Lovelace"], "year": 2020, "abstractText": "We."}


@pytest.mark.parametrize(
    ("source", "content", "authors", "expected"),
    [
        ("crossref", CROSSREF, ["Kyle Lo", "Lucy Lu Wang", "AI2"], {
            "record_id": "crossref:10.18653/v1/2020.acl-main.447", "kind": RecordKind.PUBLISHER, "doi": "10.18653/v1/2020.acl-main.447",
            "title": "S2ORC: The Semantic Scholar Open Research Corpus", "date": "2020-07", "date_precision": "month", "venue": "ACL 2020",
            "journal": None, "abstract": "We introduce S2ORC.", "license": "CC-BY-4.0"}),
        ("crossref", {**CROSSREF, "type": "posted-content"}, None, {"kind": RecordKind.ARCHIVE, "type": "preprint"}),
        ("crossref", {**CROSSREF, "DOI": "10.2139/SSRN.5"}, None, {"kind": RecordKind.ARCHIVE, "type": "preprint"}),
        ("arxiv", ARXIV, ["C Balázs", "E L Berger"], {
            "date": "2007-04-02", "title": "Calculation of prompt diphotons", "abstract": "A fully differential calculation."}),
        ("acl", ACL, ["Kyle Lo"], {"acl_id": "2020.acl-main.447", "title": "S2ORC: A corpus", "date": "2020-07", "license": "CC-BY-4.0",
                                   "open_access": True, "kind": RecordKind.PUBLISHER}),
        ("acl", ACL_OLD, [], {"acl_id": "P15-1007", "license": "CC-BY-NC-SA-3.0"}),
        ("s2ag", S2AG, ["Kyle Lo"], {
            "record_id": "s2:215416146", "source": "s2", "date": "2020-07-01", "doi": "10.18653/v1/2020.acl-main.447", "arxiv_id": "1911.02782",
            "acl_id": "2020.acl-main.447", "mag_id": "3104062172", "subjects": ("Computer Science",), "open_access": True}),
        ("s2orc", S2ORC, ["Kyle J Lo"], {"record_id": "s2:77", "title": "S2ORC", "date": "2020", "file_sha1": SHA1, "subjects": ("Biology",)}),
        ("elsevier", ELSEVIER, ["Ada Lovelace"], {
            "record_id": "elsevier:S0022169416304498", "abstract": "First. Second.", "license": "CC-BY-4.0", "open_access": True}),
        ("unpaywall", UNPAYWALL, [], {"doi": "10.18653/v1/x", "open_access": True, "license": "CC-BY", "title": None}),
        ("scienceparse", {"name": f"{SHA1}.pdf", "metadata": PARSED}, ["Ada Lovelace"], {
            "record_id": f"scienceparse:{SHA1}", "kind": RecordKind.PDF, "file_sha1": SHA1, "date": "2020", "abstract": "We."}),
        ("jsonl", {"id": 7, "authors": "Lo, K.; Wang, L.", "volume": 12, "pages": "pp. 288–297", "doi": "https://doi.org/10.18653/V1/X"},
         ["K Lo", "L Wang"], {"record_id": "jsonl:7", "volume": "12", "pages": "288-297", "doi": "10.18653/v1/x"}),
    ],
    ids=lambda value: value if value in SOURCES.names else "",
)  # fmt: skip
def test_documented_entry_becomes_a_record(
    source: str, content: Any, authors: list[str] | None, expected: dict[str, Any]
) -> None:
    record = one(source, content)
    assert {name: getattr(record, name) for name in expected} == expected
    assert authors is None or names(record) == authors


def test_deleted_doi_of_crossref_is_no_paper() -> None:
    (found,) = entries("crossref", json.dumps({
        "DOI": "10.1007/bf00293751", "type": "journal-article", "title": ["10.1007/BF00293751"],
        "container-title": ["CrossRef Listing of Deleted DOIs"], "issued": {"date-parts": [[2011]]},
    }))  # fmt: skip
    assert isinstance(found, Dropped) and found.reason is RejectReason.NOT_A_PAPER


def test_three_forms_of_crossref_dumps_are_read() -> None:
    items = {"items": [CROSSREF, {"type": "journal", "DOI": "10.18653/j"}, {"title": ["x"]}, 7]}
    for form in (json.dumps(items), json.dumps(items, indent=2), json.dumps({"message": items})):
        first, *dropped = entries("crossref", form)
        assert first == one("crossref", {"message": CROSSREF}) == one("crossref", CROSSREF)
        assert [e.reason for e in dropped][:2] == [RejectReason.NOT_A_PAPER, RejectReason.NO_ID]


def test_pubmed_articles_become_records() -> None:
    record, broken, nameless, *deleted = entries("pubmed", PUBMED)
    assert (record.record_id, record.pubmed_id, record.pmc_id) == ("pubmed:31452104", "31452104", "PMC6742314")
    assert (record.doi, record.journal, record.date) == ("10.1038/s41592-019-0001", "Nature methods", "2019-09")
    assert (record.title, record.abstract) == ("Parsing of papers & more", "AIM: To parse.\nWe did.")
    assert (record.volume, record.issue, record.pages) == ("12", "3", "288-297")
    assert names(record) == ["Ada M Lovelace Jr", "The Parsers"]
    assert (broken.reason, nameless.reason) == (RejectReason.MALFORMED, RejectReason.NO_ID)
    assert deleted == [Deleted("pubmed:77"), Deleted("pubmed:78")]


def test_arxiv_oai_records_are_read() -> None:
    record, deleted, no_metadata = entries("arxiv", OAI)
    assert (record.record_id, record.arxiv_id) == ("arxiv:1911.02782", "1911.02782")
    assert (record.doi, record.date) == ("10.18653/v1/2020.acl-main.447", "2019-11-07")
    assert record.title == "S2ORC: The Semantic Scholar Open Research Corpus"
    assert (record.license, record.subjects, record.journal) == ("CC-BY-4.0", ("cs.CL", "cs.DL"), "Phys.Rev. D")
    assert names(record) == ["Kyle Lo", "Mark Neumann Jr"]
    assert deleted == Deleted("arxiv:hep-th/9711200") and no_metadata.reason is RejectReason.MALFORMED


@pytest.mark.parametrize("chunk", [64, 1 << 20])
def test_dblp_character_entities_are_expanded(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.sources.xml_elements._CHUNK", chunk)
    paper, preprint, *dropped = entries("dblp", DBLP)
    assert (paper.record_id, paper.title) == ("dblp:conf/acl/LoW20", "Gröbner bases & parsing")
    assert paper.doi == "10.18653/v1/2020.acl-main.447" and names(paper) == ["Jörg Müller", "Wei Wang"]
    assert preprint.arxiv_id == "1911.02782"
    assert [d.reason for d in dropped] == [RejectReason.NOT_A_PAPER, RejectReason.NOT_A_PAPER, RejectReason.MALFORMED]


@pytest.mark.parametrize(
    ("source", "entry", "reason", "detail"),
    [
        *(("jsonl", {"record_id": "x:1", "title": "T", **wrong}, RejectReason.MALFORMED, said) for wrong, said in (
            ({"license": {}}, "license: {} given, a text expected"), ({"titel": "T"}, "unknown keys: titel"),
        )),
        ("jsonl", {"title": "T"}, RejectReason.NO_ID, "record_id is missing or not a string"),
        ("jsonl", {"record_id": "x:5"}, RejectReason.EMPTY, ""),
        ("jsonl", '{"record_id": "x:1", "title": "T", "title": "U"}', RejectReason.MALFORMED, "the key 'title' is given twice"),
        ("acl", ACL.replace("2020.acl-main.447</url>", "x</url>").replace('"2020.acl"', '"W"'), RejectReason.NO_ID, "no Anthology id"),
    ],
)  # fmt: skip
def test_entry_without_record_has_a_reason(source: str, entry: Any, reason: RejectReason, detail: str) -> None:
    dropped = entries(source, entry)[-1]
    assert isinstance(dropped, Dropped) and (dropped.reason, dropped.detail) == (reason, detail)


PUBLISHERS = {"host_type": "publisher", "version": "publishedVersion", "license": "cc-by"}
PRINTED = {"host_type": "repository", "version": "publishedVersion", "license": "cc-by-nc"}
ACCEPTED = {"host_type": "repository", "version": "acceptedVersion", "license": "cc0"}


@pytest.mark.parametrize(
    ("best", "locations", "version", "license"),
    [(ACCEPTED, [ACCEPTED, PRINTED, PUBLISHERS], "published", "CC-BY-NC"), (ACCEPTED, [ACCEPTED], "copy", "CC0-1.0")],
)
def test_unpaywall_record_has_open_version(best: Any, locations: Any, version: str | None, license: str | None) -> None:
    record = one("unpaywall", {"doi": "10.1016/x", "is_oa": True, "best_oa_location": best, "oa_locations": locations})
    assert (record.open_access, record.open_version, record.license) == (True, version, license)


def test_real_jats_articles_become_records(shared_data: Path) -> None:
    files = [*(shared_data / "jats").rglob("*.xml"), *(shared_data / "jats").rglob("*.nxml")]
    found = [entry for file in files for entry in read("jats", file)]
    records = [entry for entry in found if isinstance(entry, Record)]
    assert len(records) >= 145 and all(r.title and r.doi and r.kind is RecordKind.PUBLISHER for r in records)
    assert sum(bool(r.authors) for r in records) > 0.97 * len(records)
    assert sum(r.date_precision == "day" for r in records) > 0.9 * len(records)
    assert sum(bool(r.license) for r in records) > 0.95 * len(records)
    assert {entry.reason for entry in found if isinstance(entry, Dropped)} <= {RejectReason.MALFORMED}


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


class TestHostileFiles:
    @pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd, bytes])
    def test_compression_is_detected(self, compress: Any) -> None:
        assert one("crossref", compress(json.dumps(CROSSREF).encode())).title

    def test_truncated_file_gives_its_readable_entries(self) -> None:
        lines = "\n".join(json.dumps({**CROSSREF, "DOI": f"10.18653/v1/{i}"}) for i in range(5000)).encode()
        found = entries("crossref", gzip.compress(lines)[:-2000])
        assert isinstance(found[0], Record)
        assert any(e.reason is RejectReason.UNREADABLE_REST for e in found if isinstance(e, Dropped))

    def test_entities_are_not_expanded(self) -> None:
        bomb = '<!DOCTYPE article [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
        body = "<article><front><article-meta><article-id pub-id-type='doi'>10.18653/v1/x</article-id><title-group><article-title>{}</article-title></title-group></article-meta></front></article>"
        for entity in ("&b;", "&x;"):
            (found,) = entries("jats", bomb + body.format(f"T {entity}"))
            assert isinstance(found, Dropped) or (
                "lol" not in (found.title or "") and "root:" not in (found.title or "")
            )

    @pytest.mark.parametrize("source", ["crossref", "pubmed", "dblp", "arxiv", "jsonl"])
    def test_endless_entry_is_dropped_in_bounded_memory(self, source: str) -> None:
        start = {"pubmed": b"<a><PubmedArticle>", "dblp": b"<dblp><article key='1'>", "arxiv": b"<r><record>"}

        class Endless(io.RawIOBase):
            blocks = iter([start.get(source, b'{"title": "'), *[b"x" * (1 << 20)] * 40])

            def read(self, size: int = -1) -> bytes:
                return next(self.blocks, b"")

        tracemalloc.start()
        found = list(read(source, Endless()))  # type: ignore[arg-type]  # a stream that closes early
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert all(isinstance(e, Dropped) for e in found) and 1 <= len(found) <= 3
        assert peak < 120 << 20

    @pytest.mark.parametrize("source", SOURCES.names)
    @pytest.mark.parametrize("junk", [b"", b"null", b"{}", b"<a/>", b"\x00\xff\xfe" * 99, b"[1, 2", b"\x1f\x8bjunk"])
    def test_arbitrary_bytes_raise_no_error(self, source: str, junk: bytes) -> None:
        assert not any(isinstance(e, Record) for e in entries(source, junk))

    def test_tar_of_articles_is_read_by_member(self) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, text in (("a.xml", ACL), ("../evil.xml", ACL_OLD), ("b.xml", "<broken"), ("c.txt", "no")):
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        found = entries("acl", buffer.getvalue())
        assert sum(isinstance(entry, Record) for entry in found) == 2
        assert [entry.reason for entry in found if isinstance(entry, Dropped)] == [RejectReason.MALFORMED]


def test_records_survive_the_conversion_to_rows() -> None:
    later = {"URL": "https://creativecommons.org/licenses/by/4.0/", "start": {"date-parts": [[2030]]}}
    affiliations = ["Rome", {"name": "Allen Institute for AI, Seattle", "ror": "05w520734"}]
    author = {"first": "Kyle", "last": "Lo", "affiliations": affiliations, "orcid": "0000-0002-1825-0097"}
    line = {"record_id": "x:1", "title": "On x", "authors": [author]}
    records = [one("crossref", {**CROSSREF, "license": [later]}), one("s2ag", S2AG), one("jsonl", line)]
    institute = Affiliation("Allen Institute for AI, Seattle", "05w520734")
    assert records[0].later_licenses and records[2].authors[0].affiliations == (Affiliation("Rome"), institute)
    table = pa.Table.from_batches(batches(records, delivery="d", rows=2), schema=RECORDS.schema)
    found = [read_record(row) for row in table.to_pylist()]
    assert found == records
    assert repr(found[2].authors) == repr(records[2].authors), "equality ignores affiliations"
