"""Derive steps, findings, simulated chases and the calibration from the measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from tessera.core.files import write_text
from tessera.core.platforms import PLATFORM_FILE, Platform, load_platform
from tessera.core.results.machine_tables import CALIBRATION, CHASE, CHASE_SERIES, FINDINGS, LATENCY, STEPS
from tessera.core.results.table_io import frame_of, read_file
from tessera.lab.chase import calibrate, findings, latency_steps
from tessera.lab.chase.measured import SCALES, FootprintSweep, series_named
from tessera.lab.chase.simulated import add_chases, simulate_chases
from tessera.lab.study import Amount, NewFile, Run, Seed, study
from tessera.lab.validation.synthetic import batch

SIMULATED_SERIES = ("pages", "lines", "large-pages", "large-stride", "line-chains", "page-chains")
ERROR_KEY = "typical error of simulated chases"


@study(STEPS, FINDINGS, LATENCY, CALIBRATION)
def explain_chase(
    run: Run, chase: Path, platform: Path, calibrated: NewFile, amount: Amount = "full", seed: Seed = 1
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Find the steps of measured chases, simulate them, and calibrate this machine's platform file.

    Example, after ./run smoke:
      ./run tessera lab run explain-chase chase=results/smoke/validation/chase.csv amount=quick \\
        platform=results/smoke/platforms/host-sim.yaml calibrated=/tmp/calibrated.yaml --out /tmp/explain

    Args:
        chase: chase.csv of `tessera lab run chase`; the chase_series.csv beside it is read, too.
        platform: this machine's platform file.
        calibrated: platform file to write.
        amount: that of the measurements.
        seed: of bootstraps, and of the simulated chases' orders.
    """
    rows = read_file(CHASE, chase)
    status = read_file(CHASE_SERIES, chase.with_name(CHASE_SERIES.file))
    before = load_platform(platform)
    measured = latency_steps.latencies(rows)
    found = latency_steps.steps_table(rows, "measured", seed)
    with batch() as work:
        run.say("chase: making its streams")
        chases = add_chases(work, simulated_series(rows), seed)
        work.run()
        clock = latency_steps.clock_ghz(rows) if len(rows) else float("nan")
        corrected = calibrate.calibrate(
            work, chases, before, measured, found, clock, SCALES[amount].calibrated and len(rows) > 0, run.say
        )
        simulated = {}
        for one in (before, corrected):
            run.say(f"chase simulated on {one.name}")
            simulated[one.name] = simulate_chases(work, chases, one)
    write_platform(corrected, platform, calibrated)
    parts = [found, *(latency_steps.steps_table(as_rows(t), name) for name, t in simulated.items())]
    return (
        with_file_entries(pd.concat(parts), before),
        findings.findings_table(found, status, measured),
        latency_table(measured, simulated),
        calibration_table(before, corrected, measured, simulated),
    )


def simulated_series(rows: pd.DataFrame) -> list[FootprintSweep]:
    """The series that were measured and can be simulated, with the footprints that were measured."""
    chosen = []
    for name in SIMULATED_SERIES:
        part = rows[(rows["series"] == name) & (rows["elements"] > 0)]
        if len(part):
            elements, chains = (tuple(sorted(set(part[c].tolist()))) for c in ("elements", "chains"))
            chosen.append(replace(series_named(name), elements=elements, chains=chains))
    return chosen


def with_file_entries(table: pd.DataFrame, platform: Platform) -> pd.DataFrame:
    """Steps beside what the platform file says of the same structure, and where it has that from."""
    values = [platform.values.get(key) for key in table["key"]]
    return table.assign(
        file_entries=[value.value if value else None for value in values],
        file_source=[value.source if value else "" for value in values],
    )


def as_rows(simulated: pd.DataFrame) -> pd.DataFrame:
    """Simulated chases in the shape of measurements, at one cycle a nanosecond."""
    accesses = 1_000_000
    rows = simulated[["series", "elements", "chains"]].assign(
        round=0, accesses=accesses, ns=simulated["cycles"] * accesses
    )
    clock = rows.drop_duplicates("series").assign(elements=0, chains=0, ns=accesses)
    return pd.concat([rows, clock], ignore_index=True)


def latency_table(measured: pd.DataFrame, simulated: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Cycles per access of every chase from every source."""
    parts = [measured.assign(source="measured", provenance="measured")]
    parts += [t.assign(source=name, provenance="simulated") for name, t in simulated.items()]
    return pd.concat(parts).reindex(columns=list(LATENCY.names))


def calibration_table(
    before: Platform, after: Platform, measured: pd.DataFrame, simulated: dict[str, pd.DataFrame]
) -> pd.DataFrame:
    """Keys that changed, then the typical (median) relative error of single chains before and after."""
    rows = [
        (key, str(before.values[key].value), str(value.value), value.source)
        for key, value in after.values.items()
        if before.values[key].value != value.value
    ]
    errors = []
    for name in (before.name, after.name):
        both = calibrate.joined(simulated[name], measured)
        both = both[both["chains"] == 1]
        errors.append(
            float(np.abs(both["cycles"] / both["measured_cycles"] - 1).median()) if len(both) else np.nan
        )
    rows.append(
        (
            ERROR_KEY,
            *(f"{error:.1%}" for error in errors),
            "median of |simulated / measured - 1|, single chains",
        )
    )
    return frame_of(CALIBRATION, rows)


def write_platform(platform: Platform, template: Path, out: Path) -> None:
    """The platform as a YAML file with the shape of ``template``; keys left to their defaults stay out."""
    tree = PLATFORM_FILE.read(template)
    tree["name"], tree["description"] = platform.name, platform.description
    for key, value in platform.values.items():
        if value.defaulted:
            continue
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = {"value": value.value, "source": value.source}
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, yaml.safe_dump(tree, sort_keys=False))
    load_platform(out)
