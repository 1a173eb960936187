"""Render the templates of the page. Values are escaped, numbers are formatted, and links are relative to the page's mount path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from s2corpus.pipeline.stages import list_outcome_columns
from s2corpus.snapshot.paper_tables import format_value
from s2orc_parse.outcomes import format_word

_SIZE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def thousands(value: float | None) -> str:
    """Format 12345 as 12,345."""
    return "–" if value is None else f"{value:,.0f}"


def size(value: float | None) -> str:
    """Format a number of bytes with a unit: 1.2 MB."""
    if value is None:
        return "–"
    for unit in _SIZE_UNITS:
        if value < 1000 or unit == _SIZE_UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def duration(seconds: float | None) -> str:
    """Format seconds as seconds, minutes or hours: 2 min 05 s."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def moment(value: str | None) -> str:
    """Format an ISO timestamp (UTC) to the minute."""
    return value[:16].replace("T", " ") if value else "–"


def number(value: float | None, digits: int = 3) -> str:
    """Format a metric with a fixed number of digits."""
    return "–" if value is None else f"{value:.{digits}f}"


def rate(value: float | None) -> str:
    """Format a rate per second; use minutes if it is below 0.1 per second."""
    if value is None:
        return "–"
    return f"{value:,.0f}/s" if value >= 10 else f"{value:.1f}/s" if value >= 0.1 else f"{60 * value:.1f}/min"


def short(value: float | None) -> str:
    """Format a count in a few characters: 1.2M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value is not None and abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.1f}{unit}" if abs(scaled) < 100 else f"{scaled:.0f}{unit}"
    return thousands(value)


def change(value: float | None) -> str:
    """Format a difference of counts with its sign."""
    return "–" if value is None else "0" if not value else f"{value:+,.0f}".replace("-", "−")


def share(value: float | None) -> str:
    """Format a fraction as a percentage."""
    return "–" if value is None else f"{value:.1%}"


def person(author: dict[str, Any]) -> str:
    """Return the full name of an author."""
    return " ".join(filter(None, (author["first"], *author["middle"], author["last"], author["suffix"])))


def plain(value: Any) -> str:
    """Format a value of any column as text."""
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


_LABELS = {
    "writing": "not ready yet",  # a state of an arrival
    **{
        word: format_word(word.removesuffix(declared)) + declared.label  # refused: changed
        for _, column in list_outcome_columns()
        for word, declared in column.words.items()
    },
}


def label(outcome: str) -> str:
    """Return the declared label of an outcome, or the word with spaces."""
    return _LABELS.get(outcome) or format_word(outcome)


_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_FILTERS = (thousands, size, duration, number, share, person, plain, moment, rate, short, change, label)
_ENVIRONMENT.filters |= {filter_.__name__: filter_ for filter_ in _FILTERS}
_ENVIRONMENT.filters |= {"word": lambda value: quote(value, safe=""), "of_table": format_value}


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a rendered template as a response.

    Every template can use `root` (the mount path of the page), `base` (the path of the release; without one, `root`) and
    `airflow` (the path of Airflow).
    """
    root = request.scope.get("root_path", "").rstrip("/")
    ids = request.path_params
    base = f"{root}/{quote(ids['dag_id'])}/{quote(ids['as_of'])}" if {"dag_id", "as_of"} <= set(ids) else root
    html = _ENVIRONMENT.get_template(template).render(
        root=root, base=base, airflow=root.rpartition("/")[0], status=status, **values
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status)
