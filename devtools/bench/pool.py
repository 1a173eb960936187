"""Compare the GROBID pool with grobid-client-python's `process`, on a stand-in server of 8 slots and 300 ms per PDF.

    python -m devtools.bench.pool [--pdfs 2000] [--only pool|client]     throughput with and without faults, outcomes

Times are scaled: a PDF takes 0.3 s instead of some seconds, so waits and timeouts are a tenth of a release's values.

Faults: for 2 s in every 20 s, every upload gets a 503. At the first try, 2 % of the PDFs hang and 2 % lose their
connection. 1 % have no text blocks, 1 % no content. In the middle the server dies for 2 s.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import logging
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from s2corpus.extractors import Limits, Pool
from tests.standin_grobid import TEI, StandIn, Upload

SLOTS, LATENCY = 8, 0.3
IN_FLIGHT = 10  # GROBID's advice: slightly more than its threads; the other requests wait for a second before the 503
LIMITS = Limits(
    in_flight=IN_FLIGHT,
    deadline=60.0,
    request=2.0,
    busy_wait=(0.5, 1.0),
    retry_wait=(0.1, 0.3),
    health_wait=(0.2, 0.4),
    progress=10.0,
)
PDF_BYTES = 50_000
BODY = "<p>" + "Some words of a paper that was read. " * 60 + "</p>"


class LargeTeiServer(StandIn):
    """A server that answers with some 100 kB of TEI."""

    def recorded(self, sha1: str) -> bytes:
        return TEI.format(sha1).replace("<p>Text.</p>", BODY * 45).encode()


def pdf(number: int) -> bytes:
    """Return a PDF by its number; the stand-in reads only its SHA-1."""
    return f"%PDF-1.7 {number}\n".encode().ljust(PDF_BYTES, b"\0")


def expected(number: int) -> str:
    return {30: "failed:NO_BLOCKS", 31: "no_content"}.get(number % 100, "ok")


def faults(numbers: dict[str, int], start: float) -> Callable[[Upload], str | None]:
    def fault(upload: Upload) -> str | None:
        if (time.monotonic() - start) % 20 > 18:
            return "busy"
        kind = numbers[upload.sha1] % 100
        if upload.times == 1 and kind in (10, 11, 20, 21):
            return "hang" if kind < 20 else "drop"
        return {30: "NO_BLOCKS", 31: "no_content"}.get(kind)

    return fault


def final(numbers: dict[str, int]) -> Callable[[Upload], str | None]:
    return lambda upload: {30: "NO_BLOCKS", 31: "no_content"}.get(numbers[upload.sha1] % 100)


def with_pool(server: LargeTeiServer, folder: Path, numbers: dict[str, int]) -> dict[str, str]:
    items = ((sha1, (folder / f"{sha1}.pdf").open) for sha1 in numbers)
    binary = ((sha1, lambda opener=opener: opener("rb")) for sha1, opener in items)
    return {r.file_sha1: str(r.outcome) for r in Pool([server.url], limits=LIMITS).extract(binary)}


def with_client(server: LargeTeiServer, folder: Path, numbers: dict[str, int]) -> dict[str, str]:
    from grobid_client.grobid_client import GrobidClient

    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()):
        client = GrobidClient(server.url, sleep_time=0.75, timeout=LIMITS.request, check_server=False)  # type: ignore[arg-type]  # its hints say int for seconds
        client.logger.setLevel(logging.CRITICAL)
        client.process(
            "processFulltextDocument",
            str(folder),
            output=out,
            n=IN_FLIGHT,
            consolidate_header=False,
            include_raw_citations=True,
        )
        found = {}
        for sha1 in numbers:
            if (Path(out) / f"{sha1}.grobid.tei.xml").exists():
                found[sha1] = "ok"
            elif errors := list(Path(out).glob(f"{sha1}_*.txt")):
                status = errors[0].stem.rpartition("_")[2]
                text = errors[0].read_text()
                found[sha1] = "failed:NO_BLOCKS" if "NO_BLOCKS" in text else {"204": "no_content"}.get(status, status)
        return found


CLIENTS = {"pool": with_pool, "client": with_client}


def throughput(count: int, only: str | None) -> None:
    numbers = {hashlib.sha1(pdf(number)).hexdigest(): number for number in range(count)}
    capacity = SLOTS / LATENCY
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for sha1, number in numbers.items():
            (folder / f"{sha1}.pdf").write_bytes(pdf(number))
        quiet: dict[str, float] = {}
        for faulty in (False, True):
            for who, extract in CLIENTS.items():
                if only in (None, who):
                    start = time.monotonic()
                    server = LargeTeiServer(
                        faults=faults(numbers, start) if faulty else final(numbers),
                        slots=SLOTS,
                        latency=LATENCY,
                        queue_wait=1.0,
                    )
                    with server:
                        if faulty:
                            in_the_middle = threading.Timer(count / capacity / 2, restart, [server])
                            in_the_middle.start()
                        outcomes = extract(server, folder, numbers)
                        if faulty:
                            in_the_middle.join()
                    seconds = time.monotonic() - start
                    report(who, faulty, seconds, outcomes, numbers, server, quiet)


def restart(server: LargeTeiServer) -> None:
    server.stop()
    time.sleep(2.0)
    server.start()


def report(
    who: str,
    faulty: bool,
    seconds: float,
    outcomes: dict[str, str],
    numbers: dict[str, int],
    server: LargeTeiServer,
    quiet: dict[str, float],
) -> None:
    rate = len(numbers) / seconds
    quiet.setdefault(who, rate)
    right = sum(outcomes.get(sha1) == expected(number) for sha1, number in numbers.items())
    again = sum(times > 1 for times in server.answered.values())
    print(
        f"{'grobid-client-python' if who == 'client' else 'GROBID pool':20} {'with faults' if faulty else 'no faults':11} "
        f"{seconds:6.1f} s  {rate:5.2f} PDFs/s = {rate * LATENCY / SLOTS:6.1%} of capacity, {rate / quiet[who]:6.1%} of its own without "
        f"faults; right outcome {right}/{len(numbers)}, none {len(numbers) - len(outcomes)}, answered twice {again}; "
        f"{server.requests} requests\n{'':21}{dict(Counter(outcomes.values()).most_common())}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pdfs", type=int, default=2000)
    parser.add_argument("--only", choices=list(CLIENTS))
    given = parser.parse_args()
    throughput(given.pdfs, given.only)


if __name__ == "__main__":
    main()
