"""One row of the doctor's table.

Only the standard library is used in this package: it must work before anything is installed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

PASS = "PASS"  #: present
SKIP = "SKIP"  #: absent and optional: some results will be left out
FAIL = "FAIL"  #: absent and required: the main job can't run


@dataclass(frozen=True)
class Check:
    """What was looked at, what was found, and the next step if something is missing.

    Attributes:
        name: the row's name.
        status: :data:`PASS`, :data:`SKIP` or :data:`FAIL`.
        found: the facts, with units.
        remedy: empty for PASS; otherwise what is lost and a command where there is one.
    """

    name: str
    status: str
    found: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def passed(name: str, found: str) -> Check:
    """A row that needs nothing."""
    return Check(name, PASS, found)


def skipped(name: str, found: str, remedy: str) -> Check:
    """A row that costs some results."""
    return Check(name, SKIP, found, remedy)


def failed(name: str, found: str, remedy: str) -> Check:
    """A row that stops the main job."""
    return Check(name, FAIL, found, remedy)
