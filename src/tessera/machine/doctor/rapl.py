"""Does this machine measure the energy of its packages (RAPL)? Reads counters; changes nothing."""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.counters import powercap, sysfs
from tessera.machine.doctor.check import Check, passed, skipped

_PERF_PMU = "power"
_LOST = "claims about measured energy are NOT-MEASURABLE-HERE; elsewhere: ./run tessera threads measure"


def checks(root: Path = powercap.ROOT) -> list[Check]:
    """One row: packages with a readable energy counter, and whether perf has the PMU ``power``."""
    perf = "perf's PMU power is there" if sysfs.pmu_type([_PERF_PMU], root) else "perf has no PMU power"
    try:
        found = powercap.packages(root)
        for package in found:
            package.read_uj()
    except TesseraError as error:
        return [skipped("RAPL", f"{error.asked}: {error.found}; {perf}", f"{error.remedy}; {_LOST}")]
    if not found:
        return [skipped("RAPL", f"no package in {root / powercap.CLASS}; {perf}", _LOST)]
    wrap = min(one.seconds_to_wrap for one in found)
    names = ", ".join(one.name for one in found)
    return [passed("RAPL", f"{names}; counters wrap after {wrap:.0f} s at the earliest; {perf}")]
