"""Validation tables of a synthetic results tree: a chase with one step, and three judged layouts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.judge.validation import mosaics
from tessera.judge.validation.chase import steps

FOOTPRINTS = (16, 64, 128, 512)


def write(root: Path) -> None:
    """Write the tables that figures read below ``root``/validation."""
    folder = root / "validation"
    folder.mkdir(parents=True, exist_ok=True)
    latency = [
        {
            "source": source,
            "provenance": "measured" if source == "measured" else "simulated",
            "series": series,
            "elements": n,
            "chains": 1,
            "cycles": 5.0 if n <= 64 else high,
        }
        for source, high in (("measured", 12.0), ("host-sim", 11.0), ("host-calibrated", 12.0))
        for series in ("pages", "lines")
        for n in FOOTPRINTS
    ]
    pd.DataFrame(latency).to_csv(folder / "chase_latency.csv", index=False)
    step = dict.fromkeys([*steps.COLUMNS, "file_entries"], 7.0) | {
        "source": "measured",
        "series": "pages",
        "step": 1,
        "what": "L1 DTLB, 4KB pages",
        "key": "tlb.l1d.4kb.entries",
        "entries": 90.0,
        "above_cycles": 12.0,
        "file_source": "CPUID of this machine",
    }
    pd.DataFrame([step]).to_csv(folder / "steps.csv", index=False)
    judged = [
        dict.fromkeys(mosaics.LAYOUT_COLUMNS, 0.0)
        | {
            "runtime_provenance": "measured",
            "platform": platform,
            "layout": layout,
            "measured_delta": measured,
            "measured_ci95": 0.004,
            "simulated_delta": measured * factor,
        }
        for platform, factor in (("host-sim", 1.3), ("host-calibrated", 1.1))
        for layout, measured in (("growing-0", 0.0), ("growing-4", -0.05), ("growing-8", -0.1))
    ]
    pd.DataFrame(judged).to_csv(folder / "mosaics.csv", index=False)
