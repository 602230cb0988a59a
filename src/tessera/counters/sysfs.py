"""What this machine says about its PMUs: numbers for perf_event_open, SMT, the NMI watchdog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tessera.counters.passes import Machine

ROOT = Path("/")
_DEVICES = "sys/bus/event_source/devices"


def pmu_type(names: Sequence[str], root: Path = ROOT) -> tuple[str, int] | None:
    """The first of these PMUs that the kernel has, and its number; None if it has none of them."""
    for name in names:
        text = _text(root / _DEVICES / name / "type")
        if text.isdigit():
            return name, int(text)
    return None


def cpus(pmu: str, root: Path = ROOT) -> str:
    """Processors of a hybrid machine's PMU, as ``0-7,16``; empty if the kernel does not say."""
    return _text(root / _DEVICES / pmu / "cpus")


def listed(text: str) -> set[int]:
    """Numbers of a list of the kernel, such as ``0-3,8``; none of an empty one.

    Raises:
        ValueError: it has another form.
    """
    spans = [part.partition("-") for part in text.strip().split(",") if part]
    return {number for low, _, high in spans for number in range(int(low), int(high or low) + 1)}


def machine(root: Path = ROOT) -> Machine:
    """SMT and watchdog now. Unreadable files count as SMT on and watchdog on: fewer counters."""
    smt = _text(root / "sys/devices/system/cpu/smt/active") != "0"
    watchdog = _text(root / "proc/sys/kernel/nmi_watchdog") != "0"
    return Machine(smt, watchdog)


def formats(pmu: str, root: Path = ROOT) -> dict[str, str]:
    """Field -> bits of perf_event_attr that hold it, as ``config:0-7,32-35``; {} without a format."""
    folder = root / _DEVICES / pmu / "format"
    return {path.name: _text(path) for path in sorted(folder.glob("*"))}


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
