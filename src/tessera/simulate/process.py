"""Start one ``tessera-sim run``, read its output, and stop it.

The caller gets each row as soon as the simulator prints it, so that no finished row is lost. A signal to
this process (Ctrl-C, SIGTERM, SIGHUP) is forwarded to the simulator; the caller gets the rows finished so
far, and the run exits with the status of the signal. A second signal acts at once.
"""

from __future__ import annotations

import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import with_names
from tessera.core.interrupts import SIGNALS
from tessera.machine.container import toolchain
from tessera.machine.container.process import GRACE_SECONDS
from tessera.platforms import Platform
from tessera.simulate.inputs import LAYOUT, Kind
from tessera.simulate.plan import Plan
from tessera.simulate.rows import DESIGNS_FILE, FAULT_TIMES_FILE, KERNEL_FILE, UNITS_FILE, Keep, Rows

Progress = Callable[[str], None]
#: Templates of page faults, in the folder of the run.
TEMPLATES_FILE = "templates.txt"


@dataclass(frozen=True)
class Job:
    """The inputs of a simulation; ``threads`` changes only the time, ``kind`` says what the files are.

    Several platforms share what they can of a pass over the trace; their rows are those of each one alone.
    ``weave``: templates of page faults, woven into the stream. ``check_tables``: a walk that reads an entry
    that no woven store has written is a failed row. ``fault_times``: rows have the latency of each fault.
    ``usage``: file for the times and memory that the run itself takes.
    """

    simulator: Path
    trace: Path
    platforms: tuple[Platform, ...]
    engine: str
    plan: Plan
    threads: int = 1
    kind: Kind = LAYOUT
    weave: bytes | None = None
    check_tables: bool = False
    fault_times: bool = False
    usage: Path | None = None


def run_simulator(job: Job, layouts: dict[Path, bytes], keep: Keep, progress: Progress) -> None:
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
        names = {folder / f"{stem}.csv": path for stem, path in copies.items()}
        labels = {f"platform-{i:03}": platform.name for i, platform in enumerate(job.platforms)}
        names |= {folder / f"{label}.txt": name for label, name in labels.items()}
        names |= {f"{folder}/": ""} | copies
        process = _start(job, folder, list(copies), list(labels))
        try:
            weaves = job.weave is not None
            rows = Rows(folder, copies, keep, labels, weaves=weaves, times=job.fault_times)
            _listen(process, rows, progress, names)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _start(job: Job, folder: Path, stems: list[str], labels: list[str]) -> subprocess.Popen:
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
    argv += ["--usage-out", job.usage] if job.usage else []
    argv += ["--threads", job.threads]
    return toolchain().popen(
        [str(a) for a in argv],
        paths=[job.trace.resolve(), folder, *([job.usage.parent] if job.usage else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


#: The end of the simulator's stdout, among its lines.
END = None


def _listen(process: subprocess.Popen, rows: Rows, progress: Progress, names: dict) -> None:
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
