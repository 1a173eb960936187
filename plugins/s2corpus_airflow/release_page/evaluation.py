"""Mark a release's evaluation sample in the browser (S2ORC §4).

Only these routes of the page write data, and they write only to the catalog.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from s2corpus.errors import UserError
from s2corpus.evaluation.results import FIELDS, LABELS, PARSE_F1, PARSE_LABELS, parse_results, result
from s2corpus.evaluation.sample import Item, ParseItem, ParseTask
from s2corpus.evaluation.sheet import MAX_MISSING, QUESTIONS, WORDS, LineMarks, check, read_numbers
from s2corpus.evaluation.store import list_marks, list_parse_marks, load_items, load_parses
from s2corpus.storage.lake import Lake
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.render import page as render

Word = StrEnum("Word", {word: word for word in WORDS})  # type: ignore[misc]  # members are computed
_T = TypeVar("_T", Item, ParseItem)
ItemId = Annotated[str, Query(min_length=1, max_length=96)]


def same_origin(request: Request) -> None:
    """Accept only requests from the page's own form, so that another site's page cannot mark in a user's name.

    Raises:
        HTTPException: 403.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_own = bool(origin) and urlsplit(origin or "").netloc == request.headers.get("host")
    if not (site == "same-origin" if site else is_own):
        raise HTTPException(403, "Marks are accepted only from this page's form.")


def add_routes(
    app: FastAPI, at: str, opened: Callable[..., Any], reader: Callable[..., Any], marker: Callable[..., str] | None
) -> None:
    """Add the pages. Readers of the release see the sample and its result; users who may edit its DAG can mark items."""

    @app.get(at + "/evaluation", dependencies=[Depends(reader)])
    @app.get(at + "/evaluation/lines", dependencies=[Depends(reader)])  # a reload after an error
    def evaluation(
        request: Request,
        found: Annotated[tuple[Archive, str, Any], Depends(opened)],
        item: ItemId | None = None,
        after: ItemId | None = None,
    ) -> Response:
        archive, release, _ = found
        items, parses = _drawn(load_items, archive, release), _drawn(load_parses, archive, release)
        marks, line_marks = list_marks(archive.catalog, release), list_parse_marks(archive.catalog, release)
        sampled: list[Item | ParseItem] = [*items, *parses]
        markers: dict[str, list[str]] = {entry.item: [] for entry in sampled}
        for mark in marks:
            markers.get(mark.item, []).append(mark.marker)
        for name, people in line_marks.items():
            markers.get(name, []).extend(people)
        order = list(markers)
        start = order.index(after) + 1 if after in markers else 0
        chosen = item if item in markers else _next(order[start:] + order[:start], markers)
        shown = next((entry for entry in sampled if entry.item == chosen), None)
        firsts = {task: _next([entry.item for entry in parses if entry.task is task], markers) for task in ParseTask}
        return render(
            request, "evaluation.html", release_id=release, labels=LABELS | PARSE_LABELS, shown=shown,
            result=result(items, marks, parse_results(parses, line_marks)), number=order.index(chosen) + 1 if chosen else 0,
            words=list(WORDS), fields=FIELDS, questions=QUESTIONS, max_missing=MAX_MISSING, firsts=firsts, paper=PARSE_F1,
            may_mark=marker is not None and archive.catalog is not None, lake=archive.uri, item_markers=markers.get(chosen or "", []),
        )  # fmt: skip

    if marker is not None:
        _add_mark(app, at, opened, reader, marker)
        _add_line_marks(app, at, opened, reader, marker)


def _add_mark(
    app: FastAPI, at: str, opened: Callable[..., Any], reader: Callable[..., Any], marker: Callable[..., str]
) -> None:
    @app.post(at + "/evaluation", dependencies=[Depends(reader), Depends(same_origin)])
    def mark(
        request: Request,
        found: Annotated[tuple[Archive, str, Any], Depends(opened)],
        who: Annotated[str, Depends(marker)],
        item: Annotated[str, Form(max_length=96)],
        title: Annotated[Word, Form()],
        authors: Annotated[Word, Form()],
    ) -> Response:
        archive, release, _ = found
        if archive.catalog is None or item not in {entry.item for entry in load_items(archive.lake, release)}:
            raise HTTPException(404, "There is no such item in this release's sample.")
        archive.catalog.mark(release, who, {item: (WORDS[title.value], WORDS[authors.value])})
        return RedirectResponse(request.url.include_query_params(after=item), 303)


def _add_line_marks(
    app: FastAPI, at: str, opened: Callable[..., Any], reader: Callable[..., Any], marker: Callable[..., str]
) -> None:
    @app.post(at + "/evaluation/lines", dependencies=[Depends(reader), Depends(same_origin)])
    def mark_lines(
        request: Request,
        found: Annotated[tuple[Archive, str, Any], Depends(opened)],
        who: Annotated[str, Depends(marker)],
        item: Annotated[str, Form(max_length=96)],
        missing: Annotated[int, Form(ge=0, le=MAX_MISSING)],
        wrong: Annotated[str, Form(max_length=4000)] = "",
        unsure: Annotated[str, Form(max_length=4000)] = "",
    ) -> Response:
        archive, release, _ = found
        parses = {entry.item: entry for entry in _drawn(load_parses, archive, release)}
        if archive.catalog is None or item not in parses:
            raise HTTPException(404, "There is no such item in this release's sample.")
        try:
            marks = check(parses[item], LineMarks(read_numbers(wrong), read_numbers(unsure), missing))
        except UserError as error:
            raise HTTPException(422, str(error)) from None
        archive.catalog.mark_parses(release, who, {item: (marks.wrong, marks.unsure, marks.missing)})
        page = request.url.replace(path=request.url.path.removesuffix("/lines"))
        return RedirectResponse(page.include_query_params(after=item), 303)


def _drawn(sample: Callable[[Lake, str], list[_T]], archive: Archive, release: str) -> list[_T]:
    """Return a sample of a release, or an empty list if it was not drawn."""
    try:
        return sample(archive.lake, release)
    except UserError:
        return []


def _next(items: list[str], markers: Mapping[str, Sequence[str]]) -> str | None:
    """Return the first item with the fewest marks, or None.

    If two people work through one sample, each item gets a first mark before any item gets a second one.
    """
    return min(items, key=lambda item: len(markers[item]), default=None)
