"""Templates: everything is escaped, numbers and durations read well, links stay below the page's own path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from s2corpus.snapshot.paper_tables import shown

_PLURALS = ("B", "kB", "MB", "GB", "TB", "PB")


def thousands(value: float | None) -> str:
    """12345 → 12,345."""
    return "–" if value is None else f"{value:,.0f}"


def size(value: float | None) -> str:
    """Bytes, as a human reads them."""
    if value is None:
        return "–"
    for unit in _PLURALS:
        if value < 1000 or unit == _PLURALS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def duration(seconds: float | None) -> str:
    """Seconds, as a human reads them."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def moment(value: str | None) -> str:
    """An ISO instant to the minute, UTC."""
    return value[:16].replace("T", " ") if value else "–"


def number(value: float | None, digits: int = 3) -> str:
    """A measured value."""
    return "–" if value is None else f"{value:.{digits}f}"


def rate(value: float | None) -> str:
    """How many a second, or a minute where that reads better."""
    if value is None:
        return "–"
    return f"{value:,.0f}/s" if value >= 10 else f"{value:.1f}/s" if value >= 0.1 else f"{60 * value:.1f}/min"


def short(value: float | None) -> str:
    """A count in few characters: 1.2M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value is not None and abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.1f}{unit}" if abs(scaled) < 100 else f"{scaled:.0f}{unit}"
    return thousands(value)


def change(value: float | None) -> str:
    """A difference of counts, with its sign."""
    return "–" if value is None else "0" if not value else f"{value:+,.0f}".replace("-", "−")


def share(value: float | None) -> str:
    """A share of 1 in per cent."""
    return "–" if value is None else f"{value:.1%}"


def person(author: dict[str, Any]) -> str:
    """An author's name."""
    return " ".join(filter(None, (author["first"], *author["middle"], author["last"], author["suffix"])))


def plain(value: Any) -> str:
    """Any value of a table in a few words."""
    if value is None or value == "":
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and isinstance(value[0], dict) and "last" in value[0]:
        return "; ".join(map(person, value))
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return "; ".join(value) or "–"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False, default=str)


_SAID = {"not_yet": "not ready yet", "writing": "not ready yet"}


def said(outcome: str) -> str:
    """An outcome as people say it."""
    return _SAID.get(outcome, outcome).replace("_", " ").replace(":", ": ")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (thousands, size, duration, number, share, person, plain, moment, rate, short, change)
    environment.filters.update({f.__name__: f for f in filters})
    environment.filters["word"] = lambda value: quote(value, safe="")
    environment.filters["said"] = said
    environment.filters["of_table"] = shown
    return environment


_ENVIRONMENT = _environment()


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page. Templates have `root` (where the page is mounted), `base` (the release's own path, where there is one), `airflow`."""
    root = request.scope.get("root_path", "").rstrip("/")
    ids = request.path_params
    base = f"{root}/{quote(ids['dag_id'])}/{quote(ids['as_of'])}" if {"dag_id", "as_of"} <= set(ids) else root
    html = _ENVIRONMENT.get_template(template).render(
        root=root, base=base, airflow=root.rpartition("/")[0], status=status, **values
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status)
