"""Add papers and metadata to a corpus (`corpus add`, `make release`)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.preview import check_metadata, find_unread_files
from s2corpus.deliveries.ready import Delivery
from s2corpus.deliveries.upload import Uploaded, deliver, digests_of, files_below, new_delivery
from s2corpus.errors import UserError
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake

CROSSREF_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Added:
    """What was added: the drop or delivery, and the Crossref works next to the papers."""

    id: str
    uploaded: Uploaded
    works: Uploaded | None = None


def split_works(files: Mapping[str, Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the files of a folder without its Crossref works, and the works: `crossref*.json…` at the top of the folder."""
    works = {
        n: p for n, p in files.items() if n.startswith("crossref") and "/" not in n and n.endswith(CROSSREF_SUFFIXES)
    }
    return {n: p for n, p in files.items() if n not in works}, works


def check_papers(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the files of a folder of papers and its Crossref works, by name, if a release can use them.

    Raises:
        UserError: no release reads a file of the folder, or no Crossref work can be read.
    """
    files, works = split_works(files_below(folder))
    if files.keys() - find_unread_files(files).keys() <= {RECORDS_FILE}:
        raise UserError(
            f"{folder}: no PDF, LaTeX source or publisher's file found: names of PDFs must end in .pdf; subfolders are included"
        )
    check_metadata(new_delivery("delivery", "crossref", "check"), works)
    return files, works


def add_papers(
    lake: Lake, spec: ReleaseSpec, folder: Path, id_: str | None = None, by: str = "",
    progress: Progress = lambda done, total: None,
) -> Added:  # fmt: skip
    """Upload a folder of papers as a drop of a corpus. Its Crossref works become a delivery with the same id.

    Without an id, the id is made from the content: the same content is one drop.

    Raises:
        UserError: no release reads a file of the folder, the corpus does not take the id, or intake would refuse a file.
    """
    _check_outside(lake, folder)
    files, works = check_papers(folder)
    digests = digests_of(files | works)
    listed = [{"name": name, "bytes": of.bytes, "sha256": of.sha256} for name, of in digests.items()]
    content = hashlib.sha256(orjson.dumps(listed)).hexdigest()[:12]
    drop = id_ or _choose(spec.drops, content, spec.selects_drop)
    delivery = new_delivery("drop", "", drop, by=by)
    _check_selected(spec, delivery)
    delivered = None
    if works:
        metadata = new_delivery("delivery", "crossref", drop, by=by)
        _check_selected(spec, metadata)
        delivered = deliver(lake, metadata, works, {name: digests[name] for name in works})
    return Added(
        drop, deliver(lake, delivery, files, {name: digests[name] for name in files}, progress=progress), delivered
    )


def add_metadata(
    lake: Lake, spec: ReleaseSpec, source: str, paths: Iterable[Path], id_: str | None = None, *, is_full: bool = False,
    by: str = "", progress: Progress = lambda done, total: None,
) -> Added:  # fmt: skip
    """Upload files, or folders of files, as a delivery of a metadata source. Without an id, the id contains the current time.

    Raises:
        UserError: the corpus does not take the delivery, two files have one name, or intake would refuse a file.
    """
    files: dict[str, Path] = {}
    for path in paths:
        _check_outside(lake, path)
        for name, file in (files_below(path) if path.is_dir() else {path.name: path}).items():
            if files.setdefault(name, file) != file:
                raise UserError(f"{file}: {files[name]} has the same name in the delivery: rename one")
    now = time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
    patterns = ["*", *(pattern.partition("/")[2] or "*" for pattern in spec.sources)]
    chosen = id_ or _choose(patterns, now, lambda candidate: spec.selects_delivery(source, candidate))
    delivery = new_delivery("delivery", source, chosen, "full" if is_full else "delta", by)
    _check_selected(spec, delivery)
    return Added(chosen, deliver(lake, delivery, files, progress=progress))


def _check_outside(lake: Lake, folder: Path) -> None:
    """Raise UserError if a folder contains the lake: each call would add all earlier drops again."""
    if lake.root.startswith("file://") and Path(lake.uri("drops")).resolve().is_relative_to(folder.resolve()):
        raise UserError(
            f"{folder} contains the lake {lake.root.removeprefix('file://')}: give a folder that has only the files to add"
        )


def _choose(patterns: Iterable[str], rest: str, is_selected: Callable[[str], bool]) -> str:
    """Return the first id that the corpus takes, with `rest` in place of a pattern's star; else `rest`."""
    candidates = (pattern.replace("*", rest) for pattern in patterns)
    return next((candidate for candidate in candidates if rest in candidate and is_selected(candidate)), rest)


def _check_selected(spec: ReleaseSpec, delivery: Delivery) -> None:
    """Raise UserError if the corpus does not take a drop or delivery."""
    if spec.selects(delivery.kind, delivery.source, delivery.id):
        return
    is_drop = delivery.kind == "drop"
    name = delivery.id if is_drop else f"{delivery.source}/{delivery.id}"
    field, patterns = ("drops", spec.drops) if is_drop else ("sources", spec.sources)
    raise UserError(
        f"the corpus {spec.name} does not take {name}: its {field} are {', '.join(patterns)}. "
        f"Give another id with --as, or add a pattern to {field} in its spec"
    )
