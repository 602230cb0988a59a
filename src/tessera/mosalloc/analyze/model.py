"""The JSON that ``mosalloc-run --analyze`` writes, as types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.mosalloc.report import Calls, PoolReport, pool_report

#: type in layout files -> (name in columns, name for people)
POOLS = {
    "brk": ("heap", "heap pool"),
    "mmap": ("anon", "anonymous pool"),
    "file": ("file", "file pool"),
}
COLUMNS = ("time_ms", *(f"{name}_{what}_bytes" for name, _ in POOLS.values() for what in ("live", "used")))


@dataclass(frozen=True)
class Analysis:
    """A run: ``samples`` over time (columns :data:`COLUMNS`), and the state at its end.

    ``calls``, ``outside`` and the file pool are empty where the launcher does not count them.
    """

    interval_ms: int
    samples: pd.DataFrame
    pools: tuple[PoolReport, ...]
    calls: Calls
    counters: dict[str, int]
    outside: dict[str, int | bool]

    def peak_live_bytes(self, pool: PoolReport) -> int:
        """Most that was handed out at a sample or at the end; between samples it may have been more."""
        column = f"{POOLS[pool.pool][0]}_live_bytes"
        seen = int(self.samples[column].max()) if len(self.samples) else 0
        return max(seen, pool.live_bytes)

    @property
    def duration_ms(self) -> float:
        """Time of the last sample."""
        return float(self.samples["time_ms"].iloc[-1]) if len(self.samples) else 0.0


def read_analysis(path: Path | str) -> Analysis:
    """Read an analysis; a missing or damaged one is an error that names the file."""
    try:
        data = json.loads(Path(path).read_text())
        columns = data["columns"]
        if missing := sorted(set(COLUMNS) - set(columns)):
            raise ValueError(f"no column {', '.join(missing)}")
        samples = pd.DataFrame(data["samples"], columns=columns)
        pools = [pool_report(pool) for pool in data["pools"]]
        if data.get("file_pool"):
            pools.append(pool_report({"type": "file"} | data["file_pool"]))
        return Analysis(
            int(data["interval_ms"]),
            samples,
            tuple(pools),
            data.get("calls", {}),
            data["counters"],
            data.get("outside", {}),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TesseraError(
            f"mosalloc analysis {path}",
            f"{type(error).__name__}: {error}",
            "give a file that mosalloc-run --analyze wrote",
            exit_code=EXIT_FAILED,
        ) from None
