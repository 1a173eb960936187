"""Bibliographies of BibTeX's styles and of packages give the fields of their entries (SPEC §3.18–§3.20, §3.25)."""

from typing import Any

import pytest

from s2orc_parse.parse_model import BibEntry
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
"""items of the style plain, which have no year as volume"""
FIELDS: list[tuple[str, dict[str, Any]]] = [
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
    # dblp's CoRR, Google Scholar's journal, and notes by hand
    *((given, {"doi": "10.48550/arxiv.1706.03762", "arxiv_id": "1706.03762"}) for given in (
        "journal={CoRR}, volume={abs/1706.03762}", "journal={arXiv preprint arXiv:1706.03762}", "journal={J. Odd}, note={arXiv:1706.03762}",
    )),
    ("journal={J. Odd}, note={doi: 10.1000/abc\\_1}", {"doi": "10.1000/abc_1", "arxiv_id": None}),
    ("journal={J. Odd}, volume={1706}, pages={3762--3770}, note={In press}", {"doi": None, "arxiv_id": None}),
    ("subtitle={Odd\n    rivers}", {"title": "T: Odd rivers"}),
]  # fmt: skip
"""fields of a database"""
BIB = r"""@string{jft = "J. Foo Tests"}
@article{mu, title={The {DNA} of \emph{things} in K{\"o}ln}, author={M{\"u}ller, Jos{\'e} and van der Doe, Jane and others}, year=2001,
  journal=jft, volume=3, pages={1--4}, doi={10.1162/xyz}}
@inproceedings{bee, title="B title", author="Ann Bee", year={2010}, crossref={proc}}
@proceedings{proc, title={Proceedings of X}, year={2010}}
@misc{cee, title={C}, author={C. C. Cee}, year={2020}, eprint={2001.01234}, archivePrefix={arXiv}}"""
BIBER = r"""\refsection{0}\datalist[entry]{nty/global//global/global}
\entry{lo}{inproceedings}{}
  \name{author}{2}{}{%
    {{hash=1}{family={Lo}, familyi={L\bibinitperiod}, given={Kyle}, giveni={K\bibinitperiod}}}%
    {{hash=2}{family={F{\"a}rber}, given={Michael}}}%
  }
  \field{title}{A corpus of {P}apers}
  \field{booktitle}{Proceedings of ACL}
  \field{year}{2020}
  \verb{doi}
  \verb 10.18653/v1/x
  \endverb
\endentry
\enddatalist\endrefsection"""
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
NAMES = [
    "{{hash=a}{family={van\\bibnamedelima Hu}, given={Bo\\bibnamedelima C.}, giveni={B\\bibinitperiod\\bibinitdelim C\\bibinitperiod}}}",
    "{{hash=a}{van\\bibnamedelima Hu}{v\\bibinitperiod}{Bo\\bibnamedelima C.}{B\\bibinitperiod}{}{}{}{}}",  # up to version 2
]
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
KITAEV = (
    r"\bibitem[{\citenamefont{Kitaev}(2003)}]{k}\BibitemOpen"
    r"\bibfield{author}{\bibinfo{author}{\bibfnamefont{A.}~\bibnamefont{Kitaev}},\ }"
    r"\href {\doibase 10.1016/x} {\bibfield{journal}{\bibinfo{title}{Fault-tolerant computing}, \bibinfo{journal}{Annals of Physics}\ }"
    r"\textbf{\bibinfo{volume}{303}},\ \bibinfo{pages}{2} (\bibinfo{year}{2003})}\BibitemShut{NoStop}"
)
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
AMSREFS = r"""\begin{bibdiv}\begin{biblist}
\bib{b}{article}{author={Weaver, Nik}, author={Ostr\'ik, V.}, title={Relations}, journal={J. Geom.}, volume={31},
date={2021}, number={9}, pages={9090--9112}, doi={10.1371/s12220-020}}
\bib{a}{article}{author={Woron, S. L.}, title={Pieces}, book={title={Compact rivers}, publisher={Odd Press}, date={1987}}}
\end{biblist}\end{bibdiv}"""
SIMEIS = "The Galactic radial abundance gradients of C, N, O, Ne, S, Cl and Ar from deep spectra of H II regions"
HU_BBL = r"""\refsection{0}\entry{hu}{article}{}
\name{author}{1}{}{@}
\field{title}{On \emph{rivers}}
\field{year}{2001}
\field{pages}{1\bibrangedash 9}
\verb{url}
\verb https://x.org/a%20b
\endverb
\endentry"""


def items(*entries: str) -> str:
    return rf"\begin{{thebibliography}}{{1}}{''.join(entries)}\end{{thebibliography}}"


Source = tuple[str, str, dict[str, Any]]
"""body, preamble, other files"""
LEE: dict[str, Any] = {
    "title": "A title",
    "arxiv_id": None,
    **dict.fromkeys(("venue", "volume", "issue", "pages", "publisher"), ""),
}
SOURCES: dict[str, list[tuple[Source, list[dict[str, Any]], str | None]]] = {
    "an item of the style plain": [
        ((r"See \cite{a}. " + items(r"\bibitem{a} " + item), "", {}), [LEE | wanted], None) for item, wanted in PLAIN_BBL
    ],
    "a field of a database": [
        ((r"See \cite{a}. \bibliography{r}", "",
          {"r_bib": f'@misc{{a, author={{Lee, A}}, title={{T}}, {given}}} @string{{prl = "Phys. Rev."}}'}), [wanted], None)
        for given, wanted in FIELDS
    ],
    "a database of BibLaTeX": [
        ((r"Text \parencite{mu,bee} and \textcite{cee}. \printbibliography",
          r"\usepackage[style=numeric]{biblatex}\addbibresource{refs.bib}", {"refs_bib": BIB}),
         [{"title": "The DNA of things in Köln", "year": 2001, "venue": "J. Foo Tests", "volume": "3", "pages": "1--4",
           "doi": "10.1162/xyz", "authors": "José|Müller; Jane|van der Doe"}, {"title": "B title", "venue": "Proceedings of X"},
          {"arxiv_id": "2001.01234", "doi": "10.48550/arxiv.2001.01234"}], "Text [1, 2] and Cee [3]."),
    ],
    "a file of biber": [
        ((r"Text \autocite{lo}.", r"\usepackage[style=ieee]{biblatex}", {"main_bbl": BIBER}),
         [{"title": "A corpus of Papers", "year": 2020, "venue": "Proceedings of ACL", "doi": "10.18653/v1/x",
           "authors": "Kyle|Lo; Michael|Färber"}], "Text [1]."),
        *(((r"See \autocite{hu}. \printbibliography", r"\usepackage[style=authoryear]{biblatex}",
            {"main_bbl": HU_BBL.replace("@", name)}),
           [{"authors": "Bo C|van Hu", "title": "On rivers", "pages": "1--9", "urls": ("https://x.org/a%20b",)}], "See (van Hu, 2001).")
          for name in NAMES),
    ],
    "amsrefs": [
        ((r"See \cite{b}*{Lemma 1}, \citelist{\cite{a}\cite{b}*{\S 3}} and \cites{b,a}. " + AMSREFS, r"\usepackage{amsrefs}", {}),
         [{"authors": "Nik|Weaver; V|Ostrík", "title": "Relations", "venue": "J. Geom.", "volume": "31", "issue": "9", "year": 2021},
          {"title": "Pieces", "venue": "Compact rivers", "publisher": "Odd Press", "year": 1987}],
         "See [1, Lemma 1], [2, 1, §3] and [1, 2]."),
    ],
    "apacite": [
        ((r"As \citeA{lee01} say \cite{lee01}. \bibliographystyle{apacite}\bibliography{r}", r"\usepackage{apacite}",
          {"main_bbl": APACITE.replace("@", place)}),
         [dict(zip(("venue", "volume", "issue", "pages", "publisher"), wanted, strict=True)) | {
             "ref_id": "lee01", "title": "A title of rivers", "year": 2001, "doi": "10.1371/x_1", "authors": "A B|Lee; C|Hu"}],
         "As Lee and Hu (2001) say (Lee and Hu, 2001).") for place, wanted in (
        (r"\APACjournalVolNumPages{J. Odd}{3}{2}{1--9}.", ("J. Odd", "3", "2", "1--9", "")),
            (r"\APACjournalVolNumPages{J. Odd}{}{}{1--9}.", ("J. Odd", "", "", "1--9", "")),
            (r"\BIn{} E.~Fo\ (\BED), \APACrefbtitle {Rivers} {Rivers}\ (\BVOL~2, \BPGS\ 3--4). \APACaddressPublisher{Town}{Odd Press}.",
             ("Rivers", "2", "", "3--4", "Odd Press")),
        )
    ],
    # As a paper about Simeis 57 prints arXiv 2005.11372: authors, year and title, without a journal.
    "a part of the title is not the venue": [
        ((r"\cite{a}\bibliography{r}", "",
          {"main_bbl": items(rf"\bibitem{{a}} Arellano-C{{\'o}}rdova, K.~Z., Esteban, C. 2020, {SIMEIS}"),
           "r_bib": f"@misc{{a, title={{{SIMEIS}}}, author={{Arellano, K. and Esteban, C.}}, year={{2020}}}}"}),
         [{"title": SIMEIS, "venue": "", "year": 2020}], None),
    ],
    "names before a printed title are authors": [
        (("Text. " + items(r"\bibitem{a} Elsner, K. \newblock Dhillon HM (2017) Reduced patient anxiety in radiation therapy. "
                           r"\newblock J Med, 64:2--3."), "", {}),
         [{"title": "Reduced patient anxiety in radiation therapy", "authors": "K|Elsner; H M|Dhillon"}], None),
    ],
    "REVTeX, wherever its lines end": [
        ((r"Text \cite{a}.", r"\documentclass{revtex4-2}", {"main_bbl": REVTEX}),
         [{"title": "Odd rivers", "venue": "J. Odd", "volume": "358", "year": 2005, "authors": "A|Byron", "arxiv_id": "astro-ph/0405575"}],
         None),
        ((rf"Text \cite{{k}}. {items(KITAEV)}", "", {}),
         [{"title": "Fault-tolerant computing", "year": 2003, "venue": "Annals of Physics", "authors": "A|Kitaev"}], "Text [1]."),
    ],
    "Springer": [
        ((r"Text \cite{a,b}.", r"\documentclass{sn-jnl}", {"main_bbl": SPRINGER}),
         [{"authors": "A B|Byron; A|Turing", "title": "Odd rivers", "venue": "J. Odd", "volume": "13", "issue": "2", "pages": "266--267",
           "year": 1996, "doi": "10.1000/odd"}, {"title": "Even rivers", "publisher": "Odd Press", "year": 1970, "venue": ""}], None),
    ],
}  # fmt: skip


def read_field(entry: BibEntry, name: str) -> object:
    if name == "authors":
        return "; ".join(f"{' '.join((author.first, *author.middle))}|{author.last}" for author in entry.authors)
    return getattr(entry, name)


@pytest.mark.parametrize(
    ("source", "entries", "printed"), [pytest.param(*row, id=kind) for kind, rows in SOURCES.items() for row in rows]
)
def test_bibliography_gives_its_fields(source: Source, entries: list[dict[str, Any]], printed: str | None) -> None:
    body, preamble, files = source
    found = parse(body, preamble, **files)
    read = [
        {name: read_field(entry, name) for name in wanted}
        for entry, wanted in zip(found.bib_entries, entries, strict=True)
    ]
    assert read == entries
    assert printed is None or [paragraph.text for paragraph in found.body_text] == [printed]


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


@pytest.mark.parametrize("broken", [r"\footnote", r"\verb|", r"\textsuperscript{\href"])
def test_entry_that_pandoc_cannot_read_keeps_its_text(broken: str) -> None:
    item = rf"\bibitem{{a}} Byron, A. {broken} \emph{{Odd rivers}}. J. Odd, 2005."
    found = parse(rf"Text \cite{{a}}. \begin{{thebibliography}}{{1}}{item}\end{{thebibliography}}")
    (entry,) = found.bib_entries
    assert "Odd rivers" in entry.raw_text and "\\" not in entry.raw_text and entry.year == 2005
    assert [span.ref_id for p in found.body_text for span in p.cite_spans] == ["BIBREF0"]
