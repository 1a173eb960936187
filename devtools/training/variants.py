"""Vary titles and journals beyond the lists: short, upper-case, with dates and signs inside, and unlisted journals."""

from __future__ import annotations

import random
import re

from . import lexicon

_SMALL_WORDS = "a an and as at by for from in of on or the to with via vs der die das und des le la les et de du di del"
_SMALL = frozenset(_SMALL_WORDS.split())
_STEM_WORDS = """
Adhesion Aging Agriculture Algebra Allergy Anaesthesia Anatomy Antiquity Apoptosis Archaeology Astronomy Bacteriology Biochemistry Biology
Biomechanics Botany Cancer Carcinogenesis Cardiology Catalysis Ceramics Chemistry Chromatography Circulation Climate Cognition
Combustion Computation Counseling Crystallography Cybernetics Dentistry Dermatology Development Diabetes Ecology Econometrics
Economics Education Endocrinology Energy Engineering Entomology Epidemiology Ethics Evolution Fisheries Forestry Gastroenterology
Genetics Geography Geology Geophysics Gut Health Heart Hematology History Horticulture Hydrology Hypertension Immunology Infection
Kidney Language Law Lipids Literature Liver Logic Logistics Macromolecules Management Marketing Mathematics Mechanics Medicine
Membranes Metabolism Metallurgy Meteorology Microbiology Mineralogy Music Nature Nephrology Neurology Neuron Neuroscience Nursing
Nutrition Obesity Oncology Ophthalmology Optics Orthopaedics Paediatrics Pain Parasitology Pathology Pediatrics Pharmacology Philosophy
Photonics Physics Physiology Planta Plasma Politics Polymers Psychiatry Psychology Radiology Religion Rheumatology Robotics Schizophrenia
Science Sleep Sociology Soils Spectroscopy Spine Statistics Stroke Surgery Surfaces Taxonomy Theology Thorax Toxicology
Transplantation Urology Vaccine Virology Vision Weather Welding Zoology
"""
_STEMS = _STEM_WORDS.split()
_PLACE_WORDS = """
American British Canadian European Scandinavian Chinese Indian Japanese Korean Brazilian African Australian Asian International Italian
Nordic Polish Russian Turkish Iranian Egyptian Caribbean Pacific Mediterranean
"""
_PLACES = _PLACE_WORDS.split()
_FRAME_LIST = """
Journal of {a}|The Journal of {a}|Journal of {a} and {b}|{p} Journal of {a}|{p} Journal of {a} & {b}|The {p} Journal of {a}|
Annals of {a}|Archives of {a}|
{a}|{a} & {b}|{a} Letters|{a} Today|{a} Research|{a} Review|The {a} Review|{a} Quarterly|{p} {a}|Advances in {a}|
Advances in {a} and {b}|Progress in {a}|
Trends in {a}|Current Opinion in {a}|Reviews in {a}|Bulletin of {a}|{a} Bulletin|Transactions on {a}|IEEE Transactions on {a}|
Acta {a}|Clinical {a}|
Applied {a}|Experimental {a}|Comparative {a}|Molecular {a}|Theoretical {a}|Proceedings of the {p} Society of {a}|
{p} Archives of {a}|{a}: A Journal of {b}|
Zeitschrift für {a}|Archiv für {a}|Zentralblatt für {a}|Jahrbuch für {a}|Annales de {a}|Revue de {a}|Revue d'{a}|Revista de {a}|
Revista Brasileira de {a}|
Anales de {a}|Rivista di {a}|Giornale di {a}|Boletín de {a}|Jornal de {a}|Les Cahiers de {a}|Études de {a}|Tijdschrift voor {a}|
Die {a}|De {a}|{a} Reports|{a} Journal|
Public {a}|{a} in Practice|Research in {a}|Studies in {a}|The {a} Teacher|{p} Reviews of {a}|BMC {a}|Frontiers in {a}|PLoS {a}|
Nature {a}|{a}, Part {l}|{a} {l}|Journal of {a} {l}: {b}|
The {a} Journal|Seminars in {a}|Handbook of {a}|Encyclopedia of {a}|Oxford {a} Online|Dictionary of {a} and {b}
"""
_FRAMES = _FRAME_LIST.replace("\n", "").split("|")
_MEETING_LIST = """
{y} {n} {o} Conference on {a} ({c})|{n} {o} Symposium on {a} - {c} '{yy}|{o} Conference on {a}, {c} {y}|{y} {p} {a} Conference ({c})|
Proceedings of the {n} {o} Workshop on {a} and {b}|{a} {num}: {n} {o} Conference, {c} {y}|Proceedings of SPIE|{a} and {b} {num}|
Volume {num}: {a}; {b}|{p} {a} Meeting {y}|
{y} {o} General Meeting ({c})|Digest of Technical Papers. {y} {o} Conference on {a}|{a}-{y}
"""
_MEETINGS = _MEETING_LIST.replace("\n", "").split("|")
_KINDS = ["IEEE", "IEEE International", "International", "ACM", "ASME", "AIAA", "World", "Annual", "European", "Joint"]


def titled(text: str) -> str:
    """Return the text in title case."""
    words = text.split(" ")
    return " ".join(
        w if (i and w.lower() in _SMALL) or not w[:1].islower() else w[0].upper() + w[1:] for i, w in enumerate(words)
    )


def journal(listed: list[str], rng: random.Random) -> str:
    """Return a journal: from the lists, or made from a subject; sometimes abbreviated, rarely in capitals."""
    if rng.random() < 0.55 and listed:
        return rng.choice(listed)
    a, b = rng.sample(_STEMS, 2)
    name = rng.choice(_FRAMES).format(a=a, b=b, p=rng.choice(_PLACES), l=rng.choice("ABCDE"))
    roll = rng.random()
    if roll < 0.25:  # abbreviated, with or without periods
        stop = rng.choice([".", ""])
        short = [w if len(w) < 5 else w[: rng.randint(3, 5)] + stop for w in name.split() if w.lower() not in _SMALL]
        return " ".join(short)
    return name.upper() if roll < 0.3 else name


def meeting(year: int, rng: random.Random) -> str:
    """Return the name of proceedings."""
    a, b = rng.sample(_STEMS, 2)
    n = rng.randint(1, 60)
    nth = f"{n}{'th' if 10 <= n % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
    letters = "".join(rng.choice("ABCDEFGILMNOPRSTV") for _ in range(rng.randint(3, 6)))
    return rng.choice(_MEETINGS).format(
        a=a, b=b, p=rng.choice(_PLACES), y=year, yy=f"{year % 100:02d}", n=nth, num=rng.randint(1, 40), c=letters, o=rng.choice(_KINDS)
    )  # fmt: skip


def title(text: str, another: str, rng: random.Random) -> str:
    """Return a title unchanged, or in one of the forms that are easily mistaken for something else."""
    roll = rng.random()
    if roll < 0.18:  # a short title
        words = re.findall(r"[^\W\d_][\w'-]+", text)
        text = " ".join(words[: rng.randint(1, 3)]) or text
        return rng.choice([text, titled(text), rng.choice(_STEMS), rng.choice(["The ", "A ", ""]) + text])
    if roll < 0.205:
        return f"{text}. {another}"
    if roll < 0.23:
        return f"{text}: {another}"
    if roll < 0.27:
        place, number = rng.choice(lexicon.PLACES), rng.randint(2, 40)
        year = rng.randint(1780, 2015)
        more = [
            f" ({another.split(' ')[0]})", f", {year}", f", {year}–{year + number}", f" in {place}", f": the {year} survey",
            f" ({year}-{year + 4})", ". Part II", f" {number}", " I.", f". {number}. {another}", f" (n = {number})",
            f", {number} January {year}",
            " and Co. Ltd.", " et al.",
        ]  # fmt: skip
        text += rng.choice(more)
    elif roll < 0.30:
        text += rng.choice(["?", "!", "...", "? " + another, "! " + another])
    elif roll < 0.325:
        kind = rng.choice(["Chapter", "Section", "Part", "Lecture", "Table", "Case"])
        text = f"{kind} {rng.randint(1, 30)}{rng.choice(['.', ':', ' -'])} {text}"
    elif roll < 0.355:
        text = f"{rng.choice(['1996', '13th', 'The 9th', '3D', '2,4', 'Book Review:', 'Abstract 212:', 'Comment on'])} {text}"
    elif roll < 0.38:  # a review, with the book's imprint
        publisher, _, place = rng.choice(lexicon.PUBLISHERS).partition("|")
        who = f"{rng.choice('ABCDEGHJKLMRST')}. {rng.choice('ABCDEFGHJLMPRSTW')}. {rng.choice(_NAMES)}"
        pages = rng.randint(90, 600)
        year = rng.randint(1930, 2012)
        text = titled(text) + rng.choice([
            f". By {who}. {place}: {publisher}, {year}. Pp. {pages}. ${rng.randint(5, 90)}.{rng.choice(['00', '50', '95'])}",
            f". {who}", f" by {who}", f". By {who}. ({place}: {publisher}, {year}. xii + {pages} pp. £{rng.randint(5, 60)})",
            f". Edited by {who}. Pp. xvi, {pages}. {place}: {publisher}, {year}",
        ])  # fmt: skip
    roll = rng.random()
    return text.upper() if roll < 0.05 else titled(text) if roll < 0.4 else text


_NAME_WORDS = """
Baker Brown Carter Davies Evans Fischer Garcia Hughes Jones Keller Lewis Martin Miller Novak Rossi Schmidt Smith Taylor Weber Young
"""
_NAMES = _NAME_WORDS.split()
