"""Run the chases on this machine: a row per measurement, and the reason for each series that cannot run.

``chase`` (artifacts/workloads) runs under libmosalloc, so its pages are the ones asked for or it fails. The
series with contiguous frames runs without it: there the kernel's transparent huge pages make the frames,
and they are split before anything is measured.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.files import with_names
from tessera.core.paths import built
from tessera.judge.validation.chase.series import Scale, Series, series_for
from tessera.layouts.model import write_layout
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure.identity import launcher
from tessera.measure.start import last_words
from tessera.results.schema.machine import CHASE, CHASE_SERIES
from tessera.results.status import is_ok
from tessera.results.write import frame_of, write

Progress = Callable[[str], None]


def measure(scale: Scale, seed: int, out: Path, progress: Progress = lambda text: None) -> pd.DataFrame:
    """Measure all series of ``scale``; writes ``out`` (:data:`CHASE`) and chase_series.csv beside it.

    The rounds come in several passes over all series, each with other frames and another order: what other
    tenants do to the shared cache changes within seconds and must not hit one series alone. Rows with 0
    elements give the clock: ``accesses`` cycles took ``ns``.
    """
    series = series_for(scale)
    heads = {s.name: {"series": s.name, "title": s.title, "status": "ok", "message": ""} for s in series}
    rows: list[dict] = []
    for number in range(scale.passes):
        for one in series:
            if is_ok(heads[one.name]):
                progress(f"chase {number + 1} of {scale.passes}: {one.title}")
                rows += _pass(one, scale, seed + number, number, heads[one.name])
    failed = {name for name, head in heads.items() if not is_ok(head)}
    write(CHASE_SERIES, frame_of(CHASE_SERIES, list(heads.values())), out.with_name(CHASE_SERIES.file))
    return write(CHASE, frame_of(CHASE, [row for row in rows if row["series"] not in failed]), out)


def _pass(series: Series, scale: Scale, seed: int, number: int, head: dict) -> list[dict]:
    """Rows of one pass; what went wrong, or which frames it had, goes to the series' ``head``."""
    try:
        with reserve_huge_pages(series.pages_2mb):
            rows, result = _run(series, scale, seed)
    except HugePagesUnavailable as error:
        head |= {"status": "skipped", "message": f"{error.asked}: {error.found}; {error.remedy}"}
    except _Failed as error:
        head |= {"status": "failed", "message": str(error)}
    else:
        head |= {key: result[key] for key in CHASE_SERIES.names if key in result}
        return [row | {"round": row["round"] + number * scale.rounds} for row in rows]
    return []


class _Failed(Exception):
    """A run that gave no numbers."""


def command(series: Series, scale: Scale, seed: int) -> list[str]:
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


def _run(series: Series, scale: Scale, seed: int) -> tuple[list[dict], dict]:
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
    return parse(done.stdout, series.name)


def parse(output: str, series: str) -> tuple[list[dict], dict]:
    """Rows and the result line of a finished chase."""
    *lines, last = output.strip().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("elements,"))
    head = {"series": series, "provenance": "measured"}
    rows = [head | {k: int(v) for k, v in row.items()} for row in csv.DictReader(lines[start:])]
    result = json.loads(last)
    if result.get("verified") is not True:
        raise _Failed("its answer was not verified")
    return rows, result
