"""The output of ``tessera-sim run``, as rows with the names of the caller's files and platforms.

It names a row by its file's stem, so each layout or mapping gets a unique short name for the run. A run of
several platforms also has the label of the platform in each line (column ``variant``).
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

#: (platform's place in the job, layout or mapping file, row of the simulator, its units, its structures)
Keep = Callable[[int, Path, dict, list[dict], list[dict]], None]
TEXT = ("layout", "status", "message", "structure", "kind")
#: Files that the simulator writes beside its rows, in the folder of the run.
UNITS_FILE, DESIGNS_FILE, KERNEL_FILE = "units.csv", "designs.csv", "kernel.csv"
FAULT_TIMES_FILE = "fault-times.csv"
#: What the counts of woven kernel work are called in a row; only with templates.
KERNEL = "kernel"
#: What the latencies of faults are called in a row; only if they are asked for.
FAULT_TIMES = "fault_times"
#: Columns of ``--interval-out``: what a unit's timed part counted, unscaled.
UNIT_COLUMNS = (
    "layout", "unit", "start_access", "instructions", "accesses",
    "stlb_misses", "walk_cycles", "runtime_cycles",
)  # fmt: skip
#: Columns of ``--designs-out``: what a structure of the design counted (docs/contracts.md).
DESIGN_COLUMNS = ("layout", "structure", "accesses", "hits", "lookup_cycles", "background_cycles")
#: Columns of ``--kernel-out``: the kernel's work in page faults (docs/faults.md).
KERNEL_COLUMNS = (
    "layout", "kernel_instructions", "kernel_loads", "kernel_stores", "kernel_stlb_hits",
    "kernel_stlb_misses", "kernel_walk_cycles", "kernel_cycles", "kernel_l1d_loads", "kernel_l2_loads",
    "kernel_l3_loads", "kernel_dram_loads", "kernel_walker_l1d_loads", "kernel_walker_l2_loads",
    "kernel_walker_l3_loads", "kernel_walker_dram_loads",
)  # fmt: skip
#: Columns of ``--fault-times-out``: a fault of a timed part (docs/faults.md, "Latency of each fault").
FAULT_TIME_COLUMNS = (
    "layout", "fault", "access", "page", "kind", "page_bytes", "tables", "batch", "cycles",
)  # fmt: skip


class Rows:
    """The simulator's output, as rows with their units, structures, and the caller's file names."""

    def __init__(
        self, folder: Path, copies: dict[str, Path], keep: Keep, labels: dict[str, str], *, weaves=False,
        times=False,
    ):  # fmt: skip
        """``labels``: of the platforms in order, as the simulator has them -> as messages have them.

        ``weaves``: rows also have the counts of the kernel, a list of lines. ``times``: and those of faults.
        """
        self.folder, self.copies, self.keep, self.labels = folder, copies, keep, labels
        self.columns: list[str] = []
        self.seen = 0
        self.units, self.designs = Parts(folder / UNITS_FILE), Parts(folder / DESIGNS_FILE)
        self.more = {KERNEL: Parts(folder / KERNEL_FILE)} if weaves else {}
        if times:
            self.more[FAULT_TIMES] = Parts(folder / FAULT_TIMES_FILE)

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
        numbers = {key: number(key, value) for key, value in row.items()}
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
            waiting.append({key: number(key, value) for key, value in part.items()})
        return self._waiting.pop((label, stem), [])


def number(key: str, value: str) -> str | int | float | None:
    """A cell of the simulator's CSV: text columns as they are, numbers, ``None`` for empty."""
    if key in TEXT:
        return value
    if value == "":
        return None
    return int(value) if value.lstrip("-").isdigit() else float(value)
