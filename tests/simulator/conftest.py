"""A small trace, made without recording: random loads as ChampSim records, imported."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core import files
from tessera.record import traces

POOL = 64 << 20
ACCESSES = 1_200_000
RECORD = np.dtype(
    [
        ("ip", "<u8"), ("is_branch", "u1"), ("taken", "u1"), ("written", "u1", 2), ("read", "u1", 4),
        ("stores", "<u8", 2), ("loads", "<u8", 4),
    ]
)  # fmt: skip


def require_built(*names: tuple[str, str]) -> None:
    """Skip when a component is not built."""
    for component, name in names:
        if not (files.build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")


def write_layout(folder, name: str, windows: list[tuple[int, int]]) -> None:
    """Windows of 2MB pages by first and last page."""
    rows = [f"mmap,2097152,{first * (2 << 20)},{last * (2 << 20)}" for first, last in windows]
    text = "\n".join(["type,pageSize,startOffset,endOffset", f"mmap,-1,0,{POOL}", *rows])
    (folder / f"{name}.csv").write_text(text + "\n")


@pytest.fixture(scope="session")
def random_trace(tmp_path_factory):
    """A trace of :data:`ACCESSES` uniformly random loads over a 64MB pool."""
    require_built(("simulator", "tessera-sim"), ("tracer", "tessera-trace"))
    folder = tmp_path_factory.mktemp("trace")
    base = 64 << 30
    records = np.zeros(ACCESSES, RECORD)
    records["ip"] = 0x401000
    records["written"][:, 0], records["read"][:, 0] = 5, 6
    offsets = np.random.default_rng(7).integers(0, POOL // 64, ACCESSES, dtype=np.uint64)
    records["loads"][:, 0] = base + offsets * np.uint64(64)
    records.tofile(folder / "random.champsim")
    out = folder / "random.tst"
    traces.import_champsim(folder / "random.champsim", out, mmap_pool=f"{base:#x}:{base + POOL:#x}")
    (folder / "random.champsim").unlink()
    return out
