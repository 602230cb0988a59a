"""A result of ``tessera counters check``: a row of its table and of ``checks.csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields

OK = "ok"
REFUSED = "refused"  #: the kernel does not open the event
DIFFERS = "differs"  #: it counts, but not what it must
UNPROVEN = "unproven"  #: nothing was counted that could show it
STATUSES = (OK, REFUSED, DIFFERS, UNPROVEN)


@dataclass(frozen=True)
class Row:
    """``check`` is opens, scheduled, software, proof or fact; ``subject`` the event, the pass or the fact.

    Attributes:
        class_name: the class of processors; empty for software events.
        needed: whether cells need it: events of R, H, M and C, not those of optional passes.
    """

    class_name: str
    check: str
    subject: str
    wanted: str
    found: str
    status: str
    remedy: str = ""
    needed: bool = True


def failed(rows: Iterable[Row]) -> list[Row]:
    """Rows with which this machine can't measure: needed, and refused or different."""
    return [row for row in rows if row.needed and row.status in (REFUSED, DIFFERS)]


def as_csv(rows: Iterable[Row]) -> str:
    """Content of ``checks.csv``: class_name, check, subject, wanted, found, status, remedy, needed."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    writer.writerows(map(astuple, rows))
    return stream.getvalue()
