"""Claims whose machine, program or tool is not here: the reason and the command, nothing else."""

from __future__ import annotations

from tessera.judge.claims.outcome import Missing, Outcome


def unavailable(claim, evidence, missing: str, command: str) -> Outcome:
    """Never a value."""
    raise Missing(f"needs {missing}", command)


EVALUATORS = {"unavailable": unavailable}
