"""The number of task slots follows from a worker's memory and cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.compiled import copy_prebuilt_kernels
from s2corpus.deployment.slots import available_memory, compute_slots
from s2corpus.spec import load_spec

ROOT = Path(__file__).resolve().parents[4]
SPECS = [load_spec(path) for path in sorted((ROOT / "include" / "releases").glob("*.yaml"))]


@pytest.mark.parametrize(
    ("memory", "cores", "slots"), [(16_000_000_000, 8, 6), (1_000_000_000, 8, 1), (512_000_000_000, 4, 8)]
)
def test_slots_follow_memory_within_one_and_two_per_core(memory: int, cores: int, slots: int) -> None:
    assert compute_slots(memory, cores, SPECS) == slots


def test_memory_is_that_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("3000000000\n")
    (tmp_path / "unlimited").write_text("max\n")
    machine = available_memory([tmp_path / "absent", tmp_path / "unlimited"])
    assert available_memory([tmp_path / "memory.max"]) == min(3_000_000_000, machine)


def test_kernels_of_an_image_are_copied_once(tmp_path: Path) -> None:
    made, folder = tmp_path / "image" / "kernels-1", tmp_path / "scratch" / "kernels-1"
    copy_prebuilt_kernels(made, folder)
    assert not folder.exists(), "an image without them: numba compiles"
    made.mkdir(parents=True)
    (made / "a.nbi").write_bytes(b"index")
    copy_prebuilt_kernels(made, folder)
    assert (folder / "a.nbi").read_bytes() == b"index"
    (folder / "b.nbi").write_bytes(b"compiled since")
    copy_prebuilt_kernels(made, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["a.nbi", "b.nbi"]
    assert [path.name for path in folder.parent.iterdir()] == ["kernels-1"]
