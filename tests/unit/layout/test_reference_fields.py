"""The fields of reference strings in real papers are the fields that a human reader finds."""

from __future__ import annotations

import pytest

from pdf2tei.fields import parse_reference


@pytest.mark.parametrize(
    ("raw", "title", "journal"),
    [
        pytest.param(
            "Huynh, D. C., & Nair, N. (2015). Economic dispatch integrating wind power generation farms using cuckoo search "
            "algorithm. 2015 IEEE Innovative Smart Grid Technologies - Asia (ISGT ASIA).",
            "Economic dispatch integrating wind power generation farms using cuckoo search algorithm", None,
            id="a conference with a year in front",
        ),
        pytest.param(
            "[1]J. D. Achelis, “Untersuchungen über die Hautsensibilität,” Pflügers Archiv für die Gesamte Physiologie des Menschen "
            "und der Tiere, vol. 242, no. 5, pp. 644–664, Nov. 1939.",
            "Untersuchungen über die Hautsensibilität",
            "Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere",
            id="a quotation before the journal",
        ),
        pytest.param(
            "Richter, Friedrich. 1936. “Rückblick.” Kurze Anleitung zur Orientierung in Beilsteins Handbuch der Organischen Chemie: 21–23.",
            "Rückblick", None,
            id="a stop inside the quotation",
        ),
        pytest.param(
            "Rate Your Plate. (1988). Journal of Nutrition Education, 20(5), 267.",
            "Rate Your Plate", "Journal of Nutrition Education",
            id="no author",
        ),
        pytest.param(
            "[1]“CBS News Callback Poll for CBS News/New York Times June 2004 Monthly Poll, July 2004,” ICPSR Data Holdings, Feb. 2005.",
            "CBS News Callback Poll for CBS News/New York Times June 2004 Monthly Poll, July 2004", None,
            id="dates inside the quotation",
        ),
        pytest.param(
            "Price, I. N. O., & King, A. J. (1934). TREATMENT OF ACUTE GONORRHOEA BY MEANS OF A NEW GONOCOCCAL VACCINE OF LOW TOXICITY. "
            "BMJ, 1(3825), 748–752.",
            "TREATMENT OF ACUTE GONORRHOEA BY MEANS OF A NEW GONOCOCCAL VACCINE OF LOW TOXICITY", "BMJ",
            id="capitals that are no names",
        ),
        pytest.param("A. M. Polyakov, Phys. Lett. B 103, 207 (1981).", "", "Phys. Lett. B", id="physics omits the title"),
        pytest.param("Skegg K (2005) Self-harm. Lancet 366(9495):1471-1483", "Self-harm", "Lancet", id="a short title"),
        # The title ends before the beginning of its journal.
        pytest.param(
            "Raut, J.S.; Karuppayil, S.M. A status review on the medicinal properties of essential oils. Ind. Crops Prod. "
            "2014, 62, 250–264.",
            "A status review on the medicinal properties of essential oils", "Ind. Crops Prod",
            id="an abbreviated word of the journal",
        ),
        pytest.param(
            "Kilani-Jaziri, S., Bhouri, W. & Ghedira, K. Phytochemical, antimicrobial, antioxidant and antigenotoxic potentials of "
            "Cyperus rotundus extracts. S. Afr. J. Bot. 77, 767–776 (2011).",
            "Phytochemical, antimicrobial, antioxidant and antigenotoxic potentials of Cyperus rotundus extracts", "S. Afr. J. Bot",
            id="two abbreviated words",
        ),
        pytest.param(
            "Henriksen A and Bechmann A (2020) Building truths in AI: Making predictive algorithms doable in healthcare. Information, "
            "Communication & Society 23(6): 802–816.",
            "Building truths in AI: Making predictive algorithms doable in healthcare", "Information, Communication & Society",
            id="the first of several nouns",
        ),
        pytest.param(
            "L. Razumovskii, V. Markin, and G. Y. Zaikov, 'Sorption of water by aliphatic polyamides. Review', Polym. Sci. USSR, "
            "27, 751 (1985).",
            "Sorption of water by aliphatic polyamides. Review", "Polym. Sci. USSR",
            id="a kind of article belongs to the title",
        ),
        pytest.param(
            "Rajan, M. B. & Kannabiran, K. Extraction and identification of antibacterial secondary metabolites from marine "
            "Streptomyces sp. VITBRK2. Int J Mol Cell Med. 3(3), 130–137 (2014).",
            "Extraction and identification of antibacterial secondary metabolites from marine Streptomyces sp. VITBRK2",
            "Int J Mol Cell Med",
            id="a strain belongs to the title",
        ),
        pytest.param(
            "Cohen D: Rosiglitazone: what went wrong? BMJ 2010, 341:c4848.",
            "Rosiglitazone: what went wrong?", "BMJ",
            id="a journal before the date",
        ),
        pytest.param(
            "Pirbalouti AG, Hashemi M, Ghahfarokhi FT. Essential oil and chemical compositions of wild and cultivated Thymus "
            "daenensis Celak and Thymus vulgaris L. Industrial Crops and Products. 2013; 48: 43-48.",
            "Essential oil and chemical compositions of wild and cultivated Thymus daenensis Celak and Thymus vulgaris L",
            "Industrial Crops and Products",
            id="a journal after the author of a species",
        ),
        # The title begins after the authors.
        pytest.param(
            "Thompson, J.D.; Higgins, D.G.; Gibson, T.J. CLUSTAL W: Improving the sensitivity of progressive multiple sequence "
            "alignment through sequence weighting. Nucleic Acids Res. 1994, 22, 4673–4680.",
            "CLUSTAL W: Improving the sensitivity of progressive multiple sequence alignment through sequence weighting",
            "Nucleic Acids Res",
            id="words before a colon",
        ),
        pytest.param(
            "Eujayl I, Sledge MK, Mian MAR: Medicago truncatula EST-SSRs reveal cross-species genetic markers. Theoretical and "
            "Applied Genetics 2004, 108:414-422.",
            "Medicago truncatula EST-SSRs reveal cross-species genetic markers", "Theoretical and Applied Genetics",
            id="names before a colon",
        ),
        pytest.param(
            "Walker JB, Sytsma KJ, Treutlein J, Wink M. Salvia (Lamiaceae) is not monophyletic: implications for the systematics, "
            "radiation, and ecological specializations of Salvia and tribe Mentheae. Am J Bot. 2004;91: 1115–25.",
            "Salvia (Lamiaceae) is not monophyletic: implications for the systematics, radiation, and ecological specializations of "
            "Salvia and tribe Mentheae",
            "Am J Bot",
            id="a word before a bracket",
        ),
        pytest.param(
            "Dordevic S, Petrovic S, Zizic S and Kukić J. Antimicrobial, anti-inflammatory, anti-ulcer and antioxidant activities of "
            "Carlina acanthifolia root essential oil. J. Ethnopharmacol. (2007) 109: 458- 63.",
            "Antimicrobial, anti-inflammatory, anti-ulcer and antioxidant activities of Carlina acanthifolia root essential oil",
            "J. Ethnopharmacol",
            id="a word before a comma",
        ),
        pytest.param(
            "The National Lung Screening Trial Research Team. Results of initial low-dose computed tomographic screening for lung "
            "cancer. N Engl J Med 2013;368:1980–91.",
            "Results of initial low-dose computed tomographic screening for lung cancer", "N Engl J Med",
            id="a group is no title",
        ),
        # The title continues to the end of its sentence.
        pytest.param(
            "Viennet E, Ritchie S, Harley D. Epidemiology of dengue in a high-income country: a case study in Queensland, Australia. "
            "Parasites & Vectors. 2014; 7(1):379.",
            "Epidemiology of dengue in a high-income country: a case study in Queensland, Australia", "Parasites & Vectors",
            id="a country",
        ),
        pytest.param(
            "MacMahon H, Naidich DP, Goo JM, et al. Guidelines for management of incidental pulmonary nodules detected on CT images: "
            "from the fleischner society 2017. Radiology 2017;284:228–43.",
            "Guidelines for management of incidental pulmonary nodules detected on CT images: from the fleischner society 2017",
            "Radiology",
            id="a year",
        ),
        # The title ends before its book.
        pytest.param(
            "M.M. Soumanou, E.S. Adjou, Sweet fennel (Ocimum gratissimum) oils, in Essential Oils in Food Preservation, Flavor and "
            "Safety, ed. by V.R. Preedy (Academic Press, Cambridge, 2016), pp. 765–773",
            "Sweet fennel (Ocimum gratissimum) oils", "",
            id="a book after a comma",
        ),
        pytest.param(
            "Zhu, X., Rottkamp, C. A., Perry, G., and Smith, M. A. (2001). Activation of MKK6, an upstream activator of p38, in "
            "Alzheimer's disease. J. Neurochem. 79, 311-318.",
            "Activation of MKK6, an upstream activator of p38, in Alzheimer's disease", "J. Neurochem",
            id="`in` inside the title of an article",
        ),
    ],
)  # fmt: skip
def test_reference_has_its_fields(raw: str, title: str, journal: str | None) -> None:
    found = parse_reference(raw)
    assert found.title == title
    assert journal is None or found.journal == journal


@pytest.mark.parametrize(
    ("raw", "title", "is_book"),
    [
        pytest.param(
            "Reische D, Lillard D and Eitenmiller R. Antioxidants in food lipids. In: Ahoh CC and Min DB (ed). Chemistry, nutrition "
            "and biotechnology. New York, Marcel Dekker (1998) 423- 48.",
            "Antioxidants in food lipids", False,
            id="a chapter",
        ),
        pytest.param(
            "M. Najork, J. L. Wiener, Breadth-first crawling yields high-quality pages, in: Proc. WWW, 2001, pp. 114–118.",
            "Breadth-first crawling yields high-quality pages", False,
            id="a paper of a conference",
        ),
        pytest.param(
            "Nathan Gavenski, Juarez Monteiro, and Rodrigo C. Barros. 2022. How Resilient Are Imitation Learning Methods to "
            "Sub-optimal Experts?. In Intelligent Systems, João Carlos Xavier-Junior (Eds.). Springer, Cham, 449–463.",
            "How Resilient Are Imitation Learning Methods to Sub-optimal Experts?", False,
            id="a paper with a publisher",
        ),
        pytest.param(
            "E. Russo, Handbook of Psychotropic Herbs: A Scientific Analysis of Herbal Remedies for Psychiatric Conditions, Haworth "
            "Herbal Press, Binghamton, NY, USA, 2001.",
            "Handbook of Psychotropic Herbs: A Scientific Analysis of Herbal Remedies for Psychiatric Conditions", True,
            id="a book with a publisher",
        ),
        pytest.param(
            "H. Lorenzi, Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil, 2nd edition, 2008.",
            "Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil", True,
            id="a book with an edition",
        ),
    ],
)  # fmt: skip
def test_part_of_a_book_is_no_book(raw: str, title: str, is_book: bool) -> None:
    found = parse_reference(raw)
    assert (found.title, found.monograph) == (title, is_book)


@pytest.mark.parametrize(
    ("raw", "year"),
    [
        ("[1]J. D. Achelis, “Untersuchungen,” Pflügers Archiv, vol. 242, no. 5, pp. 644–664, Nov. 1939.", "1939"),
        ("P. Bedaque, U. van Kolck, Phys. Lett. B 428 (1998) 221.", "1998"),
        ("Skegg K (2005) Self-harm. Lancet 366(9495):1471-1483", "2005"),
    ],
)
def test_reference_has_its_year(raw: str, year: str) -> None:
    assert parse_reference(raw).year == year
