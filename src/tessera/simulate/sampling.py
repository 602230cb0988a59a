"""The sampling plan: which part of the region of interest is simulated with caches and time.

H and M are always exact over the whole region; C and R come from the plan's units and are scaled by
instructions (docs/reference/simulate.md). A plan is a :class:`Sampling` (evenly spaced units, or all), an
:class:`Intervals` (units at chosen places) or :class:`Tlbs` (no units: H and M only). All have
``argument()``, a text that describes the whole plan, and ``arguments(folder)``, the options for
``tessera-sim run``.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: name -> what it gives; the same names as ``tessera-sim engines``
ENGINES = {
    "partial": "H, M, C of all layouts in one pass; for models of TLB misses and walk cycles",
    "timing": "R too: an out-of-order core on top of the same counts",
    "reference": "everything, one layout at a time, slow and obvious; checks the other two",
}
KEYS = ("units", "warmup_accesses", "timed_instructions")
INTERVAL_COLUMNS = ("start_access", "warmup_accesses", "timed_instructions", "weight")


@dataclass(frozen=True)
class Sampling:
    """Systematic samples: ``units`` evenly spaced parts of the region.

    Each unit warms TLBs, page-walk caches and data caches with ``warmup_accesses`` and then counts
    over ``timed_instructions``. ``units`` 0 means the whole region (``full``).
    """

    units: int = 20
    warmup_accesses: int = 2_500_000
    timed_instructions: int = 1_000_000

    def argument(self) -> str:
        """The simulator's ``--sampling`` argument."""
        if self.units == 0:
            return "full"
        return ",".join(f"{key}={getattr(self, key)}" for key in KEYS)

    def arguments(self, folder: Path) -> list[str]:
        """Options of ``tessera-sim run``; ``folder`` is for files that they name."""
        return ["--sampling", self.argument()]


@dataclass(frozen=True)
class Intervals:
    """Units at chosen places; ``text`` is the CSV (:data:`INTERVAL_COLUMNS`) that the simulator checks.

    ``start_access`` is where a unit's warm-up begins. Units are sorted and do not overlap, warm-up included
    (a unit that directly follows another needs none: contents of caches are kept). Estimates are
    ``sum(weight * y) / sum(weight * instructions)`` times all instructions.
    """

    text: str

    @classmethod
    def read(cls, path: Path) -> Intervals:
        """From a file.

        Raises:
            TesseraError: it can't be read.
        """
        try:
            return cls(path.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise TesseraError(
                f"--sampling {path}",
                f"the file can't be read ({error})",
                f"give full, tlbs, units=N, or a CSV file with the columns {','.join(INTERVAL_COLUMNS)}",
                code="interval-file-unreadable",
            ) from None

    @classmethod
    def of(cls, rows: list[tuple[int, int, int, float]]) -> Intervals:
        """From rows of :data:`INTERVAL_COLUMNS`."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(INTERVAL_COLUMNS)
        writer.writerows(rows)
        return cls(text.getvalue())

    def argument(self) -> str:
        """The whole plan as a text."""
        return "intervals\n" + self.text

    def arguments(self, folder: Path) -> list[str]:
        """Options of ``tessera-sim run``; writes the file that they name into ``folder``."""
        path = folder / "intervals.csv"
        path.write_text(self.text)
        return ["--interval-file", str(path)]


@dataclass(frozen=True)
class Tlbs:
    """No units: H and M of the whole region, without caches and time; C, R and their loads are empty."""

    def argument(self) -> str:
        """The simulator's ``--sampling`` argument."""
        return "tlbs"

    def arguments(self, folder: Path) -> list[str]:
        """Options of ``tessera-sim run``."""
        return ["--sampling", self.argument()]


Plan = Sampling | Intervals | Tlbs
TLBS = Tlbs()
FULL = Sampling(0, 0, 0)
PLAN = Sampling().argument()  #: the default of the main job and of studies


def parse_sampling(text: str) -> Sampling:
    """``full`` or ``units=20,warmup_accesses=2500000,timed_instructions=1000000`` (any subset)."""
    if text == "full":
        return FULL
    values: dict[str, int] = {}
    for part in text.split(","):
        key, _, number = part.partition("=")
        if key.strip() in values:
            raise TesseraError(f"--sampling {text}", f"'{key.strip()}' is given twice", "keep one")
        if key.strip() not in KEYS or not number.strip().isdecimal():
            raise TesseraError(
                f"--sampling {text}",
                f"'{part}' is not one of {', '.join(k + '=N' for k in KEYS)}",
                "give --sampling full or, for example, --sampling units=20,timed_instructions=1000000",
            )
        values[key.strip()] = int(number)
    plan = Sampling(**values)
    if min(plan.units, plan.timed_instructions) < 1:
        raise TesseraError(
            f"--sampling {text}", "units and timed_instructions must be at least 1",
            "give --sampling full to simulate the whole region",
        )  # fmt: skip
    return plan


def plan_of(text: str | None) -> Plan:
    """The plan of the command's ``--sampling``: also ``tlbs``, or a CSV file of units; None: the default.

    Raises:
        TesseraError: it is no plan, or the file can't be read.
    """
    if text is None:
        return Sampling()
    if text == TLBS.argument():
        return TLBS
    if Path(text).suffix == ".csv":
        return Intervals.read(Path(text))
    return parse_sampling(text)
