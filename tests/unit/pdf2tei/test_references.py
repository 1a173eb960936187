# ruff: noqa: E501 - strings as printed
"""The fields of reference strings in real papers are the fields that a human reader finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf2tei.references.crf import TokenLabel, label_references
from pdf2tei.references.dois import find_doi
from pdf2tei.references.fields import parse_reference, parse_reference_authors
from pdf2tei.references.tokens import columns, pieces


@pytest.mark.parametrize(
    ("raw", "title", "journal"),
    [
        ("[1]J. D. Achelis, “Untersuchungen über die Hautsensibilität,” Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere, vol. 242, no. 5, pp. 644–664, Nov. 1939.",
         "Untersuchungen über die Hautsensibilität", "Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere"),
        ("A. M. Polyakov, Phys. Lett. B 103, 207 (1981).",
         "", "Phys. Lett. B"),
        # The title ends before the beginning of its journal.
        ("Pirbalouti AG, Hashemi M, Ghahfarokhi FT. Essential oil and chemical compositions of wild and cultivated Thymus daenensis Celak and Thymus vulgaris L. Industrial Crops and Products. 2013; 48: 43-48.",
         "Essential oil and chemical compositions of wild and cultivated Thymus daenensis Celak and Thymus vulgaris L", "Industrial Crops and Products"),
        # The title begins after the authors.
        ("Thompson, J.D.; Higgins, D.G.; Gibson, T.J. CLUSTAL W: Improving the sensitivity of progressive multiple sequence alignment through sequence weighting. Nucleic Acids Res. 1994, 22, 4673–4680.",
         "CLUSTAL W: Improving the sensitivity of progressive multiple sequence alignment through sequence weighting", "Nucleic Acids Res"),
        # The title continues to the end of its sentence.
        ("Zhu, X., Rottkamp, C. A., Perry, G., and Smith, M. A. (2001). Activation of MKK6, an upstream activator of p38, in Alzheimer's disease. J. Neurochem. 79, 311-318.",
         "Activation of MKK6, an upstream activator of p38, in Alzheimer's disease", "J. Neurochem"),
    ],
)  # fmt: skip
def test_title_is_a_sentence_and_ends_before_its_journal(raw: str, title: str, journal: str | None) -> None:
    found = parse_reference(raw)
    assert (found.title, found.journal if journal is not None else None) == (title, journal)


@pytest.mark.parametrize(
    ("raw", "title", "is_book"),
    [
        ("Reische D, Lillard D and Eitenmiller R. Antioxidants in food lipids. In: Ahoh CC and Min DB (ed). Chemistry, nutrition and biotechnology. New York, Marcel Dekker (1998) 423- 48.",
         "Antioxidants in food lipids", False),  # a chapter
        ("M. Najork, J. L. Wiener, Breadth-first crawling yields high-quality pages, in: Proc. WWW, 2001, pp. 114–118.",
         "Breadth-first crawling yields high-quality pages", False),  # a paper of a conference
        ("H. Lorenzi, Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil, 2nd edition, 2008.",
         "Plantas Medicinais no Brasil: Nativas e Exóticas, Instituto Plantarum, Nova Odessa, Brazil", True),  # a book with an edition
    ],
)  # fmt: skip
def test_part_of_a_book_is_no_book(raw: str, title: str, is_book: bool) -> None:
    found = parse_reference(raw)
    assert (found.title, found.monograph) == (title, is_book)


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        ("Jian Wu, Kyle Williams, and C. Lee Giles. 2014. CiteSeerX: AI in a digital library search engine. In AAAI, pages 2930–2937.",
         {"title": "CiteSeerX: AI in a digital library search engine", "booktitle": "AAAI", "pages": "2930–2937", "year": "2014"}),
        ("Gallego JÁ, Pons JL. A neuroprosthesis for tremor management. J Neuroeng Rehabil. 2013;10(1):36. doi:10.1186/1743-0003-10-36",
         {"title": "A neuroprosthesis for tremor management", "volume": "10", "issue": "1", "doi": "10.1186/1743-0003-10-36"}),
        ("Lei Ba, J., Kiros, J. R., & Hinton, G. E. (2016). Layer normalization. arXiv:1607.06450.",
         {"title": "Layer normalization", "arxiv": "1607.06450", "year": "2016", "monograph": False}),
        ("Field A. Discovering statistics using IBM SPSS statistics. Los Angeles: SAGE; 2017.",
         {"title": "Discovering statistics using IBM SPSS statistics", "location": "Los Angeles", "publisher": "SAGE", "monograph": True}),
        # The American Chemical Society prints no titles; the journal follows the initials of the last author.
        ("Klinman, J. P. Acc. Chem. Res. 2013, 46, 1462.", {"title": "", "journal": "Acc. Chem. Res", "volume": "46", "year": "2013"}),
        ("Lee, H.; Kim, S. J. Org. Chem. 2011, 76, 1.", {"journal": "J. Org. Chem", "pages": "1"}),
        ("Lee, H.; Kim, S. Langmuir 2011, 27, 1234-1240.", {"journal": "Langmuir", "volume": "27", "pages": "1234-1240"}),
        # Marked by the annotators of GROBID's citations
        ("Niyti, G. Sawhney, M.K. Sharma, R.K. Gupta, Phys. Rev. C 91 (2015) 054606.", {"journal": "Phys. Rev. C", "volume": "91"}),
        ("Agranovich, V. M. & La Rocca, G. C. Sol. State Commn. 135, (2005), pp544-553.", {"journal": "Sol. State Commn", "volume": "135"}),
        ("A. Smith, B. Jones and C. Kim, Phys. Rev. B, 2001, 12, 345.", {"journal": "Phys. Rev. B", "volume": "12", "pages": "345"}),
        # GOST R 7.0.5 and 7.1 print // before the host.
        ("Бахвалов Н. С. О сходимости одного релаксационного метода // Журнал вычислительной математики и математической физики. 1966. Т. 6, № 5. С. 861–883.",
         {"title": "О сходимости одного релаксационного метода", "journal": "Журнал вычислительной математики и математической физики",
          "volume": "6", "issue": "5", "pages": "861–883"}),
        ("He K. et al. Deep residual learning for image recognition //Proceedings of the IEEE conference on computer vision and pattern recognition. – 2016. – С. 770-778.",
         {"title": "Deep residual learning for image recognition", "year": "2016", "pages": "770-778",
          "booktitle": "Proceedings of the IEEE conference on computer vision and pattern recognition"}),
        ("Иванов, И. И. Название работы о сетях / И. И. Иванов, П. П. Петров // Вестник МГУ. Серия 1. — 2015. — № 2. — С. 3–10.",
         {"title": "Название работы о сетях", "journal": "Вестник МГУ. Серия 1", "issue": "2", "pages": "3–10"}),
        # GOST 7.1: a book, with the authors again after a slash, and the number of its pages
        ("Иванов, П. С. Математическое моделирование процессов горения / П. С. Иванов. – М. : Наука, 2010. – 320 с.",
         {"title": "Математическое моделирование процессов горения", "year": "2010", "pages": ""}),
        # German social sciences: a title of several sentences, before place and publisher, or before `In`
        ("Huizinga, Johan (2006): Homo Ludens. Vom Ursprung der Kultur im Spiel. Hamburg: Rowohlt.",
         {"title": "Homo Ludens. Vom Ursprung der Kultur im Spiel", "location": "Hamburg", "publisher": "Rowohlt", "monograph": True}),
        ("Nolte, P., 2000: Die Ordnung der deutschen Gesellschaft. Selbstentwurf und Selbstbeschreibung, München",
         {"title": "Die Ordnung der deutschen Gesellschaft. Selbstentwurf und Selbstbeschreibung", "location": "München"}),
        ("Beck, Ulrich (1983): Jenseits von Stand und Klasse? In: Kreckel, Reinhard (Hrsg.): Soziale Ungleichheiten. Göttingen: Schwartz, S. 35–74.",
         {"title": "Jenseits von Stand und Klasse", "booktitle": "Soziale Ungleichheiten", "pages": "35–74", "monograph": False}),
        ("Keim, Karl-Dieter (2006), »Peripherisierung ländlicher Räume«, Aus Politik und Zeitgeschichte, Bd. 37, S. 3–7.",
         {"title": "Peripherisierung ländlicher Räume", "volume": "37", "pages": "3–7"}),
        # DIN ISO 690 prints the edition after the title
        ("MÜLLER, Hans und Karl SCHMIDT, 2012. Einführung in die Bibliotheksinformatik. 3. Aufl. Berlin: Springer. ISBN 978-3-11-018434-0.",
         {"title": "Einführung in die Bibliotheksinformatik", "location": "Berlin", "publisher": "Springer"}),
    ],
)  # fmt: skip
def test_reference_has_its_fields(raw: str, fields: dict[str, str | bool]) -> None:
    found = parse_reference(raw)
    assert {name: getattr(found, name) for name in fields} == fields


def test_title_before_the_host_follows_the_last_initials() -> None:
    found = parse_reference(
        "Гуляев Ю. В., Сандомирский В. Б., Синицын Н. И. Физика и техника микроэлектроники // УФН. 1984. Т. 144. Вып. 3. С. 475."
    )
    assert [author.surname for author in found.authors] == ["Гуляев", "Сандомирский", "Синицын"]
    assert (found.title, found.journal) == ("Физика и техника микроэлектроники", "УФН")


@pytest.mark.parametrize(
    ("raw", "surnames"),
    [
        ("Kunreuther, H./Easterling, D./Desvousges, W./Slovic, P. (1990): Public Attitudes Toward Siting a Repository. Risk Analysis, 10: 469-484.",
         ["Kunreuther", "Easterling", "Desvousges", "Slovic"]),
        ("Schulz, Andreas/Monica De Filippis/Manfred Thüring, 2005: \"Driving Without Awareness\"? Eine experimentelle Untersuchung zum Vigilanzabfall, in: Urbas/Steffens 2005: 71-76",
         ["Schulz", "De Filippis", "Thüring"]),
        ("• Croissant, Aurel/Hans-Joachim Lauth (2000): Zivilgesellschaft und Transformation. Opladen: Leske+Budrich, S. 9-49.",
         ["Croissant", "Lauth"]),
        ("Johann Gottfried Galle (1858): Über die Verbesserung der Planeten-Elemente. Breslau.", ["Galle"]),
        ("Johannsen, K. (1998): Input/Output in Europe. Berlin: Springer.", ["Johannsen"]),
    ],
)  # fmt: skip
def test_authors_are_divided_at_slashes(raw: str, surnames: list[str]) -> None:
    assert [author.surname for author in parse_reference(raw).authors] == surnames


@pytest.mark.parametrize(
    ("text", "surnames"),
    [
        ("J. Q. Smith, K. van der Berg, and A.-L. Müller", ["Smith", "van der Berg", "Müller"]),
        ("Smith, J. Q., van der Berg, K., & Müller, A.-L.", ["Smith", "van der Berg", "Müller"]),
        ("Smith, John, Kees Berg, and Ann Doe", ["Smith", "Berg", "Doe"]),
        ("A. R. BATTERSBY, S. G. HARTLEY et M. D. TURNBULL", ["BATTERSBY", "HARTLEY", "TURNBULL"]),
    ],
)
def test_authors_of_a_reference_are_read(text: str, surnames: list[str]) -> None:
    assert [a.surname for a in parse_reference_authors(text)] == surnames


@pytest.mark.parametrize(
    ("raw", "doi"),
    [
        ("Med J. 2015; 202:267. https://doi.org/10.5694/ mja14.01522 PMID: 25758699", "10.5694/mja14.01522"),
        ("Biol. doi: 10.1016/j.biologicals.2012.09. 005 PMID: 23034357", "10.1016/j.biologicals.2012.09.005"),
        ("Food Chem 2000;71.doi:10.1016/s0308-8146(00) 00211-9", "10.1016/s0308-8146(00)00211-9"),
        ("Stat. 10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
         "10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2"),
        ("A title. doi:10.1000/ab\u2011cd\u201112", "10.1000/ab-cd-12"),
        ("A title. doi:10.1000/abc.12. Accessed 12 May 2020.", "10.1000/abc.12"),
        ("A title. doi:10.1000/abc12. 15. Smith J.", "10.1000/abc12"),
        ("No identifier at all, 10.5 of 12/13.", ""),
        ("Smith J. Cells. Cell 2010. doi:10.1016/j.\u200bcell.\u200b2010.01.001.", "10.1016/j.cell.2010.01.001"),
        ("Mon. Wea. Rev. 97, 163–172. doi:10.1175/1520-0493(1969)097 <0163:ANT> 2.3.CO;2", "10.1175/1520-0493(1969)097<0163:ANT>2.3.CO;2"),
    ],
)  # fmt: skip
def test_doi_is_complete_or_omitted(raw: str, doi: str) -> None:
    assert find_doi(raw) == doi


@given(st.text(max_size=200))
def test_fields_are_substrings_of_any_string(raw: str) -> None:
    assert {len(codes) for codes, _ in columns([pieces(raw)])} == {len(pieces(raw))}
    for kind, value in label_references([raw])[0]:
        assert value in raw and kind is not TokenLabel.OTHER
    parse_reference(raw)
