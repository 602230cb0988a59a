"""Cells, layouts and models of a small results tree, made of formulas.

Runtime follows a saturating curve of walk cycles plus a share per STLB hit, with a little noise, so that the
straight-line models are wrong in the way real ones are. One workload lacks a platform, one cell failed, one
pair was skipped, and host cells are hybrid.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.table_io import write_cells

from .tables import put

WORKLOADS = ("gups", "graph500", "pr")
PLATFORMS = ("sandybridge-sim", "haswell-sim", "broadwell-sim")
MODELS = ("basu", "gandhi", "pham", "alam", "yaniv", "poly1", "poly2", "poly3", "mosmodel")
MB = 1 << 20
KILLED = "simulator: killed by signal 9"  #: message of the failed cell


def layouts() -> list[str]:
    """The 54 + 1 names."""
    kinds = ["growing", "random", "sliding-20", "sliding-40", "sliding-60", "sliding-80"]
    return [f"{kind}-{i}" for kind in kinds for i in range(9)] + ["1gb"]


def write(
    root: Path,
    workloads=WORKLOADS,
    platforms=PLATFORMS,
    *,
    seed: int = 1,
    host: bool = True,
    broken: bool = True,
    models: bool = True,
) -> Path:
    """Write a results tree below ``root``; returns it."""
    random = np.random.default_rng(seed)
    rows = []
    for w, workload in enumerate(workloads):
        for p, platform in enumerate(platforms):
            if broken and (workload, platform) == (workloads[-1], platforms[-1]):
                rows += [
                    _empty(
                        workload, platform, name, "skipped", "trace missing: run ./run tessera trace record"
                    )
                    for name in layouts()
                ]
                continue
            cells = _pair(random, workload, platform, w, p)
            if broken and w == 0 and p == 1:
                cells[20] = _empty(workload, platform, cells[20]["layout"], "failed", KILLED)
            rows += cells
            _layout_files(root / "layouts" / workload / platform)
    if host:
        rows += _host(random, workloads[0])
    table = write_cells(rows, root / "cells.csv")
    if host:
        write_cells(table[table["engine"] == "host"].to_dict("records"), root / "host" / "cells.csv")
        _comparison().to_csv(root / "host" / "comparison.csv", index=False)
    if models:
        write_models(root, table)
    return root


def _comparison() -> pd.DataFrame:
    """What `tessera measure clock` writes beside its cells: paired differences to the all-4KB layout."""
    rows = [
        ("growing-0", 0.0, None, 0.0, 6),
        ("growing-4", -0.05, 0.004, -0.06, 6),
        ("growing-8", -0.1, 0.003, -0.12, 8),
        ("random-3", -0.04, 0.005, None, 6),
    ]
    columns = ["layout", "measured_delta", "measured_ci95", "simulated_delta", "pairs"]
    return pd.DataFrame(rows, columns=columns)


def _empty(workload, platform, layout, status, message) -> dict:
    return dict(workload=workload, platform=platform, layout=layout, repeat=0, status=status, message=message)


def _coverage(name: str, random) -> float:
    """Share of the misses that a layout removes."""
    if name == "1gb":
        return 0.995
    kind, index = name.rsplit("-", 1)
    if kind == "growing":
        return int(index) / 8 * 0.98
    if kind == "random":
        return float(random.uniform(0, 0.95))
    return int(kind.split("-")[1]) / 100 * (1 - int(index) / 8) * 0.98


def _pair(random, workload: str, platform: str, w: int, p: int) -> list[dict]:
    base = 4e9 * (1 + w)
    misses_4kb = 9e7 * (1 + 0.6 * w) / (1 + 0.5 * p)
    latency = 38 - 6 * p
    cells = []
    for name in layouts():
        left = 1 - _coverage(name, random)
        m = misses_4kb * left * random.uniform(0.98, 1.02)
        h = 4e7 * (0.3 + 0.7 * left) * random.uniform(0.9, 1.1)
        c = m * latency * (0.7 + 0.3 * left) * random.uniform(0.99, 1.01)
        r = base + 0.35 * c + 0.25 * c * c / (misses_4kb * latency) + 2.5 * h
        r *= random.normal(1, 0.003)
        loads = 2e9 * (1 + w)
        cells.append(
            dict(
                workload=workload,
                platform=platform,
                layout=name,
                repeat=0,
                status="ok",
                message="",
                runtime_cycles=r,
                runtime_cycles_ci95=0.004 * r,
                stlb_hits=round(h),
                stlb_misses=round(m),
                walk_cycles=c,
                walk_cycles_ci95=0.005 * c,
                instructions=8e9,
                accesses=3e9,
                timed_instructions=2.4e7,
                program_l1d_loads=loads,
                program_l2_loads=0.22 * loads,
                program_l3_loads=0.1 * loads + 0.02 * m,
                program_dram_loads=0.05 * loads,
                walker_l1d_loads=1.3 * m,
                walker_l2_loads=0.9 * m,
                walker_l3_loads=0.5 * m,
                walker_dram_loads=0.2 * m,
                runtime_provenance="simulated",
                tlb_provenance="simulated",
                engine="timing",
            )
        )
    return cells


def _host(random, workload: str) -> list[dict]:
    rows = []
    for layout, factor in (("growing-0", 1.0), ("growing-4", 0.95), ("growing-8", 0.9), ("random-3", 0.96)):
        ns = 2.1e9 * factor * random.normal(1, 0.001)
        rows.append(
            dict(
                workload=workload,
                platform="host-sim",
                layout=layout,
                repeat=0,
                status="ok",
                message="7 runs: asked 0.50%",
                runtime_ns=ns,
                runtime_ns_ci95=0.004 * ns,
                stlb_hits=1e7,
                stlb_misses=8e7 * factor,
                walk_cycles=3e9 * factor,
                runtime_provenance="measured",
                tlb_provenance="simulated",
                engine="host",
            )
        )
        rows.append(
            {
                **rows[-1],
                "message": "",
                "runtime_ns": None,
                "runtime_ns_ci95": None,
                "runtime_cycles": 5e9 * factor**1.2,
                "runtime_provenance": "simulated",
                "engine": "timing",
            }
        )
    rows.append(
        _empty(workload, "host-sim", "1gb", "skipped", "no 1GB pages reserved: ./run --reserve reproduce")
    )
    return rows


def _layout_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    size = 512 * MB
    for name in layouts():
        lines = ["type,pageSize,startOffset,endOffset", f"brk,-1,0,{1024 * MB}", f"mmap,-1,0,{1024 * MB}"]
        if name == "1gb":
            lines += [f"{pool},{1024 * MB},0,{1024 * MB}" for pool in ("brk", "mmap")]
        else:
            kind, index = name.rsplit("-", 1)
            end = int(index) / 8 * size if kind == "growing" else 0.6 * size
            start = 0 if kind == "growing" else min(int(index) * 32 * MB, int(end) // (2 * MB) * 2 * MB)
            end = int(end) // (2 * MB) * 2 * MB
            if end > start:
                lines.append(f"mmap,{2 * MB},{start},{end}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def write_models(root: Path, cells: pd.DataFrame) -> None:
    """Model tables by textbook formulas (not the package's models: tests of figures must not need them)."""
    ok = cells[
        (cells["status"] == "ok") & cells["runtime_cycles"].notna() & (cells["platform"] != "host-sim")
    ]
    errors, cv, squares, predictions, coefficients = [], [], [], [], []
    for (workload, platform), table in ok.groupby(["workload", "platform"]):
        table = table.set_index("layout").astype({"runtime_cycles": float, "walk_cycles": float})
        fitted = table.drop(index="1gb", errors="ignore")
        pair = dict(workload=workload, platform=platform)
        for model, predicted in _predict(table, fitted).items():
            relative = (predicted / table["runtime_cycles"] - 1).abs()
            inside = relative.drop("1gb", errors="ignore")
            exact = int((inside < 1e-12).sum())
            errors.append(
                dict(
                    pair,
                    model=model,
                    protocol="all",
                    samples=len(inside),
                    max_error=inside.max(),
                    geomean_error=float(np.exp(np.log(inside[inside > 1e-12]).mean())),
                    zero_errors=exact,
                    dropped_zero_errors=exact,
                )
            )
            if "1gb" in relative:
                errors.append(
                    dict(
                        pair,
                        model=model,
                        protocol="1gb",
                        samples=1,
                        max_error=relative["1gb"],
                        geomean_error=relative["1gb"],
                        zero_errors=0,
                        dropped_zero_errors=0,
                    )
                )
            predictions += [
                dict(pair, layout=name, model=model, predicted_runtime_cycles=value)
                for name, value in predicted.items()
            ]
            if model in ("poly1", "poly2", "poly3", "mosmodel"):
                cv += [
                    dict(
                        pair,
                        model=model,
                        folds=k,
                        seed=1,
                        max_error=inside.max() * (1.1 + 2 / k),
                        geomean_error=inside.mean(),
                    )
                    for k in (3, 6, 9, 27, 54)
                ]
        slope, start = np.polyfit(fitted["walk_cycles"], fitted["runtime_cycles"], 1)
        coefficients += [
            dict(pair, model="poly1", term="1", coefficient=start),
            dict(pair, model="poly1", term="C", coefficient=slope),
            dict(pair, model="mosmodel", term="1", coefficient=start),
            dict(pair, model="mosmodel", term="C", coefficient=slope * 0.8),
            dict(pair, model="mosmodel", term="C^2", coefficient=slope * 1e-11),
        ]
        for name, column in (("C", "walk_cycles"), ("M", "stlb_misses"), ("H", "stlb_hits")):
            square = np.corrcoef(fitted[column].astype(float), fitted["runtime_cycles"])[0, 1] ** 2
            squares.append(dict(pair, input=name, r_squared=square))
    for name, rows in dict(
        errors=errors, cv=cv, rsquared=squares, predictions=predictions, coefficients=coefficients
    ).items():
        put(root, MODELS_OF_RUN[name], rows)


def _predict(table: pd.DataFrame, fitted: pd.DataFrame) -> dict[str, pd.Series]:
    h, m, c = (table[k].astype(float) for k in ("stlb_hits", "stlb_misses", "walk_cycles"))
    small, huge = table.loc["growing-0"], table.loc["growing-8"]
    r4, c4, m4, h4 = (float(small[k]) for k in ("runtime_cycles", "walk_cycles", "stlb_misses", "stlb_hits"))
    r2, c2 = float(huge["runtime_cycles"]), float(huge["walk_cycles"])
    slope = (r4 - r2) / (c4 - c2)
    found = {
        "basu": r4 - c4 + c4 / m4 * m,
        "gandhi": r2 - c2 + c4 / m4 * m,
        "pham": 7 * h + c + r4 - c4 - 7 * h4,
        "alam": c + r2 - c2,
        "yaniv": r2 + slope * (c - c2),
    }
    x = fitted["walk_cycles"] / 1e9
    for degree in (1, 2, 3):
        line = np.polyfit(x, fitted["runtime_cycles"], degree)
        found[f"poly{degree}"] = pd.Series(np.polyval(line, c / 1e9), index=table.index)
    columns = [np.ones(len(table)), c / 1e9, (c / 1e9) ** 2, h / 1e6]
    matrix = np.column_stack(columns)
    inside = table.index.isin(fitted.index)
    weights, *_ = np.linalg.lstsq(matrix[inside], table["runtime_cycles"].to_numpy(float)[inside], rcond=None)
    found["mosmodel"] = pd.Series(matrix @ weights, index=table.index)
    return found
