"""The automatic comparison on forty more pairs, from records that were not used to develop it. They are duplicates of
two libraries (systematic reviews, DBLP and ACM), and publishers' XML and a real GROBID's output for the same
articles.

Both sides were read and marked by Appendix D before the rule was applied; the rule then agreed on 39 of the 40.
"""

from __future__ import annotations

import html

import pytest

from s2corpus.papers.comparison import authors_match, authors_overlap, titles_match
from s2corpus.rules.evaluation import EvaluationRules
from s2orc_parse.bibliography.names import parse_authors

TITLES = [
    ("The REACH Active OODBMS", "The REACH active OODBMS", True),
    ("The X-tree : An Index Structure for High-Dimensional Data", "The X-tree: An Index Structure for High-Dimensional Data", True),
    ("[Pathophysiology and treatment of paroxysmal nocturnal hemoglobinuria (PNH)--recent advances]. [Japanese]",
     "Pathophysiology and treatment of paroxysmal nocturnal hemoglobinuria (PNH)--recent advances. [Japanese]", True),
    ("Human papillomavirus testing for suspected cervical cancer patients from Southern Assam by fast-PCR",
     "Human papillomavirus testing for suspected cervical cancer patients from Southern Assam by Fast-PCR", True),
    ("Human Papillomavirus genotype testing combined with cytology as a 'test of cure' post treatment: The importance of a persistent"
     " viral infection",
     "Human Papillomavirus genotype testing combined with cytology as a ‘test of cure’ post treatment: the importance of a persistent"
     " viral infection", True),
    ("The efficacy and safety of indocyanine green-hyaluronic acid mixture (LuminoMark™) for localization",
     "The efficacy and safety of indocyanine green-hyaluronic acid mixture (LuminoMark ™ ) for localization", True),
    ("External validity of phase III trials on vaccines against SARS-CoV-2 to a middle-aged and elderly Western European population",
     "External validity of phase III trials on vaccines against SARS‑CoV‑2 to a middle‑aged and elderly Western European population", True),
    ("Effects of α-pinene on the mitochondrial respiration of maize seedlings",
     "EFFECTS OF ALPHA-PINENE ON THE MITOCHONDRIAL RESPIRATION OF MAIZE SEEDLINGS", True),
    ("3-Allyl-1-{[3-(4-nitro\u00adphen\u00adyl)-4,5-dihydro-1,3-oxazol-5-yl]meth\u00adyl}-1<italic>H</italic>-anthra[1,2-<italic>d</italic>]"
     "imidazole-2,6,11(3<italic>H</italic>)-trione",
     "3-Allyl-1-{[3-(4-nitrophenyl)-4,5-dihydro-1,3-oxazol-5-yl]methyl}-1H-anthra[1,2-d]imidazole-2,6,11(3H)-trione", True),
    # a note of the library, another notice, a misprint, a banner, a truncated title
    ("Posttreatment human papillomavirus testing for recurrent cervical intraepithelial neoplasia: a systematic review",
     "Posttreatment human papillomavirus testing for recurrent cervical intraepithelial neoplasia: a systematic review. [Review] [55 refs]",
     False),
    ("Eculizumab for Atypical Hemolytic–Uremic Syndrome",
     "Eculizumab for Atypical Hemolytic-Uremic Syndrome (vol 360, pg 542, 2009)", False),
    ("Atypical squamous cells, cannot exlude high grade intraepithelial lesion (ASC-H): Does HPV matter?",
     "Atypical squamous cells, cannot exclude high grade intraepithelial lesion (ASC-H): does HPV matter?", False),
    ("Refolding, crystallization and preliminary X-ray crystallographic study of the whole extracellular regions of nectins",
     "Structural Biology and Crystallization Communications Refolding, crystallization and preliminary X-ray crystallographic study of the"
     " whole extracellular regions of nectins", False),
    ("A single nucleotide polymorphism within the acetyl-coenzyme A carboxylase beta gene is associated with proteinuria",
     "The acetyl-coenzyme A carboxylase beta (", False),
]  # fmt: skip

IN_ORDER = [
    # initials for names, missing middle initials, hyphens in initials
    ("Bouts, A. and Monnens, L. and Davin, J. C. and Struijk, G. and Spanjaard, L.",
     "Bouts, Antonia and Monnens, Leo and Davin, Jean Claude and Struijk, Geertrude and Spanjaard, Lodewijk", True),
    ("Nuernberger, Jens and Witzke, Oliver and Rother, Russell P. and Philipp, Thomas and Vester, Udo and Baba, Hideo and Zimmerhackl,"
     " Lothar Bemd and Kribben, Andreas",
     "Nuernberger, J. and Witzke, O. and Rother, R. P. and Philipp, T. and Vester, U. and Baba, H. and Zimmerhackl, L. B. and Kribben, A.",
     True),
    ("Kavanagh, D. and Goodship, T. H. J. and Richards, A.", "Kavanagh, D. and Goodship, T. H. and Richards, A.", True),
    ("Hrushesky, W J M and Sothern, R B and Rietveld, W J and Du, Quiton J and Boon, M E",
     "Hrushesky, W J and Sothern, R B and Rietveld, W J and Du, Quiton J and Boon, M E", True),
    ("Lorenzato, M and Clavel, C and Masure, M and Nou, J.-M. and Bouttens, D and Evrard, G and Bory, J.-P.",
     "Lorenzato, M and Clavel, C and Masure, M and Nou, J M and Bouttens, D and Evrard, G and Bory, J P", True),
    ("Rozendaal, L and Westerga, J and van der Linden, J C and Walboomers, J M M and Meijer, C.J.L.M.",
     "Rozendaal, L and Westerga, J and van der Linden, J C and Walboomers, J M and Meijer, C J", True),
    ("Mollnes, T. E. and Jokiranta, T. S. and Rodriguez de, Cordoba S. and Kirschfink, M.",
     "Mollnes, T. E. and Jokiranta, T. S. and Rodriguez de Cordoba, S. and Kirschfink, M.", True),
    pytest.param(
        "Koskinen, A. and Makisalo, H. and Hockerstedt, K. and Isoniemi, H.",
        "Koskinen, A. and Makisalo, H. and Hckerstedt, K. and Isoniemi, H.", True,
        marks=pytest.mark.xfail(strict=True, reason="a surname that lost a letter is another to the rule: a person marks it"),
    ),
    ("Winder, Nicola R and Krishnaveni, Ghattu V and Karat, Chitra LS and Fall, Caroline HD and Barker, David JP",
     "Nicola R Winder, Ghattu V Krishnaveni, Chitra Ls Karat, Caroline Hd Fall, David Jp Barker", True),
    # another order; one person or a group missing; only one person left; a heading treated as a name
    ("Jennifer Widom, Chris Olston, Jing Jiang", "Chris Olston, Jing Jiang, Jennifer Widom", False),
    ("H. V. Jagadish, Kian-Lee Tan, Hui Jin, Beng Chin Ooi", "H. V. Jagadish, Hui Jin, Beng Chin Ooi, Kian-Lee Tan", False),
    ("Ghosh, S K and Mondal, R and Singh, M and Singh, M and Duttagupta, S",
     "Ghosh, S K and Mondal, R and Singh, M and Duttagupta, S", False),
    ("Saland, J. M. and Ruggenenti, P. and Remuzzi, G. and Consensus Study, Group",
     "Saland, J. M. and Ruggenenti, P. and Remuzzi, G.", False),
    ("Nürnberger, Jens and Philipp, Thomas and Witzke, Oliver and Kribben, Andreas", "Philipp, T.", False),
    ("Afrakssou, Zahra and Haoudi, Amal and Capet, Frédéric", "References Afrakssou, Z. and Rodi, Y. K. and Zouihri, H.", False),
    ("Schmitz, Marloes W J L and de Waal Malefijt, Maarten C and van Heereveld, Hedwig A E M",
     "Marloes W J L Schmitz, Maarten C De Waal Malefijt, Hedwig A, E M Van Heereveld", False),
]  # fmt: skip

OVERLAPPING = [
    ("Dao-I Lin, Peter Piatko, Roman Yangarber, Dennis Shasha", "Peter Piatko, Roman Yangarber, Daoi Lin, Dennis Shasha", True),
    ("Joel H. Saltz, John Burgess, Felipe Cariño, William O'Connell",
     "Felipe Cari&#241;o, William O'Connell, John Burgess, Joel H. Saltz", True),
    ("Philipp, T.", "Nürnberger, Jens and Philipp, Thomas and Witzke, Oliver and Kribben, Andreas", True),
    ("Shichishima, A. and Shichishima, T.", "Shichishima, A. and Shichishima, T. and Study Group of Tohoku Hematology, Forum", True),
    ("Kruger R, Kuhn W, Muller T, Woitalla D", "Krüger, Rejko and Kuhn, Wilfried and Müller, Thomas", True),
    ("ABRAHIM, D., FRANCISCHINI, A. C., PERGO, E. M., KELMER-BRACHT, A. M., and ISHII-IWAMOTO, E. L.",
     "Denise Abrahim, Alessandra C. Francischini, Erica M. Pergo, Ana M. Kelmer-Bracht, Emy L. Ishii-Iwamoto", True),
    ("Jokiranta, T. S. and Zipfel, P. F. and Fremeaux-Bacchi, V. and Taylor, C. M. and Goodship, T. J. H. and Noris, M.",
     "Koskinen, A. and Tukiainen, E. and Nordin, A. and Makisalo, H. and Nilsson, B. and Jokiranta, S.", False),
    ("Bouts, A. and Monnens, L. and Davin, J. C.", "Saland, J. M. and Ruggenenti, P. and Remuzzi, G.", False),
    ("Yirong Xu, Rakesh Agrawal, Amit Somani", "H. V. Jagadish, Kian-Lee Tan, Hui Jin, Beng Chin Ooi", False),
    ("Maeda S, Kobayashi M, Araki S, Babazono T", "Tang SC, Leung VT, Chan LY, Wong SS", False),
]  # fmt: skip


def test_there_are_forty_pairs() -> None:
    assert len(TITLES) + len(IN_ORDER) + len(OVERLAPPING) == 40


@pytest.mark.parametrize(("one", "other", "same"), TITLES)
def test_unseen_title_pairs_match_as_a_reader_decides(one: str, other: str, same: bool) -> None:
    assert titles_match(one, other) is same
    assert titles_match(other, one) is same


@pytest.mark.parametrize(("ours", "printed", "same"), IN_ORDER)
def test_unseen_ordered_author_lists_match_as_a_reader_decides(ours: str, printed: str, same: bool) -> None:
    assert authors_match(_names(ours), _names(printed)) is same


@pytest.mark.parametrize(("entry", "paper", "same"), OVERLAPPING)
def test_unseen_author_lists_overlap_as_a_reader_decides(entry: str, paper: str, same: bool) -> None:
    assert authors_overlap(_names(entry), _names(paper), EvaluationRules().author_overlap) is same


def _names(text: str) -> list[dict[str, object]]:
    return [author.name() for author in parse_authors(html.unescape(text))]
