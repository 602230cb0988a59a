"""A configuration's cost on a number of nodes, from the jobs that Snakemake counts and the cost model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.plan import costs, jobs, units
from tessera.plan.units import Row

#: Snakemake starts twice in each job that Slurm runs, and reads the workflow.
SLURM_SECONDS = 6.0
#: What a run keeps beside traces and prepared files: images, environment, tables, report.
OTHER_BYTES = 5_000_000_000


@dataclass(frozen=True)
class Machines:
    """Nodes of one kind."""

    nodes: int
    cores: int
    memory: int


@dataclass(frozen=True)
class Line:
    """All jobs of a rule: ``seconds`` of one core in all; memory of the largest job, in bytes, and on average
    over the jobs' time (0 where it is small)."""

    rule: str
    jobs: int
    seconds: float
    memory: int = 0
    mean_memory: float = 0.0


@dataclass(frozen=True)
class Plan:
    """The result; ``too_large`` are rows that need more memory than a node has."""

    lines: tuple[Line, ...]
    disk: int
    longest_seconds: float
    too_large: tuple[Row, ...]
    machines: Machines

    @property
    def jobs(self) -> int:
        return sum(line.jobs for line in self.lines)

    @property
    def seconds(self) -> float:
        """Seconds of one core."""
        return sum(line.seconds for line in self.lines)

    @property
    def elapsed_seconds(self) -> float:
        """Least time on these nodes: that of the longest chain of jobs, of all work by all cores, or of what
        fits the memory (a recording with most of a node's memory keeps its other cores empty)."""
        nodes, here = self.machines.nodes, self.machines
        overhead = self.jobs * SLURM_SECONDS if nodes > 1 else 0.0
        by_cores = (self.seconds + overhead) / (nodes * here.cores)
        by_memory = sum(line.seconds * line.mean_memory for line in self.lines) / (nodes * here.memory)
        return max(by_cores, by_memory, self.longest_seconds)


def read(configuration: str) -> tuple[dict, Path]:
    """A configuration by its name in ``config/`` or its path.

    Raises:
        TesseraError: there is none.
    """
    named = repo_root() / "config" / f"{configuration}.yaml"
    path = named if named.is_file() else Path(configuration)
    try:
        config = yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TesseraError(
            f"the configuration {configuration}",
            str(error).splitlines()[0],
            "name one of config/",
        ) from None
    if not isinstance(config, dict) or not {"workloads", "platforms", "sampling", "host"} <= config.keys():
        raise TesseraError(
            f"the configuration {configuration}",
            "it has no workloads, platforms, sampling or host",
            "name a configuration of a whole run, as config/default.yaml",
        )
    return config, path


def plan(configuration: str, machines: Machines) -> Plan:
    """Cost of a configuration on these machines."""
    config, path = read(configuration)
    return of(config, jobs.count(path), machines)


def of(config: Mapping, counts: Mapping[str, int], machines: Machines) -> Plan:
    """Cost of so many jobs of each rule."""
    model, rows = costs.load(), units.rows(config)
    per_job = units.of_rules(config, rows)
    recordings = [costs.seconds(model["trace"], units.of_recording(row)) for row in rows]
    weighted = sum(row.memory * one for row, one in zip(rows, recordings, strict=True)) / sum(recordings)
    memory = {"trace": (max(row.memory for row in rows), weighted)}
    lines = []
    for rule, number in sorted(counts.items()):
        terms = model.get(rule)
        one = costs.seconds(terms, per_job.get(rule, {})) if terms else costs.UNKNOWN_SECONDS
        lines.append(Line(rule, number, number * one, *memory.get(rule, (0, 0.0))))
    files = units.prepared_bytes(config)
    return Plan(
        lines=tuple(lines),
        disk=sum(row.disk for row in rows) + sum(files.values()) + OTHER_BYTES,
        longest_seconds=max(recordings) + _after(model, per_job),
        too_large=tuple(row for row in rows if row.memory > machines.memory),
        machines=machines,
    )


def _after(model: Mapping, per_job: Mapping) -> float:
    """Seconds of the chain of jobs that follows the last recording."""
    chain = ("layouts", "cells", "fit", "notebook", "report")
    return sum(costs.seconds(model[rule], per_job.get(rule, {})) for rule in chain)
