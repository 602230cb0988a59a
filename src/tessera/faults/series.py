"""Latencies of one kind of touch, pass by pass, and which of them count.

A touch of more than :data:`OUTSIDE_SECONDS` had a cause outside this kernel's fault: the host gave memory to
this virtual machine, or another program ran. Such touches are dropped and counted. A pass with more than
:data:`OUTSIDE_SHARE` of them is refused, and so are the first passes, which warm up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.faults.kinds import Kind

OUTSIDE_SECONDS = 1e-3
OUTSIDE_SHARE = 0.05
HEAD = "pass,touch,tsc_cycles"


@dataclass(frozen=True)
class Pass:
    """Touches of new memory, page after page.

    Attributes:
        cycles: latency of each touch in TSC cycles, shape (touches,).
        outside: whether the latency has a cause outside, shape (touches,).
        minor_faults: faults of the process that the kernel counted.
        huge_bytes: memory that had 2MB pages at the end.
        refused: why the pass does not count; empty if it counts.
    """

    cycles: np.ndarray
    outside: np.ndarray
    minor_faults: int
    huge_bytes: int
    refused: str = ""

    @property
    def kept(self) -> np.ndarray:
        """Latencies without those from outside."""
        return self.cycles[~self.outside]


@dataclass(frozen=True)
class Series:
    """All passes of a kind.

    Attributes:
        hertz: TSC cycles a second.
        clock_cycles: smallest difference of two readings of the clock.
    """

    kind: Kind
    hertz: float
    clock_cycles: int
    passes: tuple[Pass, ...]

    @property
    def counted(self) -> list[Pass]:
        """Passes that count."""
        return [one for one in self.passes if not one.refused]


def judged(
    kind: Kind, cycles: np.ndarray, facts: list[dict], hertz: float, clock_cycles: int, warmup: int
) -> Series:
    """A series from what ``tessera-faults`` wrote.

    Args:
        cycles: shape (passes, touches).
        facts: ``minor_faults`` and ``huge_bytes`` of each pass.
        warmup: passes at the start that do not count.
    """
    passes = []
    for number, (row, fact) in enumerate(zip(cycles, facts, strict=True)):
        outside = row > OUTSIDE_SECONDS * hertz
        refused = _refused(kind, number, warmup, outside, fact)
        passes.append(Pass(row, outside, fact["minor_faults"], fact["huge_bytes"], refused))
    return Series(kind, hertz, clock_cycles, tuple(passes))


def _refused(kind: Kind, number: int, warmup: int, outside: np.ndarray, fact: dict) -> str:
    if number < warmup:
        return "warm-up"
    if outside.mean() > OUTSIDE_SHARE:
        return f"{outside.sum()} of {len(outside)} touches over {OUTSIDE_SECONDS * 1e3:g} ms"
    if kind.faults and fact["minor_faults"] < len(outside):
        return f"{fact['minor_faults']} faults in {len(outside)} touches"
    if kind.huge and fact["huge_bytes"] < len(outside) << 21:
        return f"{fact['huge_bytes'] >> 21} of {len(outside)} pages have 2MB"
    return ""


def read_cycles(path: Path, passes: int, touches: int) -> np.ndarray:
    """The file of ``tessera-faults --out``: TSC cycles, shape (passes, touches).

    Raises:
        TesseraError: other columns, another number of lines, or another order.
    """
    with path.open() as stream:
        head = stream.readline().strip()
        if head != HEAD:
            raise _damaged(path, f"its first line is '{head[:60]}', not '{HEAD}'")
        try:
            rows = np.loadtxt(stream, delimiter=",", dtype=np.int64, ndmin=2)
        except ValueError as error:
            raise _damaged(path, str(error)) from None
    wanted = np.stack([a.ravel() for a in np.divmod(np.arange(passes * touches), touches)], axis=1)
    if rows.shape != (len(wanted), 3) or not np.array_equal(rows[:, :2], wanted) or (rows[:, 2] < 0).any():
        raise _damaged(path, f"it does not have {passes} passes of {touches} touches in order")
    return rows[:, 2].reshape(passes, touches)


def _damaged(path: Path, found: str) -> TesseraError:
    return TesseraError(f"latencies {path}", found, "measure again: ./run tessera faults measure")
