"""Mark a release's evaluation sample in the browser (S2ORC §4).

Only these routes of the page write data, and they write only to the catalog.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from release_page.releases import Archive
from release_page.render import page as render
from s2corpus.errors import UserError
from s2corpus.evaluation.kept import marks_of, sample_of
from s2corpus.evaluation.results import FIELDS, LABELS, result
from s2corpus.evaluation.sample import Item
from s2corpus.evaluation.sheet import WORDS

Word = StrEnum("Word", {word: word for word in WORDS})  # type: ignore[misc]
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
    def evaluation(
        request: Request,
        found: Annotated[tuple[Archive, str, Any], Depends(opened)],
        item: ItemId | None = None,
        after: ItemId | None = None,
    ) -> Response:
        archive, release, _ = found
        try:
            items = sample_of(archive.lake, release)
        except UserError:
            items = []
        marks = marks_of(archive.catalog, release)
        order = [entry.item for entry in items]
        start = order.index(after) + 1 if after in order else 0
        selected = next((entry for entry in items if entry.item == item), None)
        shown = selected or _next(items[start:] + items[:start], marks)
        return render(
            request, "evaluation.html", release_id=release, result=result(items, marks), labels=LABELS, shown=shown,
            number=order.index(shown.item) + 1 if shown else 0, words=list(WORDS), fields=FIELDS,
            may_mark=marker is not None and archive.catalog is not None,
            lake=archive.uri, item_marks=[mark for mark in marks if shown and mark.item == shown.item],
        )  # fmt: skip

    if marker is None:
        return

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
        if archive.catalog is None or item not in {entry.item for entry in sample_of(archive.lake, release)}:
            raise HTTPException(404, "There is no such item in this release's sample.")
        archive.catalog.mark(release, who, {item: (WORDS[title.value], WORDS[authors.value])})
        return RedirectResponse(request.url.include_query_params(after=item), 303)


def _next(items: list[Item], marks: list[Any]) -> Item | None:
    """Return the first item with the fewest marks, or None.

    If two people work through one sample, each item gets a first mark before any item gets a second one.
    """
    counts: dict[str, int] = {}
    for mark in marks:
        counts[mark.item] = counts.get(mark.item, 0) + 1
    return min(items, key=lambda entry: counts.get(entry.item, 0), default=None)
