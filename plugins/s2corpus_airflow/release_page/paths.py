"""The parts of a page's path, and the release that it names."""

from contextlib import suppress
from typing import Annotated, NamedTuple

from fastapi import Depends, HTTPException, Request
from fastapi import Path as InPath

from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG, SPEC_NAME, ReleaseId
from s2corpus.pipeline.run import ReleaseTables
from s2corpus_airflow.release_page.releases import Archive

DagId = Annotated[str, InPath(pattern=f"^{RELEASE_DAG}{SPEC_NAME}$")]
DAY = "^[0-9]{8}(T[0-9]{6})?$"
AsOf = Annotated[str, InPath(pattern=DAY)]
PaperId = Annotated[str, InPath(pattern="^[0-9a-f]{15}$")]
Sha1 = Annotated[str, InPath(pattern="^[0-9a-f]{40}$")]


class Opened(NamedTuple):
    """The release that a path names."""

    archive: Archive
    release: ReleaseId
    tables: ReleaseTables


def open_release(request: Request, dag_id: DagId, as_of: AsOf) -> Opened:
    """Return the release that a path names; raise HTTPException 404 if it does not exist."""
    archive = request.app.state.archive()
    release = find_release(archive, dag_id, as_of)
    return Opened(archive, release, ReleaseTables(archive.lake, release))


def find_release(archive: Archive, dag_id: str, day: str) -> ReleaseId:
    """Return the id of an existing release; raise HTTPException 404 if it does not exist."""
    with suppress(UserError):
        release = ReleaseId.from_page_path(dag_id, day)
        if archive.has(release):
            return release
    raise HTTPException(404, "There is no such release.")


Release = Annotated[Opened, Depends(open_release)]
AT = "/{dag_id}/{as_of}"
"""path of a release"""
