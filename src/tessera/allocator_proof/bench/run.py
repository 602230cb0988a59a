"""Runs the pairs: with and without the library, in random order within each pair.

Transparent huge pages are off on both sides: the library forbids them in its pools, and this compares the
cost of catching calls, not page sizes.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tessera.allocator_proof.bench.results import Result
from tessera.allocator_proof.bench.rows import Row
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import build_dir, built
from tessera.machine.preload import preloadable
from tessera.mosalloc.pool_map import started

LAYOUT = "type,pageSize,startOffset,endOffset\nbrk,-1,0,2GB\nmmap,-1,0,4GB\n"
_PR_SET_THP_DISABLE = 41


def _no_huge_pages() -> None:
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
                    "build mosalloc with its tests: ./run tessera build --test mosalloc",
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
        if not started(pool_map):
            raise TesseraError(
                f"preload {self.library['LD_PRELOAD']} for the benchmark",
                f"libmosalloc did not start: {done.stderr.strip()[-500:] or 'no message'}",
                "build it again: ./run tessera build --test mosalloc",
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
        done = subprocess.run(argv, env=env, capture_output=True, text=True, preexec_fn=_no_huge_pages)
        if done.returncode != 0:
            raise TesseraError(
                f"benchmark: {' '.join(argv)}{' with the library' if with_library else ''}",
                f"status {done.returncode}: {done.stderr.strip()[-500:]}",
                "run this command by hand; `tessera mosalloc run --verbose` prints more",
                exit_code=EXIT_FAILED,
            )
        return done.stdout
