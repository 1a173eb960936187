"""Documents as cleaning receives them, made from real articles: complete, cut short, in two languages, and with OCR noise."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

FOREIGN = (
    "Die Ergebnisse zeigen, dass die Konzentration der Proteine in allen untersuchten Proben deutlich über dem erwarteten Wert lag.",
    "Les résultats montrent que la concentration des protéines était nettement supérieure à la valeur attendue dans tous les cas.",
    "Los resultados muestran que la concentración de proteínas fue claramente superior al valor esperado en todas las muestras.",
    "Результаты показывают, что концентрация белков во всех исследованных образцах была значительно выше ожидаемого значения.",
    "I risultati mostrano che la concentrazione delle proteine era nettamente superiore al valore atteso in tutti i campioni.",
)
_NOISE = "0123456789.,;:|~^°§€¬"


def variants(documents: list[dict[str, Any]], *, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield four variants of each document: complete, cut, in mixed languages, and noisy."""
    rng = random.Random(seed)
    for document in documents:
        yield document
        yield {**document, "id": f"{document['id']}-cut", "body": document["body"][: rng.choice((0, 2, 5, 7, 12, 20))]}
        yield {**document, "id": f"{document['id']}-mixed", "body": _mixed(document["body"], rng)}
        yield {**document, "id": f"{document['id']}-noisy", "body": _noisy(document["body"], rng)}


def _mixed(body: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    share = rng.choice((0.1, 0.45, 0.5, 0.55, 0.9))
    foreign = rng.choice(FOREIGN)
    return [{**unit, "text": foreign} if rng.random() < share else unit for unit in body]


def _noisy(body: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    share = rng.choice((0.02, 0.1, 0.3, 0.6))
    noisy: list[dict[str, Any]] = []
    for unit in body:
        text = "".join(rng.choice(_NOISE) if rng.random() < share else c for c in unit["text"])
        if rng.random() < 0.1:  # Insert a line treated as a paragraph, or an empty line.
            noisy.append({**unit, "text": rng.choice(("Fig.", "", "(see", "12", "al.)"))})
        noisy.append({**unit, "text": text})
        if rng.random() < 0.05:
            noisy.append({"section": "Materials", "text": None})
    return noisy
