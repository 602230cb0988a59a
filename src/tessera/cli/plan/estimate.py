"""A configuration's cost on a number of nodes, from the jobs that Snakemake counts; and a finished run's."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.cli.options import configuration_path
from tessera.cli.plan import costs
from tessera.cli.plan.costs import RecordingRow
from tessera.core.configuration_files import CONFIGURATION
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import repo_root
from tessera.core.processes import module_command
from tessera.core.results.outcomes import OK

# How many jobs of each rule a configuration has, as Snakemake counts them in a dry run.

#: Rules that make nothing: names for the user.
TARGETS = frozenset({"reproduce", "smoke", "total"})
#: All jobs count, also those whose results are there.
DRY_RUN = module_command(
    "snakemake",
    *("--dry-run", "--forceall", "--cores", "2"),
    *("--quiet", "progress", "rules"),  # only the table of jobs: tessera.cli.pipeline.job_log
)


def count_jobs(configuration: Path, target: str = "reproduce") -> dict[str, int]:
    """Jobs by rule.

    Raises:
        TesseraError: Snakemake refuses the configuration; its last lines are in the message.
    """
    words = [*DRY_RUN, "--configfile", str(configuration.resolve()), "--", target]
    done = subprocess.run(words, cwd=repo_root(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise TesseraError(
            f"the jobs of {configuration}",
            f"snakemake --dry-run exited with status {done.returncode}:\n{said}",
            "correct the configuration; docs/dev/pipeline.md describes it",
            exit_code=EXIT_FAILED,
        )
    return counts_in_text(done.stdout + done.stderr)


def counts_in_text(text: str) -> dict[str, int]:
    """Jobs by rule, from what a dry run prints (``Job stats``, a line for each rule)."""
    table = text.rpartition("Job stats:")[2]
    rows = re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE)
    return {name: int(number) for name, number in rows if name not in TARGETS}


# The cost of these jobs on a number of nodes, by the cost model.

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
class RuleEstimate:
    """All jobs of a rule: ``seconds`` of one core in all; memory of the largest job, in bytes, and on average
    over the jobs' time (0 where it is small)."""

    rule: str
    jobs: int
    seconds: float
    memory: int = 0
    mean_memory: float = 0.0


@dataclass(frozen=True)
class ReproductionEstimate:
    """The result; ``too_large`` are rows that need more memory than a node has."""

    lines: tuple[RuleEstimate, ...]
    disk: int
    longest_seconds: float
    too_large: tuple[RecordingRow, ...]
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


def read_configuration(configuration: str) -> tuple[dict, Path]:
    """A configuration by its name in ``config/`` or its path.

    Raises:
        TesseraError: there is none, or it breaks its schema.
    """
    path = configuration_path(configuration)
    return CONFIGURATION.read(path), path


def estimate_reproduction(configuration: str, machines: Machines) -> ReproductionEstimate:
    """Cost of a configuration on these machines."""
    config, path = read_configuration(configuration)
    return estimate_of_jobs(config, count_jobs(path), machines)


def estimate_of_jobs(config: Mapping, counts: Mapping[str, int], machines: Machines) -> ReproductionEstimate:
    """Cost of so many jobs of each rule."""
    model, rows = costs.load_costs(), costs.recording_rows(config)
    per_job = costs.rule_units(config, rows)
    recordings = [costs.job_seconds(model["trace"], costs.recording_units(row)) for row in rows]
    weighted = sum(row.memory * one for row, one in zip(rows, recordings, strict=True)) / sum(recordings)
    memory = {"trace": (max(row.memory for row in rows), weighted)}
    lines = []
    for rule, number in sorted(counts.items()):
        terms = model.get(rule)
        one = costs.job_seconds(terms, per_job.get(rule, {})) if terms else costs.UNKNOWN_SECONDS
        lines.append(RuleEstimate(rule, number, number * one, *memory.get(rule, (0, 0.0))))
    files = costs.prepared_bytes(config)
    return ReproductionEstimate(
        lines=tuple(lines),
        disk=sum(row.disk for row in rows) + sum(files.values()) + OTHER_BYTES,
        longest_seconds=max(recordings) + _seconds_after_recordings(model, per_job),
        too_large=tuple(row for row in rows if row.memory > machines.memory),
        machines=machines,
    )


def _seconds_after_recordings(model: Mapping, per_job: Mapping) -> float:
    """Seconds of the chain of jobs that follows the last recording."""
    chain = ("layouts", "cells", "fit", "notebook", "report")
    return sum(costs.job_seconds(model[rule], per_job.get(rule, {})) for rule in chain)


# The cost model beside a finished run: seconds by rule from ``provenance/timeline.csv``.

#: Largest difference between the sum of the model and of the run, as a share of the run.
TOLERANCE = 0.3


@dataclass(frozen=True)
class ComparedRule:
    """A rule's jobs in a run, and seconds of the run and of the model for that number of jobs."""

    rule: str
    jobs: int
    measured: float
    estimated: float


def timeline_seconds(path: Path) -> dict[str, tuple[int, float]]:
    """Number of jobs that ended well, and their seconds, by rule.

    Raises:
        TesseraError: there is no such table, or no job ended well.
    """
    found: dict[str, tuple[int, float]] = {}
    try:
        with path.open(newline="") as stream:
            for row in csv.DictReader(stream):
                if row["outcome"] == OK:
                    number, seconds = found.get(row["job"], (0, 0.0))
                    found[row["job"]] = number + 1, seconds + float(row["ended_s"]) - float(row["started_s"])
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise _no_run(path, str(error)) from None
    if not found:
        raise _no_run(path, "no job ended well")
    return found


def _no_run(path: Path, found: str) -> TesseraError:
    return TesseraError(
        f"the timeline {path}", found, "name the folder of a finished run, e.g. results/default"
    )


def compare_with_run(config: Mapping, measured: Mapping[str, tuple[int, float]]) -> list[ComparedRule]:
    """The model for the jobs that a run had; the rules with most time come first."""
    counts = {rule: number for rule, (number, _) in measured.items()}
    lines = {line.rule: line for line in estimate_of_jobs(config, counts, Machines(1, 1, 1)).lines}
    found = [ComparedRule(rule, n, seconds, lines[rule].seconds) for rule, (n, seconds) in measured.items()]
    return sorted(found, key=lambda one: -one.measured)


def relative_difference(found: Iterable[ComparedRule]) -> float:
    """(model - run) / run, over all jobs."""
    found = list(found)
    return sum(one.estimated for one in found) / sum(one.measured for one in found) - 1
