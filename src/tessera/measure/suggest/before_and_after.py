"""Before and after on this machine: interleaved pairs of runs, all 4KB and the proposal, real pages."""

from __future__ import annotations

import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import ALL_4KB, Layout, read_layout, write_layout
from tessera.core.statistics import Interval, paired_ratio_interval
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.container.process import DIE_WITH_PARENT, stopped_at_exit
from tessera.machine.container.watchdog import watchdog
from tessera.machine.reserve import reserve_huge_pages
from tessera.measure.mosalloc.launcher import forwarding, mosalloc_command
from tessera.measure.mosalloc.report import read_report
from tessera.measure.suggest.server_load import Load, LoadRun, ended_well, number_in
from tessera.record.traces.companion import run_beside

LAST_BYTES = 2000  #: of a failed program's output


@dataclass(frozen=True)
class Metric:
    """The compared quantity: seconds, or a number that the load (or the program) prints."""

    pattern: str | None = None
    higher_is_better: bool = False

    @property
    def name(self) -> str:
        """For the text."""
        return f"number of '{self.pattern}'" if self.pattern else "seconds"


@dataclass(frozen=True)
class Trial:
    """Values of each pair, and the ratio after / before with its 95% interval."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    metric: Metric

    @property
    def ratio(self) -> Interval:
        """after / before, geometric mean over pairs."""
        return paired_ratio_interval(self.after, self.before)

    @property
    def gain(self) -> Interval:
        """Relative improvement: 0.05 is 5% less time, or 5% more of a rate."""
        ratio = self.ratio
        value = ratio.value - 1 if self.metric.higher_is_better else 1 - ratio.value
        return Interval(value, ratio.half_width, ratio.count)

    @property
    def proven(self) -> bool:
        """Whether the interval of the gain excludes 0."""
        gain = self.gain
        return abs(gain.value) > gain.half_width


def metric_of_run(program: Sequence[str], layout: Path, load: Load | None, metric: Metric) -> float:
    """One run under ``layout``; raises if the run fails or its page sizes are not confirmed."""
    companion = None
    if load is not None:
        load.require_free_port()
        companion = LoadRun(load)
    with tempfile.TemporaryDirectory(prefix="tessera-trial-") as name:
        report, said = Path(name) / "report.json", Path(name) / "output"
        argv = [*DIE_WITH_PARENT, *mosalloc_command(program, layout, report=report)]
        with said.open("w") as output:
            start = time.monotonic()
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            watched = watchdog(process, f"run of {program[0]} under {layout.name}", lambda: None)
            with stopped_at_exit(process), watched, forwarding() as forwarder, run_beside(process, companion):
                forwarder.follow(process)
                process.wait()
            if forwarder.received:
                signal.raise_signal(forwarder.received[0])
            seconds = time.monotonic() - start
        text = said.read_text(errors="replace")
        # the layout of 4KB pages is temporary; analyze uses the same pages without a file
        alone = "analyze --out memory.json" if layout.stem == ALL_4KB else f"run --layout {layout}"
        if not ended_well(process.returncode, load) or not read_report(report).confirmed:
            raise TesseraError(
                f"run of {program[0]} under {layout.name}",
                f"status {process.returncode}: {text[-LAST_BYTES:].strip() or 'no output'}",
                f"run it alone: tessera mosalloc {alone} -- {' '.join(program)}",
                exit_code=EXIT_FAILED,
            )
    if metric.pattern:
        return number_in(companion.output if companion else text, metric.pattern)
    return companion.seconds if companion else seconds


def compare_runs(
    program: Sequence[str],
    layout: Path,
    *,
    load: Load | None,
    metric: Metric,
    pairs: int,
    allowed: bool,
    progress: Callable[[str], None] = lambda text: None,
    seed: int = 1,
) -> Trial:
    """``pairs`` pairs of runs; the order in a pair is random, so that drift favours neither."""
    if pairs < 2:
        raise TesseraError(
            f"--pairs {pairs}", "a confidence interval needs at least 2 pairs", "give --pairs 10"
        )
    proposal = read_layout(layout)
    order = random.Random(seed)
    values: dict[str, list[float]] = {"before": [], "after": []}
    with (
        tempfile.TemporaryDirectory(prefix="tessera-trial-") as name,
        reserve_huge_pages(proposal.pages(PAGE_2MB), proposal.pages(PAGE_1GB), allowed=allowed),
    ):
        plain = Path(name) / f"{ALL_4KB}.csv"
        write_layout(Layout(plain.stem, proposal.pool_bytes), plain)
        files = {"before": plain, "after": layout}
        for file in files.values():  # the first run of each also warms files, clocks and memory: not counted
            metric_of_run(program, file, load, metric)
        for pair in range(pairs):
            for side in order.sample(list(files), 2):
                values[side].append(metric_of_run(program, files[side], load, metric))
            progress(
                f"pair {pair + 1} of {pairs}: 4KB {values['before'][-1]:.4g}, "
                f"suggested {values['after'][-1]:.4g} {metric.name}"
            )
    return Trial(tuple(values["before"]), tuple(values["after"]), metric)
