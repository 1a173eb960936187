"""Add security headers to all responses of the page, and answer errors with pages that hide internal details."""

from collections.abc import Awaitable, Callable

import pyarrow as pa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException as StarletteHTTPException

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.parts import OtherColumns
from s2corpus_airflow.release_page.render import page as render

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def answer_errors(app: FastAPI, login: Callable[[str], str] | None) -> None:
    """Add security headers to every response, and render errors as pages without internal details."""

    @app.middleware("http")
    async def headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    def show(request: Request, status: int, words: str, login: str | None = None) -> Response:
        return render(request, "error.html", status=status, words=words, login=login)

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        messages = {
            401: "Please log in to Airflow.",
            403: "You do not have permission to see this page.",
            404: "This page does not exist.",
        }
        own = error.detail.endswith(".")
        words = error.detail if own else messages.get(error.status_code, "The request was refused.")
        back = login(request.url.path) if login and error.status_code == 401 else None
        return show(request, error.status_code, words, back)

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, _: RequestValidationError) -> Response:
        return show(request, 422, "This address is invalid.")

    async def broken(request: Request, error: Exception) -> Response:
        return show(request, 503, f"The lake or the catalog cannot be read: {error}")

    @app.exception_handler(OtherColumns)
    async def earlier(request: Request, error: OtherColumns) -> Response:
        return show(request, 410, str(error))

    for kind in (UserError, TransientError, OSError, pa.ArrowException):
        app.add_exception_handler(kind, broken)

    @app.exception_handler(SQLAlchemyError)
    async def no_catalog(request: Request, _: SQLAlchemyError) -> Response:
        return show(request, 503, "The catalog is unreachable.")

    @app.exception_handler(Exception)
    async def fault(request: Request, _: Exception) -> Response:
        """Hide an unexpected error from the user; the log contains it."""
        response = show(request, 500, "This page failed: the log of Airflow's API server contains the error.")
        response.headers.update(HEADERS)
        return response
