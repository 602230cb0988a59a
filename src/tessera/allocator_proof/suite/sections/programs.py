"""Well-known programs under every kind of mosaic: the table of ``tessera mosalloc programs``."""

from __future__ import annotations

from tessera.allocator_proof.programs import table
from tessera.allocator_proof.programs.mosaics import LAYOUTS
from tessera.allocator_proof.programs.registry import PROGRAMS, program
from tessera.allocator_proof.programs.session import Session
from tessera.allocator_proof.suite.model import FAIL, PASS, Check, Findings, ProofRequest, Section
from tessera.machine.container.engine import NONE, engine_name
from tessera.machine.container.images import ensure_programs_image

#: With ``--quick``: a server that forks, a library that maps files, and one that starts many processes.
QUICK_PROGRAMS = ("redis", "sqlite3", "git")
QUICK_LAYOUTS = ("4kb",)


def run(request: ProofRequest) -> Findings:
    """Every program under every layout; quick: three of them on 4KB pages."""
    chosen = [program(name) for name in QUICK_PROGRAMS] if request.quick else list(PROGRAMS.values())
    if engine_name() != NONE:
        ensure_programs_image(request.say)
    session = Session()
    outcomes = []
    for outcome in session.run(chosen, QUICK_LAYOUTS if request.quick else LAYOUTS):
        outcomes.append(outcome)
        request.say(table.details(outcome) if outcome.verdict == FAIL else table.line(outcome))
    checks = [
        Check(
            f"{o.program} {o.layout}", o.verdict, "" if o.verdict == PASS else o.reason or "no reason given"
        )
        for o in outcomes
    ]
    rows = [{name: getattr(outcome, name) for name in table.COLUMNS} for outcome in outcomes]
    text = table.text(outcomes).rpartition("\n")[0]  # without its own summary line
    return Findings(checks, text, rows, session.notes)


SECTION = Section("programs", "Program table", run)
