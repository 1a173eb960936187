"""Measure processes, read XML and compare texts, for benchmarks and training."""

from __future__ import annotations

import multiprocessing
import re
import resource
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lxml import etree

Result = TypeVar("Result")


def letters(text: object) -> str:
    """Return the letters and digits of a text without case; an empty string for None."""
    return "".join(filter(str.isalnum, str(text or "").casefold()))


def read_xml(data: bytes) -> Any:
    """Return the root of a document; None for an empty one. Errors are repaired, and no other file is read."""
    return etree.fromstring(data, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))


def text(element: Any) -> str:
    """Return the text of an XML element with single spaces; an empty string for None."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def call_alone(function: Callable[..., Result], *arguments: object) -> Result:
    """Return the result of a function that runs in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def print_scores(right: Counter[str], ours: Counter[str], gold: Counter[str]) -> None:
    """Print precision, recall and F1 of each label, from the numbers of right, our and gold values."""
    for label in sorted(gold):
        p, r = right[label] / max(ours[label], 1), right[label] / gold[label]
        print(f"{label:21} precision {p:.3f} recall {r:.3f} F1 {2 * p * r / max(p + r, 1e-9):.3f} of {gold[label]}")


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its finished child processes."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def peak_mb() -> float:
    """Return the peak resident memory of this process so far (`getrusage` may report its parent's peak)."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
