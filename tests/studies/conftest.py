"""A trace with two phases, made without running a program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tessera.core.files import build_dir
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.record import traces

RECORD = np.dtype(
    [
        ("ip", "<u8"), ("is_branch", "u1"), ("taken", "u1"), ("writes", "u1", 2), ("reads", "u1", 4),
        ("stores", "<u8", 2), ("loads", "<u8", 4),
    ]
)  # fmt: skip
BASE, BYTES = 0x4000000000, 64 << 20
LOADS = 30_000  #: of each phase


@pytest.fixture(scope="session")
def tools() -> None:
    """Skip with the build command when a component is missing."""
    for component, name in (("tracer", "tessera-trace"), ("simulator", "tessera-sim")):
        if not (build_dir(component) / name).exists():
            pytest.skip(f"{component} is not built: ./run tessera dev build {component}")


@pytest.fixture(scope="session")
def two_phases(tmp_path_factory, tools) -> Path:
    """A loop over 64 pages, then random loads from 64MB by another loop; two instructions a load."""
    folder = tmp_path_factory.mktemp("phases")
    random = np.random.default_rng(11)
    addresses = np.concatenate(
        [BASE + 4096 * (np.arange(LOADS) % 64), BASE + 64 * random.integers(0, BYTES // 64, LOADS)]
    )
    records = np.zeros(4 * LOADS, RECORD)
    start = np.repeat([0x1000, 0x2000], LOADS)
    records["ip"][0::2], records["ip"][1::2] = start, start + 4
    records["loads"][0::2, 0] = addresses
    records["is_branch"][1::2] = records["taken"][1::2] = 1
    records["taken"][2 * LOADS - 1] = 1
    records.tofile(folder / "phases.champsim")
    trace = folder / "trace.tst"
    traces.import_champsim(folder / "phases.champsim", trace, mmap_pool=f"{BASE:#x}:{BASE + BYTES:#x}")
    return trace


@pytest.fixture
def layouts(tmp_path) -> list[Path]:
    """growing-0 (4KB pages), growing-4 (the first half 2MB), growing-8 (all 2MB)."""
    files = []
    for name, end in (("growing-0", 0), ("growing-4", BYTES // 2), ("growing-8", BYTES)):
        windows = (Window("mmap", 0, end, 2 << 20),) if end else ()
        files.append(tmp_path / f"{name}.csv")
        write_layout(Layout(name, {"mmap": 1 << 30}, windows), files[-1])
    return files
