"""Records of arXiv, PubMed, DBLP and the ACL Anthology are read as their formats document."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.sources import Dropped, Record, RejectReason
from s2corpus.sources.record import Editorial
from tests.unit.s2corpus.sources.samples import entries, names, one


class TestArxiv:
    @pytest.mark.parametrize(
        ("tex", "text"),
        [
            (r"Poincar\'e maps and Erd\H{o}s--R\'{e}nyi graphs", "Poincaré maps and Erdős--Rényi graphs"),
            (r"G\"odel, {\L}ukasiewicz, Dvo\v{r}\'ak, Garc\'{\i}a", "Gödel, Łukasiewicz, Dvořák, García"),
            (r"Stra\ss e, \O ystein, {\AA}ngstr{\"o}m, Fran\c cois", "Straße, Øystein, Ångström, François"),
            (r"On $\alpha$-type and $\'{x}$ sets of B\"acklund", r"On $\alpha$-type and $\'{x}$ sets of Bäcklund"),
            (r"{BERT} is \emph{very \textbf{good}} at 5\%", "BERT is very good at 5%"),
        ],
    )
    def test_tex_outside_formulas_is_converted_to_text(self, tex: str, text: str) -> None:
        record = one("arxiv", {"id": "1903.00002", "title": tex, "abstract": tex})
        assert (record.title, record.abstract) == (text, text)

    def test_tex_in_names_is_converted_to_text(self) -> None:
        parsed = [["Bal\\'azs", "C.", ""], ["{\\L}ukasz", "K.", ""], ['M\\"uller', 'J\\"org', "Jr"]]
        as_text = 'C. Bal\\\'azs, K. {\\L}ukasz and J\\"org M\\"uller Jr'
        for given in ({"authors_parsed": parsed}, {"authors": as_text}):
            assert names(one("arxiv", {"id": "1903.00002", "title": "T", **given})) == [
                "C Balázs", "K Łukasz", "Jörg Müller Jr",
            ]  # fmt: skip

    @pytest.mark.parametrize(
        ("parsed", "authors"),
        [
            ([["Collaboration", "EXA", ""], [":", "", ""], ["Example", "A. B.", ""]], ["EXA Collaboration", "A B Example"]),
            ([["Ada Sample for the EXA Collaboration", "", ""]], ["Ada Sample", "EXA Collaboration"]),
            ([["Group", "Particle Data", ""], ["Consortium", "the EXA", ""]], ["Particle Data Group", "EXA Consortium"]),
        ],
    )  # fmt: skip
    def test_collaboration_is_one_name(self, parsed: list[list[str]], authors: list[str]) -> None:
        assert names(one("arxiv", {"id": "1903.00002", "title": "T", "authors_parsed": parsed})) == authors
        elements = "".join(
            f"<author><keyname>{last}</keyname><forenames>{first}</forenames></author>" for last, first, _ in parsed
        )
        header = "<record><header><identifier>oai:arXiv.org:1903.00002</identifier></header><metadata>"
        oai = f"{header}<arXiv><title>T</title><authors>{elements}</authors></arXiv></metadata></record>"
        assert names(one("arxiv", oai)) == authors

    def test_collaboration_in_author_string_is_one_name(self) -> None:
        line = {"id": "1903.00002", "title": "T", "authors": "EXA Collaboration: A. B. Example, C. Other (1)"}
        assert names(one("arxiv", line)) == ["EXA Collaboration", "A B Example", "C Other"]


def pubmed(content: str, tag: str = "PubmedArticle") -> Record:
    return one("pubmed", f"<PubmedArticleSet><{tag}>{content}</{tag}></PubmedArticleSet>")


def book(content: str, in_book: str = "") -> Record:
    people = "<AuthorList Type='{0}'><Author><LastName>{1}</LastName><ForeName>Bo</ForeName></Author></AuthorList>"
    return pubmed(
        f"<BookDocument><PMID>7</PMID><Book><BookTitle>Odd Things</BookTitle><PubDate><Year>1993</Year></PubDate>"
        f"{people.format('editors', 'Editor')}{in_book}<CollectionTitle>Reviews</CollectionTitle>"
        f"<ELocationID EIdType='doi'>10.1037/book</ELocationID></Book>{content}</BookDocument>",
        "PubmedBookArticle",
    )


class TestPubmed:
    def test_whole_book_has_title_and_authors(self) -> None:
        authors = "<AuthorList Type='authors'><Author><LastName>Booker</LastName><ForeName>Bo</ForeName></Author></AuthorList>"
        record = book("<ContributionDate><Year>2001</Year></ContributionDate>", authors)
        assert (record.title, names(record), record.date) == ("Odd Things", ["Bo Booker"], "1993")
        assert (record.venue, record.journal, record.doi) == ("Reviews", None, "10.1037/book")

    def test_chapter_has_its_own_date_and_authors(self) -> None:
        chapter = (
            "<ArticleTitle>Odd syndrome</ArticleTitle><AuthorList Type='authors'><Author><LastName>Chapter</LastName></Author>"
            "</AuthorList><AuthorList Type='editors'><Author><LastName>Other</LastName></Author></AuthorList>"
        )
        own = "<ContributionDate><Year>2001</Year><Month>02</Month><Day>3</Day></ContributionDate>"
        record = book(chapter + own)
        assert (record.title, names(record), record.date) == ("Odd syndrome", ["Chapter"], "2001-02-03")
        assert (record.journal, record.doi) == ("Odd Things", None)
        assert book(chapter).date == "1993"

    @pytest.mark.parametrize(
        ("pages", "plain"),
        [
            ("101-9", "101-9"), ("123-30; discussion 131", "123-30"), ("iii-vi, 1-278, back cover", "iii-vi, 1-278"),
            ("Suppl 1-20", "1-20"), ("123.e1-123.e5", "123.e1-123.e5"), ("1 p following 120", None), ("No pagination", None),
        ],
    )  # fmt: skip
    def test_prose_is_removed_from_pages(self, pages: str, plain: str | None) -> None:
        article = (
            "<MedlineCitation><PMID>7</PMID><Article><ArticleTitle>T</ArticleTitle><Pagination>{}</Pagination></Article>"
            "</MedlineCitation>"
        )
        assert pubmed(article.format(f"<MedlinePgn>{pages}</MedlinePgn>")).pages == plain
        start = f"<StartPage>5</StartPage><EndPage>9</EndPage><MedlinePgn>{pages}</MedlinePgn>"
        assert pubmed(article.format(start)).pages == (plain or "5-9")


def dblp(fields: str, attributes: str = "") -> Record:
    return one("dblp", f'<dblp><article key="journals/x/A20" {attributes}><title>T.</title>{fields}</article></dblp>')


class TestDblp:
    def test_doi_comes_from_a_resolver(self) -> None:
        assert dblp("<ee>https://example.org/paper.pdf</ee><ee>https://doi.org/10.1007/5</ee>").doi == "10.1007/5"
        assert dblp("<ee>https://www.usenix.org/conference/10.1007/5</ee>").doi is None

    @pytest.mark.parametrize(
        ("title", "plain"),
        [
            ("Learning in Web 2.0.", "Learning in Web 2.0"), ("Why not?", "Why not?"), ("In the U.S.A.", "In the U.S.A."),
        ],
    )  # fmt: skip
    def test_full_stop_of_dblp_is_removed(self, title: str, plain: str) -> None:
        assert one("dblp", f'<dblp><article key="a/b"><title>{title}</title></article></dblp>').title == plain

    def test_month_and_status_are_read(self) -> None:
        record = dblp("<year>2020</year><month>July/August</month>", 'publtype="withdrawn"')
        assert (record.date, record.editorial) == ("2020-07", Editorial.WITHDRAWN)
        assert dblp("", 'publtype="informal"').editorial is None


def acl(paper: str, meta: str = "", attributes: str = "") -> list[Any]:
    return entries(
        "acl",
        f'<collection id="2024.test"><volume id="main"><meta><booktitle>Proc.</booktitle>{meta}<year>2024</year></meta>'
        f'<paper id="2" {attributes}><title>T</title><url>2024.test-main.2</url>{paper}</paper></volume></collection>',
    )


class TestAcl:
    @pytest.mark.parametrize(
        ("element", "status"),
        [
            ('<retracted date="2024-09-01">Made up.</retracted>', Editorial.RETRACTED),
            ('<removed date="2024-09-01">By request.</removed>', Editorial.WITHDRAWN),
            ('<erratum id="1">2024.test-main.2e1</erratum>', Editorial.CORRECTED),
            ('<erratum id="1">x</erratum><retracted date="2024-09-01"/>', Editorial.RETRACTED),
        ],
    )
    def test_status_of_paper_is_read(self, element: str, status: Editorial | None) -> None:
        (record,) = acl(element)
        assert record.editorial is status

    @pytest.mark.parametrize(
        ("month", "date"),
        [
            ("10–12 August", "2024-08"), ("30 July – 4 August", "2024-07"), ("8", "2024-08"), ("November-December", "2024-11"),
            ("8th to 13th Sept.", "2024-09"), ("Summer", "2024"),
        ],
    )  # fmt: skip
    def test_month_may_have_days(self, month: str, date: str) -> None:
        (record,) = acl("", f"<month>{month}</month>")
        assert record.date == date

    @pytest.mark.parametrize(
        ("title", "plain"),
        [
            (r"\texttt{<fixed-case>BERT</fixed-case>} in \textit{Paris}", "BERT in Paris"),
            (r"{BERT} \&amp; \textsc{Glo{Ve}} for 50\% na\"ive", "BERT & GloVe for 50% naïve"),
            (r"Learning <tex-math>\texttt{x}_{1}</tex-math> with \emph{T5}", r"Learning \texttt{x}_{1} with T5"),
            (r"See \href{https://x.org}{code} at \url{https://y.org}~\cite{key}.", "See code at https://y.org"),
        ],
    )
    def test_tex_commands_are_text(self, title: str, plain: str) -> None:
        paper = f'<paper id="2"><title>{title}</title><abstract>{title}</abstract></paper>'
        record = one("acl", f'<collection id="2024.test"><volume id="main">{paper}</volume></collection>')
        assert record.title == plain and (record.abstract or "").rstrip(".") == plain

    def test_back_matter_is_not_a_paper(self) -> None:
        (dropped,) = acl("", attributes='type="backmatter"')
        assert isinstance(dropped, Dropped) and dropped.reason is RejectReason.NOT_A_PAPER
