"""``tessera-os``: a trace under a scenario, what its log says, and the table of faults of several logs."""

from __future__ import annotations

import csv
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import built, check_target, with_names, writing
from tessera.core.scenarios import Scenario
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.container.process import stopped_at_exit

#: Tables of ``tessera lab os show --csv`` (docs/reference/scenarios.md).
LOG_TABLES = ("records", "faults", "kinds", "sizes", "areas", "chunks", "counters")

#: Called with the percent of the accesses that are done, and their number.
Progress = Callable[[int, int], None]


def run_scenario(
    trace: Path, scenario: Scenario, out: Path, progress: Progress = lambda percent, all: None
) -> str:
    """Write the log of a trace under a scenario; returns the summary that tessera-os prints.

    The log is complete or absent: it is written beside ``out`` and renamed at the end.

    Raises:
        TesseraError: no events in the trace, out of memory, a call that is not modelled (docs/explain/os.md).
    """
    target = check_target(out)
    if target == trace.resolve():
        raise TesseraError(f"--out {out}", "this is the trace", "name another file")
    target.parent.mkdir(parents=True, exist_ok=True)  # a container sees only folders that exist
    with tempfile.TemporaryDirectory(prefix="tessera-os-") as name:
        flat = Path(name) / "scenario.txt"
        flat.write_text(scenario.flat())
        words = ["run", "--trace", trace.resolve(), "--scenario", flat, "--out", target]
        names = {flat: scenario.name, target: out, trace.resolve(): trace}
        paths = [trace.resolve(), flat.parent]
        return "".join(_tessera_os(words, paths, names, progress, writes=(target.parent,)))


def show_log(log: Path, table: str | None = None) -> str:
    """The summary of a log, or one of :data:`LOG_TABLES` as CSV.

    Raises:
        TesseraError: an unknown table, or a file that is no complete log.
    """
    return "".join(log_lines(log, table))


def log_lines(log: Path, table: str | None = None) -> Iterator[str]:
    """The lines of :func:`show_log`, as they come: a table of faults can be larger than memory."""
    if table is not None and table not in LOG_TABLES:
        raise unknown_name("table", table, LOG_TABLES)
    words = ["show", log.resolve(), *([] if table is None else ["--csv", table])]
    return _tessera_os(words, [log.resolve()], {log.resolve(): log})


def _tessera_os(
    words: list,
    paths: list[Path],
    names: dict,
    progress: Progress | None = None,
    writes: tuple[Path, ...] = (),
):
    """The lines that it prints, as they come; an error of it is raised behind the last one."""
    argv = [str(word) for word in (built("imitation", "tessera-os"), *words)]
    errors: list[str] = []
    process = toolchain().popen(
        argv,
        paths=paths,
        options=RunOptions(writes=writes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with stopped_at_exit(process):
        reader = threading.Thread(target=_drain, args=(process.stderr, errors, progress))
        reader.start()
        yield from cast(IO[str], process.stdout)
        process.wait()
        reader.join()
    if process.returncode:
        raise _failure(process.returncode, with_names("\n".join(errors), names))


def _drain(stream, errors: list[str], progress: Progress | None) -> None:
    for line in stream:
        words = line.split()
        if words[:1] == ["progress"] and len(words) == 5:  # progress 12% of 435891 accesses
            if progress is not None:
                progress(int(words[1].rstrip("%")), int(words[3]))
        else:
            errors.append(line.rstrip("\n"))


def _failure(status: int, errors: str) -> TesseraError:
    text = errors.strip().removeprefix("tessera-os: ")
    asked, found, remedy = "tessera-os", text or f"it ended with status {status}", "see above"
    if "\n  what to do: " in text:
        found, _, remedy = text.rpartition("\n  what to do: ")
        head, _, tail = found.rpartition(": ")
        asked, found = (head, tail) if head else (asked, found)
    code = found[found.rfind("[") + 1 : -1] if found.endswith("]") else ""
    exit_code = 2 if status == 2 else EXIT_FAILED
    return TesseraError(asked, found, remedy, exit_code=exit_code, code=code)


# The table of faults of several logs: ``tessera simulate --os ... --write faults=FILE``.

#: ``access``: data accesses before the fault; ``kind``: docs/reference/scenarios.md; ``order``: log2
#: of the page in 4KB pages.
FAULT_COLUMNS = "layout access block kind order pool page frame write fallback major".split()
PAGE_ORDER = {"4KB": 0, "2MB": 9, "1GB": 18}


def write_faults(logs: Iterable[Path], out: Path) -> int:
    """One row for each fault of each log, in the order of the program; returns their number.

    Raises:
        TesseraError: a file that is no complete log.
    """
    count = 0
    with writing(out) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FAULT_COLUMNS)
        for log in logs:
            for row in csv.DictReader(log_lines(log, "faults")):
                named = row | {
                    "layout": log.stem,
                    "kind": row["cause"],
                    "order": PAGE_ORDER[row["page_size"]],
                }
                table.writerow([named[column] for column in FAULT_COLUMNS])
                count += 1
    return count
