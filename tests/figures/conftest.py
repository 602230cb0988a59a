"""The synthetic results trees of tests/report."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

_PATH = Path(__file__).parents[1] / "report" / "conftest.py"
_spec = importlib.util.spec_from_file_location("report_conftest", _PATH)
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)

full_tree, small_tree, synthetic = _shared.full_tree, _shared.small_tree, _shared.synthetic

#: workload, memory of glibc and mosalloc, time of both: overheads of 2% and -1%
ALLOCATOR_RUNS = (("gups/1MB", 1000, 1020, 200, 198), ("graph500/tiny", 2000, 2040, 100, 99))


@pytest.fixture(scope="session")
def complete_tree(full_tree, tmp_path_factory):
    """The full tree with what the pipeline adds: manifests with page counts, and runs of the allocator."""
    tree = tmp_path_factory.mktemp("complete") / "default"
    shutil.copytree(full_tree, tree)
    for folder in (tree / "layouts").glob("*/*"):
        names = sorted(path.stem for path in folder.glob("*.csv") if path.stem != "manifest")
        rows = [f"{name},x,,{count_pages(folder / f'{name}.csv')},0," for name in names]
        head = "layout,heuristic,parameter,pages_2mb,pages_1gb,duplicate_of"
        (folder / "manifest.csv").write_text("\n".join([head, *rows]) + "\n")
    write_allocator_runs(tree)
    write_faults(tree)
    (tree / "traces" / "gups").mkdir(parents=True, exist_ok=True)
    (tree / "traces" / "gups" / "info.json").write_text('{"status": "ok", "distinct_4kb_pages": 16384}')
    return tree


def count_pages(layout: Path) -> int:
    """2MB pages of a layout file, by its own rows."""
    rows = [line.split(",") for line in layout.read_text().splitlines()[1:]]
    return sum((int(end) - int(start)) // 2097152 for _, size, start, end in rows if size == "2097152")


def write_allocator_runs(tree: Path) -> None:
    """``host/allocator.csv`` with three equal pairs of each of :data:`ALLOCATOR_RUNS`."""
    lines = ["workload,allocator,pair,memory_bytes,cpu_ns,provenance"]
    for name, m0, m1, t0, t1 in ALLOCATOR_RUNS:
        for pair in range(3):
            lines += [f"{name},glibc,{pair},{m0},{t0},measured", f"{name},mosalloc,{pair},{m1},{t1},measured"]
    (tree / "host").mkdir(exist_ok=True)
    (tree / "host" / "allocator.csv").write_text("\n".join(lines) + "\n")


def write_faults(tree: Path) -> None:
    """Latencies of page faults: two kinds with two quantiles each, and one comb."""
    (tree / "host" / "fault_latency.csv").write_text(
        "kind,share,tsc_cycles,low_cycles,high_cycles,ns,passes,provenance\n"
        "write-4kb,0.5,4000,3900,4100,1600,6,measured\nwrite-4kb,0.99,9000,8000,9900,3600,6,measured\n"
        "read-zero,0.5,1600,1600,1600,640,6,measured\nread-zero,0.99,1700,1700,1800,680,6,measured\n"
    )
    (tree / "host" / "fault_comb.csv").write_text(
        "kind,reason,period,asked,hits,chance,extra_cycles,provenance\n"
        "write-4kb,page table,512,128,124,0.06,4784,measured\n"
    )
