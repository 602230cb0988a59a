"""What will be run, and the file that keeps it while the bundle grows, for resuming the same measurement.

The file lies beside the bundle, in ``<bundle>.measuring``, because a bundle contains the declared files only.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from tessera.core.errors import TesseraError
from tessera.core.files import write_text

PLAN = "plan.json"
LOCK_ATTEMPTS = 20  #: 0.1 s apart


@dataclass(frozen=True)
class RowPlan:
    """One workload: ``seconds`` of a run, pool -> bytes ``used`` by it, names of its layouts in order."""

    seconds: float
    used: dict[str, int]
    layouts: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """``request`` as :meth:`Request.described`; ``throttles`` of the processors before the first run.

    ``source``, ``platform`` and ``reason``: of :class:`tessera.measure.counted.layout_sets.Chosen`.
    """

    request: dict[str, object]
    rows: dict[str, RowPlan]
    source: str
    platform: str
    throttles: int | None
    reason: str = ""

    def text(self) -> str:
        """JSON; ``rows`` keep their order, in which the workloads run."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def parse(cls, text: str) -> Plan:
        found = json.loads(text)
        rows = {
            name: RowPlan(**row | {"layouts": tuple(row["layouts"])}) for name, row in found["rows"].items()
        }
        return cls(**found | {"rows": rows})


def working_folder(out: Path) -> Path:
    """For the plan, the events files and the launcher's reports of a bundle that is not sealed."""
    return out.with_name(f"{out.name}.measuring")


def load(out: Path) -> Plan | None:
    """The plan of a measurement that was begun; None if there is none."""
    path = working_folder(out) / PLAN
    return Plan.parse(path.read_text()) if path.exists() else None


def save(out: Path, plan: Plan) -> None:
    write_text(working_folder(out) / PLAN, plan.text())


def require_same(out: Path, what: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raises TesseraError (``other-plan``) that names the first difference."""
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            raise TesseraError(
                f"resume {out}",
                f"{what} {key} is {_shown(now.get(key))}; the folder's runs had {_shown(before.get(key))}",
                "repeat the command and the machine of the first start, or name another folder: --out DIR",
                code="other-plan",
            )


def _shown(value: object) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _locked(file: IO) -> bool:
    """Whether the lock was free, or became free: a killed process leaves it to its child until exec."""
    for _ in range(LOCK_ATTEMPTS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.1)
    return False


@contextmanager
def alone(out: Path) -> Iterator[Path]:
    """The working folder, locked: a second process for the same bundle is refused."""
    folder = working_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        if not _locked(file):
            raise TesseraError(
                f"measure into {out}", "another process measures into this folder", "wait, or end it",
                code="measuring",
            )  # fmt: skip
        try:
            yield folder
        finally:
            if not (folder / PLAN).exists():  # nothing to resume
                shutil.rmtree(folder)
