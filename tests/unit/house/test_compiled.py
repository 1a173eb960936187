"""An edited kernel runs as edited, even if the kernel of another file has inlined it (numba's cache).

Small inputs run without the compiler and give the same result: records are clustered and references linked in both ways.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import s2corpus


def test_edit_of_an_inlined_kernel_takes_effect(tmp_path: Path) -> None:
    """Run without Python's own cache (`-B`), which misses an edit of the same second and size."""
    made = tmp_path / "s2corpus"
    made.mkdir()
    (made / "__init__.py").touch()
    shutil.copy(Path(s2corpus.__file__).with_name("compiled.py"), made / "compiled.py")
    head = "from s2corpus.compiled import njit\n"
    kernel = "@njit(cache=True)\ndef {}(x):\n    return {}\n"
    (made / "outer.py").write_text(f"{head}from s2corpus.inner import inner\n{kernel.format('outer', 'inner(x) * 10')}")
    for added, expected in ((1, "20\n"), (2, "30\n")):
        (made / "inner.py").write_text(head + kernel.format("inner", f"x + {added}"))
        command = [sys.executable, "-B", "-c", "from s2corpus.outer import outer; print(outer(1))"]
        done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)
        assert done.stdout == expected


def test_only_module_compiled_compiles_kernels() -> None:
    folder = Path(s2corpus.__file__).parent
    offenders = [
        path.relative_to(folder)
        for path in folder.rglob("*.py")
        if path.name != "compiled.py" and "from numba import" in path.read_text("utf-8")
    ]
    assert not offenders
