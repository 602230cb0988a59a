"""One condition of a measurement: a row of ``environment.csv``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

STOP = "stop"  #: no run starts
BARS = "bars"  #: runs are possible, but their bundle decides no claim
NOTED = "noted"  #: recorded only
LEVELS = (STOP, BARS, NOTED)

OK = "ok"
DIFFERS = "differs"
UNKNOWN = "unknown"  #: it could not be read; ``found`` has the reason
STATUSES = (OK, DIFFERS, UNKNOWN)


@dataclass(frozen=True)
class Condition:
    """What was wanted, and what was found.

    Attributes:
        check: name of the condition, unique in a table.
        level: one of :data:`LEVELS`.
        wanted: the value that a measurement needs.
        found: the value, with its unit; the reason, if ``status`` is :data:`UNKNOWN`.
        status: one of :data:`STATUSES`.
        remedy: the next step, a command if there is one; empty if ``status`` is :data:`OK`.
    """

    check: str
    level: str
    wanted: str
    found: str
    status: str
    remedy: str = ""


def stopping(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions that forbid a run: an unknown one is not met."""
    return [one for one in conditions if one.level == STOP and one.status != OK]


def barring(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions that keep a bundle from deciding claims: an unknown one is not met."""
    return [one for one in conditions if one.level == BARS and one.status != OK]


def worse_of(first: Iterable[Condition], second: Iterable[Condition]) -> list[Condition]:
    """Each condition as it was where it was worse: for runs that were made at two times."""
    worse = {one.check: one for one in first}
    for one in second:
        before = worse.get(one.check)
        if before is None or STATUSES.index(one.status) > STATUSES.index(before.status):
            worse[one.check] = one
    return list(worse.values())
