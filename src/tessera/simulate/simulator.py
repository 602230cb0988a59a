"""Start one ``tessera-sim run``, read its output as rows, and stop it.

The caller gets each row as soon as the simulator prints it, so that no finished row is lost. A signal to
this process (Ctrl-C, SIGTERM, SIGHUP) is forwarded to the simulator; the caller gets the rows finished so
far, and the run exits with the status of the signal. A second signal acts at once.
"""

from __future__ import annotations

import csv
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import with_names
from tessera.core.platforms import Platform
from tessera.core.processes import SIGNALS
from tessera.core.results.schema import columns
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.container.process import GRACE_SECONDS
from tessera.machine.container.watchdog import watchdog
from tessera.simulate.inputs import LAYOUT, PageSource
from tessera.simulate.sampling import Plan

Progress = Callable[[str], None]
#: Templates of page faults, in the folder of the run.
TEMPLATES_FILE = "templates.txt"


@dataclass(frozen=True)
class Simulation:
    """The inputs of a simulation; ``threads`` changes only the time, ``kind`` says what the files are.

    Several platforms share what they can of a pass over the trace; their rows are those of each one alone.
    ``weave``: templates of page faults, woven into the stream. ``check_tables``: a walk that reads an entry
    that no woven store has written is a failed row. ``fault_times``: rows have the latency of each fault.
    ``dram_rows``: rows have what loads found in memory's row buffers.
    ``usage``: file for the times and memory that the run itself takes.
    """

    simulator: Path
    trace: Path
    platforms: tuple[Platform, ...]
    engine: str
    plan: Plan
    threads: int = 1
    kind: PageSource = LAYOUT
    weave: bytes | None = None
    check_tables: bool = False
    fault_times: bool = False
    dram_rows: bool = False
    usage: Path | None = None


def run_simulator(job: Simulation, layouts: dict[Path, bytes], keep: Keep, progress: Progress) -> None:
    """Simulate ``layouts`` (files of ``job.kind`` -> their content) on each platform.

    ``keep`` gets each row as it comes. Of several platforms, one that is refused has failed rows.

    Raises:
        TesseraError: the trace, the only platform or the plan is refused, or the simulator died.
        SystemExit: a signal ended the run (status 128 + its number).
    """
    with tempfile.TemporaryDirectory(prefix="tessera-simulate-") as name:
        folder = Path(name)
        # The simulator names a row by its file's stem, so each gets a short name. None begins another.
        copies = {f"{job.kind.word}-{i:06}": path for i, path in enumerate(layouts)}
        for stem, path in copies.items():
            (folder / f"{stem}.csv").write_bytes(layouts[path])
        names: dict = {folder / f"{stem}.csv": path for stem, path in copies.items()}
        labels = {f"platform-{i:03}": platform.name for i, platform in enumerate(job.platforms)}
        names |= {folder / f"{label}.txt": name for label, name in labels.items()}
        names |= {f"{folder}/": ""} | copies
        process = _start(job, folder, list(copies), list(labels))
        try:
            more = {KERNEL: job.weave is not None, FAULT_TIMES: job.fault_times, DRAM_ROWS: job.dram_rows}
            rows = SimulatorOutput(folder, copies, keep, labels, [part for part in more if more[part]])
            with watchdog(process, f"simulate {job.trace.name}"):
                _listen(process, rows, progress, names)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _start(job: Simulation, folder: Path, stems: list[str], labels: list[str]) -> subprocess.Popen:
    listing, variants = folder / "list.txt", folder / "variants.txt"
    flats = [folder / f"{label}.txt" for label in labels]
    for flat, platform in zip(flats, job.platforms, strict=True):
        flat.write_text(platform.flat())
    listing.write_text("".join(f"{folder / stem}.csv\n" for stem in stems))
    variants.write_text("".join(f"{label}\t{flat}\n" for label, flat in zip(labels, flats, strict=True)))
    argv = [job.simulator, "run", "--trace", job.trace.resolve()]
    argv += ["--platform", flats[0]] if len(flats) == 1 else ["--variants", variants]
    argv += [job.kind.option, listing, "--engine", job.engine, *job.plan.arguments(folder)]
    argv += ["--interval-out", folder / UNITS_FILE, "--designs-out", folder / DESIGNS_FILE]
    if job.weave is not None:
        (folder / TEMPLATES_FILE).write_bytes(job.weave)
        argv += ["--weave", folder / TEMPLATES_FILE, "--kernel-out", folder / KERNEL_FILE]
        argv += ["--check-tables", "on"] if job.check_tables else []
    argv += ["--fault-times-out", folder / FAULT_TIMES_FILE] if job.fault_times else []
    argv += ["--dram-rows-out", folder / DRAM_ROWS_FILE] if job.dram_rows else []
    argv += ["--usage-out", job.usage] if job.usage else []
    argv += ["--threads", job.threads]
    return toolchain().popen(
        [str(a) for a in argv],
        paths=[job.trace.resolve()],
        options=RunOptions(writes=(folder, *([job.usage.parent] if job.usage else []))),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


#: The end of the simulator's stdout, among its lines.
END = None


def _listen(process: subprocess.Popen, rows: SimulatorOutput, progress: Progress, names: dict) -> None:
    # Signal handlers may put into a SimpleQueue, so that they never interrupt the keeping of a row.
    events: queue.SimpleQueue[str | int | None] = queue.SimpleQueue()
    errors: list[str] = []
    readers = [
        threading.Thread(target=_pass_on, args=(process.stdout, events)),
        threading.Thread(target=_drain, args=(process.stderr, errors, progress)),
    ]
    for reader in readers:
        reader.start()
    told = 0
    with _signals_into(events):
        while (event := events.get()) is not END:
            if isinstance(event, str):
                rows.line(event)
            else:
                told = event
                process.terminate()
                killer = threading.Timer(GRACE_SECONDS, process.kill)
                killer.daemon = True
                killer.start()
        process.wait()
    if told:
        killer.cancel()
    for reader in readers:
        reader.join()
    if told:
        raise SystemExit(128 + told)
    if process.returncode or rows.seen < len(rows.copies) * len(rows.labels):
        raise died(process.returncode, with_names("\n".join(errors), names))


@contextmanager
def _signals_into(events: queue.SimpleQueue) -> Iterator[None]:
    """The first signal becomes an event; the next one acts as it did before. Main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(number, frame):
        restore()
        events.put(number)

    def restore():
        for number, handler in previous.items():
            signal.signal(number, handler)

    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, *SIGNALS)}
    for number in previous:
        signal.signal(number, first)
    try:
        yield
    finally:
        restore()


def _pass_on(stream, events: queue.SimpleQueue) -> None:
    for line in stream:
        if line.endswith("\n"):  # else a killed simulator's last words
            events.put(line)
    events.put(END)


def _drain(stream, errors: list[str], progress: Progress) -> None:
    for line in stream:
        if line.startswith("progress "):
            progress(line.removeprefix("progress ").rstrip())
        elif line.strip():
            errors.append(line.rstrip())


def died(status: int, errors: str) -> TesseraError:
    """The simulator's error message, or an error with its exit status if it printed none."""
    text = errors.strip().removeprefix("tessera-sim: ")
    asked, found, remedy = "tessera-sim", text or f"it ended with status {status}", "see above"
    if "\n  what to do: " in text:
        found, _, remedy = text.partition("\n  what to do: ")
        asked, _, found = found.partition(": ")
    return TesseraError(asked, found, remedy, exit_code=2 if status == 2 else EXIT_FAILED)


# The output, as rows with the names of the caller's files and platforms.
#
# The simulator names a row by its file's stem, so each layout or mapping gets a unique short name for the
# run. A run of several platforms also has the label of the platform in each line (column ``variant``).

#: (platform's place in the job, layout or mapping file, row of the simulator, its units, its structures)
Keep = Callable[[int, Path, dict, list[dict], list[dict]], None]
TEXT = ("layout", "status", "message", "structure", "kind")
#: Files that the simulator writes beside its rows, in the folder of the run.
UNITS_FILE, DESIGNS_FILE, KERNEL_FILE = "units.csv", "designs.csv", "kernel.csv"
FAULT_TIMES_FILE, DRAM_ROWS_FILE = "fault-times.csv", "dram-rows.csv"
#: What the counts of woven kernel work are called in a row; only with templates.
KERNEL = "kernel"
#: What the latencies of faults, and counts of row buffers, are called in a row; only if they are asked for.
FAULT_TIMES, DRAM_ROWS = "fault_times", "dram_rows"
#: Those three, and the file of each.
MORE_FILES = {KERNEL: KERNEL_FILE, FAULT_TIMES: FAULT_TIMES_FILE, DRAM_ROWS: DRAM_ROWS_FILE}
#: Columns of ``--interval-out``: what a unit's timed part counted, unscaled.
UNIT_COLUMNS = (
    "layout", "unit", "start_access", "instructions", "accesses",
    "stlb_misses", "walk_cycles", "runtime_cycles",
)  # fmt: skip
#: Columns of ``--designs-out``: what a structure of the design counted (docs/contracts.md).
DESIGN_COLUMNS = ("layout", "structure", "accesses", "hits", "lookup_cycles", "background_cycles")
#: Of ``--kernel-out``: the kernel's work in page faults (docs/reference/page-faults.md), a row for each log.
KERNEL_TABLE = columns("""
layout                    text   -             the log
kernel_instructions       count  instructions  of all faults; a repeated string instruction counts once
kernel_loads              count  loads         of all faults; one for each line of a string instruction
kernel_stores             count  stores        the same
kernel_stlb_hits          count  translations  of all faults
kernel_stlb_misses        count  translations  of all faults
kernel_walk_cycles        count  cycles        scaled as C
kernel_cycles             count  cycles        part of R: from the program's last instruction to the kernel's
kernel_l1d_loads          count  loads         loads and stores that L1d served
kernel_l2_loads           count  loads         loads and stores that L2 served
kernel_l3_loads           count  loads         loads and stores that L3 served
kernel_dram_loads         count  loads         loads and stores that memory served
kernel_walker_l1d_loads   count  loads         loads of the kernel's walks that L1d served
kernel_walker_l2_loads    count  loads         loads of the kernel's walks that L2 served
kernel_walker_l3_loads    count  loads         loads of the kernel's walks that L3 served
kernel_walker_dram_loads  count  loads         loads of the kernel's walks that memory served
""")
#: Of ``--fault-times-out``: a row for each fault of a timed part.
FAULT_TIME_TABLE = columns("""
layout      text   -         the log
fault       count  1         its number in the log, from 0
access      count  accesses  data accesses of the program before it
page        count  1         virtual address / 4KB of the page that faulted
kind        text   -         of its template
page_bytes  count  bytes     size of the page
tables      count  1         page tables that it allocated
batch       count  1         1 if its template moves a batch of pages
cycles      count  cycles    its latency
""")
#: Of ``--dram-rows-out``: what loads found in the row buffers of memory, a row for each kind of load.
DRAM_ROW_TABLE = columns("""
layout     text   -      layout, mapping or log
kind       text   -      program; walk, if dram.queues_walks = 1; prefetch; kernel, if its work is woven
hits       count  loads  that found their row open; scaled as C
closed     count  loads  that found no row open; scaled as C
conflicts  count  loads  that found another row open; scaled as C
""")
KERNEL_COLUMNS = tuple(column.name for column in KERNEL_TABLE)
FAULT_TIME_COLUMNS = tuple(column.name for column in FAULT_TIME_TABLE)
DRAM_ROW_COLUMNS = tuple(column.name for column in DRAM_ROW_TABLE)


class SimulatorOutput:
    """The simulator's output, as rows with their units, structures, and the caller's file names."""

    def __init__(
        self, folder: Path, copies: dict[str, Path], keep: Keep, labels: dict[str, str],
        more: Iterable[str] = (),
    ):  # fmt: skip
        """``labels``: of the platforms in order, as the simulator has them -> as messages have them.

        ``more``: of :data:`MORE_FILES`, what rows have, too, each a list of lines.
        """
        self.folder, self.copies, self.keep, self.labels = folder, copies, keep, labels
        self.columns: list[str] = []
        self.seen = 0
        self.units, self.designs = Parts(folder / UNITS_FILE), Parts(folder / DESIGNS_FILE)
        self.more = {part: Parts(folder / MORE_FILES[part]) for part in more}

    def line(self, line: str) -> None:
        """A line of stdout."""
        cells = next(csv.reader([line]))
        if not self.columns:
            self.columns = cells
            return
        row = dict(zip(self.columns, cells, strict=True))
        label, stem = row.pop("variant", ""), row.pop("layout")
        path = self.copies[stem]
        message = row["message"].replace(f"{self.folder}/", "")
        message = message.replace(f"{stem}.csv", str(path)).replace(stem, str(path))
        if label:
            message = message.replace(f"{label}.txt", self.labels[label])
        row["message"] = message
        self.seen += 1
        numbers: dict[str, object] = {key: csv_value(key, value) for key, value in row.items()}
        numbers |= {name: parts.of(stem, label) for name, parts in self.more.items()}
        place = list(self.labels).index(label) if label else 0
        self.keep(place, path, numbers, self.units.of(stem, label), self.designs.of(stem, label))


class Parts:
    """The growing file of ``--interval-out`` or ``--designs-out``, which has the lines of a row before it."""

    def __init__(self, path: Path):
        self.path = path
        self._at = 0  # bytes that have been read
        self._columns: list[str] = []
        self._waiting: dict[tuple[str, str], list[dict]] = {}

    def of(self, stem: str, label: str = "") -> list[dict]:
        """Lines of the layout, and of the platform, that the simulator calls so, in order."""
        with self.path.open("rb") as stream:
            stream.seek(self._at)
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]  # the next layout's may be half written
        self._at += len(whole)
        for cells in csv.reader(whole.decode().splitlines()):
            if not self._columns:
                self._columns = cells
                continue
            part = dict(zip(self._columns, cells, strict=True))
            waiting = self._waiting.setdefault((part.pop("variant", ""), part.pop("layout")), [])
            waiting.append({key: csv_value(key, value) for key, value in part.items()})
        return self._waiting.pop((label, stem), [])


def csv_value(key: str, value: str) -> str | int | float | None:
    """A cell of the simulator's CSV: text columns as they are, numbers, ``None`` for empty."""
    if key in TEXT:
        return value
    if value == "":
        return None
    return int(value) if value.lstrip("-").isdigit() else float(value)
