"""The verdict of a finding from all groups of machines that decide it.

Findings on processors of other classes than the paper's have a table of their own, never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tessera.core.results.loader import Pair
from tessera.report.claims.claim import Claim, Outcome
from tessera.report.claims.evaluate import claim_row, judge_claim
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.verdicts import DEVIATES, NOT_MEASURABLE, REPRODUCED, UNDECIDED, Verdict
from tessera.report.machines.groups import (
    MachineGroup,
    Machines,
    is_about,
    part_decides,
    part_groups,
    single_group,
    whole_groups,
    with_workloads,
)

# The verdict is REPRODUCED if the finding holds on each group, DEVIATES if it fails on one, else UNDECIDED:
# the readings disagree on one. A part that decides nothing is named in the reason.


@dataclass(frozen=True)
class JudgedGroup:
    """A group with its value. ``decides``: it is whole, or a part that decides one way."""

    group: MachineGroup
    outcome: Outcome
    verdict: Verdict
    decides: bool

    @property
    def holds(self) -> bool:
        return self.verdict.name == REPRODUCED

    @property
    def undecided(self) -> bool:
        return self.verdict.name == UNDECIDED

    @property
    def word(self) -> str:
        return "undecided" if self.undecided else "holds" if self.holds else "fails"


def judged_group(group: MachineGroup, evidence: Evidence) -> JudgedGroup | None:
    """The group's value; None if there is none, or it was not measured."""
    outcome, judged = judge_claim(group.claim, evidence.limited(group.machines))
    if outcome is None or judged.name not in (REPRODUCED, DEVIATES, UNDECIDED):
        return None
    if outcome.hardware_class not in _classes(group):  # of a guest, or of this machine's clock
        return None
    holds = judged.name == REPRODUCED
    alone = judged.name != UNDECIDED and part_decides(outcome.over_pairs, group.claim.tolerance.rule, holds)
    return JudgedGroup(group, outcome, judged, group.whole or alone)


def _classes(group: MachineGroup) -> set[str]:
    """What an evaluator calls the class of these machines (:mod:`tessera.report.claims.selection`)."""
    generations = {Pair("", name).generation for name in group.machines}
    return generations if len(generations) == 1 else {group.claim.hardware_class}


def all_measured(claim: Claim, evidence: Evidence, here: Machines) -> list[JudgedGroup]:
    """Every whole group with a value, then the parts of machines that belong to none."""
    found = [one for group in whole_groups(claim, here) if (one := judged_group(group, evidence))]
    used = {name for one in found for name in one.group.machines}
    return found + [one for group in part_groups(claim, here, used) if (one := judged_group(group, evidence))]


def finding_row(claim: Claim, groups: list[JudgedGroup], otherwise: dict) -> dict:
    """The claim's row of ``claims.csv``; ``otherwise`` (its row without machines) if none decides."""
    deciding = [one for one in groups if one.decides]
    if not deciding:
        return otherwise | {"reason": _undecided(otherwise, groups)}
    fails = [one for one in deciding if not one.holds and not one.undecided]
    open_ones = [one for one in deciding if one.undecided]
    if open_ones and not fails:
        judged = open_ones[0].verdict
        return claim_row(claim, open_ones[0].outcome, judged) | {"obtained": _group_values(deciding)}
    shown = (fails or deciding)[0]
    return claim_row(claim, shown.outcome, Verdict(*_group_words(deciding, fails))) | {
        "obtained": _group_values(deciding)
    }


def _group_words(deciding: list[JudgedGroup], fails: list[JudgedGroup]) -> tuple[str, str]:
    coverage = [f"{one.group}: {one.group.coverage}" for one in deciding if not one.group.whole]
    if not fails:
        return REPRODUCED, "; ".join(coverage)
    reasons = [one.verdict.reason for one in fails[:1]]
    good, doubtful = ([one for one in deciding if one.word == word] for word in ("holds", "undecided"))
    if good or doubtful or len(fails) > 1:
        reasons.append(
            ", ".join(
                f"{word} on {', '.join(str(one.group) for one in ones)}"
                for word, ones in (("holds", good), ("fails", fails), ("undecided", doubtful))
                if ones
            )
        )
    return DEVIATES, "; ".join([*reasons, *coverage])


def _group_values(deciding: list[JudgedGroup]) -> str:
    """The value, with the machines' names if there are several."""
    if len(deciding) == 1:
        return str(deciding[0].outcome)
    return "; ".join(f"{one.group}: {one.outcome}" for one in deciding)


def _undecided(otherwise: dict, groups: list[JudgedGroup]) -> str:
    """The reason of the row, and which parts were measured. A row that was judged keeps its reason."""
    if otherwise["verdict"] != NOT_MEASURABLE or not groups:
        return otherwise["reason"]
    listed = "; ".join(f"{one.group}: {one.outcome}, {one.group.coverage}" for one in groups)
    return f"measured in part, which does not decide it ({listed}); {otherwise['reason']}"


# Findings on processors of other classes.
#
# The claim is judged as if it were about the machine's class. ``coverage`` says which of its workloads ran.
# A claim whose readings disagree has no row.

HOLDS, FAILS = "HOLDS-ELSEWHERE", "FAILS-ELSEWHERE"


def elsewhere_rows(claim: Claim, evidence: Evidence, here: Machines) -> list[dict]:
    """A row for each machine of another class that gives a value."""
    found = []
    for name, pairs in here.items():
        generation = pairs[0].generation
        mine = with_workloads(claim, pairs)
        if is_about(claim, generation) or not mine:
            continue
        platforms = (generation,) if claim.scope.platforms else ()
        moved = replace(claim, hardware_class=generation, scope=replace(claim.scope, platforms=platforms))
        done = judged_group(single_group(moved, name, mine), evidence)
        if done is not None and not done.undecided:
            found.append({
                "id": claim.id, "machine": name, "class": generation,
                "obtained": str(done.outcome), "holds": HOLDS if done.holds else FAILS,
                "coverage": done.group.coverage,
            })  # fmt: skip
    return found
