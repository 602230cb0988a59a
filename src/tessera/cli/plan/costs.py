"""The cost model, linear in what a configuration asks for, and these amounts."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.cli.pipeline.needs import BYTES_PER_ACCESS, UNLIMITED_ACCESSES, memory_bytes, preparing_bytes
from tessera.core.units import GB
from tessera.record import workloads
from tessera.simulate.sampling import parse_sampling

# The cost model: seconds of one core for a job of each rule, linear in what the configuration asks for.
#
# ``costs.csv`` has one line for each term: ``fixed_seconds`` once per job, ``seconds_per_unit`` times the
# job's number of units. The numbers come from runs of 19 workloads on 2 cores
# (docs/results/cluster-tests.md). A rule without a line takes :data:`UNKNOWN_SECONDS`.
# ``GB built in the emulator`` is assumed, not measured: the recorded programs of these runs computed no large
# data themselves.

UNKNOWN_SECONDS = 2.0
TABLE = Path(__file__).with_name("costs.csv")


@dataclass(frozen=True)
class Term:
    """``fixed_seconds`` + ``seconds_per_unit`` x units; ``unit`` is empty where nothing scales."""

    unit: str
    fixed_seconds: float
    seconds_per_unit: float


def load_costs(path: Path = TABLE) -> dict[str, list[Term]]:
    """Terms by rule."""
    found: dict[str, list[Term]] = {}
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            term = Term(row["unit"], float(row["fixed_seconds"]), float(row["seconds_per_unit"]))
            found.setdefault(row["rule"], []).append(term)
    return found


def job_seconds(terms: list[Term], units: Mapping[str, float]) -> float:
    """Seconds of one job with these numbers of units.

    Raises:
        KeyError: a term scales with a unit that ``units`` has no number for.
    """
    total = 0.0
    for term in terms:
        total += term.fixed_seconds
        if term.seconds_per_unit:
            total += term.seconds_per_unit * units[term.unit]
    return total


# What a configuration asks for, in the units of the cost model: sums over all jobs of a rule.
#
# A recording reads ``max_accesses`` of the region, or all of it if it is shorter. A recording in windows
# also passes over the accesses between them. Sizes are those of ``config/workloads``.

#: Layouts of a workload without the random ones, the 1GB layout included.
OTHER_LAYOUTS = 46
USUAL_LAYOUTS = 55  #: of the runs that the cost model was measured with
MILLION = 1e6


@dataclass(frozen=True)
class RecordingRow:
    """A workload of the configuration: accesses in millions, memory in bytes."""

    name: str
    recorded: float
    passed_over: float
    touched: int
    built: int  #: data that the recorded program computes first, under emulation
    memory: int
    disk: int


def recording_rows(config: Mapping) -> list[RecordingRow]:
    """The recordings of a configuration."""
    limit, host = config.get("max_accesses"), config["host"]
    asked = {name: words["size"] for name, words in config["workloads"].items()}
    asked.setdefault(host["workload"], host.get("size", ""))
    return [_recording_row(name, label, config, limit) for name, label in asked.items()]


def _recording_row(name: str, label: str, config: Mapping, limit: int | None) -> RecordingRow:
    workload = workloads.load_workload(name)
    size = workload.size(label)
    most = config["workloads"].get(name, {}).get("max_accesses", limit) or UNLIMITED_ACCESSES
    region = size.region_accesses or most
    recorded = min(most, region)
    span = min(region, size.window_span or region) if size.windows > 1 else recorded
    touched = size.heap_pool + size.anon_pool if size.touched is None else size.touched
    builds = size.prepared is None and workload.executable != "gups"  # that one only writes its array
    return RecordingRow(
        name=name,
        recorded=recorded / MILLION,
        passed_over=max(0, span - recorded) / MILLION,
        touched=touched,
        built=min(size.footprint, touched) if builds else 0,
        memory=max(memory_bytes(size), preparing_bytes(size)),
        disk=int(recorded * BYTES_PER_ACCESS),
    )


def prepared_bytes(config: Mapping) -> dict[str, int]:
    """Bytes of each prepared file, by its name."""
    sizes = [workloads.load_workload(name).size(words["size"]) for name, words in config["workloads"].items()]
    return {size.prepared.file: size.prepared.bytes for size in sizes if size.prepared}


def sampled_millions(plan: str, recorded: float) -> float:
    """Accesses of warm-up and instructions of timing in all units of a sampling plan, in millions.

    ``recorded``: millions of accesses of the recording, which is what a plan without samples takes.
    """
    sampling = parse_sampling(plan)
    if sampling.units == 0:
        return recorded
    return sampling.units * (sampling.warmup_accesses + sampling.timed_instructions) / MILLION


def recording_units(row: RecordingRow) -> dict[str, float]:
    """Units of the recording of a workload."""
    return {
        "million accesses": row.recorded,
        "million accesses passed over": row.passed_over,
        "GB touched": row.touched / GB,
        "GB built in the emulator": row.built / GB,
    }


def rule_units(config: Mapping, found: Iterable[RecordingRow]) -> dict[str, dict[str, float]]:
    """Mean number of units of a job, by rule and unit."""
    found = list(found)
    ours = [row for row in found if row.name in config["workloads"]]
    layouts = (OTHER_LAYOUTS + config.get("random_count", 9)) / USUAL_LAYOUTS
    recorded = _mean(row.recorded for row in ours)
    files = prepared_bytes(config)
    units = {
        "trace": _mean_units([recording_units(row) for row in found]),
        "layouts": {"million accesses": recorded},
        "cells": {
            "million accesses": recorded * layouts,
            "million sampled": sampled_millions(config["sampling"], recorded) * layouts,
        },
        "prepare": {"GB written": _mean(files.values()) / GB},
    }
    for name, study in config.get("studies", {}).items():
        window = study.get("window_accesses", study.get("accesses", 0))
        own = study.get("windows", {})  # of single workloads
        mean = _mean(own.get(workload, window) for workload in study["workloads"]) if own else window
        units[f"study_{name}"] = {"million accesses of the window": mean / MILLION}
    return units


def _mean_units(units: list[dict[str, float]]) -> dict[str, float]:
    return {name: _mean(one[name] for one in units) for name in units[0]}


def _mean(numbers: Iterable[float]) -> float:
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0
