"""The table of measurements; a new row is one line here.

A row's value is one number of one process. Rows that compare times are ratios; start-up and resident memory
are differences, because a program of any size pays them once.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.units import MB


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``source`` says who measures: ``costs`` (a row of artifacts/mosalloc/bench/costs.c), ``start`` (from spawn
    to the end of /bin/true), ``launcher`` (the same through mosalloc-run), ``resident``, or ``workload``.
    ``bound`` is the largest ratio or difference (in ``unit``) that passes; None: reported only. ``repeat``
    times as many pairs are run where one run is noisy compared with its bound.
    """

    name: str
    source: str
    words: tuple[str, ...]
    unit: str
    bound: float | None
    difference: bool = False
    quick_words: tuple[str, ...] | None = None
    repeat: int = 1

    def arguments(self, quick: bool) -> tuple[str, ...]:
        """The arguments of the measuring program."""
        return self.quick_words if quick and self.quick_words is not None else self.words


def _calls(name: str, bound: float | None) -> Row:
    return Row(name, "costs", (name, "8"), "ns", bound, quick_words=(name, "2"))


ROWS = (
    _calls("malloc_small_1_thread", 1.02),
    _calls("malloc_small_4_threads", 1.02),
    _calls("malloc_256KB", 1.05),
    _calls("malloc_512KB", 1.05),
    _calls("malloc_1MB", 1.05),
    _calls("malloc_2MB", 1.05),
    _calls("mmap_4KB", None),
    _calls("mmap_64KB", 1.05),
    _calls("mmap_1MB", None),
    _calls("mmap_4KB_20000_holes", None),
    _calls("mmap_64KB_20000_holes", 1.05),
    _calls("malloc_small_20000_holes", 1.02),
    Row("start_true", "start", ("40",), "ns", 1.5e6, difference=True, quick_words=("10",)),
    Row("start_true_by_mosalloc_run", "launcher", ("20",), "ns", None, difference=True, quick_words=("5",)),
    Row("resident", "resident", ("Rss",), "bytes", 1 * MB, difference=True),
    Row("resident_private", "resident", ("Private_Dirty",), "bytes", None, difference=True),
    Row(
        "gups_roi",
        "workload",
        ("gups", "--size", "256MB", "--reads", "20000000"),
        "ns",
        1.01,
        repeat=3,
        quick_words=("gups", "--size", "64MB", "--reads", "4000000"),
    ),
    Row(
        "graph500_roi",
        "workload",
        ("graph500", "--scale", "19", "--roots", "4"),
        "ns",
        1.01,
        repeat=3,
        quick_words=("graph500", "--scale", "14", "--roots", "4"),
    ),
)
