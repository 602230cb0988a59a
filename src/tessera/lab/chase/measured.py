"""The series of chases, and their measurement on this machine."""

from __future__ import annotations

import csv
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from tessera.core.errors import unknown_name
from tessera.core.files import built, with_names
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.results.machine_tables import CHASE, CHASE_SERIES
from tessera.core.results.outcomes import is_ok
from tessera.core.results.table_io import frame_of
from tessera.core.units import MB, PAGE_2MB, PAGE_4KB, round_up
from tessera.lab.study import Amount, Run, Seed, study
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure.launch import last_words, launcher

# The series of chases: pages, stride, order, frames and footprints of each.
#
# All sizes are counts of elements (one line each); an element lies in a page of its own where the stride is
# the page. A new series is one entry of :data:`SERIES`.

#: page counts around every TLB size that is sold, dense where a size is likely
PAGES = (
    16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 128, 160, 192, 256, 384, 512, 640, 768, 896,
    1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920, 2048, 2176, 2304, 2560, 2816, 3072, 3584, 4096, 6144,
    8192, 12288, 16384, 32768, 65536,
)  # fmt: skip
LINES = (
    256, 512, 640, 768, 1024, 2048, 4096, 8192, 16384, 24576, 32768, 49152, 65536, 131072, 196608, 262144,
    524288, 1048576, 2097152,
)  # fmt: skip
LARGE = (
    8, 16, 24, 28, 32, 36, 40, 48, 64, 80, 96, 104, 112, 128, 192, 256, 384, 512, 640, 768, 896, 1024,
    1152, 1280, 1408, 1536, 1664, 1792, 1920, 2048,
)  # fmt: skip
CHAINS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24)
MANY_LINES = 98304  #: 6MB of lines: beyond L2, and their 1536 pages within most STLBs
#: 128MB of pages with 2MB of lines: beyond every STLB, and translations take longer than data
MANY_PAGES = 1 << 15


@dataclass(frozen=True)
class FootprintSweep:
    """One sweep over footprints.

    Attributes:
        page_bytes: pages of the layout under which it runs.
        frames: how the frames of 4KB pages come about (see ``chase --help``).
    """

    name: str
    title: str
    page_bytes: int
    stride_bytes: int
    elements: tuple[int, ...]
    order: str = "random"
    frames: str = "random"
    chains: tuple[int, ...] = (1,)

    @property
    def array_bytes(self) -> int:
        """Bytes of the chased array."""
        return max(self.elements) * self.stride_bytes

    @property
    def pages_2mb(self) -> int:
        """2MB pages that a run needs."""
        return round_up(self.array_bytes, PAGE_2MB) // PAGE_2MB if self.page_bytes == PAGE_2MB else 0

    def layout(self) -> Layout:
        """The layout of a run: the array is at the start of the anonymous pool."""
        pool = round_up(self.array_bytes, PAGE_2MB) + 64 * MB
        windows = (Window("mmap", 0, self.pages_2mb * PAGE_2MB, PAGE_2MB),) if self.pages_2mb else ()
        return Layout(f"chase-{self.name}", {"brk": 64 * MB, "mmap": pool}, windows)


SERIES: tuple[FootprintSweep, ...] = (
    FootprintSweep("pages", "4KB pages, scattered frames", PAGE_4KB, PAGE_4KB, PAGES),
    FootprintSweep(
        "contiguous", "4KB pages, contiguous frames", PAGE_4KB, PAGE_4KB, PAGES, frames="contiguous"
    ),
    FootprintSweep(
        "ascending",
        "4KB pages in ascending order, contiguous frames",
        PAGE_4KB,
        PAGE_4KB,
        PAGES,
        order="ascending",
        frames="contiguous",
    ),
    FootprintSweep("lines", "adjacent lines (data caches)", PAGE_4KB, 64, LINES),
    FootprintSweep("large-pages", "the same bytes in 2MB pages", PAGE_2MB, PAGE_4KB, PAGES),
    FootprintSweep("large-stride", "one line per 2MB page", PAGE_2MB, PAGE_2MB, LARGE),
    FootprintSweep(
        "line-chains", "independent chains over 6MB of lines", PAGE_4KB, 64, (MANY_LINES,), chains=CHAINS
    ),
    FootprintSweep(
        "page-chains",
        "independent chains over 32768 4KB pages",
        PAGE_4KB,
        PAGE_4KB,
        (MANY_PAGES,),
        chains=CHAINS,
    ),
)


@dataclass(frozen=True)
class Scale:
    """How much is measured: ``full``, or ``quick`` for a run of seconds."""

    name: str
    passes: int
    rounds: int  #: of each pass
    accesses: int  #: of each measurement
    most_bytes: int  #: no chased array is larger
    most_elements: int  #: no footprint has more
    every: int  #: 2: every second footprint
    huge_pages: bool  #: series that need 2MB pages are run
    calibrated: bool  #: enough is measured to calibrate latencies, not only sizes and clock


SCALES = {
    scale.name: scale
    for scale in (
        Scale("full", 5, 2, 100_000, 4 << 30, 1 << 30, 1, True, True),
        Scale("quick", 1, 3, 20_000, 16 * MB, 1 << 16, 2, False, False),
    )
}


def series_for(scale: Scale) -> list[FootprintSweep]:
    """All series, cut to what the scale allows; a series with no footprint left is left out."""
    cut = []
    for one in SERIES:
        most = min(scale.most_bytes // one.stride_bytes, scale.most_elements)
        fitting = tuple(n for n in one.elements[:: scale.every] if n <= most)
        if fitting and (scale.huge_pages or one.page_bytes == PAGE_4KB):
            cut.append(replace(one, elements=fitting))
    return cut


def series_named(name: str) -> FootprintSweep:
    """The series of that name."""
    index = {one.name: one for one in SERIES}
    if name not in index:
        raise unknown_name("series", name, list(index))
    return index[name]


# Run the chases on this machine: a row per measurement, and the reason for each series that cannot run.
#
# ``chase`` (artifacts/workloads) runs under libmosalloc, so its pages are the ones asked for or it fails.
# The series with contiguous frames runs without it: there the kernel's transparent huge pages make the
# frames, and they are split before anything is measured.


@study(CHASE, CHASE_SERIES)
def chase(run: Run, amount: Amount = "full", seed: Seed = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure pointer chases on this machine.

    Series in 2MB pages need reserved pages; without them they are skipped. Run nothing else meanwhile.

    The rounds come in several passes over all series, each with other frames and another order: what other
    tenants do to the shared cache changes within seconds and must not hit one series alone. Rows with 0
    elements give the clock: `accesses` cycles took `ns`.

    Example: ./run --reserve tessera lab run chase amount=quick --out /tmp/chase.csv

    Args:
        amount: footprints, passes and accesses; quick takes seconds, full minutes.
        seed: of the chases' orders.
    """
    scale = SCALES[amount]
    series = series_for(scale)
    heads = {s.name: {"series": s.name, "title": s.title, "status": "ok", "message": ""} for s in series}
    rows: list[dict] = []
    for number in range(scale.passes):
        for one in series:
            if is_ok(heads[one.name]):
                run.say(f"chase {number + 1} of {scale.passes}: {one.title}")
                rows += _pass(one, scale, seed + number, number, heads[one.name])
    failed = {name for name, head in heads.items() if not is_ok(head)}
    kept = [row for row in rows if row["series"] not in failed]
    return frame_of(CHASE, kept), frame_of(CHASE_SERIES, list(heads.values()))


def _pass(series: FootprintSweep, scale: Scale, seed: int, number: int, head: dict) -> list[dict]:
    """Rows of one pass; what went wrong, or which frames it had, goes to the series' ``head``."""
    try:
        with reserve_huge_pages(series.pages_2mb):
            rows, result = _run(series, scale, seed)
    except HugePagesUnavailable as error:
        head |= {"status": "skipped", "message": error.sentence}
    except _Failed as error:
        head |= {"status": "failed", "message": str(error)}
    else:
        head |= {key: result[key] for key in CHASE_SERIES.names if key in result}
        return [row | {"round": row["round"] + number * scale.rounds} for row in rows]
    return []


class _Failed(Exception):
    """A run that gave no numbers."""


def command(series: FootprintSweep, scale: Scale, seed: int) -> list[str]:
    """The program and its arguments."""
    options = {
        "elements": ",".join(map(str, series.elements)),
        "chains": ",".join(map(str, series.chains)),
        "stride": series.stride_bytes,
        "accesses": scale.accesses,
        "rounds": scale.rounds,
        "order": series.order,
        "frames": series.frames,
        "seed": seed,
    }
    pairs = (word for name, value in options.items() for word in (f"--{name}", str(value)))
    return [str(built("workloads", "chase")), *pairs]


def _run(series: FootprintSweep, scale: Scale, seed: int) -> tuple[list[dict], dict]:
    with tempfile.TemporaryDirectory(prefix="tessera-chase-") as name:
        layout = Path(name) / "layout.csv"
        write_layout(series.layout(), layout)
        argv = command(series, scale, seed)
        if series.frames != "contiguous":
            argv = [str(launcher()), "--layout", str(layout), "--", *argv]
        # The kernel tells frame numbers to those who may administer the system.
        options = RunOptions(huge_pages=series.pages_2mb > 0, capabilities=("SYS_ADMIN",))
        done = toolchain().run(argv, paths=[layout.parent], capture=True, check=False, options=options)
    if done.returncode != 0:
        said = with_names(last_words(done.stderr), {layout: f"the layout of {series.name}"})
        raise _Failed(f"status {done.returncode}: {said or 'no message'}")
    return parse_measurements(done.stdout, series.name)


def parse_measurements(output: str, series: str) -> tuple[list[dict], dict]:
    """Rows and the result line of a finished chase."""
    *lines, last = output.strip().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("elements,"))
    head = {"series": series, "provenance": "measured"}
    rows = [head | {k: int(v) for k, v in row.items()} for row in csv.DictReader(lines[start:])]
    result = json.loads(last)
    if result.get("verified") is not True:
        raise _Failed("its answer was not verified")
    return rows, result
