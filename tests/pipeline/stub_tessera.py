"""Stands in for `tessera` in tests of the workflow: makes the outputs that the asked step declares.

What it writes is a digest of what decides the step's result: its words, the files that they name, and the
sources of :data:`DECIDES`. So results that were made in any order of starts equal those of one fresh run, or
something is stale. Variables: STUB_LOG gets the steps; STUB_FAIL names words of steps that fail; in the
folder STUB_KILL the first step of each kind leaves its name, and kills the whole run.
"""

import hashlib
import json
import os
import re
import signal
import sys
from pathlib import Path

ROOT = Path(os.environ["TESSERA_ROOT"])
#: the tables that the models' links write for each cells file
OF_PAIRS = {
    "dev step fit": [
        "errors", "cv", "rsquared", "predictions", "coefficients", "protocols", "anchored",
        "learning_curve",
    ],
    "dev step adaptive": ["adaptive", "adaptive_curve"],
    "dev step one-gb": ["one_gb", "budget"],
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
    "dev step record": ["artifacts/tracer/plugin", "artifacts/mosalloc/core", "src/tessera/record/traces"],
    "dev step layouts": SIMULATED,
    "dev step cells": SIMULATED,
    "dev step host": ["artifacts/mosalloc/core", "src/tessera/measure"],
    "dev step fit": FITTED,
    "dev step adaptive": FITTED,
    "dev step one-gb": FITTED,
    "lab run sampling": [*SIMULATED, "src/tessera/lab/studies"],
    "lab run ablations": [*SIMULATED, *FITTED, "src/tessera/lab/studies"],
    "lab run sweep": [*SIMULATED, *FITTED, "src/tessera/lab/studies"],
    "lab run designs": [*SIMULATED, "src/tessera/core/mapping", "src/tessera/lab/studies"],
    "lab run probes": [*SIMULATED, "src/tessera/core/mapping", "src/tessera/lab/studies/probes.py"],
    "lab run transfer": [*SIMULATED, *FITTED, "src/tessera/core/mapping", "src/tessera/lab/transfer"],
    "lab run energy": ["src/tessera/lab/energy", "config/machines", "config/platforms"],
    "lab run numa-placements": [*SIMULATED, "src/tessera/lab/numa"],
    "lab run recording": ["artifacts/tracer/plugin", "artifacts/mosalloc/core", "src/tessera/record/traces"],
    "lab run scenarios": [*SIMULATED, "artifacts/imitation", "src/tessera/lab/studies/scenarios.py"],
    "lab run virtuoso": [*SIMULATED, "artifacts/imitation", "src/tessera/lab/faults"],
    "lab run numa-program": [*SIMULATED, "src/tessera/lab/numa"],
    "lab run threads-sweep": [*SIMULATED, "src/tessera/lab/energy"],
    "lab run engines": [*SIMULATED, "config/platforms/broadwell-sim.yaml"],
    "dev step machines": ["src/tessera/measure/bundles", *FITTED],
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
MEASURING = ("dev step host", "lab run chase", "lab run clock-measure", "lab run clock")
#: Results that are no result: they differ from run to run.
NOT_SHOWN = ("logs", "benchmarks", "timeline.csv", "report", "claims.csv", ".lock")


def step_of(words: list[str]) -> str:
    """The words that name a step: `dev step fit`, `lab run sweep`, `report render`."""
    return " ".join(words[: 3 if words[0] in ("dev", "lab") else 2])


def after(option: str) -> Path | None:
    """The value of an option, or of a key that ends with ``=``."""
    if option.endswith("="):
        return next((Path(w.removeprefix(option)) for w in sys.argv if w.startswith(option)), None)
    return Path(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else None


def files(paths: list[Path]) -> list[Path]:
    found = []
    for path in paths:
        found += sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return [path for path in found if "__pycache__" not in path.parts and path.suffix != ".md"]


def digest(step: str) -> str:
    """A text that another result of this step would not have."""
    whole = hashlib.sha256(step.encode())
    if step in ("dev step record", "dev step cells", "dev step host", "lab run chase"):
        whole.update(os.environ["TESSERA_ENGINE"].encode())
    # with what other steps make meanwhile
    folders = (after("--out"), after("--results"), after("layouts="), after("results="), after("cache="))
    words = [part for word in sys.argv[3:] for part in re.sub(r"^\w+=", "", word).split(",")]
    named = [path for path in map(Path, words) if path not in folders]
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
        "lab run chase": ["chase_series.csv"],
        "lab run mosaics": ["mosaics_summary.csv"],
        "dev step layouts": ["profile/misses.csv"],
        "dev step host": ["comparison.csv"],
        "lab run sampling": ["intervals.csv"],
        "lab run ablations": ["cells.csv"],
    }
    inside = {
        "lab run explain-chase": ["steps.csv", "findings.csv", "chase_latency.csv", "calibration.csv"],
        "lab run clock": ["clock_marks.csv", "clock_programs.csv", "clock_keys.csv"],
        "lab run designs": ["cells.csv", "structures.csv", "mappings.csv"],
        "lab run scenarios": SCENARIOS,
        "lab run virtuoso": ["shares.csv", "latency.csv", "combs.csv"],
        "lab run energy": ["energy.csv", "savings.csv"],
        "lab run transfer": TRANSFER,
        "lab run transfer-verdicts": TRANSFER + JUDGED,
        "models collect": [f"{name}.csv" for names in OF_PAIRS.values() for name in names],
    }
    of_run = {
        "report render": ["claims.csv", "report/index.html"],
        "dev notebooks run": [f"notebooks/{after('--only')}.html"],
        "dev reference compare": [f"reference/{name}.csv" for name in REFERENCE_TABLES],
    }
    found = []
    if step in OF_PAIRS:
        for cells in (Path(word.removeprefix("cells=")) for word in sys.argv if "/cells/" in word):
            folder = out / cells.parent.name / cells.stem
            found += [folder / f"{name}.csv" for name in OF_PAIRS[step]]
            found += [folder / "intervals.json"] if step == "dev step fit" else []
    elif step in of_run:
        found += [after("--results") / name for name in of_run[step]]
    elif step in inside:
        found += [(out.parent if out.suffix else out) / name for name in inside[step]]
    elif out is not None:
        found += [out, *(out.parent / name for name in beside.get(step, []))]
    return [*found, after("calibrated=")] if after("calibrated=") else found


def text_of(path: Path, said: str, value: str) -> str:
    if path.suffix == ".json":
        return json.dumps({"status": said, "message": "no luck", "digest": value})
    # what the layouts are does not show in their manifest
    value = "layouts" if path.name == "manifest.csv" else value
    return f"status,message,digest\n{said},why,{value}\n"


def main() -> None:
    step, out = step_of(sys.argv[1:]), after("--out") or after("--outcome")
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
    if step == "dev step layouts":
        make(out.with_name("growing-0.csv"), value)
    for path in made:
        make(path, text_of(path, said, value))


main()
