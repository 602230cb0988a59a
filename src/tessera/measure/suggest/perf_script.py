"""Addresses that hardware sampled, from the text of ``perf script``, and the pools of the recorded run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.machine.perf.row import read_text, shown

# What ``data_src`` of a sample says about the TLB.
#
# Bits 26 to 32 of the number (``mem_dtlb`` of union perf_mem_data_src, include/uapi/linux/perf_event.h)
# mean: not available, hit, miss, L1, L2, walker, fault. perf also prints them as words, ``|TLB L2 miss|``.
# The bits decide, because perf cuts the words after 99 characters.
#
# Intel sets ``L2 miss`` in load latency and precise store records of accesses that missed the STLB
# (arch/x86/events/intel/ds.c), AMD in IBS records with DcL1TlbMiss and DcL2TlbMiss
# (arch/x86/events/amd/ibs.c).

TLB_MISSED, TLB_HIT, TLB_UNKNOWN = "missed", "hit", "unknown"

_SHIFT, _MASK = 26, 0x7F
_NA, _HIT, _MISS, _L1, _L2, _WALKER, _FAULT = (1 << bit for bit in range(7))
_TLB_WORDS = re.compile(r"\|TLB ([^|]*)")

#: perf's buffer for the words holds 99 characters and the final zero.
_WORDS_CUT_AT = 99


def tlb_outcome(data_src: int) -> str:
    """Missed if the last level of the TLB missed, so that a walk was needed; else hit or unknown."""
    bits = data_src >> _SHIFT & _MASK
    if bits & (_WALKER | _FAULT) or bits & (_MISS | _L1) == _MISS or bits & (_MISS | _L2) == (_MISS | _L2):
        return TLB_MISSED
    return TLB_HIT if bits & _HIT else TLB_UNKNOWN


def tlb_words_agree(data_src: int, words: str) -> bool:
    """Whether perf's words say the same as the number: both hit, both miss, or neither."""
    found = _TLB_WORDS.search(words)
    if found is None or (found.end() == len(words) and len(words) >= _WORDS_CUT_AT):
        return len(words) >= _WORDS_CUT_AT
    bits = data_src >> _SHIFT & _MASK
    text = found[1].strip()
    return (text.endswith("hit") or text.endswith("hit miss")) == bool(bits & _HIT) and text.endswith(
        "miss"
    ) == bool(bits & _MISS)


# One line of ``perf script -F pid,tid,period,event,addr[,data_src]``.
#
# ``%5d/%-5d  %10lu  EVENT:  %16lx[ %16lx WORDS]`` (tools/perf/builtin-script.c; the widths differ between
# versions 4.15 and 6.12, the order does not). With ``-F pid`` alone, or ``tid`` alone, there is no slash.

FIELDS = "pid,tid,period,event,addr"

#: No line of perf is as long; a longer one is of another file.
MAX_LINE = 1000

_LINE = re.compile(
    r" *(?P<pid>-1|\d{1,10})(?:/(?P<tid>-1|\d{1,10}))?[ \t]+(?P<period>\d{1,20})[ \t]+(?P<event>[^\s:]\S*?):"
    r"[ \t]+(?P<address>[0-9a-f]{1,16})(?:[ \t]+(?P<source>[0-9a-f]{1,16}) (?P<words>\S.*))?[ \t\r]*",
    re.ASCII,
)
_DEFAULT = re.compile(r" *\S.* \d{1,10}(?:/\d{1,10})? .*\d+\.\d{6}: ", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample.

    Attributes:
        line: number in the file, from 1.
        pid: process; -1 if perf did not know it.
        period: events between this sample and the one before: what it stands for.
        event: name as perf printed it, without the last colon.
        address: virtual address of the accessed byte; 0 if the record has none.
        source: ``data_src``; None if the field was not printed.
    """

    line: int
    pid: int
    period: int
    event: str
    address: int
    source: int | None = None


def parse_line(owner: str, number: int, line: str) -> Sample:
    """The sample of a line.

    Raises:
        TesseraError: the line has another form, or its number and its words contradict each other (code
            ``samples-row``).
    """
    found = _LINE.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None:
        raise malformed(owner, number, _why(line))
    source = found["source"] and int(found["source"], 16)
    if source is not None and not tlb_words_agree(source, found["words"].rstrip()):
        raise malformed(
            owner, number, f"data_src {found['source']} and its words '{shown(found['words'])}' contradict"
        )
    return Sample(
        number, int(found["pid"]), int(found["period"]), found["event"], int(found["address"], 16), source
    )


def malformed(owner: str, number: int, found: str) -> TesseraError:
    """The error of a line that is no sample."""
    remedy = f"print again with: perf script -i perf.data -F {FIELDS},data_src 2>messages >samples.txt"
    return TesseraError(f"{owner}, line {number}", found, remedy, code="samples-row")


def _why(line: str) -> str:
    if "do not have" in line and "attribute set" in line:
        return f"perf says '{shown(line.strip(), 100)}': record with -d"
    if _DEFAULT.match(line[:MAX_LINE]):
        return f"'{shown(line.strip())}' has the default fields of perf script, without period and address"
    return f"'{shown(line.strip())}' is not `pid/tid period event: address [data_src]`"


# The text of ``perf script`` as samples: every line is one, but empty lines and those with ``#``.

_PRINT_AGAIN = f"perf script -i perf.data -F {FIELDS},data_src > samples.txt"


def parse_samples(lines: Iterable[str], owner: str = "perf script") -> Iterator[Sample]:
    """Samples of lines, in their order.

    Raises:
        TesseraError: as :func:`parse_line`.
    """
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if line.strip() and not line.startswith("#"):
            yield parse_line(owner, number, line)


def read_perf_samples(path: Path | str) -> list[Sample]:
    """Samples of a file; at least one.

    Raises:
        TesseraError: the file can't be read, is perf's own format or no text, has a line of another form
            (code ``samples-row``), or has no sample (code ``samples-empty``).
    """
    owner = f"samples {path}"
    text = read_text(path, owner, _PRINT_AGAIN, "samples-row")
    found = list(parse_samples(text.split("\n"), owner))
    if not found:
        raise TesseraError(owner, "it has no sample", _PRINT_AGAIN, code="samples-empty")
    return found


# Where the pools of a recorded run were: from the report of ``mosalloc-run --report``.

_RECORD_AGAIN = (
    "under perf record: tessera mosalloc run --layout examples/all-4kb.csv --report FILE -- PROGRAM"
)


@dataclass(frozen=True)
class RecordedPools:
    """Process of the run, and each pool's (base address, bytes)."""

    pid: int
    bases: dict[str, tuple[int, int]]

    @property
    def pool_bytes(self) -> dict[str, int]:
        """Sizes of the pools, as a layout needs them."""
        return {pool: size for pool, (_, size) in self.bases.items()}


def read_recorded_pools(path: Path | str) -> RecordedPools:
    """Process and pools of a run under 4KB pages.

    Raises:
        TesseraError: the file is no report, or the run had huge pages: its misses are those that are left.
    """
    owner = f"report {path}"
    try:
        found = json.loads(Path(path).read_text())
        bases = {
            pool["type"]: (_whole_number(pool, "base"), _whole_number(pool, "size_bytes"))
            for pool in found["pools"]
        }
        place, windows = RecordedPools(_whole_number(found, "pid"), bases), len(found["windows"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TesseraError(
            owner, f"{type(error).__name__}: {error}", _RECORD_AGAIN, code="samples-report"
        ) from None
    if set(bases) != {"brk", "mmap"}:
        pools = ", ".join(map(str, bases)) or "none"  # JSON may have a number there
        raise TesseraError(owner, f"it has the pools {pools}", _RECORD_AGAIN, code="samples-report")
    if windows:
        raise TesseraError(
            owner,
            f"the run had {windows} windows of huge pages: misses that these removed are not in the samples",
            _RECORD_AGAIN,
            code="samples-report",
        )
    return place


def _whole_number(found: dict, key: str) -> int:
    """A whole number that is not negative; ``true``, 1.5 and Infinity of JSON are none."""
    value = found[key]
    if type(value) is not int or value < 0:
        raise ValueError(f"{key} is {value!r}, not a whole number")
    return value
