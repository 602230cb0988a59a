"""IBS op samples of AMD processors, and the estimate of walk cycles from them where no event counts these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.statistics import Interval, mean_interval
from tessera.machine.perf.row import read_text, shown

# IBS op samples of AMD processors, from the text of ``perf report -D`` or ``perf script -D``.
#
# perf writes what the registers of a sample mean, and then the line of its record::
#
#     ibs_op_data3:   00c8...0d LdOp 1 StOp 0 DcL1TlbMiss 1 DcL2TlbMiss 1 ... DcMissLat   321 TlbRefillLat
#     200 12345 0x7b8 [0x90]: PERF_RECORD_SAMPLE(IP, 0x2): 4242/4242: 0x401a35 period: 98416 addr: 0x7f...
#
# (tools/perf/util/amd-sample-raw.c, session.c). The number decides: of IBS_OP_DATA3, bits 2 and 3 are misses
# of the L1 and the L2 data TLB, bits 48 to 63 are TlbRefillLat (arch/x86/include/asm/amd-ibs.h). Words that
# perf prints must agree with it. Newer versions print no TlbRefillLat where the L1 TLB did not miss.

AGAIN = "perf record --raw-samples -c 98416 -e ibs_op/cnt_ctl=1/ -- PROGRAM; perf report -D >ibs.txt"
MAX_LINE = 2000  #: no line of a sample is as long

_L1_MISS, _L2_MISS = 1 << 2, 1 << 3
_LATENCY_SHIFT = 48
_DATA3 = re.compile(r"\s*ibs_op_data3:\s+([0-9a-f]{16})((?: +\S.*)?)", re.ASCII)
_WORD = re.compile(r"\b(DcL1TlbMiss|DcL2TlbMiss|TlbRefillLat) +(\d{1,6})\b", re.ASCII)
_RECORD = re.compile(
    r".*\bPERF_RECORD_SAMPLE\(IP, 0x([0-9a-f]{1,4})\): (-1|\d{1,10})/(-1|\d{1,10}): (?:0x)?[0-9a-f]{1,16}"
    r" period: (\d{1,19}) addr: (?:0x)?[0-9a-f]{1,16}\s*",
    re.ASCII,
)
_CPUMODE_MASK = 7  #: of the record's misc bits
_MODES = {1: "kernel", 2: "user", 3: "hypervisor", 4: "guest kernel", 5: "guest user"}


@dataclass(frozen=True, slots=True)
class IbsOp:
    """One sampled operation.

    Attributes:
        line: number of its data in the file, from 1.
        pid: process; -1 if perf did not know it.
        mode: ``user``, ``kernel``, ``hypervisor``, ``guest user``, ``guest kernel`` or ``unknown``.
        period: operations between samples.
        data3: register IBS_OP_DATA3.
    """

    line: int
    pid: int
    mode: str
    period: int
    data3: int

    @property
    def missed(self) -> bool:
        """Whether both levels of the data TLB missed, so that a page walk was needed."""
        return self.data3 & (_L1_MISS | _L2_MISS) == (_L1_MISS | _L2_MISS)

    @property
    def refill_cycles(self) -> int:
        """Cycles from the miss of the L1 data TLB to the end of its refill; 16 bits."""
        return self.data3 >> _LATENCY_SHIFT


def parse_ibs(lines: Iterable[str], owner: str = "perf report -D") -> Iterator[IbsOp]:
    """Samples in their order; lines of other records are skipped.

    Raises:
        TesseraError: a line of IBS has another form, its number and its words contradict each other, or a
            sample has no record (code ``ibs-row``).
    """
    waiting: tuple[int, int] | None = None
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("ibs_op_data3"):
            if waiting is not None:
                raise _malformed(owner, waiting[0], "no PERF_RECORD_SAMPLE follows it")
            waiting = number, _data3(owner, number, line)
        elif waiting is not None and "PERF_RECORD_" in line:
            found = _RECORD.fullmatch(line.rstrip("\r\n")) if len(line) <= MAX_LINE else None
            if found is None:
                raise _malformed(owner, number, f"'{shown(line.strip())}' is no record of a sample")
            mode = _MODES.get(int(found[1], 16) & _CPUMODE_MASK, "unknown")
            yield IbsOp(waiting[0], int(found[2]), mode, int(found[4]), waiting[1])
            waiting = None
    if waiting is not None:
        raise _malformed(owner, waiting[0], "no PERF_RECORD_SAMPLE follows it: the file is cut")


def read_ibs(path: Path | str) -> list[IbsOp]:
    """Samples of a file; at least one.

    Raises:
        TesseraError: the file can't be read, is perf's own format or no text (``ibs-row``), or has no IBS op
            sample (``ibs-empty``).
    """
    owner = f"samples {path}"
    # Dumps print names and raw bytes of programs, which need not be UTF-8.
    text = read_text(path, owner, "perf report -D -i FILE >ibs.txt", "ibs-row", errors="replace")
    lines = (line.rstrip("\r") for line in text.split("\n"))  # names of programs may have other line ends
    found = list(parse_ibs(lines, owner))
    if not found:
        raise TesseraError(
            owner, "it has no IBS op sample with its registers (ibs_op_data3)", AGAIN, code="ibs-empty"
        )
    return found


def _data3(owner: str, number: int, line: str) -> int:
    found = _DATA3.fullmatch(line.rstrip("\r\n")) if len(line) <= MAX_LINE else None
    if found is None:
        raise _malformed(owner, number, f"'{shown(line.strip())}' is not `ibs_op_data3: 16 digits WORDS`")
    value = int(found[1], 16)
    bits = {
        "DcL1TlbMiss": value >> 2 & 1,
        "DcL2TlbMiss": value >> 3 & 1,
        "TlbRefillLat": value >> _LATENCY_SHIFT,
    }
    for name, text in _WORD.findall(found[2]):
        if int(text) != bits[name]:
            raise _malformed(owner, number, f"{name} {text} contradicts the number {found[1]}: {bits[name]}")
    return value


def _malformed(owner: str, number: int, found: str) -> TesseraError:
    return TesseraError(f"{owner}, line {number}", found, f"print again: {AGAIN}", code="ibs-row")


# An estimate of walk cycles where no event counts them (AMD Zen): M times the mean TlbRefillLat.
#
# IBS samples operations at random. Those that missed both levels of the data TLB have the latency of the
# refill. So their mean is the mean latency of a walk, and M walks need M times as many cycles. This adds up
# walks that overlap, as C does. It is never C, and no model is fitted to it, for three reasons:
#
# * IBS sees retired operations only; M counts requested walks, speculative ones included.
# * TlbRefillLat begins at the miss of the L1 TLB, so it contains the look-up of the L2 TLB.
# * Its interval is that of the sampled mean only.

ESTIMATE_NAME = "walk_cycles_ibs_estimate"
PROVENANCE = "estimated"
LONGEST_REFILL = (1 << 16) - 1  #: TlbRefillLat has 16 bits; a longer refill has this value, too

_ESTIMATE_MODES = {"u": ("user",), "uk": ("user", "kernel")}


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


def estimate_walks(
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
        raise _no_estimate(
            owner, f"M is {misses:,}: there is no walk", "count M of the same program", "no-misses"
        )
    mine = [one for one in samples if one.mode in _ESTIMATE_MODES[mode] and pid in (None, one.pid)]
    if not mine:
        seen = Counter((one.pid, one.mode) for one in samples).most_common(3)
        listed = ", ".join(f"{count} of process {pid_} in {mode_} mode" for (pid_, mode_), count in seen)
        wanted = f"mode {mode}" + (f", process {pid}" if pid is not None else "")
        raise _no_estimate(
            owner, f"no sample is of {wanted}; it has {listed}", "check --mode, --pid", "no-samples"
        )
    periods = sorted({one.period for one in mine})
    if len(periods) > 1:
        raise _no_estimate(
            owner,
            f"samples have periods from {periods[0]:,} to {periods[-1]:,}, so they do not weigh the same",
            f"record with a fixed period: {AGAIN}",
            "periods",
        )
    missed = [one.refill_cycles for one in mine if one.missed]
    used = [cycles for cycles in missed if cycles]
    if len(used) < 2:
        raise _no_estimate(
            owner,
            f"of {len(mine):,} samples, {len(missed)} missed the L2 TLB, and {len(used)} of these have a"
            " refill latency; an interval needs 2",
            "record longer, or with a smaller period",
            "no-refill",
        )
    return WalkEstimate(
        misses, mean_interval(used), len(mine), len(missed) - len(used), used.count(LONGEST_REFILL)
    )


def _no_estimate(owner: str, found: str, remedy: str, code: str) -> TesseraError:
    return TesseraError(
        f"{ESTIMATE_NAME} from {owner}", found, remedy, exit_code=EXIT_FAILED, code=f"walks-{code}"
    )


def estimate_csv(found: WalkEstimate, mode: str) -> str:
    """A header and one row; ``mode`` as M was counted. Numbers in cycles, but counts of samples."""
    columns = {
        ESTIMATE_NAME: f"{found.cycles.value:.0f}",
        f"{ESTIMATE_NAME}_ci95": f"{found.cycles.half_width:.0f}",
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
