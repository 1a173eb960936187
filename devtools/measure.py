"""Measure processes and compare texts, for benchmarks."""

from __future__ import annotations

import re
import resource
from pathlib import Path


def letters(text: object) -> str:
    """Return the letters and digits of a text without case; an empty string for None."""
    return "".join(filter(str.isalnum, str(text or "").casefold()))


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its finished child processes."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def peak_mb() -> float:
    """Return the peak resident memory of this process so far (`getrusage` may report its parent's peak)."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
