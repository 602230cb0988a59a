"""The regime of each pair: what it asks of address translation, beside what printed numbers ask.

How wrong runtime models are was found in the regime of MICRO'20: programs whose page tables do not
fit the caches, and walks of tens of cycles. A smaller footprint is another regime. So the ratios of a run are
shown beside the printed ones, and beside each model's errors.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.platforms import Platform
from tessera.record import workloads
from tessera.record.workloads.regime import LEAF_ENTRY_BYTES
from tessera.results.pair import Pair, pairs_of
from tessera.results.schema.shown import REGIME
from tessera.results.write import frame_of
from tessera.show import recorded
from tessera.show.figures import published
from tessera.show.results import Results

THIS_RUN = "this run"
AS_PUBLISHED = 0.9  #: share of the published footprint that must be touched
MACHINE = "host"
LEVELS = ("l1d", "l2", "l3", "dram")
#: the workload in which model errors are largest, in the papers and here
GUPS = "gups"


def table(results: Results, reference: Path | str) -> pd.DataFrame:
    """The table :data:`REGIME`: a row per pair with a good all-4KB cell, then the printed ones.

    This machine as a simulated platform is left out: it has one workload and few layouts.
    """
    cells = results.simulated
    cells = cells[~cells["platform"].str.startswith(MACHINE)]
    rows = [_of_pair(results, pair, pair.rows(cells)) for pair in pairs_of(cells)]
    return frame_of(REGIME, [row for row in rows if row] + _printed(reference))


def _of_pair(results: Results, pair: Pair, cells: pd.DataFrame) -> dict | None:
    by_layout = cells.drop_duplicates("layout").set_index("layout")
    if ALL_4KB not in by_layout.index:
        return None
    cell = by_layout.loc[ALL_4KB]
    row = {"workload": pair.workload, "platform": pair.platform, "source": THIS_RUN}
    row |= {"provenance": cell["runtime_provenance"]}
    row |= _sizes(results, pair)
    row |= _of_counters(cell["runtime_cycles"], cell["walk_cycles"], cell["stlb_misses"])
    row["hits_per_miss"] = _over(cell["stlb_hits"], cell["stlb_misses"])
    row |= _levels({level: cell[f"walker_{level}_loads"] for level in LEVELS})
    for column, layout in (("saved_2mb", ALL_2MB), ("saved_1gb", ALL_1GB)):
        if layout in by_layout.index:
            row[column] = 1 - by_layout.loc[layout, "runtime_cycles"] / cell["runtime_cycles"]
    return row


def _sizes(results: Results, pair: Pair) -> dict:
    """Touched and published bytes, and what they are over the hardware's sizes; unknown ones are left out."""
    row: dict = {}
    known = None
    with suppress(TesseraError):  # results of a workload that has since been renamed or removed
        known = workloads.load(pair.workload)
        row["published_bytes"] = recorded.published_bytes(known)
    try:
        info = json.loads(results.tree.info(pair.workload).read_text())
        pages = info["distinct_4kb_pages"]
    except (OSError, ValueError, KeyError):
        return row
    row |= recorded.extent(info, known)
    if row.get("published_bytes"):
        row["touched_share"] = row["touched_bytes"] / row["published_bytes"]
        row["as_published"] = "yes" if row["touched_share"] >= AS_PUBLISHED else "no"
    try:
        platform = platforms.load(pair.platform)
    except TesseraError:
        return row
    leaves = pages * LEAF_ENTRY_BYTES
    row["touched_per_reach"] = _over(pages, _number(platform, "tlb.stlb.entries"))
    row["leaf_bytes_per_l2"] = _over(leaves, _number(platform, "cache.l2.bytes"))
    row["leaf_bytes_per_l3"] = _over(leaves, _number(platform, "cache.l3.bytes"))
    return row


def _printed(reference: Path | str) -> list[dict]:
    """MICRO'20 Table 7 (OPERA D5.10 Table 6 prints the same measurement): C/M, C/R, gain of 2MB pages."""
    rows = []
    counters = published.counters(reference)
    for (workload, platform), part in counters.groupby(["workload", "platform"], sort=False):
        count = part.set_index(["side", "counter", "pages"])["count"]
        with_4kb = {name: count.get(("program", name, "4KB")) for name in ("runtime_cycles", "walk_cycles")}
        row = {"workload": workload, "platform": platform, "source": "MICRO'20 Table 7"}
        misses = count.get(("program", "tlb_misses", "4KB"))
        row |= _of_counters(with_4kb["runtime_cycles"], with_4kb["walk_cycles"], misses)
        with_2mb = count.get(("program", "runtime_cycles", "2MB"))
        row["saved_2mb"] = 1 - with_2mb / with_4kb["runtime_cycles"]
        rows.append(row | {"provenance": "published"})
    return rows


def _of_counters(runtime, walks, misses) -> dict:
    return {"walk_cycles_per_miss": _over(walks, misses), "walk_share": _over(walks, runtime)}


def _levels(reached: dict[str, float]) -> dict:
    """Shares of walker loads by the level that served them; ``reached``: loads that came to each level."""
    counts = [*reached.values(), 0]
    served = [here - further for here, further in zip(counts, counts[1:], strict=False)]
    return {
        f"walker_{level}_share": _over(count, counts[0]) for level, count in zip(reached, served, strict=True)
    }


def _over(part, whole) -> float | None:
    known = part is not None and whole is not None and not pd.isna(part) and not pd.isna(whole)
    return float(part / whole) if known and whole else None


def _number(platform: Platform, key: str) -> int | None:
    return int(platform.values[key].value) if key in platform.values else None


def errors_without_gups(results: Results) -> list[dict]:
    """Each model's median and largest maximal error over analysed pairs: all of them, and without gups.

    Rows have ``model``, ``median``, ``largest``, ``worst`` (pair of the largest), and the same with
    ``other_`` in front for pairs of other workloads.
    """
    errors = results.models("errors")
    errors = errors[(errors["protocol"] == "all") & errors["max_error"].notna()]
    rows = []
    for model, part in errors.groupby("model", sort=False):
        others = part[~part["workload"].str.startswith(GUPS)]
        row = {"model": model} | _spread(part)
        rows.append(row | {f"other_{key}": value for key, value in _spread(others).items()})
    return rows


def _spread(part: pd.DataFrame) -> dict:
    if part.empty:
        return {"pairs": 0, "median": None, "largest": None, "worst": ""}
    worst = part.loc[part["max_error"].idxmax()]
    return {
        "pairs": len(part),
        "median": float(part["max_error"].median()),
        "largest": float(worst["max_error"]),
        "worst": str(Pair(worst["workload"], worst["platform"])),
    }
