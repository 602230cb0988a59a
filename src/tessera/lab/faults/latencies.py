"""Latencies of one kind of touch, pass by pass: which of them count, quantiles, cosines and combs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.lab.faults.kinds import Kind, Teeth

# Passes and series, and which of them count.
#
# A touch of more than :data:`OUTSIDE_SECONDS` had a cause outside this kernel's fault: the host gave memory
# to this virtual machine, or another program ran. Such touches are dropped and counted. A pass with more
# than :data:`OUTSIDE_SHARE` of them is refused, and so are the first passes, which warm up.

OUTSIDE_SECONDS = 1e-3
OUTSIDE_SHARE = 0.05
SERIES_HEAD = "pass,touch,tsc_cycles"


@dataclass(frozen=True)
class TouchLatencies:
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
class KindLatencies:
    """All passes of a kind.

    Attributes:
        hertz: TSC cycles a second.
        clock_cycles: smallest difference of two readings of the clock.
    """

    kind: Kind
    hertz: float
    clock_cycles: int
    passes: tuple[TouchLatencies, ...]

    @property
    def counted(self) -> list[TouchLatencies]:
        """Passes that count."""
        return [one for one in self.passes if not one.refused]


def judged_series(
    kind: Kind, cycles: np.ndarray, facts: list[dict], hertz: float, clock_cycles: int, warmup: int
) -> KindLatencies:
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
        passes.append(TouchLatencies(row, outside, fact["minor_faults"], fact["huge_bytes"], refused))
    return KindLatencies(kind, hertz, clock_cycles, tuple(passes))


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
        if head != SERIES_HEAD:
            raise _damaged(path, f"its first line is '{head[:60]}', not '{SERIES_HEAD}'")
        try:
            rows = np.loadtxt(stream, delimiter=",", dtype=np.int64, ndmin=2)
        except ValueError as error:
            raise _damaged(path, str(error)) from None
    wanted = np.stack([a.ravel() for a in np.divmod(np.arange(passes * touches), touches)], axis=1)
    if rows.shape != (len(wanted), 3) or not np.array_equal(rows[:, :2], wanted) or (rows[:, 2] < 0).any():
        raise _damaged(path, f"it does not have {passes} passes of {touches} touches in order")
    return rows[:, 2].reshape(passes, touches)


def _damaged(path: Path, found: str) -> TesseraError:
    return TesseraError(f"latencies {path}", found, "measure again: ./run tessera lab faults measure")


# Quantiles of latencies: of each pass, then their median over passes.
#
# A median over passes ignores a few passes that other programs disturbed; a quantile of all passes together
# does not. The smallest and largest value over passes show how much they differ.

#: Shares of touches that are at most as slow.
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999)


@dataclass(frozen=True)
class Quantile:
    """A quantile in the unit of the latencies: median, minimum and maximum over passes."""

    share: float
    median: float
    low: float
    high: float


def quantiles(passes: list[np.ndarray], shares: tuple[float, ...] = SHARES) -> list[Quantile]:
    """Quantiles of passes, each of shape (touches,).

    A quantile is a value of the pass: the smallest one that at least this share of touches does not exceed.
    """
    found = np.array([np.quantile(one, shares, method="inverted_cdf") for one in passes])
    return [
        Quantile(share, float(np.median(column)), float(column.min()), float(column.max()))
        for share, column in zip(shares, found.T, strict=True)
    ]


# Cosine of two series of latencies, as Virtuoso (ASPLOS 2025, Figure 9) judges simulated faults.
#
# The cosine of two series of positive numbers is near 1 as soon as neither has rare large values. So a
# *constant* series, which says nothing about faults, gets a high cosine, too. A cosine is therefore printed
# only beside that of a constant, and no result is judged by it.


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine similarity of two series of the same shape; nan if one is zero."""
    norms = float(np.linalg.norm(one.astype(float)) * np.linalg.norm(other.astype(float)))
    return float(one.astype(float) @ other.astype(float)) / norms if norms else float("nan")


def with_constant(series: np.ndarray) -> float:
    """Cosine of a series and a constant: mean over root mean square."""
    return cosine(series, np.ones(len(series)))


def clipped(series: np.ndarray, share: float = 0.999) -> np.ndarray:
    """The series with values above this quantile replaced by it."""
    return np.minimum(series, np.quantile(series, share))


# Combs in a series of latencies: teeth at regular distances.
#
# A *tooth* is a touch that takes more than :data:`TOOTH_FACTOR` times the median of the touches around it.
# Two questions are asked, because of two kinds of teeth (:class:`tessera.lab.faults.kinds.Teeth`):
#
# - fixed: which share of the multiples of the period are teeth?
# - shifting: which share of the distances between neighbouring teeth are the period?
#
# Beside each share stands what it would be by chance, if the same number of teeth were at random places.

TOOTH_FACTOR = 1.5
#: Touches whose median a touch is compared with, itself in the middle. Odd.
AROUND = 31


@dataclass(frozen=True)
class Comb:
    """What was found of a comb.

    Attributes:
        asked: multiples of the period, or distances between neighbouring teeth.
        hits: those that are teeth, or are the period.
        chance: share of hits expected of random places.
        extra: median of what such a tooth takes more than the touches around it; nan without a hit.
    """

    asked: int
    hits: int
    chance: float
    extra: float

    @property
    def share(self) -> float:
        """Hits as a share of what was asked; nan if nothing was."""
        return self.hits / self.asked if self.asked else float("nan")


def around(cycles: np.ndarray) -> np.ndarray:
    """Median of the :data:`AROUND` touches around each touch; the series is mirrored at its ends.

    Mirrored and not continued with its first value: that is a tooth of the first page table.
    """
    padded = np.pad(cycles.astype(float), AROUND // 2, mode="reflect")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, AROUND), axis=1)


def comb(passes: list[np.ndarray], teeth: Teeth, factor: float = TOOTH_FACTOR) -> Comb:
    """A comb over passes, each of shape (touches,) in order and with nothing dropped.

    Args:
        factor: of a tooth over the median of the touches around it.
    """
    asked = hits = 0
    expected, extra = 0.0, []
    for cycles in passes:
        local = around(cycles)
        is_tooth = cycles > factor * local
        places = np.flatnonzero(is_tooth)
        if teeth.fixed:
            at = np.arange(0, len(cycles), teeth.period)
            found = at[is_tooth[at]]
            asked, hits = asked + len(at), hits + len(found)
            expected += len(at) * is_tooth.mean()
        else:
            distances = np.diff(places)
            found = places[1:][distances == teeth.period]
            asked, hits = asked + len(distances), hits + len(found)
            density = is_tooth.mean()
            expected += len(distances) * density * (1 - density) ** (teeth.period - 1)
        extra.append((cycles - local)[found])
    together = np.concatenate(extra) if extra else np.zeros(0)
    return Comb(
        asked, hits, expected / asked if asked else 0.0,
        float(np.median(together)) if len(together) else float("nan"),
    )  # fmt: skip
