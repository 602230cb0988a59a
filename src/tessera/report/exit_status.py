"""Exit status of a results tree: required claims, failures, faults of the simulator, verdicts not allowed."""

from __future__ import annotations

from pathlib import Path

from tessera.core.results.machine_tables import CLOSED_FORMS, ENGINES, INVARIANTS, RECORDINGS
from tessera.core.results.outcomes import FAILED, is_ok, part_outcomes
from tessera.lab.validation.engines import NOT_COMPARED
from tessera.record.known_recordings import DIFFERS
from tessera.report import claims_table, verdicts
from tessera.report.claims import failing_claims
from tessera.report.pages.about import grouped_gaps
from tessera.report.results import Results


def problems(results_dir: Path) -> list[str]:
    """Problems that make the check fail, one sentence each; empty if it passes."""
    results_dir = Path(results_dir)
    claims = claims_table.read_claims(results_dir)
    found = [
        f"required claim {row['id']}: {row['verdict']} (published {row['published'] or '-'}, "
        f"obtained {row['obtained'] or '-'}){': ' + row['reason'] if row['reason'] else ''}"
        for row in failing_claims(claims)
    ]
    results = Results(results_dir)
    failed = results.gaps[results.gaps["status"] == FAILED]
    found += [
        f"{group['count']} failed cells of {group['workload']} on {group['platform']} ({group['layouts']}): "
        f"{group['message'] or 'no reason was recorded'}; what to do: {group['remedy']}"
        for group in grouped_gaps(failed)
    ]
    for part, outcome in part_outcomes(results.tree.kernel_parts).items():
        if not is_ok(outcome):
            found.append(f"kernel, part {part}: {outcome['message']}; to run it again: {outcome['command']}")
    if results.cells.empty:
        found.append("no cells: ./run reproduce")
    found += _faults(results)
    found += [f"verdict of {name}: {why}" for name, why in verdicts.objections(claims).items()]
    for page in results.tree.found(results.tree.report_folder / "*.html"):
        shown = verdicts.shown_verdicts(page)
        found += [f"{page.name} shows for {name}: {why}" for name, why in verdicts.objections(shown).items()]
    return found


def _faults(results: Results) -> list[str]:
    """What the validation of the simulator found wrong: it must agree with itself, and with proved rules."""
    checks = (ENGINES, CLOSED_FORMS, INVARIANTS)
    found = [
        f"{table.name}: the table has no row, so nothing was checked"
        for table in checks
        if table.place(results.tree).exists() and results.read(table, expected=False).empty
    ]
    engines = results.read(ENGINES, expected=False)
    wrong = (engines["differing"] > 0) | engines["message"].astype(str).str.startswith(NOT_COMPARED)
    found += [
        f"engines: {row.comparison} on {row.platform}: {row.first_difference or row.message}"
        for row in engines[wrong].itertuples()
    ]
    forms = results.read(CLOSED_FORMS, expected=False)
    found += [
        f"closed form {row.case} on {row.platform}: {row.quantity} = {row.formula} is {row.expected:g}, "
        f"obtained {row.obtained:g} {row.message or ''}".rstrip()
        for row in forms[forms["holds"] != True].itertuples()  # noqa: E712 - a missing value does not hold
    ]
    rules = results.read(INVARIANTS, expected=False)
    found += [
        f"invariant {row.invariant}: broken by {row.broken} of {row.cells} cells, first {row.first_broken}"
        for row in rules[rules["broken"] > 0].itertuples()
    ]
    recorded = results.read(RECORDINGS, expected=False)
    found += [
        f"recording of {row.workload} ({row.size}): {row.message}"
        for row in recorded[recorded["outcome"] == DIFFERS].itertuples()
    ]
    return found
