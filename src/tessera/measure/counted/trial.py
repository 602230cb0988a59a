"""Trial runs before a measurement: time and memory of each workload, and whether its runs can be counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.names import ALL_4KB
from tessera.measure.counted import rows as ready_rows
from tessera.measure.counted.here import Here
from tessera.measure.counted.launched import Counted, launched
from tessera.measure.counted.request import Request
from tessera.measure.counted.rows import Row
from tessera.record.workloads.model import Size, Workload

#: With ``--minutes``, trials take at most this share of the time.
SHARE = 0.25


@dataclass(frozen=True)
class Tried:
    """One workload: ``seconds`` of a run from start to end, and the bytes that it used of each pool."""

    row: Row
    seconds: float
    used: dict[str, int]


def try_all(
    candidates: Sequence[tuple[Workload, Size]],
    request: Request,
    where: Here,
    work: Path,
    passes: Sequence[Counted],
    binding: Sequence[str],
    say: Callable[[str], None],
) -> tuple[list[Tried], list[str]]:
    """Run each workload once under 4KB pages with the first pass, the first workload with every pass.

    Returns:
        What can be measured, and why other workloads are left out.

    Raises:
        TesseraError: no workload can be measured, or a pass does not fit on the counters.
    """
    tried: list[Tried] = []
    left_out: list[str] = []
    began = time.monotonic()
    for workload, size in candidates:
        spent = time.monotonic() - began
        if tried and request.minutes and spent > SHARE * request.minutes * 60:
            left_out.append(f"{workload.name}: no time for a trial run within --minutes")
            continue
        try:
            row = ready_rows.ready(workload, size, where)
            layout = work / row.workload / f"{ALL_4KB}.csv"
            write_layout(Layout(ALL_4KB, row.pool_bytes), layout)
            done = [
                _once(row, layout, work, where, one, binding) for one in (passes[:1] if tried else passes)
            ]
        except TesseraError as error:
            left_out.append(f"{workload.name}: {error.asked}: {error.found}")
            say(f"trial of {workload.name} failed: {error.found}")
            continue
        tried.append(Tried(row, max(one[0] for one in done), done[0][1]))
        say(f"trial of {workload.name}: {tried[-1].seconds:.1f} s a run")
    if not tried:
        raise TesseraError(
            "trial runs", "; ".join(left_out), "run ./run doctor, and tessera environment",
            exit_code=EXIT_FAILED, code="no-trial",
        )  # fmt: skip
    return tried, left_out


def _once(row, layout, work, where, counted, binding) -> tuple[float, dict[str, int]]:
    ended = launched(row, layout, work, where, counted, binding)
    if ended.message:
        raise TesseraError(
            f"trial of {row.workload}, events {counted.events.name}", ended.message, "correct this first",
            exit_code=EXIT_FAILED,
        )  # fmt: skip
    return ended.seconds, ended.used_bytes
