"""The DOI of a reference is complete or is left out."""

from __future__ import annotations

import pytest

from pdf2tei.dois import find_doi


@pytest.mark.parametrize(
    ("raw", "doi"),
    [
        ("Med J. 2015; 202:267. https://doi.org/10.5694/ mja14.01522 PMID: 25758699", "10.5694/mja14.01522"),
        ("Transfusion. 2017. https://doi.org/10. 1111/trf.14252 PMID: 28734023.", "10.1111/trf.14252"),
        ("PLoS NTD. 2013. https://doi.org/10.1371/journal.pntd. 0002361", "10.1371/journal.pntd.0002361"),
        ("Biol. doi: 10.1016/j.biologicals.2012.09. 005 PMID: 23034357", "10.1016/j.biologicals.2012.09.005"),
        ("J. Virol. 80. doi: 10.1128/JVI.80. 5.2429-2436.2006", "10.1128/JVI.80.5.2429-2436.2006"),
        ("Food Chem 2000;71.doi:10.1016/s0308-8146(00) 00211-9", "10.1016/s0308-8146(00)00211-9"),
        ("Agric. https://doi.org/10.1016/S0167-8809 (00)00169-9", "10.1016/S0167-8809(00)00169-9"),
        ("Qual Life. https ://doi. org/10.1007/s1113 6-011-0030-5.", "10.1007/s11136-011-0030-5"),
        ("J Canc. 2020. https ://doi.org/10.1007/s1318 7-020-01848 -5.", "10.1007/s13187-020-01848-5"),
        ("Lancet. 2019. https://doi.org/10.1 016/S0140-6736(18)32487-5.", "10.1016/S0140-6736(18)32487-5"),
        ("Stat. 10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
         "10.1002/(SICI)1097-0258(1998)17:15/16<1661::AID-SIM968>3.0.CO;2-2"),
        ("A title. doi:10.1000/ab\u2011cd\u201112", "10.1000/ab-cd-12"),
        ("A title. doi:10.1000/abc.12. Accessed 12 May 2020.", "10.1000/abc.12"),
        ("A title. https://doi.org/10.1000/abc12 2019.", "10.1000/abc12"),
        ("A title. doi:10.1000/abc12 [PubMed 123]", "10.1000/abc12"),
        ("A title. doi:10.1000/abc12. 15. Smith J.", "10.1000/abc12"),
        ("A title (doi:10.1000/abc12).", "10.1000/abc12"),
        ("No identifier at all, 10.5 of 12/13.", ""),
        ("A title. doi:10.1371/journal. PMID: 1234", ""),
    ],
)  # fmt: skip
def test_doi_is_complete_or_omitted(raw: str, doi: str) -> None:
    assert find_doi(raw) == doi
