"""What will be run: the layouts that fit in ``--minutes``, and the file that keeps the plan for resuming."""

from __future__ import annotations

import fcntl
import json
import math
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB

# The file that keeps the plan while the bundle grows.
#
# The file lies beside the bundle, in ``<bundle>.measuring``, because a bundle contains the declared files
# only.

PLAN = "plan.json"
LOCK_ATTEMPTS = 20  #: 0.1 s apart


@dataclass(frozen=True)
class WorkloadPlan:
    """One workload: ``seconds`` of a run, pool -> bytes ``used`` by it, names of its layouts in order."""

    seconds: float
    used: dict[str, int]
    layouts: tuple[str, ...]


@dataclass(frozen=True)
class MeasurementPlan:
    """What was planned; ``throttles`` of the processors before the first run.

    ``request``: as :meth:`tessera.measure.counted.request.MeasurementOptions.described`.
    ``source``, ``platform`` and ``reason``: of :class:`tessera.measure.counted.layout_sets.Chosen`.
    """

    request: dict[str, object]
    rows: dict[str, WorkloadPlan]
    source: str
    platform: str
    throttles: int | None
    reason: str = ""

    def text(self) -> str:
        """JSON; ``rows`` keep their order, in which the workloads run."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def parse(cls, text: str) -> MeasurementPlan:
        found = json.loads(text)
        rows = {
            name: WorkloadPlan(**row | {"layouts": tuple(row["layouts"])})
            for name, row in found["rows"].items()
        }
        return cls(**found | {"rows": rows})


def unsealed_folder(out: Path) -> Path:
    """For the plan, the events files and the launcher's reports of a bundle that is not sealed."""
    return out.with_name(f"{out.name}.measuring")


def load_plan(out: Path) -> MeasurementPlan | None:
    """The plan of a measurement that was begun; None if there is none."""
    path = unsealed_folder(out) / PLAN
    return MeasurementPlan.parse(path.read_text()) if path.exists() else None


def save_plan(out: Path, plan: MeasurementPlan) -> None:
    write_text(unsealed_folder(out) / PLAN, plan.text())


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
def locked_folder(out: Path) -> Iterator[Path]:
    """The working folder, locked: a second process for the same bundle is refused."""
    folder = unsealed_folder(out)
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


# ``--minutes N``: which rows and layouts fit, and how long everything takes.
#
# Every row that is chosen has 4KB and 2MB pages: models need both. Further layouts are added in tiers, to
# the rows in turn, the fastest row first, as long as the least number of rounds fits.

#: Share of the minutes that is planned: a trial run tells the time of a run only roughly.
TIME_MARGIN = 0.8
ANCHOR_LAYOUTS = (ALL_4KB, ALL_2MB)
LAYOUT_TIERS = (
    ANCHOR_LAYOUTS,
    ("growing-4",),
    ("growing-1", "growing-2", "growing-3", "growing-5", "growing-6", "growing-7"),
    (ALL_1GB,),
    tuple(f"random-{n}" for n in range(9)),
    tuple(f"sliding-{percent}-{n}" for percent in (20, 40, 60, 80) for n in range(9)),
)


def seconds_of_runs(runs: Mapping[str, tuple[float, int]], passes: int, rounds: int) -> float:
    """Time of all runs: workload -> (seconds a run, layouts)."""
    return sum(seconds * count for seconds, count in runs.values()) * passes * rounds


def fitting_layouts(
    seconds: Mapping[str, float],
    layouts: Mapping[str, Sequence[str]],
    passes: int,
    rounds: int,
    minutes: float,
    spent: float = 0.0,
) -> dict[str, list[str]]:
    """workload -> layouts that fit, in the order of ``layouts``; workloads for which nothing fits are absent.

    Args:
        seconds: workload -> seconds of one run.
        minutes: what is left for rounds; ``spent``: minutes that trials took, for the remedy.

    Raises:
        TesseraError: not even one row with two layouts fits.
    """
    left = minutes * 60
    chosen: dict[str, set[str]] = {}
    for tier in LAYOUT_TIERS:
        for workload in sorted(seconds, key=lambda name: (seconds[name], name)):
            new = [name for name in layouts[workload] if name in tier]
            cost = seconds[workload] * len(new) * passes * rounds
            if (tier == ANCHOR_LAYOUTS or workload in chosen) and new and cost <= left:
                chosen.setdefault(workload, set()).update(new)
                left -= cost
    if not chosen:
        least = min(seconds[w] * len(ANCHOR_LAYOUTS) * passes * rounds for w in seconds) / 60
        raise TesseraError(
            f"--minutes: {max(0.0, minutes):.1f} are left for rounds",
            f"{rounds} rounds of 4KB and 2MB pages take about {least:.1f} minutes with the fastest workload",
            f"give --minutes {math.ceil((least + spent) / TIME_MARGIN) + 1} or more, or a smaller --size",
            code="too-few-minutes",
        )
    return {name: [one for one in layouts[name] if one in chosen[name]] for name in seconds if name in chosen}


def duration_text(seconds: float) -> str:
    """``2 h 05 min``, ``12 min`` or ``40 s``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
