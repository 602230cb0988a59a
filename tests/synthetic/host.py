"""Real runs of the allocator and latencies of page faults; manifests that count the pages of layouts."""

from __future__ import annotations

from pathlib import Path

from tessera.core.results.tree import ResultsTree

from .tables import put_info

#: workload, memory of glibc and mosalloc, time of both: overheads of 2% and -1%
ALLOCATOR_RUNS = (("gups/1MB", 1000, 1020, 200, 198), ("graph500/tiny", 2000, 2040, 100, 99))


def write(root: Path) -> None:
    """Three equal pairs of each of :data:`ALLOCATOR_RUNS`; two kinds of faults, two quantiles of each."""
    for folder in (root / "layouts").glob("*/*"):
        names = sorted(path.stem for path in folder.glob("*.csv") if path.stem != "manifest")
        rows = [f"{name},x,,{_pages_2mb(folder / f'{name}.csv')},0," for name in names]
        head = "layout,heuristic,parameter,pages_2mb,pages_1gb,duplicate_of"
        (folder / "manifest.csv").write_text("\n".join([head, *rows]) + "\n")
    lines = ["workload,allocator,pair,memory_bytes,cpu_ns,provenance"]
    for name, m0, m1, t0, t1 in ALLOCATOR_RUNS:
        for pair in range(3):
            lines += [f"{name},glibc,{pair},{m0},{t0},measured", f"{name},mosalloc,{pair},{m1},{t1},measured"]
    tree = ResultsTree(root)
    tree.host_allocator.write_text("\n".join(lines) + "\n")
    tree.host_faults("latency").write_text(
        "kind,share,tsc_cycles,low_cycles,high_cycles,ns,passes,provenance\n"
        "write-4kb,0.5,4000,3900,4100,1600,6,measured\nwrite-4kb,0.99,9000,8000,9900,3600,6,measured\n"
        "read-zero,0.5,1600,1600,1600,640,6,measured\nread-zero,0.99,1700,1700,1800,680,6,measured\n"
    )
    tree.host_faults("comb").write_text(
        "kind,reason,period,asked,hits,chance,extra_cycles,provenance\n"
        "write-4kb,page table,512,128,124,0.06,4784,measured\n"
    )
    put_info(root, "gups", distinct_4kb_pages=16384)


def _pages_2mb(layout: Path) -> int:
    """2MB pages of a layout file, by its own rows."""
    rows = [line.split(",") for line in layout.read_text().splitlines()[1:]]
    return sum((int(end) - int(start)) // 2097152 for _, size, start, end in rows if size == "2097152")
