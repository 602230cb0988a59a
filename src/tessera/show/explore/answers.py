"""What may be said of the runtime of designs: the one decision, asked with what the notebooks have.

:func:`tessera.fit.predict.decision.decide` decides. P is the pair's samples. No notebook measures them, so no
class needs to be open. Formulas of papers stand apart.
"""

from __future__ import annotations

import math

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import MODELS, create
from tessera.fit.predict.decision import Decision, Question, decide
from tessera.fit.predict.processor import MEASURED, SIMULATED, of_table
from tessera.judge.studies.transfer.classes import DESIGN, changed, groups_of
from tessera.judge.studies.transfer.declared import asked
from tessera.judge.studies.transfer.hull import Hull, inputs_used
from tessera.layouts.names import ALL_4KB
from tessera.results.schema.transfer import NEW_DESIGNS, VERDICTS
from tessera.show import new_designs
from tessera.show.explore.designs import Design, simulate_designs
from tessera.show.explore.look import shares
from tessera.show.explore.source import Pair, Source

COUNTS = ("stlb_hits", "stlb_misses", "walk_cycles")
NO_RUNTIME = "no runtime"  #: in place of a prediction that is negative, 0 or not finite


def studied_pair(source: Source, workload: str = "", platform: str = "") -> Pair:
    """The pair; without names, the first whose platform is in the study of transfer, if there is one."""
    if not (workload or platform):
        studied = set(source.results.read(VERDICTS)["platform"])
        for one in source.pairs:
            if one[1] in studied:
                return source.pair(*one)
    return source.pair(workload, platform)


def answers(
    source: Source, pair: Pair, designs: list[Design], points: pd.DataFrame, *, clock: bool = False
) -> list[Decision]:
    """A decision for each design.

    Args:
        points: a row for each design, with ``design``, H, M and C (counts and cycles) under 4KB pages.
        clock: simulate R, too, so that the timing engine can answer, if it is the clock of P.

    Raises:
        TesseraError: ``points`` lacks a design; the simulator rejects one; or one is another organisation of
            translation (``mmu.design``), whose look-ups these counts do not have.
    """
    base, known = platforms.load(pair.platform), points.set_index("design")
    processor = of_table(pair.table).with_hardware(base)
    simulated = processor.origin == SIMULATED
    timed = None
    if clock and simulated:
        timed = simulate_designs(source, pair, designs, timed=True).set_index("design")
    found = []
    for design in designs:
        if design.name not in known.index:
            raise TesseraError(f"counts of design '{design.name}'", f"there are {', '.join(known.index)}",
                               "simulate it, or add a row with its H, M and C")  # fmt: skip
        if DESIGN in design.changes:
            raise TesseraError(
                f"design '{design.name}': {DESIGN}={design.changes[DESIGN]}",
                "H, M and C do not say how long its look-ups take",
                "let the command simulate it: ./run tessera predict --help",
            )
        groups, unknown = groups_of(base, design.changes)
        question = Question(
            design.name, tuple(groups), tuple(unknown),
            # under other pages than those of the samples, nobody ran P
            None if design.hot_share else processor.bases.get(ALL_4KB),
            asked(known.loc[design.name], [], changed(base, design.changes), base),
            engine=None if timed is None else _runtime(timed.loc[design.name, "runtime_cycles"]),
            simulated=simulated, measured=processor.origin == MEASURED,
            layout="design" if design.hot_share else ALL_4KB,
        )  # fmt: skip
        found.append(decide(question, processor.bracket, None))
    return found


def formulas(pair: Pair, points: pd.DataFrame) -> pd.DataFrame:
    """What each published formula says of the points: a formula of a paper is no answer.

    A row for each model of MICRO'20 that fits this pair. Two columns for each point: the change of R against
    the 4KB run, and the distance to the samples in the inputs of the model, as a share of their ranges.
    """
    samples, base = pair.table.fitted, pair.at(ALL_4KB)["R"]
    hull, rows = Hull(samples), {}
    for name in MODELS:
        try:
            model = create(name).fit(samples)
        except CannotFit:
            continue
        rows[name] = {}
        for point in points.itertuples():
            x = tuple(float(getattr(point, column)) for column in COUNTS)
            guess = float(model.predict(*([value] for value in x))[0])
            usable = math.isfinite(guess) and guess > 0
            change = f"{guess / base - 1:+.1%}" if usable else NO_RUNTIME
            distance = hull.distance(x, inputs_used(model))
            rows[name] |= {
                (point.design, "change of R"): change,
                (point.design, "distance"): f"{distance:.0%}",
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("formula of a paper")


def for_a_new_design(source: Source, platform: str) -> pd.DataFrame:
    """The table "For a new design" of the study of transfer, without rows if these data have none.

    Classes by the workloads on which nothing was tuned, if there are any; counts are points.
    """
    table = source.results.read(NEW_DESIGNS)
    parts = [new_designs.of_scope(table, scope, platform) for scope in (new_designs.NEW, new_designs.ALL)]
    rows = next((part for part in parts if len(part)), parts[-1])
    shown = {
        "judged": "questions", "answered": "answered", "covered": "covered", "half_width": "half-width",
        "passing": "passing", "constant_passing": "constant", "mosmodel_passing": "Mosmodel",
        "informative_answered": "informative", "informative_passing": "passing, informative",
    }  # fmt: skip
    labels = pd.Index([new_designs.label(group) for group in rows["group"]], name="class: what changes")
    rows = rows.assign(half_width=shares(rows[["half_width"]])["half_width"])
    return rows[list(shown)].rename(columns=shown).set_index(labels)


def _runtime(value) -> float | None:
    return None if pd.isna(value) else float(value)
