"""The overhead of the library: the table of ``tessera mosalloc bench``."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

from tessera.allocator_proof.bench import ROWS, Bench, Result, format_table
from tessera.allocator_proof.suite.model import FAIL, VERDICTS, Check, Findings, ProofRequest, Section

PAIRS, QUICK_PAIRS = 15, 3


def check(result: Result) -> Check:
    """A row with a bound (or that could not be measured) as a check."""
    reason = result.reason
    if result.verdict == FAIL:
        unit = "" if result.kind == "ratio" else f" {result.unit}"
        reason = f"{result.value:.3f}{unit}, at most {result.bound:g}{unit} is allowed"
    return Check(result.row, result.verdict, reason)


def run(request: ProofRequest) -> Findings:
    """All rows; those without a bound are in the table only."""
    results = []
    with tempfile.TemporaryDirectory(prefix="tessera-proof-") as folder:
        bench = Bench(Path(folder), pairs=QUICK_PAIRS if request.quick else PAIRS, quick=request.quick)
        for result in bench.results(ROWS):
            results.append(result)
            request.say(f"{result.row}: {result.verdict}")
    counted = [result for result in results if result.verdict in VERDICTS]
    notes = ["rows without a bound are reported and not counted"] if len(counted) < len(results) else []
    return Findings([check(r) for r in counted], format_table(results), [asdict(r) for r in results], notes)


SECTION = Section("benchmark", "Benchmark table", run)
