"""Samples of a process as misses: an address and the number of TLB misses that it stands for.

* A sample of a miss stands for its period.
* A sample of an access that missed stands for its period, too; an access that hit stands for nothing.
* Load latency and precise store have scales of their own: the first samples only some of the loads. Up to
  IvyBridge, samples of misses have no address, but their periods add up to the number of misses. So if both
  were recorded, each access that missed stands for its share of the misses of its side (loads or stores).
* Types of cores of a hybrid processor: their misses add up. Their accesses don't: each type samples its own
  share of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.measure.suggest import perf_script
from tessera.measure.suggest.perf_events import (
    ACCESSES,
    BOTH,
    FAULTS,
    LOADS,
    MISSES,
    NOTHING,
    STORES,
    EventKind,
    event_core,
    event_kind,
)
from tessera.measure.suggest.perf_script import FIELDS, Sample


@dataclass(frozen=True)
class Weighed:
    """``misses``: (address, misses that it stands for). ``seen``: samples of the process, hits included.

    ``cores``: PMUs of the types of cores that were sampled; empty unless the processor is hybrid.
    """

    misses: tuple[tuple[int, float], ...]
    seen: int
    notes: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()


@dataclass
class _Side:
    """Samples of loads, of stores, or of both."""

    misses: list[Sample] = field(default_factory=list)
    accesses: list[Sample] = field(default_factory=list)


def weigh(samples: Iterable[Sample], pid: int, owner: str = "samples", *, faults: bool = False) -> Weighed:
    """Misses of process ``pid``.

    Args:
        faults: count page faults as if they were misses: only to test recordings where no PMU is.

    Raises:
        TesseraError: no sample is of the process, an event says nothing about the TLB, no sample has an
            address, ``data_src`` is missing or empty, or accesses of two types of cores were sampled.
    """
    sides: dict[str, _Side] = {}
    kinds: dict[str, EventKind | None] = {}
    cores: dict[str, Counter[str]] = {MISSES: Counter(), ACCESSES: Counter()}
    seen, others = 0, 0
    for sample in samples:
        if sample.event not in kinds:
            kinds[sample.event] = _known(sample, owner, faults)
        kind = kinds[sample.event]
        if sample.pid != pid or kind.what == NOTHING:
            others += 1
            continue
        seen += 1
        if core := event_core(sample.event):
            cores[kind.what][core] += 1
        side = sides.setdefault(kind.side, _Side())
        (side.accesses if kind.what == ACCESSES else side.misses).append(sample)
    if not seen:
        raise _failed(
            owner,
            f"none of {others} samples is of process {pid}, whose pools the report gives",
            "give the report of the run that perf recorded",
            "samples-of-another-run",
        )
    if len(cores[ACCESSES]) > 1:
        raise _failed(
            owner,
            f"accesses were sampled by {' and '.join(sorted(cores[ACCESSES]))}:"
            " each type of core samples its own share of them, so they do not add up",
            "bind the program to one type of core (taskset) and record again; or keep the samples of one:"
            f" grep '{cores[ACCESSES].most_common(1)[0][0]}/' samples.txt",
            "samples-of-two-cores",
        )
    found: list[tuple[int, float]] = []
    notes: list[str] = []
    for name in (LOADS, STORES, BOTH):
        if name in sides:
            found += _of_side(name, sides[name], owner, notes)
    scales = [name for name in (LOADS, STORES) if name in sides and not _scaled(sides[name])]
    if len(scales) == 2 and all(sides[name].accesses for name in scales):
        notes.append("samples of loads and of stores have scales of their own; the misses were not counted")
    if not any(address for address, _ in found):
        raise _failed(
            owner,
            f"none of {seen} samples is of a TLB miss with a data address",
            "up to IvyBridge, samples of STLB misses have none: add load latency and precise store;"
            " record with -d, and longer",
            "samples-without-address",
        )
    return Weighed(tuple(found), seen, tuple(notes), tuple(sorted(cores[MISSES] | cores[ACCESSES])))


def _known(sample: Sample, owner: str, faults: bool) -> EventKind:
    kind = event_kind(sample.event)
    if kind is None:
        raise _failed(
            f"{owner}, line {sample.line}",
            f"samples of '{sample.event}' do not show TLB misses",
            "record STLB misses, load latency and precise store, or ibs_op: see docs/howto/samples.md",
            "samples-of-another-event",
        )
    if kind.what == FAULTS:
        if not faults:
            raise _failed(
                f"{owner}, line {sample.line}",
                "page faults show the first touch of each page, not TLB misses",
                "tessera mosalloc analyze shows the memory in use; --method simulate needs no counters",
                "samples-of-faults",
            )
        return EventKind(MISSES, BOTH)
    return kind


def _scaled(side: _Side) -> bool:
    """Whether misses without addresses were counted beside the accesses."""
    return bool(side.misses) and bool(side.accesses) and not any(s.address for s in side.misses)


def _of_side(name: str, side: _Side, owner: str, notes: list[str]) -> Sequence[tuple[int, float]]:
    if not side.accesses:
        return [(s.address, s.period) for s in side.misses]
    if side.misses and not _scaled(side):
        raise _failed(
            owner,
            f"misses of {name} and accesses of {name} were sampled, both with addresses",
            "record one of the two: a miss would count twice",
            "samples-mixed",
        )
    missed = [s for s in side.accesses if _outcome(s, owner) == perf_script.TLB_MISSED and s.address]
    if all(_outcome(s, owner) == perf_script.TLB_UNKNOWN for s in side.accesses):
        raise _failed(
            owner,
            f"no sample of {name} says whether the TLB missed (data_src: TLB N/A)",
            "this kernel or this event does not give it: use a newer kernel, or --method simulate",
            "samples-without-tlb",
        )
    if not side.misses:
        return [(s.address, s.period) for s in missed]
    counted = sum(s.period for s in side.misses)
    if not missed:
        notes.append(f"{counted:,} misses of {name} have no address: no sampled access of {name} missed")
        return []
    weights = sum(s.period for s in missed)
    return [(s.address, counted * s.period / weights) for s in missed]


def _outcome(sample: Sample, owner: str) -> str:
    if sample.source is None:
        raise _failed(
            f"{owner}, line {sample.line}",
            f"samples of '{sample.event}' are of accesses, and data_src was not printed",
            f"perf script -F {FIELDS},data_src",
            "samples-without-source",
        )
    return perf_script.tlb_outcome(sample.source)


def _failed(owner: str, found: str, remedy: str, code: str) -> TesseraError:
    return TesseraError(owner, found, remedy, exit_code=EXIT_FAILED, code=code)
