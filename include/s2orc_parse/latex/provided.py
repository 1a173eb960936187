"""Macros of common packages and styles that pandoc does not know. Definitions of the paper have priority."""

from __future__ import annotations

from s2orc_parse.latex.macros import Definition, find_definitions
from s2orc_parse.latex.marks import BLOCK, END, FIELD, VALUE, XSPACE

_IN_TEXT = r"""
\providecommand{\scalebox}[2]{#2}\providecommand{\resizebox}[3]{#3}\providecommand{\rotatebox}[2]{#2}\providecommand{\raisebox}[2]{#2}
\providecommand{\dashuline}[1]{#1}\providecommand{\dotuline}[1]{#1}\providecommand{\uwave}[1]{#1}\providecommand{\uuline}[1]{#1}
\providecommand{\hl}[1]{#1}\providecommand{\ul}[1]{#1}\providecommand{\adjustbox}[2]{#2}\providecommand{\scalefont}[1]{}
\providecommand{\makecell}[2][]{#2}\providecommand{\thead}[2][]{#2}\providecommand{\shortstack}[2][]{#2}
\providecommand{\specialcell}[2][]{#2}
\providecommand{\rothead}[1]{#1}\providecommand{\diagbox}[3][]{#2 / #3}\providecommand{\backslashbox}[2]{#1 / #2}
\providecommand{\colorbox}[2]{#2}\providecommand{\fcolorbox}[3]{#3}\providecommand{\citename}[1]{#1}
\providecommand{\citetext}[1]{(#1)}\providecommand{\parentext}[1]{(#1)}\providecommand{\brackettext}[1]{[#1]}
\providecommand{\subref}[1]{\ref{#1}}\providecommand{\Eqref}[1]{\eqref{#1}}\providecommand{\IEEEPARstart}[2]{#1#2}
\providecommand{\lettrine}[3][]{#2#3}
\providecommand{\textcolour}[2]{#2}\providecommand{\texorpdfstring}[2]{#1}\providecommand{\BibTeX}{BibTeX}\providecommand{\etal}{et al.}
\providecommand{\added}[2][]{#2}\providecommand{\replaced}[3][]{#2}\providecommand{\deleted}[2][]{}\providecommand{\rev}[1]{#1}
\providecommand{\xspace}{XSPACE}\providecommand{\IEEEmembership}[1]{}\providecommand{\texttildelow}{~}\providecommand{\name}[1]{#1}
\providecommand{\doi}[1]{doi:#1}\providecommand{\onedot}{.XSPACE}
\providecommand{\tablefootnote}[1]{\footnote{#1}}\providecommand{\blfootnote}[1]{\footnote{#1}}\providecommand{\endnote}[1]{\footnote{#1}}
\providecommand{\sidenote}[1]{\footnote{#1}}
""".replace("XSPACE", XSPACE)
JOURNALS = {
    "aj": "AJ", "actaa": "Acta Astron.", "araa": "ARA&A", "apj": "ApJ", "apjl": "ApJ", "apjlett": "ApJ", "apjs": "ApJS", "apjsupp": "ApJS",
    "ao": "Appl. Opt.", "applopt": "Appl. Opt.", "apss": "Ap&SS", "aap": "A&A", "astap": "A&A", "aapr": "A&A Rev.", "aaps": "A&AS",
    "azh": "AZh", "baas": "BAAS", "bac": "Bull. Astr. Inst. Czechosl.", "caa": "Chinese Astron. Astrophys.",
    "cjaa": "Chinese J. Astron. Astrophys.", "icarus": "Icarus", "jcap": "J. Cosmology Astropart. Phys.", "jrasc": "JRASC",
    "mnras": "MNRAS", "memras": "MmRAS", "na": "New A", "nar": "New A Rev.", "pasa": "PASA", "pra": "Phys. Rev. A", "prb": "Phys. Rev. B",
    "prc": "Phys. Rev. C", "prd": "Phys. Rev. D", "pre": "Phys. Rev. E", "prl": "Phys. Rev. Lett.", "pasp": "PASP", "pasj": "PASJ",
    "qjras": "QJRAS", "rmxaa": "Rev. Mexicana Astron. Astrofis.", "skytel": "S&T", "solphys": "Sol. Phys.", "sovast": "Soviet Ast.",
    "ssr": "Space Sci. Rev.", "zap": "ZAp", "nat": "Nature", "iaucirc": "IAU Circ.", "aplett": "Astrophys. Lett.",
    "apspr": "Astrophys. Space Phys. Res.", "bain": "Bull. Astron. Inst. Netherlands", "fcp": "Fund. Cosmic Phys.",
    "gca": "Geochim. Cosmochim. Acta", "grl": "Geophys. Res. Lett.", "jcp": "J. Chem. Phys.", "jgr": "J. Geophys. Res.",
    "jqsrt": "J. Quant. Spectrosc. Radiat. Transfer", "memsai": "Mem. Soc. Astron. Italiana", "nphysa": "Nucl. Phys. A",
    "physrep": "Phys. Rep.", "physscr": "Phys. Scr.", "planss": "Planet. Space Sci.", "procspie": "Proc. SPIE", "psj": "PSJ",
    "jaavso": "JAAVSO", "jgre": "J. Geophys. Res. Planets", "epsl": "Earth Planet. Sci. Lett.",
}  # fmt: skip
"""journal abbreviations of AASTeX, MNRAS and A&A: name of the macro → printed text"""
IN_TEXT = (
    *find_definitions(_IN_TEXT),
    *(
        Definition(name, f"\\providecommand{{\\{name}}}{{{text.replace('&', chr(92) + '&')}}}", 0, 0)
        for name, text in JOURNALS.items()
    ),
)
"""definitions for the text and the bibliography"""
IN_ENTRIES = (
    r"""
\renewcommand{\newblock}{BLOCK}\providecommand{\newblock}{BLOCK}\providecommand{\natexlab}[1]{#1}\providecommand{\bibnamefont}[1]{#1}
\providecommand{\bibfnamefont}[1]{#1}\providecommand{\citenamefont}[1]{#1}\providecommand{\bibinfo}[2]{FIELD#1VALUE#2END}
\providecommand{\bibfield}[2]{#2}
\providecommand{\BibitemOpen}{}\providecommand{\BibitemShut}[1]{}\providecommand{\bibitemNoStop}{}\providecommand{\bibitemStop}{}
\providecommand{\EOS}{}
\providecommand{\urlprefix}{URL }\providecommand{\eprint}[2][]{FIELD eprintVALUE#2END}\providecommand{\eprintnumber}[1]{#1}
\providecommand{\DOIprefix}{doi:}
\providecommand{\showarticletitle}[1]{FIELD titleVALUE#1END}\providecommand{\showURL}[1]{#1}\providecommand{\showDOI}[1]{#1}
\providecommand{\showISBN}[1]{}\providecommand{\showISSN}[1]{}
\providecommand{\bibcomma}{,}\providecommand{\bibsemi}{;}\providecommand{\bibauthor}[1]{FIELD authorVALUE#1END}
\providecommand{\bibtitle}[1]{FIELD titleVALUE#1END}
\providecommand{\bysame}{———}\providecommand{\MR}[1]{}\providecommand{\MRhref}[2]{}\providecommand{\Capitalize}[1]{#1}
\providecommand{\capitalize}[1]{#1}
\providecommand{\enquote}[1]{“#1”}\providecommand{\bibemph}[1]{\emph{#1}}\providecommand{\APACrefYear}[1]{(#1)}
\providecommand{\APACinsertmetastar}[1]{}
\providecommand{\APACrefYearMonthDay}[3]{(#1)}\providecommand{\APACrefbtitle}[2]{\emph{#1}}
\providecommand{\APACrefatitle}[2]{FIELD titleVALUE#1END}
\providecommand{\APACjournalVolNumPages}[4]{\emph{#1}, #2, #4}\providecommand{\APACaddressPublisher}[2]{#2}\providecommand{\BBA}{and}
\providecommand{\BPBI}{. }
\providecommand{\BIBentryALTinterwordspacing}{}
\providecommand{\BIBentrySTDinterwordspacing}{}
\providecommand{\bibrangedash}{--}\providecommand{\citenamefont}[1]{#1}\providecommand{\hrefnoop}[2]{#2}\providecommand{\BIBdecl}{}
\providecommand{\translation}[1]{#1}
""".replace("FIELD ", FIELD)
    .replace("FIELD", FIELD)
    .replace("VALUE", VALUE)
    .replace("END", END)
    .replace("BLOCK", BLOCK)
)
"""definitions for the bibliography only: they mark the fields of its entries"""
