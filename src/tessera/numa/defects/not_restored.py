"""Rule: with the tables moved back, a program runs as if everything had stayed local (section 8.2).

The text says that performance is the same as that of LP-LD and TLP-LD. It is not within 5% for LibLinear (7%
slower; 6% with 2MB pages) and Canneal with 2MB pages (7% faster). A second rule: moving the tables must not
make a program slower than leaving them (LibLinear with 2MB pages: 9% slower).
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.defects.finding import Finding
from tessera.numa.placement import LOCAL

_LIMIT = 0.05
_MOVED, _LEFT = "RPI-LD+M", "RPI-LD"


def not_restored(archive: Archive) -> Iterator[Finding]:
    """Runtime after the tables moved that is over 5% from the local runtime."""
    for name, workload, value in _ratios(archive, LOCAL):
        if abs(value) > _LIMIT:
            yield Finding(
                "Figure 6", workload, name, value, _LIMIT, "1", f"runtime is {value:+.1%} from the local one"
            )


def slower_when_moved(archive: Archive) -> Iterator[Finding]:
    """Runtime after the tables moved that is over 5% longer than before."""
    for name, workload, value in _ratios(archive, _LEFT):
        if value > _LIMIT:
            yield Finding(
                "Figure 6",
                workload,
                name,
                value,
                _LIMIT,
                "1",
                f"runtime is {value:+.1%} from that without Mitosis",
            )


def _ratios(archive: Archive, base: str) -> Iterator[tuple[str, str, float]]:
    for size, prefix in (("4KB", ""), ("2MB", "T")):
        runtime = cycles_of(archive.every, "Figure 6", "runtime", size)
        for workload, value in (column(runtime, _MOVED) / column(runtime, base) - 1).dropna().items():
            yield prefix + _MOVED, str(workload), float(value)
