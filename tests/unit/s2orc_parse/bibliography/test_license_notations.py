"""A license is never read more permissive than it is, in any notation and language (SPEC §0.10–0.14)."""

from collections.abc import Sequence
from itertools import permutations, product

import pytest

from s2orc_parse.bibliography.licenses import find_license, parse_license, rank_strictness

CONDITIONS = [(), ("NC",), ("ND",), ("SA",), ("NC", "ND"), ("NC", "SA"), ("ND", "SA"), ("NC", "ND", "SA")]
SHORT = (
    "CC BY{}", "cc-by{}", "CCBY{}", "CC: BY{}", "(CC BY{})", "licensed under CC BY{}, see below",
    "https://creativecommons.org/licenses/by{}/",
)  # fmt: skip
SEPARATORS = ("-", " ", "", "_", "–", "‑", ".", "/", ", ", " (", " - ")
WORDS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "en": ("Creative Commons Attribution{}",
        {"NC": ("NonCommercial", "Non-Commercial", "Noncommercial"),
            "ND": ("NoDerivatives", "NoDerivs", "No Derivative Works", "Non-Derivative"), "SA": ("ShareAlike", "Share Alike")}),
    "es": ("Creative Commons Atribución{}",
        {"NC": ("NoComercial", "No comercial"), "ND": ("SinDerivadas", "Sin Obra Derivada"), "SA": ("CompartirIgual",)}),
    "pt": ("Creative Commons Atribuição{}",
        {"NC": ("NãoComercial", "Não Comercial"), "ND": ("SemDerivações", "Sem Derivados"), "SA": ("CompartilhaIgual",)}),
    "fr": ("Creative Commons Attribution{}",
        {"NC": ("Pas d’Utilisation Commerciale",), "ND": ("Pas de Modification",), "SA": ("Partage dans les Mêmes Conditions",)}),
    "de": ("Creative Commons Namensnennung{}",
        {"NC": ("Nicht kommerziell", "NichtKommerziell"), "ND": ("Keine Bearbeitungen", "KeineBearbeitung"),
            "SA": ("Weitergabe unter gleichen Bedingungen",)}),
    "fr 2": ("Creative Commons Attribution{}",
        {"NC": ("Pas d’usage commercial",), "ND": ("Pas d’œuvre dérivée",), "SA": ("Partage à l’identique",)}),
    "de 2": ("Creative Commons Namensnennung{}", {"NC": ("Keine kommerzielle Nutzung",), "ND": ("Keine abgeleiteten Werke",),
        "SA": ("Weitergabe unter gleichen Bedingungen",)}),
    "ca": ("Creative Commons Reconeixement{}", {"NC": ("NoComercial",), "ND": ("SenseObraDerivada",), "SA": ("CompartirIgual",)}),
    "id": ("Creative Commons Atribusi{}", {"NC": ("NonKomersial",), "ND": ("TanpaTurunan",), "SA": ("BerbagiSerupa",)}),
    "sv": ("Creative Commons Erkännande{}", {"NC": ("Ickekommersiell",), "ND": ("IngaBearbetningar",), "SA": ("DelaLika",)}),
    "no": ("Creative Commons Navngivelse{}", {"NC": ("Ikkekommersiell",), "ND": ("IngenBearbeidelse",), "SA": ("DelPåSammeVilkår",)}),
    "fi": ("Creative Commons Nimeä{}", {"NC": ("EiKaupallinen",), "ND": ("EiMuutoksia",), "SA": ("JaaSamoin",)}),
    "ja": ("Creative Commons 表示{}", {"NC": ("非営利",), "ND": ("改変禁止",), "SA": ("継承",)}),
    "zh": ("Creative Commons 署名{}", {"NC": ("非商业性使用",), "ND": ("禁止演绎",), "SA": ("相同方式共享",)}),
    "ko": ("Creative Commons 저작자표시{}", {"NC": ("비영리",), "ND": ("변경금지",), "SA": ("동일조건변경허락",)}),
}  # fmt: skip
VERSIONS = ("", " 1.0", " 2.5", " 3.0", " 4.0", " v4.0", "/4.0/", " 4.0 International License", " 2.0 Generic", " 99")


def rank(conditions: Sequence[str]) -> int:
    """Return the strictness of a Creative Commons license with these conditions."""
    ordered = [name for name in ("NC", "ND", "SA") if name in conditions and not (name == "SA" and "ND" in conditions)]
    return rank_strictness("-".join(("CC-BY", *ordered)))


def list_written(conditions: Sequence[str]) -> list[str]:
    """Return all notations of a license: short names and words, in every order of its conditions."""
    found = [
        form.format("".join(f"{separator}{code}" for code in order))
        for form, separator, order in product(SHORT, SEPARATORS, permutations(conditions))
    ]
    for form, words in WORDS.values():
        for order in permutations(conditions):
            for chosen in product(*(words[name] for name in order)):
                found += [
                    form.format("".join(f"{separator}{word}" for word in chosen))
                    for separator in ("-", " ", " - ", ", ")
                ]
    return [text + version for text in found for version in VERSIONS]


@pytest.mark.parametrize("conditions", CONDITIONS, ids=lambda names: "-".join(("BY", *names)))
def test_license_is_never_read_more_permissive_than_it_is(conditions: Sequence[str]) -> None:
    wanted = rank(conditions)
    for text in list_written(conditions):
        for written in (text, text.upper(), text.lower()):
            license = find_license(written)
            assert license is not None and rank_strictness(license) >= wanted, (written, license)
            assert rank_strictness(license) == wanted, (written, license)
            assert parse_license(license) == license


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in CONDITIONS for b in CONDITIONS])
def test_conditions_of_all_statements_apply(first: Sequence[str], second: Sequence[str]) -> None:
    link = f"https://creativecommons.org/licenses/{'-'.join(('by', *map(str.lower, first)))}/4.0/"
    license = find_license(f"{link} This work is licensed under {'-'.join(('CC BY', *second))}.")
    assert license is not None and rank_strictness(license) >= max(rank(first), rank(second))


@pytest.mark.parametrize(
    "text",
    [
        "CC BY-NCX", "publisher-specific-oa", "Licença Creative Commons", "published by ND Press", "by-laws",
        "Creative Commons Attribution-Xyzzy 4.0", "Creative Commons Uznanie autorstwa 4.0",
    ],
)  # fmt: skip
def test_unknown_license_is_unchanged(text: str) -> None:
    assert (find_license(text), parse_license(text)) == (None, text)
