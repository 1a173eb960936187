"""Bibliographies of BibTeX's styles and of packages give the fields of their entries (SPEC §3.18–§3.20, §3.25)."""

from typing import Any

import pytest

from tests.unit.s2orc_parse.latex.archives import parse

BOOK = r"E.~Ek. \newblock {\em A book of rivers}. \newblock Odd Press, Odd Town, 2nd edition, 1999."
THESIS = r"E.~Ek. \newblock {\em A thesis of rivers}. \newblock PhD thesis, Odd University, 1999."
PLAIN_BBL = [
    (r"A.~Lee. \newblock A title. \newblock {\em Journal of Rivers}, 2001.", {"venue": "Journal of Rivers", "year": 2001}),
    (r"A.~Lee. \newblock A title. \newblock In {\em Proc. of Rivers}, pages 1--9, 2002.",
     {"venue": "Proc. of Rivers", "year": 2002, "pages": "1--9"}),
    (r"A.~Lee. \newblock A title. \newblock {\em Nature}, 12(3):45--50, March 2003.",
     {"venue": "Nature", "year": 2003, "volume": "12", "issue": "3", "pages": "45--50"}),
    (r"A.~Lee. \newblock A title. \newblock {\em JHEP}, 2005(03):45--50, 2005.",
     {"venue": "JHEP", "year": 2005, "volume": "2005", "issue": "03", "pages": "45--50"}),
    (r"A.~Lee. \newblock A title. \newblock {\em CoRR}, abs/1706.03762, 2017.",
     {"venue": "CoRR", "year": 2017, "arxiv_id": "1706.03762"}),
    (BOOK, {"title": "A book of rivers", "publisher": "Odd Press", "year": 1999}),
    (THESIS, {"title": "A thesis of rivers", "publisher": "Odd University", "year": 1999}),
]  # fmt: skip


@pytest.mark.parametrize(("item", "wanted"), PLAIN_BBL)
def test_entry_of_plain_style_has_no_year_as_volume(item: str, wanted: dict[str, Any]) -> None:
    entries = f"\\begin{{thebibliography}}{{1}}\\bibitem{{a}} {item}\\end{{thebibliography}}"
    (found,) = parse("See \\cite{a}.", entries=entries).bib_entries
    empty: dict[str, Any] = dict.fromkeys(("venue", "volume", "issue", "pages", "publisher"), "")
    expected = {**empty, "title": "A title", "arxiv_id": None, **wanted}
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("howpublished={\\url{https://x.org/a_b%20c}}", {"venue": "", "urls": ("https://x.org/a_b%20c",)}),
        ("howpublished={Available at \\url{https://x.org/a}}, note={accessed 3 May 2019}",
            {"venue": "", "urls": ("https://x.org/a",), "year": None}),
        ("howpublished={Blog of Rivers}", {"venue": "Blog of Rivers"}),
        ("institution={Odd Institute}, number={7}", {"venue": "Odd Institute", "publisher": "Odd Institute", "issue": "7"}),
        ("school={Odd University}", {"venue": "Odd University", "publisher": "Odd University"}),
        ("url={https://doi.org/10.1007/978-3-319-00000-1\\_2}", {"doi": "10.1007/978-3-319-00000-1_2"}),
        ("note={arXiv:1706.03762}, url={https://arxiv.org/abs/1706.03762}", {"arxiv_id": "1706.03762"}),
        ("eprint={1706.03762}, primaryClass={cs.CL}", {"arxiv_id": "1706.03762"}),
        ("eprint={123456}, eprinttype={pubmed}", {"pubmed_id": "123456", "arxiv_id": None}),
        ("eprint={2346178}, eprinttype={jstor}", {"doi": "10.2307/2346178", "arxiv_id": None}),
        ("journal = prl # { Lett.}", {"venue": "Phys. Rev. Lett."}),
        ("subtitle={A survey}", {"title": "T: A survey"}),
    ],
)  # fmt: skip
def test_field_of_database_is_read(fields: str, wanted: dict[str, Any]) -> None:
    database = f'@misc{{a, author={{Lee, A}}, title={{T}}, {fields}}} @string{{prl = "Phys. Rev."}}'
    (found,) = parse("See \\cite{a}. \\bibliography{r}", r_bib=database).bib_entries
    assert {name: getattr(found, name) for name in wanted} == wanted


GIBSON = r"Gibson, James. 1966. \emph{The Senses Considered as Perceptual Systems}. Allen."
LINK = r"\protect\hyperlink{ref-gibson1966}{Gibson 1966, 3}"
PANDOC = {
    "3.2": (r"\citeproc{ref-gibson1966}{Gibson 1966, 3}", r"\bibitem[\citeproctext]{ref-gibson1966} " + GIBSON),
    "3.2, numbers": (
        r"\citeproc{ref-gibson1966}{3}",
        rf"\bibitem[\citeproctext]{{ref-gibson1966}} \CSLLeftMargin{{{{[}}3{{]}} }}%"
        "\n"
        rf"\CSLRightInline{{{GIBSON}}}",
    ),
    "2.11": (LINK, "\\leavevmode\\vadjust pre{\\hypertarget{ref-gibson1966}{}}%\n" + GIBSON),
    "2.9": (LINK, "\\leavevmode\\hypertarget{ref-gibson1966}{}%\n" + GIBSON),
}
"""what versions of pandoc print for `[@gibson1966, p. 3]` and its entry"""


@pytest.mark.parametrize("version", PANDOC)
def test_citations_and_entries_that_pandoc_printed_are_read(version: str) -> None:
    citation, entry_of_pandoc = PANDOC[version]
    bibliography = rf"\begin{{CSLReferences}}{{1}}{{0}}{entry_of_pandoc}\end{{CSLReferences}}"
    if version == "2.9":
        appendix = r"\hypertarget{more}{\section{More}\label{more}} More senses."
        bibliography = f"\\hypertarget{{refs}}{{}}\n{entry_of_pandoc}\n\n{appendix}"
    setup = r"\newcommand{\CSLLeftMargin}[1]{\parbox[t]{3em}{#1}}\newcommand{\CSLRightInline}[1]{\parbox[t]{9em}{#1}}"
    found = parse(f"Senses are systems ({citation}).\n\n\\section*{{References}}\n\n{bibliography}", setup)
    (entry,) = found.bib_entries
    assert (entry.title, entry.year, entry.authors[0].last) == (
        "The Senses Considered as Perceptual Systems",
        1966,
        "Gibson",
    )
    printed = "3" if "numbers" in version else "Gibson 1966, 3"
    assert found.body_text[0].text == f"Senses are systems ({printed})."
    assert [(span.text, span.ref_id) for span in found.body_text[0].cite_spans] == [(printed, "BIBREF0")]
    assert [part.section for part in found.body_text[1:]] == ["More"] * (version == "2.9")


def test_fields_and_citations_of_amsrefs_are_read() -> None:
    found = parse(
        "See \\cite{b}*{Lemma 1}, \\citelist{\\cite{a}\\cite{b}*{\\S 3}} and \\cites{b,a}.\n\\begin{bibdiv}\\begin{biblist}\n"
        "\\bib{b}{article}{author={Weaver, Nik}, author={Ostr\\'ik, V.}, title={Relations}, journal={J. Geom.}, volume={31},\n"
        "date={2021}, number={9}, pages={9090--9112}, doi={10.1371/s12220-020}}\n"
        "\\bib{a}{article}{author={Woron, S. L.}, title={Pieces}, book={title={Compact rivers}, publisher={Odd Press}, date={1987}}}\n"
        "\\end{biblist}\\end{bibdiv}",
        "\\usepackage{amsrefs}",
    )
    first, second = found.bib_entries
    assert [a.last for a in first.authors] == ["Weaver", "Ostrík"]
    assert (first.title, first.venue, first.volume, first.issue, first.year) == (
        "Relations", "J. Geom.", "31", "9", 2021,
    )  # fmt: skip
    assert (second.title, second.venue, second.publisher, second.year) == (
        "Pieces", "Compact rivers", "Odd Press", 1987,
    )  # fmt: skip
    assert found.body_text[0].text == "See [1, Lemma 1], [2, 1, §3] and [1, 2]."


APACITE = r"""\begin{thebibliography}{}
\bibitem [\protect \citeauthoryear {%
Lee%
\ \BBA {} Hu%
}{%
Lee%
\ \BBA {} Hu%
}{%
{\protect \APACyear {2001}}%
}]{%
lee01}
\APACinsertmetastar {%
lee01}%
\begin{APACrefauthors}%
Lee, A\BPBI B.%
\BCBT {}\ \BBA {} Hu, C.%
\end{APACrefauthors}%
\unskip\
\newblock
\APACrefYearMonthDay{2001}{{\APACmonth{05}}}{}.
\newblock
{\BBOQ}\APACrefatitle {A title of rivers} {A title of rivers}.{\BBCQ}
\newblock
@
\newblock
\begin{APACrefDOI} \doi{10.1371/x_1} \end{APACrefDOI}
\PrintBackRefs{\CurrentBib}
\end{thebibliography}"""


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        (r"\APACjournalVolNumPages{J. Odd}{3}{2}{1--9}.", ("J. Odd", "3", "2", "1--9", "")),
        (r"\APACjournalVolNumPages{J. Odd}{}{}{1--9}.", ("J. Odd", "", "", "1--9", "")),
        (r"\BIn{} E.~Fo\ (\BED), \APACrefbtitle {Rivers} {Rivers}\ (\BVOL~2, \BPGS\ 3--4). \APACaddressPublisher{Town}{Odd Press}.",
         ("Rivers", "2", "", "3--4", "Odd Press")),
    ],
)  # fmt: skip
def test_fields_and_citations_of_apacite_are_read(place: str, wanted: tuple[str, ...]) -> None:
    found = parse("As \\citeA{lee01} say \\cite{lee01}. \\bibliographystyle{apacite}\\bibliography{r}", "\\usepackage{apacite}",
                  main_bbl=APACITE.replace("@", place))  # fmt: skip
    (entry,) = found.bib_entries
    assert (entry.venue, entry.volume, entry.issue, entry.pages, entry.publisher) == wanted
    assert (entry.ref_id, entry.title, entry.year, entry.doi) == ("lee01", "A title of rivers", 2001, "10.1371/x_1")
    assert [(a.first, a.middle, a.last) for a in entry.authors] == [("A", ("B",), "Lee"), ("C", (), "Hu")]
    assert found.body_text[0].text == "As Lee and Hu (2001) say (Lee and Hu, 2001)."


NAMES = [
    "{{hash=a}{family={van\\bibnamedelima Hu}, given={Bo\\bibnamedelima C.}, giveni={B\\bibinitperiod\\bibinitdelim C\\bibinitperiod}}}",
    "{{hash=a}{van\\bibnamedelima Hu}{v\\bibinitperiod}{Bo\\bibnamedelima C.}{B\\bibinitperiod}{}{}{}{}}",  # up to version 2
]


@pytest.mark.parametrize("name", NAMES)
def test_delimiters_of_biber_are_spaces(name: str) -> None:
    bbl = (
        f"\\refsection{{0}}\\entry{{hu}}{{article}}{{}}\n\\name{{author}}{{1}}{{}}{{{name}}}\n\\field{{title}}{{On \\emph{{rivers}}}}\n"
        "\\field{year}{2001}\n\\field{pages}{1\\bibrangedash 9}\n\\verb{url}\n\\verb https://x.org/a%20b\n\\endverb\n\\endentry"
    )
    found = parse("See \\autocite{hu}. \\printbibliography", "\\usepackage[style=authoryear]{biblatex}", main_bbl=bbl)
    (entry,) = found.bib_entries
    assert [(a.first, a.middle, a.last) for a in entry.authors] == [("Bo", ("C",), "van Hu")]
    assert (entry.title, entry.pages, entry.urls) == ("On rivers", "1--9", ("https://x.org/a%20b",))
    assert found.body_text[0].text == "See (van Hu, 2001)."


def test_part_of_the_title_is_not_the_venue() -> None:
    """As a paper about Simeis 57 prints arXiv 2005.11372: authors, year and title, without a journal."""
    title = "The Galactic radial abundance gradients of C, N, O, Ne, S, Cl and Ar from deep spectra of H II regions"
    bbl = rf"\begin{{thebibliography}}{{1}}\bibitem{{a}} Arellano-C{{\'o}}rdova, K.~Z., Esteban, C. 2020, {title}\end{{thebibliography}}"
    bib = f"@misc{{a, title={{{title}}}, author={{Arellano, K. and Esteban, C.}}, year={{2020}}}}"
    (entry,) = parse(r"\cite{a}\bibliography{r}", main_bbl=bbl, r_bib=bib).bib_entries
    assert (entry.title, entry.venue, entry.year) == (title, "", 2020)


def test_names_before_a_printed_title_are_authors() -> None:
    item = r"\bibitem{a} Elsner, K. \newblock Dhillon HM (2017) Reduced patient anxiety in radiation therapy. \newblock J Med, 64:2--3."
    (entry,) = parse(rf"Text. \begin{{thebibliography}}{{1}}{item}\end{{thebibliography}}").bib_entries
    assert entry.title == "Reduced patient anxiety in radiation therapy"
    assert [author.last for author in entry.authors] == ["Elsner", "Dhillon"]


@pytest.mark.parametrize(
    ("fields", "doi", "arxiv_id"),
    [  # dblp's CoRR, Google Scholar's journal, and notes by hand
        ("journal={CoRR}, volume={abs/1706.03762}", "10.48550/arxiv.1706.03762", "1706.03762"),
        ("journal={arXiv preprint arXiv:1706.03762}", "10.48550/arxiv.1706.03762", "1706.03762"),
        ("journal={J. Odd}, note={arXiv:1706.03762}", "10.48550/arxiv.1706.03762", "1706.03762"),
        ("journal={J. Odd}, note={doi: 10.1000/abc\\_1}", "10.1000/abc_1", None),
        ("journal={J. Odd}, volume={1706}, pages={3762--3770}, note={In press}", None, None),
    ],
)
def test_identifiers_of_a_database_are_read_from_all_its_fields(
    fields: str, doi: str | None, arxiv_id: str | None
) -> None:
    (entry,) = parse(r"\cite{a}\bibliography{r}", r_bib=f"@article{{a, title={{T}}, {fields}}}").bib_entries
    assert (entry.doi, entry.arxiv_id) == (doi, arxiv_id)


REVTEX = r"""\makeatletter
\providecommand \bibfield [0]{\@secondoftwo}\providecommand \Eprint [0]{\href }
\begin{thebibliography}{1}
\bibitem [{\citenamefont {Byron}(2005)}]{a}\BibitemOpen
  \bibfield  {author} {\bibinfo {author} {\bibfnamefont {A.}~\bibnamefont
  {Byron}},\ }\bibfield  {title} {\bibinfo {title} {Odd rivers},\ }\href@noop
  {} {\bibfield  {journal} {\bibinfo  {journal} {J. Odd}\ }\textbf {\bibinfo
  {volume} {358}} (\bibinfo {year} {2005})},\ \Eprint
  {https://arxiv.org/abs/astro-ph/0405575} {arXiv:astro-ph/0405575}
  \BibitemShut {NoStop}%
\end{thebibliography}"""


def test_entry_of_revtex_has_its_fields_wherever_its_lines_end() -> None:
    (entry,) = parse(r"Text \cite{a}.", r"\documentclass{revtex4-2}", main_bbl=REVTEX).bib_entries
    assert (entry.title, entry.venue, entry.volume, entry.year) == ("Odd rivers", "J. Odd", "358", 2005)
    assert ([a.last for a in entry.authors], entry.arxiv_id) == (["Byron"], "astro-ph/0405575")


@pytest.mark.parametrize("broken", [r"\footnote", r"\verb|", r"\textsuperscript{\href"])
def test_entry_that_pandoc_cannot_read_keeps_its_text(broken: str) -> None:
    item = rf"\bibitem{{a}} Byron, A. {broken} \emph{{Odd rivers}}. J. Odd, 2005."
    found = parse(rf"Text \cite{{a}}. \begin{{thebibliography}}{{1}}{item}\end{{thebibliography}}")
    (entry,) = found.bib_entries
    assert "Odd rivers" in entry.raw_text and "\\" not in entry.raw_text and entry.year == 2005
    assert [span.ref_id for p in found.body_text for span in p.cite_spans] == ["BIBREF0"]


def test_field_of_a_database_is_one_line() -> None:
    (entry,) = parse(r"\cite{a}\bibliography{r}", r_bib="@article{a, title={Odd\n    rivers}, year=2005}").bib_entries
    assert entry.title == "Odd rivers"


SPRINGER = r"""\begin{thebibliography}{1}
\ifx \bauthor  \undefined \def \bauthor#1{#1}\fi
\ifx \barticle \undefined \def \barticle#1{#1}\fi
\bibitem{a}
\begin{barticle}
\bauthor{\bsnm{Byron}, \binits{A.B.}},
\bauthor{\bsnm{Turing}, \binits{A.}}:
\batitle{Odd rivers}.
\bjtitle{J. Odd}
\bvolume{13}(\bissue{2}),
\bfpage{266}--\blpage{267}
(\byear{1996}).
\doiurl{10.1000/odd}
\end{barticle}
\endbibitem
\bibitem{b}
\begin{bbook}
\bauthor{\bsnm{Lamb}, \binits{C.}}:
\bbtitle{Even rivers}.
\bpublisher{Odd Press},
\blocation{Odd Town}
(\byear{1970})
\end{bbook}
\endbibitem
\end{thebibliography}"""


def test_entries_of_springer_have_their_fields() -> None:
    article, book = parse(r"Text \cite{a,b}.", r"\documentclass{sn-jnl}", main_bbl=SPRINGER).bib_entries
    assert [(a.first, a.middle, a.last) for a in article.authors] == [("A", ("B",), "Byron"), ("A", (), "Turing")]
    assert (article.title, article.venue, article.volume, article.issue) == ("Odd rivers", "J. Odd", "13", "2")
    assert (article.pages, article.year, article.doi) == ("266--267", 1996, "10.1000/odd")
    assert (book.title, book.publisher, book.year, book.venue) == ("Even rivers", "Odd Press", 1970, "")
