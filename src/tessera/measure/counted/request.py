"""What was asked for: the options of ``./run measure``, and their form in the plan."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from tessera.bundles.documents import COUNTERS, REGIONS
from tessera.core.errors import TesseraError
from tessera.counters.command import MODES
from tessera.counters.passes import OPTIONAL
from tessera.measure.rounds import Rule

FULL, CORE = "full", "core"
ROI, PROGRAM, WHOLE = REGIONS
LAUNCHER, PERF = COUNTERS  #: what opens the events
MEASURED, SIMULATED = "measured", "simulated"  #: where the misses come from that sliding windows follow
_MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Request:
    """Options. ``workloads`` empty: every workload that can be measured. ``minutes``: length of the whole.

    ``results`` has the simulated profiles; ``also`` names optional passes (:data:`OPTIONAL`); ``class_name``
    chooses between the types of cores of a hybrid processor. ``counter``: one of :data:`COUNTERS`.
    """

    out: Path
    workloads: tuple[str, ...] = ()
    size: str = "default"
    layouts: str = FULL
    mode: str = "u"
    region: str = ROI
    minutes: float | None = None
    rule: Rule = field(default_factory=Rule)
    seed: int = 1
    also: tuple[str, ...] = ()
    results: Path = Path("results/default")
    class_name: str = ""
    counter: str = LAUNCHER

    def __post_init__(self) -> None:
        rule = self.rule
        for option, value, good, valid in (
            ("--layouts", self.layouts, self.layouts in (FULL, CORE), f"{FULL} or {CORE}"),
            ("--mode", self.mode, self.mode in MODES, " or ".join(MODES)),
            ("--region", self.region, self.region in REGIONS, ", ".join(REGIONS)),
            ("--counter", self.counter, self.counter in COUNTERS, " or ".join(COUNTERS)),
            ("--minutes", self.minutes, self.minutes is None or self.minutes > 0, "a positive number"),
            ("--rounds", rule.max_repeats, 2 <= rule.max_repeats <= _MOST_ROUNDS, "from 2 to 1000"),
            ("--also", ",".join(self.also), set(self.also) <= set(OPTIONAL), ", ".join(OPTIONAL)),
        ):
            if not good:
                raise TesseraError(f"{option} {value}", "not a valid value", f"use {valid}", code="option")
        if self.counter == PERF and self.region != WHOLE:
            raise TesseraError(
                f"--counter {PERF} --region {self.region}",
                "perf counts all that it starts, and does not know the marks of a region",
                f"use --region {WHOLE}, or --counter {LAUNCHER}",
                code="option",
            )

    def described(self) -> dict[str, object]:
        """The options that decide what is measured, as JSON."""
        found = asdict(self)
        for key in ("out", "results", "rule"):
            del found[key]
        rule = {"half_width": self.rule.half_width, "least_rounds": self.rule.min_repeats,
                "most_rounds": self.rule.max_repeats}  # fmt: skip
        listed = {"workloads": list(self.workloads), "also": list(self.also)}
        return found | listed | rule
