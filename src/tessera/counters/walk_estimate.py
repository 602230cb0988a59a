"""An estimate of walk cycles where no event counts them (AMD Zen): M times the mean TlbRefillLat.

IBS samples operations at random. Those that missed both levels of the data TLB have the latency of the
refill. So their mean is the mean latency of a walk, and M walks need M times as many cycles. This adds up
walks that overlap, as C does. It is never C, and no model is fitted to it, for three reasons:

* IBS sees retired operations only; M counts requested walks, speculative ones included.
* TlbRefillLat begins at the miss of the L1 TLB, so it contains the look-up of the L2 TLB.
* Its interval is that of the sampled mean only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.stats.interval import Interval, mean_interval
from tessera.counters.perf.ibs import AGAIN, IbsOp

NAME = "walk_cycles_ibs_estimate"
PROVENANCE = "estimated"
LONGEST = (1 << 16) - 1  #: TlbRefillLat has 16 bits; a longer refill has this value, too

_MODES = {"u": ("user",), "uk": ("user", "kernel")}


@dataclass(frozen=True)
class WalkEstimate:
    """``refill``: mean TlbRefillLat with its 95% interval, in cycles.

    Attributes:
        misses: M, counted.
        ops: sampled operations of the process and the mode.
        empty: of those that missed, how many had TlbRefillLat 0: they are left out.
        longest: of those used, how many had the largest value of the register.
    """

    misses: int
    refill: Interval
    ops: int
    empty: int
    longest: int

    @property
    def cycles(self) -> Interval:
        """The estimate of walk cycles, with the interval of the mean."""
        return Interval(
            self.refill.value * self.misses, self.refill.half_width * self.misses, self.refill.count
        )


def estimate(
    samples: Sequence[IbsOp], misses: int, *, mode: str = "u", pid: int | None = None, owner: str = "samples"
) -> WalkEstimate:
    """Estimate the walk cycles of ``misses`` walks.

    Args:
        mode: ``u`` takes samples of user mode, ``uk`` those of user mode and kernel: as M was counted.
        pid: take samples of this process only; all if None.

    Raises:
        TesseraError: M is not positive (``walks-no-misses``); no sample is of the process and the mode
            (``walks-no-samples``), or their periods differ (``walks-periods``); fewer than 2 operations
            missed the L2 TLB and have a refill latency (``walks-no-refill``).
    """
    if misses <= 0:
        raise _failed(owner, f"M is {misses:,}: there is no walk", "count M of the same program", "no-misses")
    mine = [one for one in samples if one.mode in _MODES[mode] and pid in (None, one.pid)]
    if not mine:
        seen = Counter((one.pid, one.mode) for one in samples).most_common(3)
        listed = ", ".join(f"{count} of process {pid_} in {mode_} mode" for (pid_, mode_), count in seen)
        wanted = f"mode {mode}" + (f", process {pid}" if pid is not None else "")
        raise _failed(
            owner, f"no sample is of {wanted}; it has {listed}", "check --mode, --pid", "no-samples"
        )
    periods = sorted({one.period for one in mine})
    if len(periods) > 1:
        raise _failed(
            owner,
            f"samples have periods from {periods[0]:,} to {periods[-1]:,}, so they do not weigh the same",
            f"record with a fixed period: {AGAIN}",
            "periods",
        )
    missed = [one.refill_cycles for one in mine if one.missed]
    used = [cycles for cycles in missed if cycles]
    if len(used) < 2:
        raise _failed(
            owner,
            f"of {len(mine):,} samples, {len(missed)} missed the L2 TLB, and {len(used)} of these have a"
            " refill latency; an interval needs 2",
            "record longer, or with a smaller period",
            "no-refill",
        )
    return WalkEstimate(misses, mean_interval(used), len(mine), len(missed) - len(used), used.count(LONGEST))


def _failed(owner: str, found: str, remedy: str, code: str) -> TesseraError:
    return TesseraError(f"{NAME} from {owner}", found, remedy, exit_code=EXIT_FAILED, code=f"walks-{code}")


def as_csv(found: WalkEstimate, mode: str) -> str:
    """A header and one row; ``mode`` as M was counted. Numbers in cycles, but counts of samples."""
    columns = {
        NAME: f"{found.cycles.value:.0f}",
        f"{NAME}_ci95": f"{found.cycles.half_width:.0f}",
        "provenance": PROVENANCE,
        "stlb_misses": found.misses,
        "mode": mode,
        "refill_cycles_mean": f"{found.refill.value:.6g}",
        "refill_cycles_mean_ci95": f"{found.refill.half_width:.6g}",
        "samples_missed": found.refill.count,
        "samples_without_latency": found.empty,
        "samples_longest": found.longest,
        "samples": found.ops,
    }
    return f"{','.join(columns)}\n{','.join(str(value) for value in columns.values())}\n"
