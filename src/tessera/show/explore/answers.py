"""The runtime of each design with its source: a model that survived its class, else the timing engine.

The classes and verdicts are those of the study of transfer (docs/transfer.md), if the results have it. The
model is fitted to the layouts of this workload on this platform.
"""

from __future__ import annotations

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.fit.models.registry import create
from tessera.judge.studies.transfer import coverage
from tessera.judge.studies.transfer.classes import groups_of
from tessera.judge.studies.transfer.declared import COUNTED
from tessera.judge.studies.transfer.fits import predicted
from tessera.judge.studies.transfer.trusted import Decision, decide
from tessera.results.schema.transfer import VERDICTS, WIDTHS
from tessera.show.explore.designs import Design, simulate_designs
from tessera.show.explore.source import Pair, Source

ENGINE, NOTHING = "timing engine", "none"
NO_TIME = "these data have no R of this design; to simulate it: ./run reproduce"
COLUMNS = ("design", "class", "runtime_cycles", "low_cycles", "high_cycles", "source", "why")


def studied_pair(source: Source, workload: str = "", platform: str = "") -> Pair:
    """The pair; without names, the first whose platform is in the study of transfer, if there is one."""
    if not (workload or platform):
        studied = set(_table(source, VERDICTS)["platform"])
        for one in source.pairs:
            if one[1] in studied:
                return source.pair(*one)
    return source.pair(workload, platform)


def answers(source: Source, pair: Pair, designs: list[Design], points: pd.DataFrame) -> pd.DataFrame:
    """A row for each design (:data:`COLUMNS`); ``points`` has its H, M and C.

    Raises:
        TesseraError: a design is not in ``points``, or the simulator rejects it.
    """
    known = points.set_index("design")
    rows = []
    for design in designs:
        groups, unknown = groups_of(platforms.load(pair.platform), design.changes)
        decision = _decision(source, pair, groups, unknown)
        x = tuple(float(known.loc[design.name, c]) for c in ("stlb_hits", "stlb_misses", "walk_cycles"))
        head = {"design": design.name, "class": " ".join(groups)}
        rows.append(head | (_of_model(pair, x, decision) or _of_engine(source, pair, design, decision)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _decision(source: Source, pair: Pair, groups: list[str], unknown: list[str]) -> Decision:
    """Whether a model may answer; a study without this platform or class trusts none."""
    verdicts = _table(source, VERDICTS)
    nothing = float("nan")
    if unknown:
        return Decision(None, f"in no class of the study: {', '.join(unknown)}", nothing)
    if verdicts.empty:
        return Decision(None, "these data have no study of transfer", nothing)
    try:
        return decide(verdicts, _table(source, WIDTHS), pair.platform, pair.workload, groups, [COUNTED])
    except TesseraError as error:
        return Decision(None, f"{error.asked}: {error.found}", nothing)


def _of_model(pair: Pair, x: tuple, decision: Decision) -> dict | None:
    if decision.trusted is None:
        return None
    model = create(decision.trusted.model).fit(pair.table.fitted)
    guess = predicted(model, x)
    low, high = coverage.interval(guess, decision.trusted.half_width)
    return {
        "runtime_cycles": guess, "low_cycles": low, "high_cycles": high, "source": model.name,
        "why": f"{decision.reason}; interval from {decision.trusted.points} points",
    }  # fmt: skip


def _of_engine(source: Source, pair: Pair, design: Design, decision: Decision) -> dict:
    found = simulate_designs(source, pair, [design], timed=True)["runtime_cycles"].iloc[0]
    if pd.isna(found):
        return {"source": NOTHING, "why": f"{decision.reason}; {NO_TIME}"}
    return {
        "runtime_cycles": float(found),
        "source": ENGINE,
        "why": f"no model is trusted: {decision.reason}",
    }


def _table(source: Source, table) -> pd.DataFrame:
    return source.results.read(table)
