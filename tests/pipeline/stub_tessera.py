"""Stands in for `tessera` in tests of the workflow: makes the outputs that the asked step declares, empty."""

import json
import os
import sys
from pathlib import Path

#: the tables that the models' links write for each cells file
OF_PAIRS = {
    "pipeline fit": [
        "errors", "cv", "rsquared", "predictions", "coefficients", "protocols", "learning_curve",
    ],
    "pipeline adaptive": ["adaptive", "adaptive_curve"],
    "pipeline one-gb": ["one_gb", "budget"],
}  # fmt: skip
REFERENCE_TABLES = ("comparison", "archived", "quarantine", "rules", "status")


def after(option: str) -> Path | None:
    return Path(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else None


def make(path: Path, text: str = "nothing\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> None:
    step, out = " ".join(sys.argv[1:3]), after("--out") or after("--outcome")
    with Path(os.environ["STUB_LOG"]).open("a") as log:
        log.write(" ".join(sys.argv[1:]) + "\n")
    beside = {
        "validate chase": ["chase_series.csv"],
        "validate mosaics": ["mosaics_summary.csv"],
        "pipeline layouts": ["profile/misses.csv"],
        "pipeline host": ["comparison.csv"],
        "study sampling": ["intervals.csv"],
        "study ablations": ["cells.csv"],
    }
    inside = {
        "validate explain": ["steps.csv", "findings.csv", "chase_latency.csv", "calibration.csv"],
        "models collect": [f"{name}.csv" for names in OF_PAIRS.values() for name in names],
    }
    of_run = {
        "report render": ["report/index.html", "claims.csv"],
        "notebooks run": [f"notebooks/{after('--only')}.html"],
        "reference compare": [f"reference/{name}.csv" for name in REFERENCE_TABLES],
    }
    if step in ("pipeline record", "study window", "pipeline attempt"):
        make(out, json.dumps({"status": "ok"}))
    elif step in OF_PAIRS:
        for cells in (Path(word) for word in sys.argv if "/cells/" in word):
            folder = out / cells.parent.name / cells.stem
            for name in OF_PAIRS[step]:
                make(folder / f"{name}.csv")
            if step == "pipeline fit":
                make(folder / "intervals.json")
    elif step in of_run:
        for name in of_run[step]:
            make(after("--results") / name)
    elif step in inside:
        for name in inside[step]:
            make(out / name)
    elif out is not None:
        for path in (out, *(out.parent / name for name in beside.get(step, []))):
            make(path)
    if (calibrated := after("--calibrated")) is not None:
        make(calibrated)


main()
