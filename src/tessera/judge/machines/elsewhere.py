"""Findings on processors of other classes than the paper's: a table of its own, never a verdict.

The claim is judged as if it were about the machine's class. ``coverage`` says which of its workloads ran. A
claim whose readings disagree has no row.
"""

from __future__ import annotations

from dataclasses import replace

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.model import Claim
from tessera.judge.machines.groups import Machines, about, part, with_workloads
from tessera.judge.machines.verdicts import measured

HOLDS, FAILS = "HOLDS-ELSEWHERE", "FAILS-ELSEWHERE"


def rows(claim: Claim, evidence: Evidence, here: Machines) -> list[dict]:
    """A row for each machine of another class that gives a value."""
    found = []
    for name, pairs in here.items():
        generation = pairs[0].generation
        mine = with_workloads(claim, pairs)
        if about(claim, generation) or not mine:
            continue
        platforms = (generation,) if claim.scope.platforms else ()
        moved = replace(claim, hardware_class=generation, scope=replace(claim.scope, platforms=platforms))
        done = measured(part(moved, name, mine), evidence)
        if done is not None and not done.undecided:
            found.append({
                "id": claim.id, "machine": name, "class": generation,
                "obtained": str(done.outcome), "holds": HOLDS if done.holds else FAILS,
                "coverage": done.group.coverage,
            })  # fmt: skip
    return found
