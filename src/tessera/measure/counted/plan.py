"""What will be run: the layouts that fit in ``--minutes``, and the file that keeps the plan for resuming.

What the plan was chosen from is kept too. Made-up counts in the place of its runs tell what a bundle could
decide.
"""

from __future__ import annotations

import fcntl
import json
import math
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, Layout
from tessera.core.results.outcomes import OK
from tessera.core.units import PAGE_1GB
from tessera.measure.bundles.bundle import Bundle, Count, Counts, Run, Workload

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
class Plan:
    """What was planned; ``throttles`` of the processors before the first run.

    ``request``: as :meth:`tessera.measure.counted.request.Request.described`.
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
    def parse(cls, text: str) -> Plan:
        found = json.loads(text)
        rows = {
            name: WorkloadPlan(**row | {"layouts": tuple(row["layouts"])})
            for name, row in found["rows"].items()
        }
        return cls(**found | {"rows": rows})


def working_folder(out: Path) -> Path:
    """For the plan, the events files and the launcher's reports of a bundle that is not sealed."""
    return out.with_name(f"{out.name}.measuring")


def load_plan(out: Path) -> Plan | None:
    """The plan of a measurement that was begun; None if there is none."""
    path = working_folder(out) / PLAN
    return Plan.parse(path.read_text()) if path.exists() else None


def save_plan(out: Path, plan: Plan) -> None:
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
def locked_folder(out: Path) -> Iterator[Path]:
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


# What a plan was chosen from: every workload that was tried, with all its layouts.

LayoutNames = dict[str, list[str]]  #: workload -> names of layouts, in their order


@dataclass(frozen=True)
class PlanCandidates:
    """``seconds``: of a run of each workload. ``rounds``: the least number. ``spent``: minutes of trials."""

    seconds: Mapping[str, float]
    layouts: Mapping[tuple[str, str], Layout]
    passes: int
    rounds: int
    spent: float

    @property
    def everything(self) -> LayoutNames:
        found: LayoutNames = {}
        for workload, layout in self.layouts:
            found.setdefault(workload, []).append(layout)
        return found

    def fitting(self, minutes: float) -> LayoutNames:
        """What ``--minutes`` chooses; raises TesseraError as :func:`fitting_layouts`."""
        left = minutes * TIME_MARGIN - self.spent
        return fitting_layouts(self.seconds, self.everything, self.passes, self.rounds, left, self.spent)

    def minutes_of(self, names: LayoutNames) -> int:
        """The least ``--minutes`` in which these layouts fit by time alone."""
        runs = {workload: (self.seconds[workload], len(found)) for workload, found in names.items()}
        needed = seconds_of_runs(runs, self.passes, self.rounds) / 60 + self.spent
        return math.ceil(needed / TIME_MARGIN)

    def planned(self, bundle: Bundle, names: LayoutNames) -> Bundle:
        """``bundle`` as it would be with these layouts, without runs."""
        size = next(iter(bundle.workloads.values())).size
        known = {name: Workload(name, size, (), "", verified=True) for name in names}
        layouts = {(w, one): self.layouts[w, one] for w, found in names.items() for one in found}
        return replace(bundle, workloads=known | dict(bundle.workloads), layouts=layouts)


# A bundle whose runs are planned: made-up counts in their place, for the question what it could decide.
#
# The counts are those of no machine. They only have the form of good ones: all events of all passes, M and C
# that fall with the memory on huge pages, C <= R, and a runtime that 1GB pages improve by more than 5%. No
# file of a bundle ever contains them.

_SIDE_SHARES = {"loads": 0.75, "stores": 0.25, "any": 1.0}  #: share of a side in a count


def with_made_up_counts(bundle: Bundle) -> Bundle:
    """``bundle`` with one round of every layout and pass, in the place of its runs."""
    runs, counts = [], []
    for run, made in _made_up_runs(bundle):
        runs.append(run)
        counts += made
    return replace(bundle, runs=tuple(runs), counts=Counts.of(counts), cells=None)


def _made_up_runs(bundle: Bundle) -> Iterator[tuple[Run, tuple[Count, ...]]]:
    number = 0
    widest: dict[str, int] = {}
    for (workload, _), layout in bundle.layouts.items():
        widest[workload] = max(widest.get(workload, 1), _covered(layout))
    for (workload, name), layout in bundle.layouts.items():
        numbers = _made_up_numbers(name, _covered(layout) / widest[workload], bool(layout.pages(PAGE_1GB)))
        size = bundle.workloads[workload].size
        for pass_name, events in bundle.passes().items():
            run = Run(number, workload, size, name, 0, pass_name, OK, "", numbers["R"] // 2, 0, 0, 0)
            made = (Count(number, event.name, _made_up_count(event.role, numbers), 1, 1) for event in events)
            yield run, tuple(made)
            number += 1


def _covered(layout: Layout) -> int:
    return sum(one.end - one.start for one in layout.windows)


def _made_up_numbers(layout: str, share: float, gigantic: bool) -> dict[str, int]:
    """H, M, C and R; ``share``: of the widest layout's memory on huge pages. Names seed what is irregular."""
    rng = random.Random(layout)
    small = 0.02 if gigantic else 1 - 0.9 * share
    misses = round(1e6 * small * rng.uniform(1, 1.1))
    walks = round(misses * rng.uniform(29, 31))
    hits = round(4e5 * small * rng.uniform(0.5, 1) + 1e4)
    return {"M": misses, "H": hits, "C": walks, "R": round(1e8 + 1.1 * walks + 7 * hits)}


def _made_up_count(role: str, numbers: dict[str, int]) -> int:
    """The count of a quantity: H, M and C by side; other events have a fixed number of their own."""
    words = role.split()
    if words == ["R", "cycles"]:
        return numbers["R"]
    if len(words) == 2 and words[0] in ("H", "M", "C") and words[1] in _SIDE_SHARES:
        return round(numbers[words[0]] * _SIDE_SHARES[words[1]])
    return 1000 + random.Random(role).randrange(1000)
