"""Which number to simulate, class by class: sentences from the table of verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tessera.judge.studies.sentences import percent
from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.classes import GROUPS, IDEAL
from tessera.judge.studies.transfer.declared import BUSY, COUNTED, INPUTS, LATENCY
from tessera.judge.studies.transfer.fits import CONSTANT
from tessera.judge.studies.transfer.verdicts import survivors

SUFFICE, RESCUED, ENGINE_ONLY, NOT_JUDGED = "suffice", "rescued", "engine", "not judged"
_REMEDY = {
    LATENCY: "weigh hits by their look-up time (`latency`)",
    BUSY: "add background loads to C (`busy`)",
}


@dataclass(frozen=True)
class Advice:
    """What to simulate for a class; ``models`` survive by ``inputs``."""

    group: str
    kind: str
    inputs: str = ""
    models: tuple[str, ...] = ()


def advice(verdicts: pd.DataFrame, group: str) -> Advice:
    """The first declared input by which a model survives on every platform."""
    rows = verdicts[verdicts["group"] == group]
    if not (rows["verdict"] != rules.NOT_JUDGED).any():
        return Advice(group, NOT_JUDGED)
    for inputs in INPUTS:
        models = tuple(name for name in survivors(rows, group, inputs) if name != CONSTANT)
        if models:
            return Advice(group, SUFFICE if inputs == COUNTED else RESCUED, inputs, models)
    return Advice(group, ENGINE_ONLY)


def which_number(verdicts: pd.DataFrame) -> list[str]:
    """One sentence or more for each class."""
    there = set(verdicts["group"])
    return [_sentence(verdicts, group) for group in GROUPS if group in there and group != IDEAL]


def _sentence(verdicts: pd.DataFrame, group: str) -> str:
    found = advice(verdicts, group)
    head = f"{group} ({GROUPS[group]})"
    if found.kind == NOT_JUDGED:
        return f"{head}: no point is judged, because translation takes less than 5% of R."
    if found.kind == SUFFICE:
        text = f"{head}: H, M and C suffice. These models survive: {', '.join(found.models)}."
    elif found.kind == RESCUED:
        text = (
            f"{head}: H, M and C as counted do not suffice; {_REMEDY[found.inputs]}. "
            f"Then these models survive: {', '.join(found.models)}."
        )
    else:
        text = f"{head}: simulate time, because no model survives. {_best(verdicts, group)}"
    return text + _constant(verdicts, group) + _bound(verdicts, group)


def _best(verdicts: pd.DataFrame, group: str) -> str:
    rows = verdicts[(verdicts["group"] == group) & (verdicts["model"] != CONSTANT)]
    best = rows.loc[rows["pass_share"].astype(float).idxmax()]
    passing, judged = int(best["passing"]), int(best["judged"])
    return f"The best is {best['model']} by `{best['inputs']}`: {passing} of {judged} points pass."


def _constant(verdicts: pd.DataFrame, group: str) -> str:
    if CONSTANT not in survivors(verdicts, group, COUNTED):
        return ""
    return " The constant R_0 survives, too, so these designs hardly change R."


def _bound(verdicts: pd.DataFrame, group: str) -> str:
    rows = verdicts[(verdicts["group"] == group) & (verdicts["inputs"] == COUNTED)]
    bound = rows["least_error"].max()
    if not bound > rules.BOUND:
        return ""
    least = percent(bound)
    return f" Some designs have H, M and C of P and another R: no function is nearer than {least} to both."
