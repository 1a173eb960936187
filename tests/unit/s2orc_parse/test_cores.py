"""Many items are processed on all cores, with equal results in the same order.

A few items are processed in this process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from s2corpus.errors import UserError
from s2orc_parse.cores import map_in_order

PROGRAM = """
import os, signal, sys
from itertools import count, islice
from s2orc_parse.cores import map_in_order
from s2corpus.errors import UserError

taken = 0
def items():
    global taken
    for taken in count():
        yield taken
# what cannot be pickled may be in the work, and far more items than are done
found = list(islice(map_in_order(lambda n: (n * n, os.getpid()), items(), cores=3), 500))
assert [square for square, _ in found] == [n * n for n in range(500)]
assert {pid for _, pid in found[:8]} == {os.getpid()} and os.getpid() not in {pid for _, pid in found[8:]}
assert taken < 500 + 100
# of long ones even the first
found = list(map_in_order(lambda n: (n, os.getpid()), range(6), cores=2, inline=0))
assert [n for n, _ in found] == list(range(6))
assert [pid == os.getpid() for _, pid in found] == 6 * [False]
def ended(n):
    if n == 300:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
try:
    list(map_in_order(ended, range(400), cores=2))
except UserError as error:
    print(error)
"""


def test_many_items_are_processed_in_parallel_and_in_order() -> None:
    """A separate process is used, because this process has threads."""
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (found.returncode, "because memory ran out" in found.stdout) == (0, True), found.stderr


def test_few_items_are_processed_in_this_process() -> None:
    assert set(map_in_order(lambda _: os.getpid(), range(8), cores=2)) == {os.getpid()}

    def items() -> Iterator[int]:
        yield 1
        raise UserError("line 2")

    with pytest.raises(UserError, match="line 2"):
        list(map_in_order(str, items(), cores=2))
