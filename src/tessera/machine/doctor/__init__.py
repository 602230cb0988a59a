"""What this machine can do, row by row, before and after anything is installed; a row is a :class:`Check`.

Only the standard library is used in this package: it must work before anything is installed. Start with
:mod:`examine`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

PASS = "PASS"  #: present
SKIP = "SKIP"  #: missing and optional: some results are left out
FAIL = "FAIL"  #: missing and required: the main job can't run


@dataclass(frozen=True)
class Check:
    """What the doctor checked, what it found, and the next step if something is missing.

    Attributes:
        name: the row's name.
        status: :data:`PASS`, :data:`SKIP` or :data:`FAIL`.
        found: the facts, with units.
        remedy: empty for PASS; otherwise the effect, and a command if there is one.
    """

    name: str
    status: str
    found: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def passed(name: str, found: str) -> Check:
    """A row without a gap."""
    return Check(name, PASS, found)


def skipped(name: str, found: str, remedy: str) -> Check:
    """A row for something optional that is missing."""
    return Check(name, SKIP, found, remedy)


def failed(name: str, found: str, remedy: str) -> Check:
    """A row for something that the main job needs and that is missing."""
    return Check(name, FAIL, found, remedy)
