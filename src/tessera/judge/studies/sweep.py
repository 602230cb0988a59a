"""The sweep: which conclusions stay the same if an assumed value changes.

The baseline and every point of :mod:`tessera.judge.studies.points` are simulated under the same layouts
with the same samples, every model is fitted to each, and every conclusion of
:mod:`tessera.judge.studies.conclusions` is judged again. A conclusion survives a point if it is
true at both, or false at both, the point and the baseline. Points that the simulator rejects are rows with
the reason; they do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.judge.studies.conclusions import CONCLUSIONS, Fitted, fitted, judged
from tessera.judge.studies.points import Point
from tessera.judge.studies.variants import BASELINE, varied
from tessera.platforms import Platform
from tessera.results.schema.studies import SWEEP
from tessera.results.status import is_ok, ok_rows
from tessera.results.trace_notes import note_of_all
from tessera.results.write import frame_of
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Sampling
from tessera.simulate.runner import simulate_each

ENGINE = "timing"
Progress = Callable[[str], None]


@dataclass(frozen=True)
class SweepRequest:
    """What each point simulates; ``jobs`` threads simulate, and judge as many points at the same time."""

    workload: str
    trace: Path
    platform: Platform
    layouts: list[Path]
    sampling: Sampling
    cache: CellCache
    jobs: int = 1


def sweep(
    request: SweepRequest,
    points: list[Point],
    reasons: dict[str, str],
    progress: Progress = lambda line: None,
) -> pd.DataFrame:
    """The table :data:`SWEEP`: rows of the baseline first, then of each point, then what is ``skipped``.

    Raises:
        TesseraError: the baseline can't be simulated or fitted.
    """
    progress(f"baseline and {len(points)} points under {len(request.layouts)} layouts")
    cells_of = _simulated(request, points, progress)
    cells = _good(cells_of[BASELINE])
    cost = {"window_accesses": cells[0].get("accesses"), "layouts": len(cells)}
    cost |= {"timed_instructions": cells[0].get("timed_instructions")}
    truth = judged(fitted(pd.DataFrame(cells)))
    base = {row["conclusion"]: row for row in truth}
    cost["message"] = note_of_all(cell["message"] for cell in cells)
    rows = [_row(request, BASELINE, "", {}) | cost | row | _against(row, base) for row in truth]
    done = 0

    def one(point: Point) -> list[dict]:
        nonlocal done
        head = _row(request, point.key, point.alternative, point.changes)
        try:
            head |= {"message": cost["message"]}
            found = [head | row | _against(row, base) for row in judged(_fit(cells_of[point.name]))]
        except TesseraError as error:
            found = [head | {"status": "refused", "message": f"{error.asked}: {error.found}"}]
        done += 1
        progress(f"{done} of {len(points)}: {point.name}")
        return found

    for found in _each(one, points, request.jobs):
        rows += found
    rows += [
        _row(request, key, "", {}) | {"status": "skipped", "message": why} for key, why in reasons.items()
    ]
    return frame_of(SWEEP, rows)


def _each(work: Callable[[Point], list[dict]], points: list[Point], jobs: int) -> Iterator[list[dict]]:
    """``work`` of each point, in order, ``jobs`` at a time; if one raises, the rest is cancelled."""
    if jobs == 1:  # in the main thread, where an interrupt stops the simulator at once
        yield from map(work, points)
        return
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            yield from pool.map(work, points)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def failed(workload: str, platform: str, message: str) -> pd.DataFrame:
    """One row that says why there is no sweep."""
    row = {
        "workload": workload,
        "platform": platform,
        "key": BASELINE,
        "status": "failed",
        "message": message,
    }
    return frame_of(SWEEP, [row])


def survival(table: pd.DataFrame) -> pd.DataFrame:
    """Per workload, platform and conclusion: baseline, share of points that agree, extreme numbers."""
    points = ok_rows(table[table["key"] != BASELINE])
    rows = []
    order = {conclusion.name: i for i, conclusion in enumerate(CONCLUSIONS)}
    for (workload, platform, name), part in points.groupby(["workload", "platform", "conclusion"]):
        judged_ones = part[part["survives"].notna()]
        agree = judged_ones["survives"].astype(bool)
        rows.append(
            {
                "workload": workload, "platform": platform, "conclusion": name,
                "baseline_number": part["baseline_number"].iloc[0],
                "baseline_holds": part["baseline_holds"].iloc[0],
                "points": len(judged_ones), "survives": int(agree.sum()),
                "least": part["number"].min(), "greatest": part["number"].max(),
                "overturned_by": ", ".join(
                    f"{row.key} {row.alternative}" for row in judged_ones[~agree].itertuples()
                ),
                "provenance": "simulated",
            }
        )  # fmt: skip
    return pd.DataFrame(rows).sort_values(
        ["workload", "platform", "conclusion"], key=lambda c: c.map(order) if c.name == "conclusion" else c
    )


def _simulated(
    request: SweepRequest, points: list[Point], progress: Progress
) -> dict[str, list[dict] | TesseraError]:
    """Cells of each point, by its name, and of the baseline, in one run; or why a point has none."""
    found: dict[str, list[dict] | TesseraError] = {}
    platforms = {BASELINE: request.platform}
    for point in points:
        try:
            platforms[point.name] = varied(request.platform, point.changes, "assumed: varied by the sweep")
        except TesseraError as error:
            found[point.name] = error
    tables = simulate_each(
        request.trace, list(platforms.values()), request.layouts,
        workload=request.workload, engine=ENGINE, sampling=request.sampling, cache=request.cache,
        progress=progress, threads=request.jobs,
    )  # fmt: skip
    return found | dict(zip(platforms, tables, strict=True))


def _fit(cells: list[dict] | TesseraError) -> Fitted:
    return fitted(pd.DataFrame(_good(cells)))


def _good(cells: list[dict] | TesseraError) -> list[dict]:
    if isinstance(cells, TesseraError):
        raise cells
    bad = [row for row in cells if not is_ok(row)]
    if bad and len({row["message"] for row in cells}) == 1:  # the platform is refused
        raise TesseraError(f"all {len(cells)} layouts", bad[0]["message"], "leave the point out")
    if bad:
        raise TesseraError(f"layout {bad[0]['layout']}", bad[0]["message"], "correct the layout")
    return cells


def _row(request: SweepRequest, key: str, alternative: str, changes: dict) -> dict:
    value = request.platform.values.get(key)
    return {
        "workload": request.workload, "platform": request.platform.name,
        "key": key, "alternative": alternative,
        "baseline_value": "" if value is None else value.value,
        "values": " ".join(f"{name}={new}" for name, new in changes.items()),
        "status": "ok", "message": "", "provenance": "simulated",
    }  # fmt: skip


def _against(row: dict, base: dict[str, dict]) -> dict:
    was = base[row["conclusion"]]
    known = row["holds"] is not None and was["holds"] is not None
    return {
        "baseline_number": was["number"],
        "baseline_holds": was["holds"],
        "survives": row["holds"] == was["holds"] if known else None,
    }
