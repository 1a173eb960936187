"""Measure how each stage grows with the number of records.

    python -m devtools.bench.scale [RECORDS …] [--stages intake,select]

The default is 10,000 and 100,000 records. The release consists of generated records (`cluster_records`) with abstracts,
delivered as gzipped JSON lines by source. One record in a hundred has a PDF: a distinct page of text, so that `select`
reads it. It also has the TEI of an article of 4,000 words with 25 references to titles of the records. A stand-in for
GROBID returns the TEIs, so the figures for `extract` measure our part, not an extractor's.

Each stage runs in two separate processes, shard after shard, on a lake in a folder. The first process runs the rounds.
The second (`: finish`) runs the end, metrics and checks, which are one process in any release.

The script prints three figures:
- the CPU seconds, including child processes, per record or PDF;
- the memory of the process, without its PDF-reading children, which have `file_memory_mb` each;
- the exponent of the CPU time between two sizes: 1 is linear.

At 10,000 records a stage mostly measures its start. Imports are not counted, and numba compiles its kernels in a
release of 2,000 records before the first one.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import wordfreq

from devtools.bench.cluster_records import GENERIC, rows
from devtools.measure import call_alone, cpu_seconds, peak_mb
from devtools.sample.deliver import write_ready
from s2corpus.errors import QualityBlocked
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run, load_stage
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.pdf import bad_pdfs
from tests.unit.s2corpus.snapshot.release import paragraph

AS_OF = datetime(2026, 1, 1, tzinfo=UTC)
OF_PDFS = ("select", "extract", "postprocess", "assemble")
"""Stages that work on PDFs: their figures are per PDF."""
PDFS = 0.01
"""PDFs for each record"""
REFERENCES = 25
PARAGRAPHS = 40
TEXTS = 200_000
"""Maximum number of papers that have a PDF or are cited by one."""
_READY = "2025-01-01T00:00:00Z"


def deliver(folder: Path, count: int) -> None:
    """Write about `count` records as one delivery per source, and a drop with PDFs for a share of them; write their TEIs."""
    files: dict[str, gzip.GzipFile] = {}
    texts: list[dict[str, Any]] = []
    with ExitStack() as opened:
        words = [word for word in wordfreq.top_n_list("en", 100_000) if word.isascii() and word.isalpha()][:60_000]
        for number, row in enumerate(rows(count, random.Random(0), words)):
            source = str(row["source"]).replace("grobid", "semantic")  # PDF headers, as records of a source
            if source not in files:
                place = folder / "lake" / "sources" / source / "1"
                place.mkdir(parents=True)
                files[source] = opened.enter_context(gzip.open(place / "records.jsonl", "wb", compresslevel=1))
            line = {name: value for name, value in row.items() if value is not None and name not in ("truth", "kind")}
            line |= {"source": source, "record_id": f"{source}:{str(row['record_id']).partition(':')[2]}"}
            files[source].write(orjson.dumps({**line, "abstract": _abstract(row)}) + b"\n")
            if number % 8 == 0 and row["title"] not in GENERIC and row["authors"] and len(texts) < TEXTS:
                texts.append(row)
    for source in files:
        write_ready(folder / "lake" / "sources" / source / "1", {}, _READY)
    if total := round(count * PDFS):
        _drop(folder, texts, total)


def _abstract(row: dict[str, Any]) -> str:
    """Return the abstract; all records of one paper have the same abstract."""
    return paragraph(random.Random(row["truth"]), 80)


def _drop(folder: Path, texts: list[dict[str, Any]], count: int) -> None:
    rng = random.Random(1)
    drop, teis = folder / "lake" / "drops" / "one", folder / "teis"
    drop.mkdir(parents=True)
    teis.mkdir()
    prose = [paragraph(rng, 100) for _ in range(2000)]
    declared = []
    for number, row in enumerate(rng.sample(texts, min(count, len(texts)))):
        content = _pdf([str(row["title"])[:80], *(f"Line {line} of the text of paper {number}." for line in range(40))])
        name, sha1 = f"{number:06d}.pdf", hashlib.sha1(content, usedforsecurity=False).hexdigest()
        (drop / name).write_bytes(content)
        tei = _tei(row, rng.choices(prose, k=PARAGRAPHS), rng.choices(texts, k=REFERENCES))
        (teis / f"{sha1}.tei.xml").write_bytes(tei)
        declared.append(orjson.dumps({"name": name, "open_access": True, "license": "CC-BY-4.0"}) + b"\n")
    (drop / "records.jsonl").write_bytes(b"".join(declared))
    write_ready(drop, {}, _READY)


def _pdf(lines: list[str]) -> bytes:
    """Return a PDF with one page of text."""
    words = ("".join(c for c in line if c.isascii() and c not in "()\\") for line in lines)
    text = "BT /F1 11 Tf 14 TL 72 740 Td " + " ".join(f"({line}) '" for line in words) + " ET"
    return bad_pdfs.assemble(bad_pdfs.paper(content=bad_pdfs.stream(text.encode())))


def _tei(row: dict[str, Any], prose: list[str], cited: list[dict[str, Any]]) -> bytes:
    """Return a TEI as GROBID would write it: the article's head, sections of citing paragraphs, and its bibliography."""
    paragraphs = [
        f'<p>{escape(text)} <ref type="bibr" target="#b{number % len(cited)}">[{number % len(cited) + 1}]</ref>.</p>'
        for number, text in enumerate(prose)
    ]
    sections = [
        f'<div><head n="{at // 8 + 1}">Part {at // 8 + 1}</head>{"".join(paragraphs[at : at + 8])}</div>'
        for at in range(0, len(paragraphs), 8)
    ]
    entries = [
        f'<biblStruct xml:id="b{number}"><analytic><title level="a" type="main">{escape(str(one["title"]))}</title>'
        f'{_authors(one)}</analytic><monogr><title level="j">Journal of Generated Papers</title><imprint>'
        f'<date type="published" when="{one["date"] or 2001}"/></imprint></monogr></biblStruct>'
        for number, one in enumerate(cited)
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>'
        f'<title level="a" type="main">{escape(str(row["title"]))}</title></titleStmt><sourceDesc><biblStruct><analytic>'
        f'{_authors(row)}<title level="a" type="main">{escape(str(row["title"]))}</title></analytic></biblStruct></sourceDesc>'
        f"</fileDesc><profileDesc><abstract><p>{_abstract(row)}</p></abstract></profileDesc></teiHeader><text><body>{''.join(sections)}"
        f'</body><back><div type="references"><listBibl>{"".join(entries)}</listBibl></div></back></text></TEI>\n'
    ).encode()


def _authors(row: dict[str, Any]) -> str:
    return "".join(
        f'<author><persName><forename type="first">{escape(one["first"])}</forename><surname>{escape(one["last"])}</surname>'
        "</persName></author>"
        for one in row["authors"]
    )


def work(folder: Path, name: str, is_end: bool) -> tuple[float, float]:
    """Run the rounds of a stage, or its end and checks, as the runner does; return CPU seconds and MB."""
    run = Run(ReleaseSpec(name="scale"), AS_OF, LocalLake(folder / "lake"), folder)
    load_stage(name)
    before = cpu_seconds()
    if is_end:
        runner.finish(run, name)
        try:
            runner.check(run, name)
        except QualityBlocked as blocked:  # continue, as a run continues with other code
            print(blocked, flush=True)
    else:
        for number in range(stage_row(name).rounds):
            runner.work(run, name, runner.plan(run, name, number), number)
    return cpu_seconds() - before, peak_mb()


def measure(folder: Path, count: int, stages: list[str]) -> Iterator[tuple[str, float, float]]:
    """Yield name, CPU seconds and memory in MB of each stage and of each stage's end, for `count` records."""
    lake = Path(tempfile.mkdtemp(dir=folder))
    call_alone(deliver, lake, count)
    with StandIn(tei=lake / "teis") as server:
        os.environ["GROBID_URL"] = server.url
        for name, is_end in product(stages, (False, True)):
            yield (f"{name}: finish" if is_end else name, *call_alone(work, lake, name, is_end))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--stages", default=",".join(STAGE_NAMES))
    given = parser.parse_args()
    stages = given.stages.split(",")
    before: dict[str, tuple[int, float]] = {}
    with tempfile.TemporaryDirectory(prefix="s2corpus-scale-") as name:
        list(measure(Path(name), 2000, stages))
        for count in given.records:
            for said, cpu, megabytes in measure(Path(name), count, stages):
                units, unit = (count * PDFS, "PDF") if said in OF_PDFS else (count, "record")
                exponent = ""
                if said in before and cpu > 0 < before[said][1]:
                    exponent = f", exponent {math.log(cpu / before[said][1]) / math.log(count / before[said][0]):.2f}"
                before[said] = count, cpu
                print(
                    f"{count:11,} records  {said:19} {cpu:8.1f} s of CPU, {cpu / max(units, 1) * 1e6:8.1f} µs a {unit}, "
                    f"{megabytes:6.0f} MB{exponent}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
