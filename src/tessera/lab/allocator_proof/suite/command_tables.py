"""Tables of two commands as sections: ``tessera lab allocator programs`` and ``bench``."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

from tessera.core.checks import FAIL, PASS, STATUSES, Check
from tessera.lab.allocator_proof.bench import ROWS, Bench, Result, format_table
from tessera.lab.allocator_proof.programs.registry import PROGRAMS, program_named
from tessera.lab.allocator_proof.programs.session import (
    MOSAIC_NAMES,
    OUTCOME_COLUMNS,
    Session,
    failure_details,
    outcome_line,
    outcomes_table,
)
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section
from tessera.machine.container.engine import NONE, container_engine_name
from tessera.machine.container.images import ensure_programs_image

# Well-known programs under every kind of mosaic: the table of ``tessera lab allocator programs``.

#: With ``--quick``: a server that forks, a library that maps files, and one that starts many processes.
QUICK_PROGRAMS = ("redis", "sqlite3", "git")
QUICK_LAYOUTS = ("4kb",)


def run_programs(settings: ProofSettings) -> Findings:
    """Every program under every layout; quick: three of them on 4KB pages."""
    chosen = [program_named(name) for name in QUICK_PROGRAMS] if settings.quick else list(PROGRAMS.values())
    if container_engine_name() != NONE:
        ensure_programs_image(settings.say)
    session = Session()
    outcomes = []
    for outcome in session.run(chosen, QUICK_LAYOUTS if settings.quick else MOSAIC_NAMES):
        outcomes.append(outcome)
        settings.say(failure_details(outcome) if outcome.verdict == FAIL else outcome_line(outcome))
    checks = [
        Check(
            f"{o.program} {o.layout}", o.verdict, "" if o.verdict == PASS else o.reason or "no reason given"
        )
        for o in outcomes
    ]
    rows = [{name: getattr(outcome, name) for name in OUTCOME_COLUMNS} for outcome in outcomes]
    text = outcomes_table(outcomes).rpartition("\n")[0]  # without its own summary line
    return Findings(checks, text, rows, session.notes)


PROGRAMS_SECTION = Section("programs", "Program table", run_programs)


# The overhead of the library: the table of ``tessera lab allocator bench``.

PAIRS, QUICK_PAIRS = 15, 3


def benchmark_check(result: Result) -> Check:
    """A row with a bound (or that could not be measured) as a check."""
    reason = result.reason
    if result.verdict == FAIL:
        unit = "" if result.kind == "ratio" else f" {result.unit}"
        reason = f"{result.value:.3f}{unit}, at most {result.bound:g}{unit} is allowed"
    return Check(result.row, result.verdict, reason)


def run_benchmark(settings: ProofSettings) -> Findings:
    """All rows; those without a bound are in the table only."""
    results = []
    with tempfile.TemporaryDirectory(prefix="tessera-proof-") as folder:
        bench = Bench(Path(folder), pairs=QUICK_PAIRS if settings.quick else PAIRS, quick=settings.quick)
        for result in bench.results(ROWS):
            results.append(result)
            settings.say(f"{result.row}: {result.verdict}")
    counted = [result for result in results if result.verdict in STATUSES]
    notes = ["rows without a bound are reported and not counted"] if len(counted) < len(results) else []
    return Findings(
        [benchmark_check(r) for r in counted], format_table(results), [asdict(r) for r in results], notes
    )


BENCHMARK_SECTION = Section("benchmark", "Benchmark table", run_benchmark)
