"""A check with its result: rows of the doctor, and of the proof of the allocator.

Only the standard library is used: both also run where no package is installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED

PASS = "PASS"  #: it holds, or what it asks for is there
FAIL = "FAIL"  #: it does not hold, or is missing and required
SKIP = "SKIP"  #: it was not checked, or is missing and optional
STATUSES = (PASS, FAIL, SKIP)


@dataclass(frozen=True)
class Check:
    """What was checked, and what was found.

    Attributes:
        name: what a row of a table is called.
        status: one of :data:`STATUSES`.
        found: the facts, with units; why it failed or was skipped. Only with :data:`PASS` it may be empty.
        remedy: the next step, a command if there is one.
    """

    name: str
    status: str
    found: str = ""
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"check '{self.name}': status '{self.status}' is none of {STATUSES}")
        if self.status != PASS and not self.found:
            raise ValueError(f"check '{self.name}': {self.status} without a reason")


def status_counts(statuses: Iterable[str]) -> dict[str, int]:
    """How often there is each of :data:`STATUSES`."""
    found = Counter(statuses)
    return {status: found[status] for status in STATUSES}


def exit_status(statuses: Iterable[str]) -> int:
    """Of the process: 1 if something failed, else 0."""
    return EXIT_FAILED if FAIL in statuses else 0


def status_summary(statuses: Iterable[str]) -> str:
    """``3 passed, 0 failed, 1 skipped``."""
    passed, failed, skipped = status_counts(statuses).values()
    return f"{passed} passed, {failed} failed, {skipped} skipped"
