"""A small real matrix. It breaks up to 1GB of free memory into small blocks: needs root and permission."""

from __future__ import annotations

import contextlib
import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.mapping.capture import check_allowed
from tessera.core.mapping.free_blocks import machine_free_blocks, unusable_index
from tessera.machine.reserve import reserving_allowed
from tessera.machine.reserve.machine_state import is_recorded
from tessera.machine.reserve.settings import SETTINGS, chosen_word
from tessera.measure.mosalloc.capture_matrix import ENABLED, QUIET

pytestmark = pytest.mark.alone  # it changes settings of the machine
LARGEST = 1 << 18  #: frames that the test may break: 1GB
HOLD = "import mmap, os; m = mmap.mmap(-1, 64 << 20, flags=34)\nfor i in range(0, 64 << 20, 4096): m[i] = 1\n"


def _command_lines():
    """Of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield path.read_bytes()


@pytest.fixture
def allowed():
    if not reserving_allowed():
        pytest.skip("it changes the machine: ./run --reserve test")
    if not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("mosalloc is not built: ./run tessera dev build mosalloc")
    try:
        check_allowed()
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    if not ENABLED.exists():
        pytest.skip("this kernel has no transparent huge pages")


def test_free_memory_is_fragmented_for_the_time_of_the_captures(allowed, root, tmp_path):
    settings = [path for path in (ENABLED, *QUIET) if path.exists()]
    before = {path: chosen_word(path) for path in settings}
    blocks = machine_free_blocks()
    frames = sum(count << order for order, count in enumerate(blocks))
    start = unusable_index(blocks)
    target = round(start + min(0.5 * (1 - start), 0.75 * LARGEST / frames), 4)
    program = ["--", os.path.realpath(sys.executable), "-c", HOLD + "os._exit(0)"]
    argv = [sys.executable, "-m", "tessera", "mapping", "capture", "--matrix", "--out", str(tmp_path / "m")]
    argv += ["--unusable-index", f"as-is,{target}", "--co-runners", "0", *program]
    env = os.environ | {"PYTHONPATH": str(root / "src")}
    done = subprocess.run(argv, env=env, cwd=root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "m" / "matrix.csv").open(newline="") as stream:
        rows = {(row["thp"], row["target_index"]): row for row in csv.DictReader(stream)}
    assert len(rows) == 4 and {row["provenance"] for row in rows.values()} == {"measured"}
    for thp in ("never", "always"):
        assert float(rows[thp, f"{target:g}"]["index_at_start"]) >= target - 0.02  # others allocate, too
        assert int(rows[thp, ""]["mapped_pages"]) >= 16384
    assert float(rows["never", ""]["share_2mb"]) == 0
    assert {path: chosen_word(path) for path in settings} == before
    assert not any(b"tessera.measure.mosalloc.background" in line for line in _command_lines())
    assert not is_recorded(SETTINGS)
