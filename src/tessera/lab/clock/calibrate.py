"""Keys of the core, each from one calibrating mark (or two) by a formula; what judges plays no part.

Units are cycles per unit of the mark (``clockmarks --list``). Latencies of caches below L2, of memory and of
walks, sizes and walkers come from the pointer chases (:mod:`tessera.lab.chase.calibrate`).

- Chains: a latency is the time of a step. Widths: instructions per cycle, rounded; for ``width-nop`` all
  instructions of its recorded loop, which share the width.
- ``branch.call_cycles``: half the time of a call and its return in ``calls``, which do little else. Its time
  has several states from run to run; the lower end of the interval stands for the fastest.
- Strings: two sizes give the beginning and the time of 4KB: with n lines, t(n) = begin + n page / 64.
- A line that is written moves twice, so ``memory.cycles_per_line`` is at most half the time of a line of
  ``stream-write``, and at most that of ``stream-read``.
- ``branch.refill_cycles``: the simulated time of ``branch-random`` grows by the same amount with each cycle
  of refill, because each misprediction waits for it. Two simulations give the line, the measured time the
  place on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tessera.core.platforms import Platform, Value, all_keys
from tessera.lab.clock.marks import Cycles

REFILL = "branch.refill_cycles"
REFILLS = (0, 20)  #: the two that are simulated
#: key -> mark whose time of a unit it is
TIMES = {
    "core.latency.alu": "chain-alu",
    "core.latency.multiply": "chain-multiply",
    "core.latency.divide": "chain-divide",
    "core.latency.fp_add": "chain-fp-add",
    "core.latency.fp_multiply": "chain-fp-multiply",
    "core.latency.fp_divide": "chain-fp-divide",
    "core.store_forward_cycles": "forward-chain",
    "cache.l1d.load_cycles": "chain-l1",
    "cache.l2.load_cycles": "chain-l2",
}
CALLS = "calls"
#: key -> mark with so many units in a cycle
WIDTHS = {
    "core.dispatch_width": "width-nop",
    "core.ports.alu": "width-alu",
    "core.ports.load": "width-load",
    "core.ports.store": "width-store",
}
ALL_SHARE = "width-nop"  #: its units are all instructions of its loop
SHORT, LONG = "memset-1kb", "memset-16kb"
SHORT_LINES, LONG_LINES, LINES_OF_4KB = 16, 256, 64
READ, WRITE = "stream-read", "stream-write"


@dataclass(frozen=True)
class Set:
    """A key that was set: its marks, and the measured value as text."""

    key: str
    value: int
    marks: tuple[str, ...]
    measured: str


def from_marks(measured: Mapping[str, Cycles], units: Mapping[str, int]) -> list[Set]:
    """Every key whose marks were measured. ``units``: of a round of each mark."""
    found = [
        Set(key, max(1, round(_per_unit(measured, units, mark))), (mark,), _text(measured, units, mark))
        for key, mark in TIMES.items()
        if mark in measured
    ]
    found += [
        Set(key, max(1, round(1 / _per_unit(measured, units, mark))), (mark,), _text(measured, units, mark))
        for key, mark in WIDTHS.items()
        if mark in measured
    ]
    if CALLS in measured:
        fastest = measured[CALLS].low or measured[CALLS].median
        cycles = max(0, round(fastest / units[CALLS] / 2))
        found.append(Set("branch.call_cycles", cycles, (CALLS,), _text(measured, units, CALLS)))
    if SHORT in measured and LONG in measured:
        found += _strings(measured, units)
    if READ in measured and WRITE in measured:
        least = min(_per_unit(measured, units, READ), _per_unit(measured, units, WRITE) / 2)
        texts = f"{_text(measured, units, READ)}; {_text(measured, units, WRITE)}"
        found.append(Set("memory.cycles_per_line", max(1, round(least)), (READ, WRITE), texts))
    return found


def _strings(measured: Mapping[str, Cycles], units: Mapping[str, int]) -> list[Set]:
    """Beginning and time of 4KB, from the times of one short and one long instruction."""
    short = _per_unit(measured, units, SHORT) * SHORT_LINES
    long = _per_unit(measured, units, LONG) * LONG_LINES
    line = (long - short) / (LONG_LINES - SHORT_LINES)
    texts = f"{_text(measured, units, SHORT)}; {_text(measured, units, LONG)}"
    return [
        Set("core.string.begin_cycles", max(0, round(short - SHORT_LINES * line)), (SHORT, LONG), texts),
        Set("core.string.page_cycles", max(0, round(LINES_OF_4KB * line)), (SHORT, LONG), texts),
    ]


def refill(measured: Cycles, simulate: Callable[[int], float]) -> Set:
    """The refill time at which ``branch-random`` takes as long as measured (refill -> cycles)."""
    low, high = (simulate(cycles) for cycles in REFILLS)
    slope = (high - low) / (REFILLS[1] - REFILLS[0])
    cycles = REFILLS[0] + (measured.median - low) / slope if slope > 0 else 0
    text = f"branch-random: {measured.median:.0f} cycles a round, simulated {low:.0f} without refill"
    return Set(REFILL, max(0, round(cycles)), ("branch-random",), text)


def with_keys(platform: Platform, name: str, keys: list[Set]) -> Platform:
    """The platform with these values, within the bounds of their keys; sources name marks and figures."""
    known = all_keys()
    values = dict(platform.values)
    for one in keys:
        row = known[one.key]
        value = min(max(one.value, row.least), row.most)
        values[one.key] = Value(value, f"measured: {one.measured}")
    return replace(platform, name=name, values=values)


def _per_unit(measured: Mapping[str, Cycles], units: Mapping[str, int], mark: str) -> float:
    return measured[mark].median / units[mark]


def _text(measured: Mapping[str, Cycles], units: Mapping[str, int], mark: str) -> str:
    """A mark's time of a unit with its interval."""
    one = measured[mark]
    bounds = [None if bound is None else bound / units[mark] for bound in (one.low, one.high)]
    interval = "" if None in bounds else f" ({bounds[0]:.3g} to {bounds[1]:.3g})"
    return f"{mark} takes {one.median / units[mark]:.3g} cycles a unit{interval}"
