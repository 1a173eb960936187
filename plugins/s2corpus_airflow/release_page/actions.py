"""Actions of operators on the page: plan, confirm, do. Each checks the right to edit the DAGs of all corpora that it changes."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from s2corpus.corpora.actions import ACTIONS, list_records, perform
from s2corpus.corpora.listing import measure_disk
from s2corpus.corpora.plans import Action, Plan
from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG
from s2corpus_airflow.release_page.evaluation import same_origin
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.render import page as render

_MAX_VALUE, _PROVED = 1000, 10


class Editor(NamedTuple):
    """A user, and functions that return whether the user may edit a DAG, and may approve its releases."""

    name: str
    may_edit: Callable[[str], bool]
    may_approve: Callable[[str], bool]


def add_routes(
    app: FastAPI,
    archive: Callable[[], Archive],
    anyone: Callable[..., Any],
    visible: Callable[..., Callable[[str], bool]],
    editor: Callable[..., Editor] | None,
    others: Mapping[str, Action],
) -> None:
    """Add the pages of the actions. Without `editor` they are read-only. `others` are actions that need Airflow."""
    actions: dict[str, Action] = {**ACTIONS, **others}

    def find(name: str) -> Action:
        if name not in actions:
            raise HTTPException(404, "There is no such action.")
        return actions[name]

    @app.get("/actions", dependencies=[Depends(anyone)])
    def overview(request: Request, allowed: Annotated[Callable[[str], bool], Depends(visible)]) -> Response:
        lake = archive().lake
        records = [r for r in list_records(lake) if all(allowed(RELEASE_DAG + corpus) for corpus in r["corpora"])]
        provable = [(r, prove) for r in records if (prove := getattr(actions.get(r["action"]), "prove", None))]
        proofs = {
            record["at"]: [
                text for corpus, text in prove(lake, record["values"]).items() if allowed(RELEASE_DAG + corpus)
            ]
            for record, prove in provable[:_PROVED]
        }
        return render(
            request,
            "actions.html",
            actions=actions.values(),
            records=records,
            proofs=proofs,
            may_act=editor is not None,
        )

    @app.get("/disk", dependencies=[Depends(anyone)])
    def disk(request: Request) -> Response:
        return render(request, "disk.html", kinds=measure_disk(archive().lake))

    if editor is None:
        return

    def make_plan(action: Action, values: Mapping[str, str], who: Editor) -> Plan:
        plan = action.plan(archive().lake, values)
        if locked := sorted(corpus for corpus in plan.corpora if not who.may_edit(RELEASE_DAG + corpus)):
            raise HTTPException(403, f"This needs the right to edit the DAG of {', '.join(locked)}.")
        closed = sorted(corpus for corpus in plan.corpora if not who.may_approve(RELEASE_DAG + corpus))
        if plan.needs_approver and closed:
            raise HTTPException(403, f"This needs the right to approve releases of {', '.join(closed)}.")
        return plan

    @app.get("/actions/{name}", dependencies=[Depends(anyone)])
    def show(request: Request, name: str, who: Annotated[Editor, Depends(editor)]) -> Response:
        action = find(name)
        values = _read_values(action, request.query_params)
        plan, problem = None, None
        if all(values.values()):
            try:
                plan = make_plan(action, values, who)
            except UserError as error:
                problem = str(error)
        return render(request, "action.html", action=action, values=values, plan=plan, problem=problem)

    @app.post("/actions/{name}", dependencies=[Depends(anyone), Depends(same_origin)])
    async def do(request: Request, name: str, who: Annotated[Editor, Depends(editor)]) -> Response:
        action, form = find(name), await request.form()
        values = _read_values(action, form)
        try:
            make_plan(action, values, who)
            perform(archive().lake, action, values, str(form.get("token", "")), who.name)
        except UserError as error:
            return render(
                request, "action.html", action=action, values=values, plan=None, problem=str(error), status=409
            )
        return RedirectResponse(request.url.replace(path=request.url.path.rpartition("/")[0], query=""), 303)


def _read_values(action: Action, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the value of each field of an action, empty if it is missing."""
    values = {name: str(given.get(name, "")).strip() for name in action.fields}
    if any(len(value) > _MAX_VALUE or not value.isprintable() for value in values.values()):
        raise HTTPException(422, "A value is too long, or has characters that cannot be printed.")
    return values
