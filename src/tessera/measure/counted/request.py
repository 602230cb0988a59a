"""What was asked for: the options of ``./run measure``, and workloads that are ready to run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import build_dir, repo_root, sha256_of
from tessera.core.units import PAGE_1GB, round_up
from tessera.machine.counters.passes import MODES, OPTIONAL
from tessera.measure.add_workload import OWN
from tessera.measure.bundles.json_files import COUNTERS, REGIONS
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.rounds import StoppingRule
from tessera.record import workloads
from tessera.record.workloads import prepared
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import HOST, ProgramRun

FULL, CORE = "full", "core"
ROI, PROGRAM, WHOLE = REGIONS
LAUNCHER, PERF = COUNTERS  #: what opens the events
MEASURED, SIMULATED = "measured", "simulated"  #: where the misses come from that sliding windows follow
_MOST_ROUNDS = 1000


@dataclass(frozen=True)
class MeasurementOptions:
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
    rule: StoppingRule = field(default_factory=StoppingRule)
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


# Workloads that can be measured, ready to run. The others are refused, or left out with their reason.

MARKED = "kernel"  #: kind of the programs whose source marks the region of interest


@dataclass(frozen=True)
class ReadyWorkload:
    """One workload at one size. ``size.args`` go into the bundle: they contain no path of this machine."""

    workload: str
    size: Size
    run: ProgramRun
    sha256: str

    @property
    def pool_bytes(self) -> dict[str, int]:
        """Pools of every layout: whole pages of 1GB, so that the layout 1gb has the same ones."""
        pools = {"brk": self.size.heap_pool, "mmap": self.size.anon_pool}
        return {name: round_up(size, PAGE_1GB) for name, size in pools.items()}


def candidate_workloads(request: MeasurementOptions) -> tuple[list[tuple[Workload, Size]], list[str]]:
    """Workloads of the request, smallest first, and why others are left out.

    Raises:
        TesseraError: a workload that was asked for by name cannot be measured, or none can.
    """
    found, left_out = [], []
    for name in dict.fromkeys(request.workloads) or workloads.workload_names():
        workload = workloads.load_workload(name)
        reason = _unfit(workload, request)
        if not reason:
            found.append((workload, workload.size(request.size)))
        elif request.workloads:
            raise TesseraError(f"measure {name}", reason[0], reason[1], code="workload-unfit")
        else:
            left_out.append(f"{name}: {reason[0]}")
    if not found:
        raise TesseraError(
            f"workloads of size {request.size}", "none can be measured", "tessera workload show lists sizes"
        )
    return sorted(found, key=lambda pair: pair[1].footprint), left_out


def _unfit(workload: Workload, request: MeasurementOptions) -> tuple[str, str] | None:
    """(found, remedy), or None."""
    if workload.source == OWN:
        return (
            "it is a program of yours, and a bundle has workloads of Tessera only",
            "tessera measure -- PROGRAM",
        )
    if request.size not in workload.sizes:
        return f"it has no size {request.size}", f"use one of: {', '.join(workload.sizes)}"
    if workload.kind == "server" or (workload.kind in ("program", "scripts") and workload.threads):
        return "it has several threads, and H, M, C and R of several threads are no cell", "choose another"
    if request.region == ROI and workload.kind != MARKED:
        return (
            f"its program (kind {workload.kind}) does not mark a region of interest",
            "count all of it, with every other workload of the bundle: --region program",
        )
    return None


def ready_workload(workload: Workload, size: Size, where: MeasurementSite) -> ReadyWorkload:
    """Make the inputs of a workload, and describe its program.

    Raises:
        TesseraError: a program, a file or a licence is missing; it starts threads.
    """
    file = None
    if size.prepared is not None:
        file = build_dir("prepared") / size.prepared.file
        prepared.ensure(size.prepared, file)
    run = workloads.prepare(workload, size.label, build_dir("runs") / workload.name / size.label, file)
    if run.threads or run.companion is not None:
        raise TesseraError(
            f"measure {workload.name}",
            "it has several threads, and H, M, C and R of several threads are no cell",
            "choose another workload",
            code="workload-unfit",
        )
    return ReadyWorkload(workload.name, size, run, _sha256(run, where))


def _sha256(run: ProgramRun, where: MeasurementSite) -> str:
    """Of the program that is counted; of an image's program, computed in the image."""
    program = Path(run.target or run.argv[0])
    if where.rehearsal or run.image == HOST or program.is_relative_to(repo_root()):
        return sha256_of(program)
    done = where.toolchain(run).run(["sha256sum", str(program)], run.paths, capture=True)
    return done.stdout.split()[0]
