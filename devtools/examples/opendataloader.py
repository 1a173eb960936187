"""opendataloader-pdf as an extractor: a Java program from PyPI, without a server, models or a GPU.

A package registers this module in its `pyproject.toml` under `[project.entry-points."s2corpus.extractors"]` as
`opendataloader = "devtools.examples.opendataloader"`. `GROBID_URL=opendataloader+program://java` then selects it; `java` is the
program's path.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import orjson

from s2corpus.errors import UserError
from s2corpus.extractors import BadAnswer, ExtractorAnswer, ExtractorIdentity, ExtractOutcome
from s2corpus.extractors.outline import VERSION, build_parse
from s2corpus.rules import ExtractRules
from s2orc_parse.parse_model import Parse

NAME = "opendataloader"
CONVERTER_VERSION = f"1.{VERSION}"
_OPTIONS = {"--format": "json", "--image-output": "off"}
_LABELS = {"heading": "heading", "paragraph": "text", "list item": "text"}


def form(asked: ExtractRules) -> dict[str, str]:
    """Return the program's options; a spec cannot change them."""
    if asked.options:
        raise UserError(f"extract.options: {min(asked.options)!r} given; opendataloader has no options")
    return _OPTIONS


def server(url: str, form: Mapping[str, str], *, max_bytes: int, **_: Any) -> Program:
    """Return the program that the address names."""
    return Program(url, max_bytes)


class Program:
    """The Java program: one process for each PDF."""

    def __init__(self, url: str, max_bytes: int) -> None:
        self.name, self.max_bytes = url, max_bytes
        self.java = shutil.which(url.removeprefix("program://"))

    def identity(self, *, timeout: float) -> ExtractorIdentity:
        """Return the version of the installed package."""
        if self.java is None:
            raise UserError(
                f"{self.name} names no program: expected opendataloader+program://java, with Java 11 or later"
            )
        try:
            return ExtractorIdentity(NAME, metadata.version("opendataloader-pdf"))
        except metadata.PackageNotFoundError:
            raise UserError("opendataloader-pdf is not installed: run `pip install opendataloader-pdf`") from None

    def alive(self, *, timeout: float) -> bool:
        """Return whether Java exists."""
        return self.java is not None

    def submit(self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float) -> ExtractorAnswer:
        """Convert one PDF."""
        with TemporaryDirectory() as folder, resources.as_file(resources.files("opendataloader_pdf")) as package:
            pdf = Path(folder, "paper.pdf")
            with open_pdf() as stream, pdf.open("wb") as file:
                shutil.copyfileobj(stream, file)
            jar = package / "jar/opendataloader-pdf-cli.jar"
            options = [part for option in _OPTIONS.items() for part in option]
            command = [
                str(self.java), "-Xmx1g", "-jar", str(jar), *options, "--quiet", "--output-dir", folder, str(pdf),
            ]  # fmt: skip
            try:
                done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
            except subprocess.TimeoutExpired:
                return ExtractorAnswer(ExtractOutcome.TIMEOUT)
            answer = pdf.with_suffix(".json")
            if done.returncode or not answer.exists():
                return ExtractorAnswer(ExtractOutcome.NOT_CONVERTED, detail=done.stderr[-200:].decode(errors="replace"))
            if answer.stat().st_size > self.max_bytes:
                return ExtractorAnswer(ExtractOutcome.BAD_ANSWER, detail="too large")
            return ExtractorAnswer(ExtractOutcome.OK, answer.read_bytes())


def convert(data: bytes, *, file_sha1: str, made_by: ExtractorIdentity) -> Parse:
    """Convert the program's JSON to a parse. Tables, figures and running heads are excluded."""
    try:
        items = list(_list_items(orjson.loads(data)["kids"]))
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadAnswer("bad_answer:not_from_opendataloader") from None
    return build_parse(items, data, file_sha1=file_sha1, made_by=made_by, converter_version=CONVERTER_VERSION)


def _list_items(elements: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield label and text of each heading, paragraph and list item, in reading order."""
    for element in elements:
        label = "title" if element.get("level") == "Doctitle" else _LABELS.get(element["type"])
        if label and element.get("content"):
            yield label, str(element["content"])
        if element["type"] in ("list", "list item"):
            yield from _list_items(element.get("list items", element.get("kids", [])))
