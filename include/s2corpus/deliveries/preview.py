"""Find files and lines of a drop or delivery that no release can read, before the upload (`corpus check`, `corpus add`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from s2corpus import sources
from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.entries import has_records, kind_of, read_entries
from s2corpus.deliveries.ready import Delivery, Refused
from s2corpus.errors import UserError, suggest
from s2corpus.sources import scienceparse
from s2orc_parse import jats

_ARCHIVES = (".zip", ".7z", ".rar", ".bz2", ".xz", ".zst")
_FIRST_ENTRIES = 1_000
_BROKEN = (sources.RejectReason.MALFORMED, sources.RejectReason.UNREADABLE_REST)
_NOT_READ = "no PDF, LaTeX source or publisher's XML or JSON: it is stored, and no release reads it"


def find_unread_files(files: Mapping[str, Path]) -> dict[str, str]:
    """Return the files of a drop that no release reads, by name, each with the reason and what to do."""
    reasons = {name: _explain_unread(name, path) for name, path in files.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _explain_unread(name: str, path: Path) -> str:
    """Return why no release reads a file of a drop, or an empty text if releases read it."""
    if name == RECORDS_FILE or kind_of(name) != "other":
        return ""
    base = name.rpartition("/")[2].lower()
    data = b""
    with suppress(OSError), path.open("rb") as file:
        data = file.read(1 << 20)
    if base.endswith((".xml", ".nxml", ".json")) and (jats.detect_kind(data) or scienceparse.has_form(data)):
        return ""
    if base == RECORDS_FILE:
        return f"only the {RECORDS_FILE} at the top of the folder describes files: move it there"
    if suggest(base, [RECORDS_FILE, "records.json"]):
        return f"not read: did you mean {RECORDS_FILE} (one JSON object a line)?"
    if base.startswith("crossref"):
        return f"only crossref*.json at the top of the folder is read: move it there, or use corpus add CORPUS --source crossref {base}"
    if base.endswith(_ARCHIVES) or data.startswith(b"PK\x03\x04"):
        return "archives are not unpacked: put their files into the folder"
    if data.lstrip().startswith(b"%PDF-"):
        return "a PDF: its name must end in .pdf"
    if b"<TEI" in data[:4096]:
        return "TEI is not read from drops: deliver the PDF, or convert the file by corpus convert"
    return _NOT_READ


def check_source(source: str, names: Iterable[str]) -> str | None:
    """Return a warning for a source without adapter whose name resembles one with an adapter.

    Raises:
        UserError: the source has no adapter, and a file is not `records.jsonl`, so that intake would refuse the delivery.
    """
    if source in sources.SOURCES.names:
        return None
    like = suggest(source, sources.SOURCES.names)
    if any(name.rpartition("/")[2] != RECORDS_FILE for name in names):
        raise UserError(
            f"no source is called {source!r}{like}: expected one of {', '.join(sources.SOURCES.names)}, "
            f"or files called {RECORDS_FILE} in the generic form"
        )
    return f"{source} is a new source of its own{like}" if like else None


def check_metadata(delivery: Delivery, files: Mapping[str, Path]) -> list[str]:
    """Read the first entries of each file of a delivery; return a warning for each file that gives none.

    Raises:
        UserError: intake would refuse a file, or no file can be read.
    """
    warnings, is_readable = [], False
    for name, path in files.items():
        if not has_records(delivery, name):
            continue
        entries = list(islice(iterate_entries(delivery, name, path), _FIRST_ENTRIES))
        broken = [entry for entry in entries if isinstance(entry, sources.Dropped) and entry.reason in _BROKEN]
        if not entries:
            warnings.append(f"{name} contains no entries of {delivery.source}")
        elif len(broken) == len(entries):
            warnings.append(f"{name} cannot be read as {delivery.source}: {format_dropped(broken[0])}")
        is_readable |= not entries or len(broken) < len(entries)
    if warnings and not is_readable:
        raise UserError(f"{'; '.join(warnings[:3])}. Nothing was delivered: correct or remove the file")
    return warnings


def iterate_entries(delivery: Delivery, name: str, path: Path) -> Iterator[sources.Entry]:
    """Yield the entries of a file of a delivery, as intake reads them.

    Raises:
        UserError: intake would refuse the file.
    """
    try:
        yield from read_entries(path, delivery, name, {})
    except Refused as refused:
        raise UserError(f"{path}: {refused.detail.removeprefix(f'{name}, ')}") from None


def format_dropped(entry: sources.Dropped) -> str:
    """Return an entry without a record as text: reason, place and detail."""
    return f"{entry.reason} at {entry.where}" + (f" ({entry.detail})" if entry.detail else "")


def count_entries(delivery: Delivery, name: str, path: Path) -> tuple[Counter[str], list[str]]:
    """Return the number of entries of a file with each outcome, and the first 100 entries that give no record."""
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for entry in iterate_entries(delivery, name, path):
        match entry:
            case sources.Dropped():
                counts[entry.reason] += 1
                if len(lines) < 100:
                    lines.append(format_dropped(entry))
            case sources.Deleted():
                counts["withdrawn"] += 1
            case _:
                counts["record"] += 1
    return counts, lines
