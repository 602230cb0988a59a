"""One log simulated twice: with the kernel's work of its faults in the program's stream, and without.

Both runs have the same samples. The difference of their R is what faults cost, including lines and
translations that the kernel's accesses displace; ``kernel_cycles`` is the time inside faults alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.judge.studies.scenarios import cells
from tessera.judge.studies.scenarios.logs import one_line
from tessera.platforms.change import set_values
from tessera.results.status import FAILED, is_ok
from tessera.simulate.inputs import LOG
from tessera.simulate.runner import simulate_all

#: The kernel accesses pages by their frames.
FRAMES = {"memory.allocator": "mapped"}


@dataclass(frozen=True, kw_only=True)
class Request(cells.Request):
    """``weave``: templates of faults; the rest as of the study of scenarios."""

    weave: bytes


@dataclass(frozen=True)
class Woven:
    """A log with its kernel work; without numbers if ``problem`` says why.

    Attributes:
        cell: row of the cells table.
        faultless_cycles: R if faults take no time.
        kernel: counts of the kernel's work (``tessera.simulate.rows.KERNEL_COLUMNS``).
        faults: timed faults (``tessera.simulate.rows.FAULT_TIME_COLUMNS``).
    """

    cell: dict = field(default_factory=dict)
    faultless_cycles: float | None = None
    kernel: dict = field(default_factory=dict)
    faults: list[dict] = field(default_factory=list)
    problem: str = ""


def simulate_logs(request: Request, logs: Sequence[Path]) -> list[Woven]:
    """Each log with and without the kernel's work, in the order of ``logs``."""
    if not logs:
        return []
    platform = set_values(request.platform, FRAMES)
    same = {
        "workload": request.workload, "engine": cells.ENGINE, "sampling": request.sampling,
        "cache": request.cache, "progress": request.progress, "threads": request.threads, "kind": LOG,
    }  # fmt: skip
    kernel: list[list[dict]] = []
    times: list[list[dict]] = []
    try:
        (woven,) = simulate_all(
            request.trace, [platform], list(logs), weave=request.weave, kernel=kernel, fault_times=times,
            **same,
        )  # fmt: skip
        (plain,) = simulate_all(request.trace, [platform], list(logs), **same)
    except TesseraError as error:
        return [Woven(problem=one_line(error)) for _ in logs]
    counts = {row["layout"]: row for row in kernel[0]}
    faults: dict[str, list[dict]] = {}
    for row in times[0]:
        faults.setdefault(row["layout"], []).append(row)
    return [
        _woven(with_work, without, counts.get(log.stem, {}), faults.get(log.stem, []))
        for log, with_work, without in zip(logs, woven, plain, strict=True)
    ]


def _woven(with_work: dict, without: dict, kernel: dict, faults: list[dict]) -> Woven:
    for cell in (with_work, without):
        if not is_ok(cell):
            return Woven(cell={"status": FAILED}, problem=cell["message"])
    return Woven(with_work, without["runtime_cycles"], kernel, faults)
