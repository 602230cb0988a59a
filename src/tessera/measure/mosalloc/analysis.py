"""How a program uses its memory: the JSON of ``mosalloc-run --analyze``, as text and as a plot."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from tessera.core import drawing
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.tables import table_text
from tessera.core.units import GB, KB, MB, PAGE_2MB, format_bytes, round_up
from tessera.measure.mosalloc.report import Calls, PoolReport, pool_report

# The JSON as types.

#: type in layout files -> (name in columns, name for people)
POOLS = {
    "brk": ("heap", "heap pool"),
    "mmap": ("anon", "anonymous pool"),
    "file": ("file", "file pool"),
}
COLUMNS = ("time_ms", *(f"{name}_{what}_bytes" for name, _ in POOLS.values() for what in ("live", "used")))


@dataclass(frozen=True)
class Analysis:
    """A run: ``samples`` over time (columns :data:`COLUMNS`), and the state at its end.

    ``calls``, ``outside`` and the file pool are empty where the launcher does not count them.
    """

    interval_ms: int
    samples: pd.DataFrame
    pools: tuple[PoolReport, ...]
    calls: Calls
    counters: dict[str, int]
    outside: dict[str, int | bool]

    def peak_live_bytes(self, pool: PoolReport) -> int:
        """Most that was handed out at a sample or at the end; between samples it may have been more."""
        column = f"{POOLS[pool.pool][0]}_live_bytes"
        seen = int(self.samples[column].max()) if len(self.samples) else 0
        return max(seen, pool.live_bytes)

    @property
    def duration_ms(self) -> float:
        """Time of the last sample."""
        return float(self.samples["time_ms"].iloc[-1]) if len(self.samples) else 0.0


def read_analysis(path: Path | str) -> Analysis:
    """Read an analysis; a missing or damaged one is an error that names the file."""
    try:
        data = json.loads(Path(path).read_text())
        columns = data["columns"]
        if missing := sorted(set(COLUMNS) - set(columns)):
            raise ValueError(f"no column {', '.join(missing)}")
        samples = pd.DataFrame(data["samples"], columns=columns)
        pools = [pool_report(pool) for pool in data["pools"]]
        if data.get("file_pool"):
            pools.append(pool_report({"type": "file"} | data["file_pool"]))
        return Analysis(
            int(data["interval_ms"]),
            samples,
            tuple(pools),
            data.get("calls", {}),
            data["counters"],
            data.get("outside", {}),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TesseraError(
            f"mosalloc analysis {path}",
            f"{type(error).__name__}: {error}",
            "give a file that mosalloc-run --analyze wrote",
            exit_code=EXIT_FAILED,
        ) from None


# As text: footprints, calls, memory outside the pools, and recommendations.

OUTSIDE = {
    "kernel_heap_bytes": "the kernel's own heap",
    "stack_bytes": "stacks",
    "anonymous_bytes": "anonymous memory",
    "unseen_bytes": "anonymous memory mapped by calls that can't be seen",
}


def rough_size(count: float) -> str:
    """A size for people, with two digits or so: 1.2GB."""
    for suffix, unit in (("GB", 1 << 30), ("MB", MB), ("KB", KB)):
        if count >= unit:
            number = count / unit
            return f"{number:.0f}{suffix}" if number >= 100 else f"{number:.3g}{suffix}"
    return f"{count:.0f}B"


def analysis_lines(found: Analysis) -> list[str]:
    """The lines that ``tessera mosalloc analyze`` prints."""
    seconds = found.duration_ms / 1000
    lines = [f"{len(found.samples)} samples, one in {found.interval_ms} ms, over {seconds:.2f} s", ""]
    rows = []
    for pool in found.pools:
        sizes = (pool.used_bytes, found.peak_live_bytes(pool), pool.live_bytes)
        rows.append((POOLS[pool.pool][1], *map(rough_size, (pool.size_bytes, *sizes)), str(pool.calls)))
    heads = ("pool", "size", "high-water", "peak live", "end live", "calls")
    lines += table_text(heads, rows, right=range(1, 6)).splitlines()
    if found.calls:
        rows = []
        for call, went in sorted(found.calls.items()):
            counts = [went.get(where, 0) for where in ("pool", "kernel", "failed")]
            if any(counts):
                rows.append((call, *map(str, counts)))
        heads = ("calls", "pool", "kernel", "failed")
        lines += ["", *table_text(heads, rows, right=range(1, 4)).splitlines()]
    if found.outside:
        lines += ["", "outside the pools at the end"]
        lines += [
            f"  {OUTSIDE[key]}: {rough_size(size)}" for key, size in outside_bytes(found).items() if size
        ]
    return lines + ["", *[f"- {line}" for line in recommended_changes(found)]]


def outside_bytes(found: Analysis) -> dict[str, int]:
    """Bytes outside the pools by kind; anonymous memory without the part that can't be seen."""
    sizes = {key: int(found.outside.get(key, 0)) for key in OUTSIDE}
    sizes["anonymous_bytes"] = max(0, sizes["anonymous_bytes"] - sizes["unseen_bytes"])
    return sizes


def recommended_changes(found: Analysis) -> list[str]:
    """Recommended changes, most important first."""
    counters, outside, sizes = found.counters, found.outside, outside_bytes(found)
    lines = []
    if counters.get("pool_full_calls"):
        lines.append(_full(found))
    if counters.get("reservation_calls"):
        lines.append(_reservations(found))
    if outside.get("second_libc"):
        lines.append("a second copy of libc is loaded (dlmopen?): its memory is not in the pools")
    reached = sum(found.peak_live_bytes(pool) for pool in found.pools)
    for key, remedy in (
        ("stack_bytes", "--stacks pool puts stacks of threads into the anonymous pool"),
        ("anonymous_bytes", "--hints pool takes memory that the program asks for at an address"),
        ("unseen_bytes", "it was not mapped through libc, so no layout reaches it"),
        ("kernel_heap_bytes", "it was allocated before the library started"),
    ):
        if sizes[key] > reached / 10:
            lines.append(f"{rough_size(sizes[key])} are {OUTSIDE[key]} outside the pools: {remedy}")
    if counters.get("split_pages"):
        lines.append(
            f"{counters['split_pages']} huge pages were split, because the program protected or mapped parts "
            "of them: move the windows, or --protections soft"
        )
    if counters.get("fork_risks"):
        lines.append(
            f"{counters['fork_risks']} forks had fewer free huge pages than the child could need: add some"
        )
    return lines + [line for pool in found.pools if (line := _fit(pool))]


def _fit(pool: PoolReport) -> str:
    """The size row that would do; nothing for a pool that is not used."""
    size = round_up(pool.used_bytes, PAGE_2MB)
    if size == 0 or pool.pool == "file":
        return ""
    name = POOLS[pool.pool][1]
    row = f"{pool.pool},-1,0,{format_bytes(size)}"
    pages = f"{size // PAGE_2MB} x 2MB if all of it were huge"
    return f"the {name} would fit in {rough_size(size)} (row `{row}`), {pages}"


def _reservations(found: Analysis) -> str:
    """Reservations that had no room in the anonymous pool, and the size row that has room for all of them."""
    counters = found.counters
    size = next(pool.used_bytes for pool in found.pools if pool.pool == "mmap") + counters["reserved_bytes"]
    return (
        f"{counters['reservation_calls']} reservations without access "
        f"({rough_size(counters['reserved_bytes'])} at a time) have no room in the anonymous pool; "
        f"{rough_size(counters['opened_bytes'])} of them were used, with 4KB pages under every layout: "
        f"to have them in the pool, give row `mmap,-1,0,{format_bytes(round_up(size, GB))}`"
    )


def _full(found: Analysis) -> str:
    refused = found.counters.get("largest_refused_bytes", 0)
    sizes = ", ".join(
        f"{POOLS[pool.pool][1]} {rough_size(round_up(pool.size_bytes + refused, PAGE_2MB))}"
        for pool in found.pools
        if pool.pool != "file"
    )
    return (
        f"a pool was full {found.counters['pool_full_calls']} times"
        f" (largest refused: {rough_size(refused)}): give sizes such as {sizes}"
    )


# As a plot: footprint of each pool over time, as SVG or PNG.

PLOT_FORMATS = (".svg", ".png")
COLOURS = {"brk": drawing.BLUE, "mmap": drawing.GREEN, "file": drawing.ORANGE}


def check_plot_format(path: Path) -> None:
    """Refuse a file name whose ending is no format, before the program runs."""
    if path.suffix not in PLOT_FORMATS:
        raise TesseraError(
            f"--plot {path}",
            f"the file name must end in one of {', '.join(PLOT_FORMATS)}",
            "name it plot.svg",
        )


def plot(found: Analysis, path: Path, title: str) -> None:
    """Draw live bytes (solid) and high-water marks (dashed) of the pools that were used."""
    with drawing.context():
        figure = Figure(figsize=(7, 3.2), layout="constrained")
        axes = figure.add_subplot()
        seconds = found.samples["time_ms"] / 1000
        for kind, (column, name) in POOLS.items():
            used = found.samples[f"{column}_used_bytes"] / MB
            if used.max() > 0:
                live = found.samples[f"{column}_live_bytes"] / MB
                axes.step(seconds, live, where="post", color=COLOURS[kind], label=f"{name}, live")
                axes.step(
                    seconds,
                    used,
                    where="post",
                    color=COLOURS[kind],
                    ls="--",
                    label=f"{name}, high-water mark",
                )
        axes.set(xlabel="time (s)", ylabel="memory (MB)", title=title)
        axes.set_ylim(bottom=0)
        if axes.lines:
            axes.legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".svg":
            drawing.save_svg(figure, path, title=title, description="Memory of each pool over time.")
        else:
            figure.savefig(path, dpi=150)
