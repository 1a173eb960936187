"""The automatic comparison of S2ORC's Appendix D agrees with a reader on sixty pairs of titles and author lists from
sources, PDFs and bibliographies.

The pairs were written by hand from real records and papers. A reader decided by the criteria which pairs are equal; the
code did not.
"""

from __future__ import annotations

import pytest

from s2corpus.papers.comparison import authors_match, authors_overlap, titles_match
from s2corpus.rules.evaluation import EvaluationRules
from s2orc_parse.bibliography.names import parse_authors

TITLES = [
    # case, white space, line ends
    ("Placental programming of blood pressure in Indian children",
     "PLACENTAL PROGRAMMING OF BLOOD PRESSURE IN INDIAN CHILDREN", True),
    ("IBUPROFEN IN THE MANAGEMENT OF OSTEOARTHROSIS OF THE HIP",
     "Ibuprofen in the Management of Osteoarthrosis of the Hip", True),
    ("Deep contextualized word representations", "Deep Contextualized\n  Word Representations", True),
    ("S2ORC: The Semantic Scholar Open Research Corpus", "S 2 ORC : The Semantic Scholar Open Research Corpus", True),
    # dashes, quotes, full stops
    ("Resection arthroplasty for luxation of the manubrio-sternal joint in rheumatoid arthritis—a case report",
     "Resection arthroplasty for luxation of the manubrio-sternal joint in rheumatoid arthritis-a case report", True),
    ("Gambling in a rigged casino: the adversarial multi-armed bandit problem",
     "'Gambling in a rigged casino: The adversarial multi-armed bandit problem,'", True),
    ("Cryptographic primitives based on hard learning problems", "Cryptographic primitives based on hard learning problems.", True),
    # Greek letters spelled, and as markup
    ("Urinary α-l-fucosidase in cystic fibrosis", "Urinary alpha-L-fucosidase in cystic fibrosis", True),
    ("The Q2 dependence of dijet cross sections in γp interactions at HERA",
     "The Q<sup>2</sup> dependence of dijet cross sections in gamma p interactions at HERA", True),
    ("Switch from θ to σ replication of bacteriophage λ DNA: factors involved in the process and a model for its regulation",
     "Switch from theta to sigma replication of bacteriophage lambda DNA: factors involved in the process and a model for its regulation",
     True),
    ("Effect of MgO promoter on Ru/γ-Al2O3 Catalysts for Tricyclopentadiene Hydrogenation",
     "Effect of MgO Promoter on Ru/$\\gamma$-Al$_2$O$_3$ Catalysts for Tricyclopentadiene Hydrogenation", True),
    ("Antiferromagnetism and low-temperature specific heat of β-Mn1−xIrx alloys",
     "Antiferromagnetism and low-temperature specific heat of β-Mn<sub>1−x</sub>Ir<sub>x</sub> alloys", True),
    ("A Combined Refolding Technique for Recombinant Human Interferon-γ Inclusion Bodies",
     "A combined refolding technique for recombinant human interferon-gamma inclusion bodies", True),
    ("Characterization of sources of 2π phase discontinuity in speckle interferograms",
     "Characterization of sources of 2&pi; phase discontinuity in speckle interferograms", True),
    # accents, ligatures, entities
    ("Die bikolorierte Mastixreaktion und über die allgemeine diagnostische Bedeutung der Kolloidreaktionen",
     "Die bikolorierte Mastixreaktion und u\u0308ber die allgemeine diagnostische Bedeutung der Kolloidreaktionen", True),
    ("Efficient flow cytometry of ofﬁce workﬂows", "Efficient flow cytometry of office workflows", True),
    ("Science & Technology Studies of peer review", "Science and technology studies of peer review", True),
    ("Über Flüssigkeitströmungen", "Uber Flussigkeitstromungen", True),
    # other works, or text that is not the title
    ("Factors affecting γ-linolenic acid content in fermented glutinous rice brewed by Rhizopus sp.",
     "Factors affecting α-linolenic acid content in fermented glutinous rice brewed by Rhizopus sp.", False),
    ("Pi sampling: a methodical and flexible approach to initial macromolecular crystallization screening",
     "Biological Crystallography Pi sampling: a methodical and flexible approach to initial macromolecular crystallization screening",
     False),
    ("3-Allyl-1-{[3-(4-nitrophenyl)-4,5-dihydro-1,3-oxazol-5-yl]methyl}-1H-anthra[1,2-d]imidazole-2,6,11(3H)-trione",
     "APEX2, SAINT-Plus and SADABS", False),
    ("Visualization and assessment of saccular duct and endolymphatic sinus",
     "Visualization and assessment of saccular duct", False),
    ("Neural Machine Translation by Jointly Learning to Align and Translate",
     "Neural machine translation by jointly learning to align", False),
    ("BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
     "Pre-training of Deep Bidirectional Transformers for Language Understanding", False),
    ("GROBID: Combining automatic bibliographic data recognition and term extraction for scholarship publications",
     "Grobid - Combining Automatic Bibliographic Data Recognition and Term Extraction for Scholarship Publications", True),
    ("unarXive: a large scholarly data set with publications' full-text, annotated in-text citations, and links to metadata",
     "unarXive: A Large Scholarly Data Set with Publications’ Full-Text, Annotated In-Text Citations, and Links to Metadata", True),
    ("Weakly learning DNF and characterizing statistical query learning using Fourier analysis",
     "Weakly learning DNF and characterizing statistical query learning using Fourier analyses", False),
    ("Grain boundaries of recycled pellets: Part I", "Grain boundaries of recycled pellets: Part II", False),
    ("Camera trocar lifting in office gasless laparoscopic sterilization under local anesthesia",
     "Camera trocar lifting in office gasless laparoscopic sterilization under local anaesthesia", False),
    ("Attention Is All You Need", None, None),
]  # fmt: skip

IN_ORDER = [
    # initials, middle names, titles, degrees
    ("Marloes W J L Schmitz, Maarten C de Waal Malefijt, Hedwig A E M van Heereveld",
     "MWJL Schmitz, MC de Waal Malefijt, HAEM van Heereveld", True),
    ("Fabrice Gorrec, Colin M. Palmer, Guillaume Lebon, Tony Warne", "F. Gorrec, C. M. Palmer, G. Lebon, T. Warne", True),
    ("M Broman, O Carlsson, H Friberg, A Wieslander, G Godaly", "M. BROMAN, O. CARLSSON, H. FRIBERG, A. WIESLANDER, G. GODALY", True),
    ("Bodil Schmidt-Nielsen, Bent Schmidt-Nielsen", "Bodil Schmidt Nielsen, Bent Schmidt Nielsen", True),
    ("Lucy Lu Wang, Kyle Lo, Yoganand Chandrasekhar", "Lucy Wang, Kyle Lo, Yoganand Chandrasekhar", True),
    ("Magdalena Narajczyk, Sylwia Barańska, Alicja Węgrzyn, Grzegorz Węgrzyn",
     "Magdalena Narajczyk, Sylwia Baranska, Alicja Wegrzyn, Grzegorz Wegrzyn", True),
    ("Michael Färber, Tarek Saier", "Michael Faerber, Tarek Saier", True),
    ("Zhihong Shen, Hao Ma, Kuansan Wang", "Shen Zhihong, Ma Hao, Wang Kuansan", True),
    ("Dr. Louise Wichmann Matthiessen, Richard Ling Chalmers", "Louise Wichmann Matthiessen, Richard Chalmers", True),
    ("Jean-Pierre Changeux, Stanislas Dehaene", "J.-P. Changeux, S. Dehaene", True),
    # another person, a missing person, another order
    ("Avrim Blum, Merrick Furst, Michael Kearns, Richard J. Lipton", "Avrim Blum, Merrick Furst, Michael Kearns", False),
    ("Hideo Yamane, Masahiro Takayama, Kishiko Sunami", "Masahiro Takayama, Hideo Yamane, Kishiko Sunami", False),
    ("Bo S. Bergström", "Acta Obstetricia, Bo Bergström", False),
    ("Yuki Sato, Aditya Joshi, Richard Packard", "Yuki Sato, Anil Joshi, Richard Packard", False),
    ("Nicola R Winder, Ghattu V Krishnaveni", "", None),
]  # fmt: skip

OVERLAPPING = [
    ("Peter Auer, Nicolò Cesa-Bianchi, Yoav Freund, Robert E. Schapire", "P. Auer, N. Cesa-Bianchi, Y. Freund, R. E. Schapire", True),
    ("A. Blum, M. Furst, J. Jackson", "Avrim Blum, Merrick Furst", True),
    ("Jacob Devlin", "Jacob Devlin, Ming-Wei Chang, Kenton Lee, Kristina Toutanova", True),
    ("S. W. Gray, K. Armstrong, A. DeMichele", "Stacy W. Gray, Katrina Armstrong, Angela DeMichele, Robert C. Hornik", True),
    ("B. D. Owen-Smith, H. C. Burry", "B. D. OWEN-SMITH, H. C. BURRY", True),
    ("E. v. Thurzó", "E. Thurzó", True),
    ("Matthew Peters, Mark Neumann, Wen-tau Yih", "Matthew E. Peters, Mark Neumann, Luke Zettlemoyer, Wen-tau Yih", True),
    ("S. J. Siegel, W. F. Line, N. S.-T. Yang, A. Kwong, C. Frank", "SJ Siegel, WF Line, NS Yang, A Kwong, C Frank", True),
    ("J. Breitweg, S. Chekanov", "J. Breitweg, S. Chekanov, M. Derrick, D. Krakauer, S. Magill", True),
    ("G. C. Rossi, M. Siccardi", "G. Rossi, M. Siccardi, Ya. S. Stanev, K. Yoshida", True),
    ("T. Mikolov, K. Chen", "Jeffrey Pennington, Richard Socher, Christopher Manning", False),
    ("Iz Beltagy, Kyle Lo, Arman Cohan", "Waleed Ammar, Dirk Groeneveld, Kyle Bhagavatula", False),
    ("A. Vaswani, N. Shazeer, N. Parmar, J. Uszkoreit", "Ashish Vaswani, Samy Bengio, Eugene Brevdo, Francois Chollet", False),
    ("J. Smith", "Jane Smythe", False),
    ("", "Henry Small", None),
]  # fmt: skip


def test_there_are_sixty_pairs() -> None:
    assert len(TITLES) + len(IN_ORDER) + len(OVERLAPPING) == 60


@pytest.mark.parametrize(("one", "other", "same"), TITLES)
def test_title_pairs_match_as_a_reader_decides(one: str, other: str | None, same: bool | None) -> None:
    assert titles_match(one, other) is same
    assert titles_match(other, one) is same


@pytest.mark.parametrize(("ours", "printed", "same"), IN_ORDER)
def test_ordered_author_lists_match_as_a_reader_decides(ours: str, printed: str, same: bool | None) -> None:
    assert authors_match(_names(ours), _names(printed)) is same


@pytest.mark.parametrize(("entry", "paper", "same"), OVERLAPPING)
def test_author_lists_overlap_as_a_reader_decides(entry: str, paper: str, same: bool | None) -> None:
    assert authors_overlap(_names(entry), _names(paper), EvaluationRules().author_overlap) is same


def _names(text: str) -> list[dict[str, object]]:
    return [author.name() for author in parse_authors(text)]
