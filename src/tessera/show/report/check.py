"""Exit status of a results tree: required claims, failures, verdicts that their provenance does not allow."""

from __future__ import annotations

from pathlib import Path

from tessera.judge.claims import failing_claims
from tessera.results.attempts import outcomes
from tessera.results.status import FAILED, is_ok
from tessera.show import verdicts
from tessera.show.report import claims as judged
from tessera.show.report.pages.gaps import grouped
from tessera.show.results import Results


def problems(results_dir: Path) -> list[str]:
    """Problems that make the check fail, one sentence each; empty if it passes."""
    results_dir = Path(results_dir)
    claims = judged.read_claims(results_dir)
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
        for group in grouped(failed)
    ]
    for part, outcome in outcomes(results.tree.kernel_parts).items():
        if not is_ok(outcome):
            found.append(f"kernel, part {part}: {outcome['message']}; to run it again: {outcome['command']}")
    if results.cells.empty:
        found.append("no cells: ./run reproduce")
    found += [f"verdict of {name}: {why}" for name, why in verdicts.objections(claims).items()]
    for page in results.tree.found(results.tree.report_folder / "*.html"):
        shown = verdicts.shown(page)
        found += [f"{page.name} shows for {name}: {why}" for name, why in verdicts.objections(shown).items()]
    return found
