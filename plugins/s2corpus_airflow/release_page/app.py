"""Define the routes of the release pages.

The dependencies given to `build` authorize every route. Every id is validated before a file is opened. All routes are GET, except
routes that store marks of an evaluation (`evaluation`) and do actions (`actions`).

URLs are `/` and `/<dag_id>/<as_of>/…`. The authorized DAG names the release, so a user cannot read a release of another DAG.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal
from urllib.parse import quote

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from s2corpus.corpora.plans import Action
from s2corpus.drops.standing import NAMES
from s2corpus.ids import RELEASE_DAG, ReleaseId
from s2corpus.pipeline import trace
from s2corpus.spec_files import releases_folder
from s2corpus_airflow.release_page import (
    actions,
    evaluation,
    explorer,
    intervals,
    lists,
    sheets,
    stage_scores,
    texts,
    views,
)
from s2corpus_airflow.release_page.compare import compare
from s2corpus_airflow.release_page.errors import answer_errors
from s2corpus_airflow.release_page.explorer import Choice
from s2corpus_airflow.release_page.paths import AT, DAY, DagId, PaperId, Release, Sha1, find_release, open_release
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.render import page as render
from s2corpus_airflow.release_page.states import ReleaseStatus
from s2corpus_datasets.shelf import find_similar_papers

DROPS_DAG = "pdf_drops"
STATIC = Path(__file__).parent / "static"
Page = Annotated[int, Query(ge=1, le=1000)]
Word = Annotated[str, Query(max_length=200)]
Year = Annotated[str, Query(pattern="^[0-9]{0,4}$")]
DEFAULT_VALUE = explorer.Value("words")
Bound = Annotated[float | None, Query(allow_inf_nan=False)]
ScoredStage = StrEnum("ScoredStage", {name: name for name in stage_scores.STAGES})  # type: ignore[misc]  # members are computed
Stage = StrEnum("Stage", {name: name for name in lists.REJECTS})  # type: ignore[misc]  # members are computed
DropState = StrEnum("DropState", {name: name for name in NAMES})  # type: ignore[misc]  # members are computed
Set = Literal["s2orc", "s2ag"]
Visible = Callable[[str], bool]
"""Predicate: may the user see the DAG with this id?"""


def read_choice(
    outcome: Word = "",
    rule: Word = "",
    field: Word = "",
    source: Word = "",
    license: Word = "",
    first: Year = "",
    last: Year = "",
    by: explorer.Value = DEFAULT_VALUE,
    low: Bound = None,
    high: Bound = None,
    order: Literal["ascending", "descending"] = "ascending",
) -> Choice:
    """Return the documents that a query chooses."""
    return Choice(outcome, rule, field, source, license, first, last, by.value, low, high, order)


def build(
    archive: Callable[[], Archive],
    *,
    anyone: Callable[..., Any],
    reader: Callable[..., Any],
    visible: Callable[..., Visible],
    login: Callable[[str], str] | None = None,
    marker: Callable[..., str] | None = None,
    editor: Callable[..., actions.Editor] | None = None,
    others: Mapping[str, Action] | None = None,
) -> FastAPI:
    """Return the app of the release pages.

    The dependency `anyone` admits users who may see DAGs; `reader` admits users who may see the DAG `dag_id` of the path.
    `visible` returns a function that filters the DAGs to list. Each raises HTTPException 401 or 403. `login` returns the URL of
    the login page that redirects to a path. `marker` admits users who may mark an evaluation and returns their name; if it is
    None, marking is disabled. `editor` returns the user and the DAGs that they may edit; if it is None, there are no actions. `others`
    are actions that need Airflow.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    answer_errors(app, login)

    app.state.archive = archive
    guarded = [Depends(reader)]
    _add_lists(app, anyone, visible)
    actions.add_routes(app, archive, anyone, visible, editor, others or {})
    _add_intervals(app, guarded)
    _add_views(app, guarded)
    evaluation.add_routes(app, AT, open_release, reader, marker)
    _add_files(app, guarded)
    _add_papers(app, guarded)
    _add_rows(app, guarded)
    return app


def _add_lists(app: FastAPI, anyone: Callable[..., Any], visible: Callable[..., Visible]) -> None:
    """Add the pages of all releases and drops."""

    @app.get("/", dependencies=[Depends(anyone)])
    def releases(request: Request, allowed: Annotated[Visible, Depends(visible)], page: Page = 1) -> Response:
        return render(
            request,
            "list.html",
            **views.release_list(request.app.state.archive(), lambda spec: allowed(RELEASE_DAG + spec), page),
        )

    @app.get("/drops", dependencies=[Depends(anyone)])
    def drops(
        request: Request,
        allowed: Annotated[Visible, Depends(visible)],
        standing: Annotated[DropState | None, Query()] = None,
        page: Page = 1,
    ) -> Response:
        if not allowed(DROPS_DAG):
            raise HTTPException(403)
        return render(
            request, "drops.html", **views.drops(request.app.state.archive(), standing.value if standing else "", page)
        )

    @app.get("/static/{name}")
    def static(name: Literal["page.css", "page.js"]) -> Response:
        return FileResponse(STATIC / name, media_type="text/css" if name == "page.css" else "text/javascript")


def _add_intervals(app: FastAPI, guarded: list[Any]) -> None:
    @app.get("/{dag_id}/intervals", dependencies=guarded)
    def spec_intervals(
        request: Request, dag_id: DagId, first: date | None = None, last: date | None = None
    ) -> Response:
        spec = dag_id.removeprefix(RELEASE_DAG)
        if not (releases_folder() / f"{spec}.yaml").is_file():
            raise HTTPException(404, "There is no such spec.")
        return render(
            request,
            "intervals.html",
            dag_id=dag_id,
            **intervals.overview(request.app.state.archive(), spec, first, last),
        )


def _add_views(app: FastAPI, guarded: list[Any]) -> None:
    """Add the pages of one release."""

    def add_view(path: str, template: str, collect: Callable[[Archive, ReleaseId], dict[str, Any]]) -> None:
        @app.get(AT + path, dependencies=guarded)
        def view(request: Request, opened: Release) -> Response:
            return render(request, template, **collect(opened.archive, opened.release))

    add_view("", "release.html", views.overview)
    add_view("/trends", "trends.html", views.trends)
    add_view("/quality", "quality.html", views.quality_table)
    add_view("/snapshot", "snapshot.html", views.snapshot)

    @app.get(AT + "/compare", dependencies=guarded)
    def compared(request: Request, opened: Release, other: Annotated[str, Query(pattern=DAY)]) -> Response:
        ids = sorted((opened.release, find_release(opened.archive, opened.release.spec, other)))
        return render(request, "compare.html", release_id=opened.release, **compare(opened.archive, *ids))


def _add_files(app: FastAPI, guarded: list[Any]) -> None:
    """Add the download of a file and the search for papers."""

    @app.get(AT + "/file/{path:path}", dependencies=guarded)
    def file(opened: Release, path: Annotated[str, InPath(max_length=300)]) -> Response:
        snapshot_id = opened.archive.release(opened.release).snapshot
        found = opened.archive.file(snapshot_id, path) if snapshot_id else None
        if found is None:
            raise HTTPException(404, "There is no such file in this release's snapshot.")
        stream, size = found
        name = quote(f"{snapshot_id}-{path.replace('/', '-')}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Content-Length": str(size)}
        return StreamingResponse(_blocks(stream), media_type="application/octet-stream", headers=headers)

    @app.get(AT + "/find", dependencies=guarded)
    def find(request: Request, opened: Release, q: Annotated[str, Query(min_length=1, max_length=300)]) -> Response:
        found = lists.find_papers(opened.tables, q)
        if isinstance(found, tuple):
            return RedirectResponse("/".join(found), 303)  # relative to the path of the release
        return render(request, "found.html", release_id=opened.release, query=q, rows=found, most=lists.MOST_FOUND)


def _add_papers(app: FastAPI, guarded: list[Any]) -> None:
    """Add the pages of one paper and one PDF."""

    @app.get(AT + "/paper/{paper_id}", dependencies=guarded)
    def paper(request: Request, opened: Release, paper_id: PaperId) -> Response:
        way = trace.trace_paper(opened.tables, paper_id)
        if way is None:
            raise HTTPException(404, "There is no such paper in this release.")
        snapshot = opened.archive.release(opened.release).snapshot
        similar = find_similar_papers(opened.archive.lake, snapshot, paper_id) if snapshot else None
        return render(request, "paper.html", release_id=opened.release, way=way, similar=similar)

    @app.get(AT + "/pdf/{sha1}", dependencies=guarded)
    def pdf(request: Request, opened: Release, sha1: Sha1) -> Response:
        found = trace.trace_pdf(opened.tables, sha1)
        if found is None:
            raise HTTPException(404, "There is no such PDF in this release.")
        papers = trace.list_papers(opened.tables, sha1)
        return render(request, "pdf.html", release_id=opened.release, pdf=found, papers=papers)

    @app.get(AT + "/text/{paper_id}", dependencies=guarded)
    def text(request: Request, opened: Release, paper_id: PaperId) -> Response:
        found = texts.read_text(opened.tables, paper_id)
        if found is None:
            raise HTTPException(404, "There is no such paper in this release.")
        sheets_ = sheets.find_sheets(opened.tables, paper_id)
        return render(request, "text.html", release_id=opened.release, paper_id=paper_id, text=found, sheets=sheets_)

    @app.get(AT + "/text/{paper_id}/page/{number}", dependencies=guarded)
    def sheet(
        opened: Release, paper_id: PaperId, number: Annotated[int, InPath(ge=1, le=sheets.MOST_PAGES)]
    ) -> Response:
        return Response(sheets.draw_sheet(opened.tables, paper_id, number), media_type="image/png")


def _add_rows(app: FastAPI, guarded: list[Any]) -> None:
    """Add the lists of documents and rejects."""

    @app.get(AT + "/documents/{set_}", dependencies=guarded)
    def documents(
        request: Request, opened: Release, set_: Set, choice: Annotated[Choice, Depends(read_choice)], page: Page = 1
    ) -> Response:
        if opened.archive.release(opened.release).state is ReleaseStatus.PRUNED:
            raise HTTPException(410, "The files of this snapshot were pruned. Run its release again.")
        values = explorer.explore(opened.archive, opened.release, set_, choice, page)
        return render(request, "documents.html", release_id=opened.release, **values)

    @app.get(AT + "/scores/{stage}", dependencies=guarded)
    def scores(request: Request, opened: Release, stage: ScoredStage) -> Response:
        if (spec := trace.read_spec(opened.tables)) is None:
            raise HTTPException(404, "This release has no record of its thresholds.")
        values = stage_scores.show_scores(opened.tables, spec, stage.value)
        return render(request, "scores.html", release_id=opened.release, **values)

    @app.get(AT + "/rejects/{stage}", dependencies=guarded)
    def rejects(
        request: Request,
        opened: Release,
        stage: Stage,
        outcome: Annotated[str, Query(min_length=1, max_length=100)],
        set_: Annotated[Set | None, Query(alias="set")] = None,
        page: Page = 1,
    ) -> Response:
        chosen = set_ if set_ and stage.value in ("clean", "split") else ""
        rows, more = lists.list_rejects(opened.tables, stage.value, outcome, chosen, page)
        values: dict[str, Any] = {"outcome": outcome, "set_": chosen, "rows": rows, "page": page, "more": more}
        return render(request, "rejects.html", release_id=opened.release, stage=stage.value, **values)


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while block := stream.read(1 << 20):
            yield block
