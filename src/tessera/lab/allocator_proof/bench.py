"""The library's overhead for programs with 4KB pages only: paired runs, intervals, bounds."""

from __future__ import annotations

import csv
import ctypes
import json
import math
import os
import random
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from scipy import stats

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import build_dir, built, write_text, writing
from tessera.core.statistics import CONFIDENCE
from tessera.core.tables import table_text
from tessera.core.units import MB
from tessera.machine.program_paths import preloadable
from tessera.measure.mosalloc.pools import library_started

# The table of measurements; a new row is one line here.
#
# A row's value is one number of one process. Rows that compare times are ratios; start-up and resident
# memory are differences, because a program of any size pays them once.


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


# One measured row, its verdict, and the table in text, CSV and JSON.


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of the median from order statistics: no assumption on how the noise is distributed.

    The k-th smallest and k-th largest value enclose the median unless fewer than k of n values fall on one
    side, whose probability is binomial. Too few values for this confidence give an infinite interval.
    """
    ordered, count = sorted(values), len(values)
    rank = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    if rank < 1:
        return -math.inf, math.inf
    return ordered[rank - 1], ordered[count - rank]


@dataclass(frozen=True)
class Result:
    """``value``: median over the pairs of the ratio, or of the difference in the row's unit."""

    row: str
    unit: str
    kind: str
    plain: float | None
    library: float | None
    value: float | None
    low: float | None
    high: float | None
    bound: float | None
    pairs: int
    verdict: str
    reason: str = ""

    @classmethod
    def skipped(cls, row: Row, reason: str) -> Result:
        """A row that could not be measured, with the reason."""
        kind = "difference" if row.difference else "ratio"
        return cls(row.name, row.unit, kind, None, None, None, None, None, row.bound, 0, SKIP, reason)

    @classmethod
    def of_pairs(cls, row: Row, pairs: Sequence[tuple[float, float]]) -> Result:
        """From (without, with the library) of each pair; ``plain`` and ``library`` are the lowest seen."""
        each = [ours - plain if row.difference else ours / plain for plain, ours in pairs]
        value, (low, high) = median(each), median_interval(each)
        verdict = "-" if row.bound is None else PASS if value <= row.bound else FAIL
        return cls(
            row=row.name,
            unit=row.unit,
            kind="difference" if row.difference else "ratio",
            plain=min(plain for plain, _ in pairs),
            library=min(ours for _, ours in pairs),
            value=value,
            low=low if math.isfinite(low) else None,
            high=high if math.isfinite(high) else None,
            bound=row.bound,
            pairs=len(pairs),
            verdict=verdict,
        )


def _number(value: float | None, kind: str) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if kind == "ratio" else f"{value:,.0f}"


def format_table(results: Iterable[Result]) -> str:
    """The table for people; each row's numbers are in its own unit."""
    head = ("row", "unit", "plain", "library", "ratio/diff", "95% interval", "bound", "verdict")
    rows = []
    for r in results:
        interval = f"{_number(r.low, r.kind)}..{_number(r.high, r.kind)}" if r.pairs else r.reason
        plain, library = (
            _number(x, "ns") if x is None or x > 1000 else f"{x:.1f}" for x in (r.plain, r.library)
        )
        bound = "-" if r.bound is None else "<= " + _number(r.bound, r.kind)
        rows.append((r.row, r.unit, plain, library, _number(r.value, r.kind), interval, bound, r.verdict))
    return table_text(head, rows)


def write_results(results: Sequence[Result], path: Path) -> None:
    """Write ``path`` as JSON or, by its ending, CSV."""
    rows = [asdict(result) for result in results]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        with writing(path) as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        write_text(path, json.dumps(rows, indent=2) + "\n")


# Runs the pairs: with and without the library, in random order within each pair.
#
# Transparent huge pages are off on both sides: the library forbids them in its pools, and this compares the
# cost of catching calls, not page sizes.

LAYOUT = "type,pageSize,startOffset,endOffset\nbrk,-1,0,2GB\nmmap,-1,0,4GB\n"
_PR_SET_THP_DISABLE = 41


def no_huge_pages() -> None:
    """Forbid them to this process, and to what it executes."""
    ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)


@dataclass
class Bench:
    """Where things are, and how often each pair runs. ``folder`` holds the layout while it runs."""

    folder: Path
    pairs: int = 15
    quick: bool = False
    build: Path = field(default_factory=lambda: build_dir("mosalloc"))
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("libmosalloc.so", "mosalloc-run", "costs"):
            if not (self.build / name).exists():
                raise TesseraError(
                    f"{name} for the benchmark",
                    f"{self.build / name} does not exist",
                    "build mosalloc with its tests: ./run tessera dev build --test mosalloc",
                )
        self.layout = self.folder / "growing-0.csv"
        self.layout.write_text(LAYOUT)
        self.library = {
            "LD_PRELOAD": str(preloadable(self.build / "libmosalloc.so")),
            "MOSALLOC_LAYOUT": str(self.layout),
        }
        self._check_preloading()
        self._random = random.Random(self.seed)

    def _check_preloading(self) -> None:
        """The library starts in a program; else all pairs would compare plain glibc with itself."""
        pool_map = self.folder / "pools"
        env = os.environ | self.library | {"MOSALLOC_POOL_MAP": str(pool_map)}
        done = subprocess.run([self.build / "costs", "resident"], env=env, capture_output=True, text=True)
        if not library_started(pool_map):
            raise TesseraError(
                f"preload {self.library['LD_PRELOAD']} for the benchmark",
                f"libmosalloc did not start: {done.stderr.strip()[-500:] or 'no message'}",
                "build it again: ./run tessera dev build --test mosalloc",
                exit_code=EXIT_FAILED,
                code="not-preloaded",
            )
        pool_map.unlink()

    def results(self, rows: Iterable[Row]) -> Iterator[Result]:
        """Each row when it is done."""
        for row in rows:
            missing = self._missing(row)
            if missing:
                yield Result.skipped(row, missing)
                continue
            pairs = self.pairs if self.quick else self.pairs * row.repeat
            yield Result.of_pairs(row, [self._pair(row) for _ in range(pairs)])

    def _missing(self, row: Row) -> str:
        if row.source != "workload":
            return ""
        try:
            built("workloads", row.words[0])
        except TesseraError as error:
            return f"{error.asked}: {error.remedy}"
        return ""

    def _pair(self, row: Row) -> tuple[float, float]:
        order = [False, True]
        self._random.shuffle(order)
        found = {with_library: self._measure(row, with_library) for with_library in order}
        return found[False], found[True]

    def _measure(self, row: Row, with_library: bool) -> float:
        words, costs = row.arguments(self.quick), str(self.build / "costs")
        if row.source in ("start", "launcher"):
            # The child gets the library, the program that measures does not.
            launcher = [str(self.build / "mosalloc-run"), "--layout", str(self.layout), "--"]
            extra = [f"{k}={v}" for k, v in self.library.items()] if with_library else []
            if row.source == "launcher":
                words, extra = (*words, "--"), launcher if with_library else []
                return self._last_number([costs, "start", *words, *extra, "/bin/true"], False)
            return self._last_number([costs, "start", *words, *extra, "--", "/bin/true"], False)
        if row.source == "resident":
            lines = self._output([costs, "resident"], with_library).splitlines()
            return float(dict(line.split() for line in lines)[words[0]])
        if row.source == "workload":
            argv = [str(built("workloads", words[0])), *words[1:]]
            return float(json.loads(self._output(argv, with_library))["roi_ns"])
        return self._last_number([costs, *words], with_library)

    def _last_number(self, argv: list[str], with_library: bool) -> float:
        return float(self._output(argv, with_library).split()[-1])

    def _output(self, argv: list[str], with_library: bool) -> str:
        env = dict(os.environ) | (self.library if with_library else {})
        done = subprocess.run(argv, env=env, capture_output=True, text=True, preexec_fn=no_huge_pages)
        if done.returncode != 0:
            raise TesseraError(
                f"benchmark: {' '.join(argv)}{' with the library' if with_library else ''}",
                f"status {done.returncode}: {done.stderr.strip()[-500:]}",
                "run this command by hand; `tessera mosalloc run --verbose` prints more",
                exit_code=EXIT_FAILED,
            )
        return done.stdout
