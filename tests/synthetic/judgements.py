"""Tables of protocols, learning curves, adaptive orders, the 1GB point, miss profiles, allocator.

Small and made of formulas; their values are chosen so that tests can say what the pages must show.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.results.cell_tables import MODELS_OF_RUN

from .tables import put

MB = 1 << 20
MODELS = ("yaniv", "poly1", "mosmodel")
#: largest error of a model under a protocol on (sandybridge-sim, broadwell-sim)
ERRORS = {"yaniv": (0.30, 0.10), "poly1": (0.20, 0.08), "mosmodel": (0.03, 0.02)}
#: misses by 2MB region: half of 100 are in one region, nine tenths in three
PROFILE = {0: 5, 3: 50, 4: 25, 5: 20}


def write(root: Path) -> None:
    """Add them below a tree of :func:`make_tree`; only for gups, on both platforms."""
    rows = {name: [] for name in ("protocols", "anchored", "learning_curve", "adaptive", "one_gb", "budget")}
    for p, platform in enumerate(("sandybridge-sim", "broadwell-sim")):
        pair = {"workload": "gups", "platform": platform}
        for name, found in _tables(p).items():
            rows[name] += [pair | row for row in found]
        folder = root / "layouts" / "gups" / platform / "profile"
        folder.mkdir(parents=True)
        profile = [("mmap", region * 2 * MB, count) for region, count in PROFILE.items()]
        pd.DataFrame(profile, columns=["pool", "offset_bytes", "stlb_misses"]).to_csv(
            folder / "misses.csv", index=False
        )
    for name, found in rows.items():
        put(root, MODELS_OF_RUN[name], found)
    _allocator(root / "host" / "allocator.csv")
    layouts = root / "host" / "layouts"
    layouts.mkdir(parents=True)
    (layouts / "manifest.csv").write_text(
        "layout,heuristic,parameter,pages_2mb,pages_1gb,duplicate_of\ngrowing-0,growing,0,0,0,\n"
        "growing-4,growing,4,77,0,\nsliding-20-0,sliding,20,5,0,\n"
    )


#: part of the tested rows -> error relative to that of all layouts
PARTS = {"all": 1.25, "low-leverage": 1.1, "interpolation": 1, "extrapolation": 1.25}


def _tables(p: int) -> dict[str, list[dict]]:
    protocols = [
        {
            "model": m,
            "protocol": protocol,
            "setting": setting,
            "max_error": ERRORS[m][p] * factor,
            "message": "",
        }
        for m in MODELS
        for protocol, setting, factor in (("all", "", 1), ("kfold", "6", 1.5), ("1gb", "", 0.5))
    ]
    anchored = [
        {"model": m, "protocol": protocol, "part": part, "seeds": 20 if protocol == "anchored" else 1,
         "max_error": ERRORS[m][p] * factor, "max_error_low": ERRORS[m][p] * factor / 2,
         "max_error_high": ERRORS[m][p] * factor * 2}
        for m in MODELS
        for protocol in ("anchored", "1gb")
        for part, factor in PARTS.items()
        if m != "yaniv" or protocol == "1gb"
    ]  # fmt: skip
    learning = [
        {"model": m, "train_samples": n, "max_error": ERRORS[m][p] * 54 / n}
        for m in MODELS
        for n in (6, 27, 54)
    ]
    adaptive = [
        {
            "model": "mosmodel",
            "order": order,
            "slack": 0.1,
            "total_layouts": 54,
            "reached_median": reached + p,
        }
        | {"held_median": held + p}
        for order, reached, held in (("adaptive", 10, 20), ("random", 30, 45))
    ]
    one = {"model": "mosmodel", "predicted_runtime_cycles": 3e9, "low_cycles": 2.9e9, "high_cycles": 3.1e9}
    budget = [
        {
            "model": "mosmodel",
            "part": "model",
            "relative": 0.012,
            "provenance": "simulated",
            "message": "95%",
        },
        {
            "model": "mosmodel",
            "part": "noise",
            "relative": None,
            "provenance": None,
            "message": "unknown: one run",
        },
        {"model": "mosmodel", "part": "total", "relative": 0.012, "provenance": "simulated", "message": ""},
    ]
    return {
        "protocols": protocols,
        "anchored": anchored,
        "learning_curve": learning,
        "adaptive": adaptive,
        "one_gb": [one | {"inside_hull": p == 0, "message": ""}],
        "budget": budget,
    }


def _allocator(path: Path) -> None:
    rows = [
        ("gups", name, pair, memory, time, "measured")
        for pair in range(3)
        for name, memory, time in (("glibc", 100 * MB, 1_000_000_000), ("mosalloc", 101 * MB, 1_020_000_000))
    ]
    columns = ["workload", "allocator", "pair", "memory_bytes", "cpu_ns", "provenance"]
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
