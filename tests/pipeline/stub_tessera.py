"""Stands in for `tessera` in tests of the workflow: makes the outputs that the asked step declares.

What it writes is a digest of what decides the step's result: its words, the files that they name, and the
sources of :data:`DECIDES`. So results that were made in any order of starts equal those of one fresh run, or
something is stale. Variables: STUB_LOG gets the steps; STUB_FAIL names words of steps that fail; in the
folder STUB_KILL the first step of each kind leaves its name, and kills the whole run.
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

ROOT = Path(os.environ["TESSERA_ROOT"])
#: the tables that the models' links write for each cells file
OF_PAIRS = {
    "pipeline fit": [
        "errors", "cv", "rsquared", "predictions", "coefficients", "protocols", "anchored",
        "learning_curve",
    ],
    "pipeline adaptive": ["adaptive", "adaptive_curve"],
    "pipeline one-gb": ["one_gb", "budget"],
}  # fmt: skip
SCENARIOS = ["cells.csv", "sizes.csv", "faults.csv", "chunks.csv", "areas.csv", "counters.csv"]
TRANSFER = [f"{name}.csv" for name in "samples fits points predictions answers twins ladder".split()]
JUDGED = ["verdicts.csv", "widths.csv", "new_designs.csv"]
REFERENCE_TABLES = ("comparison", "archived", "quarantine", "rules", "status")
#: Sources that decide what a step's numbers are, besides the files that its words name.
SIMULATED = [
    "artifacts/simulator/src",
    "artifacts/tracer/lib",
    "src/tessera/simulate",
    "src/tessera/core/layouts",
]
FITTED = ["src/tessera/fit"]
DECIDES = {
    "pipeline record": ["artifacts/tracer/plugin", "artifacts/mosalloc/core", "src/tessera/record/traces"],
    "pipeline layouts": SIMULATED,
    "pipeline cells": SIMULATED,
    "pipeline host": ["artifacts/mosalloc/core", "src/tessera/measure"],
    "pipeline fit": FITTED,
    "pipeline adaptive": FITTED,
    "pipeline one-gb": FITTED,
    "study sampling": [*SIMULATED, "src/tessera/lab/studies"],
    "study ablations": [*SIMULATED, *FITTED, "src/tessera/lab/studies"],
    "study sweep": [*SIMULATED, *FITTED, "src/tessera/lab/studies"],
    "study designs": [*SIMULATED, "src/tessera/core/mapping", "src/tessera/lab/studies"],
    "study probes": [*SIMULATED, "src/tessera/core/mapping", "src/tessera/lab/studies/probes.py"],
    "study transfer": [*SIMULATED, *FITTED, "src/tessera/core/mapping", "src/tessera/lab/transfer"],
    "energy cells": ["src/tessera/lab/energy", "config/machines", "config/platforms"],
    "numa placements": [*SIMULATED, "src/tessera/lab/numa"],
    "study recording": ["artifacts/tracer/plugin", "artifacts/mosalloc/core", "src/tessera/record/traces"],
    "study scenarios": [*SIMULATED, "artifacts/imitation", "src/tessera/lab/studies/scenarios.py"],
    "virtuoso program": [*SIMULATED, "artifacts/imitation", "src/tessera/lab/faults"],
    "numa program": [*SIMULATED, "src/tessera/lab/numa"],
    "threads sweep": [*SIMULATED, "src/tessera/lab/energy"],
    "validate engines": [*SIMULATED, "config/platforms/broadwell-sim.yaml"],
    "pipeline machines": ["src/tessera/measure/bundles", *FITTED],
    "report render": [
        "src/tessera/report/pages",
        "src/tessera/report/site.py",
        "src/tessera/report/claims",
        "report",
        "config/claims.yaml",
        "config/proof-reading.yaml",
    ],
}
#: What measures on this machine, and needs huge pages.
MEASURING = ("pipeline host", "validate chase", "validate clock-measure", "validate clock")
#: Results that are no result: they differ from run to run.
NOT_SHOWN = ("logs", "benchmarks", "timeline.csv", "report", "claims.csv", ".lock")


def after(option: str) -> Path | None:
    return Path(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else None


def files(paths: list[Path]) -> list[Path]:
    found = []
    for path in paths:
        found += sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return [path for path in found if "__pycache__" not in path.parts and path.suffix != ".md"]


def digest(step: str) -> str:
    """A text that another result of this step would not have."""
    whole = hashlib.sha256(step.encode())
    if step.startswith(("pipeline record", "pipeline cells", "pipeline host", "validate chase")):
        whole.update(os.environ["TESSERA_ENGINE"].encode())
    folders = (after("--out"), after("--results"), after("--layouts"))  # with what other steps make meanwhile
    named = [Path(word) for word in sys.argv[3:] if Path(word) not in folders]
    named = [path.parent if path.name == "manifest.csv" else path for path in named]
    named += [ROOT / source for source in DECIDES.get(step, [])]
    if step == "report render":
        shown = [p for p in files([after("--results")]) if not set(NOT_SHOWN).intersection(p.parts)]
        named += shown
    for path in files(named):
        if path.is_file():
            whole.update(path.read_bytes())
    return whole.hexdigest()


def make(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def status(step: str) -> str:
    fail = os.environ.get("STUB_FAIL")
    if fail and all(word in " ".join(sys.argv) for word in fail.split()):
        return "failed"
    return "skipped" if step in MEASURING and os.environ["TESSERA_RESERVE"] != "1" else "ok"


def outputs(step: str, out: Path | None) -> list[Path]:
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
        "validate clock": ["clock_marks.csv", "clock_programs.csv", "clock_keys.csv"],
        "study designs": ["cells.csv", "structures.csv", "mappings.csv"],
        "study scenarios": SCENARIOS,
        "virtuoso program": ["shares.csv", "latency.csv", "combs.csv"],
        "energy cells": ["energy.csv", "savings.csv"],
        "study transfer": TRANSFER + JUDGED * ("--collect" in sys.argv),
        "models collect": [f"{name}.csv" for names in OF_PAIRS.values() for name in names],
    }
    of_run = {
        "report render": ["claims.csv", "report/index.html"],
        "notebooks run": [f"notebooks/{after('--only')}.html"],
        "reference compare": [f"reference/{name}.csv" for name in REFERENCE_TABLES],
    }
    found = []
    if step in OF_PAIRS:
        for cells in (Path(word) for word in sys.argv if "/cells/" in word):
            folder = out / cells.parent.name / cells.stem
            found += [folder / f"{name}.csv" for name in OF_PAIRS[step]]
            found += [folder / "intervals.json"] if step == "pipeline fit" else []
    elif step in of_run:
        found += [after("--results") / name for name in of_run[step]]
    elif step in inside:
        found += [out / name for name in inside[step]]
    elif out is not None:
        found += [out, *(out.parent / name for name in beside.get(step, []))]
    return [*found, after("--calibrated")] if after("--calibrated") else found


def text_of(path: Path, said: str, value: str) -> str:
    if path.suffix == ".json":
        return json.dumps({"status": said, "message": "no luck", "digest": value})
    # what the layouts are does not show in their manifest
    value = "layouts" if path.name == "manifest.csv" else value
    return f"status,message,digest\n{said},why,{value}\n"


def main() -> None:
    step, out = " ".join(sys.argv[1:3]), after("--out") or after("--outcome")
    with Path(os.environ["STUB_LOG"]).open("a") as log:
        log.write(" ".join(sys.argv[1:]) + "\n")
    value, said, made = digest(step), status(step), outputs(step, out)
    if folder := os.environ.get("STUB_KILL"):
        mark = Path(folder, step.replace("/", "-"))
        if not mark.exists():
            mark.touch()
            for path in made[:1]:
                make(path, "half")
            os.killpg(0, signal.SIGKILL)
    if step == "pipeline layouts":
        make(out.with_name("growing-0.csv"), value)
    for path in made:
        make(path, text_of(path, said, value))


main()
