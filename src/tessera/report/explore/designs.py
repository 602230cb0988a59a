"""Designs that nobody has built: H, M, C simulated, and what may be said of their runtime."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.core.platforms import Platform, Value, own_key
from tessera.core.results.cell_tables import ARCHIVED_DESIGNS
from tessera.core.results.outcomes import is_ok
from tessera.core.results.table_io import read_file
from tessera.core.results.transfer_tables import NEW_DESIGNS, VERDICTS
from tessera.fit.predict.decision import Decision, Question, decide_question
from tessera.fit.predict.processor import MEASURED, SIMULATED, of_table
from tessera.lab.transfer.classes import DESIGN, changed, groups_of
from tessera.lab.transfer.points import asked
from tessera.record import traces
from tessera.report import new_designs
from tessera.report.explore.display import shares
from tessera.report.explore.miss_heat import profile, suggestion
from tessera.report.explore.source import PairSamples, ResultsSource
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import Plan, Sampling

# H, M, C of designs that nobody has built, simulated without a runtime (engine `partial`), or with it.
#
# A design is a platform with some keys changed, or an operating system that gives 2MB pages to the hottest
# parts of memory, or both. A results tree with recorded traces is simulated for real. The archive of
# the checkout has no traces; it has the H, M, C of a few designs, simulated when it was made.

SIMULATE = "simulate it on a recorded trace: ./run smoke or ./run reproduce makes one"
#: Shorter traces are simulated whole: C is then exact.
WHOLE_BELOW_ACCESSES = 20_000_000


@dataclass(frozen=True)
class Design:
    """What differs from the platform with 4KB pages.

    ``changes``: keys of the platform, as in ``{"tlb.stlb.entries": 2048}``. ``hot_share``: the 2MB pages that
    hold this share of the platform's own misses are huge.
    """

    name: str
    changes: dict[str, int | str] = field(default_factory=dict)
    hot_share: float = 0.0

    @property
    def text(self) -> str:
        """`key=value` pairs in the order of keys: what a design is, whatever it is called."""
        hot = {"hot_share": self.hot_share} if self.hot_share else {}
        return " ".join(f"{key}={value}" for key, value in sorted({**self.changes, **hot}.items()))

    def platform(self, base: Platform) -> Platform:
        """``base`` with the changes.

        Raises:
            TesseraError: ``base`` has no such key.
        """
        unknown = sorted(key for key in self.changes if key not in base.values and own_key(key) is None)
        if unknown:
            near = [key for key in sorted(base.values) if key.split(".")[0] == unknown[0].split(".")[0]]
            raise TesseraError(
                f"design '{self.name}': {', '.join(unknown)}",
                f"{base.name} has no such key; it has {', '.join(near or sorted(base.values))}",
                "name keys as in `tessera platform show`",
            )
        changed = {key: Value(value, f"assumed: design '{self.name}'") for key, value in self.changes.items()}
        return replace(base, name=base.name, values={**base.values, **changed})


def simulate_designs(
    source: ResultsSource, pair: PairSamples, designs: list[Design], *, timed: bool = False
) -> pd.DataFrame:
    """H, M, C of each design with 4KB pages: a table as in the archive, which `tessera.fit.predict` reads.

    ``timed``: R, too, by the engine `timing`; else `runtime_cycles` is empty.

    Raises:
        TesseraError: there is no trace of the workload, or no simulator, or (archive) no such design.
    """
    if source.archived:
        found = _archived(pair, designs)
        return found if timed else found.assign(runtime_cycles=pd.NA)
    trace = pair.tree.trace(pair.workload)
    if not trace.is_file():
        raise TesseraError(
            f"trace of {pair.workload} in {source.where}",
            "there is none: designs can't be simulated",
            "record it: ./run reproduce; or give your own simulator's H, M, C as a table",
        )
    return simulate_on_trace(trace, pair, designs, *profile(source, pair), timed=timed)


def simulate_on_trace(
    trace: Path, pair: PairSamples, designs: list[Design], space: Space, misses: pd.DataFrame, *, timed: bool
) -> pd.DataFrame:
    """The designs on a trace, one after another, by the real simulator; ``misses`` as `miss_heat.profile`."""
    plan = plan_for(traces.trace_info(trace)["accesses"])
    base, rows = platforms.load_platform(pair.platform), []
    with tempfile.TemporaryDirectory(prefix="tessera-designs-") as folder:
        for design in designs:
            layout, changed = Path(folder) / "design.csv", design.platform(base)
            small = Layout("design", dict(space.pool_bytes))
            write_layout(
                suggestion(pair, space, misses, design.hot_share) if design.hot_share else small, layout
            )
            options = {
                "workload": pair.workload,
                "engine": "timing" if timed else "partial",
                "sampling": plan,
            }
            (row,) = simulate_platform(trace, changed, [layout], cache=CellCache(None), **options)
            if not is_ok(row):
                raise TesseraError(
                    f"design '{design.name}'", row["message"], "change the design", exit_code=EXIT_FAILED
                )
            rows.append({**row, "design": design.name, "changes": design.text})
    return pd.DataFrame(rows)[list(ARCHIVED_DESIGNS.names)]


def plan_for(accesses: int) -> Plan:
    """Everything of a short trace; the 20 units of config/default.yaml of a longer one."""
    return Sampling(units=0) if accesses < WHOLE_BELOW_ACCESSES else Sampling()


def _archived(pair: PairSamples, designs: list[Design]) -> pd.DataFrame:
    path = pair.tree.archived_designs(pair.workload, pair.platform)
    if not path.is_file():
        there = ", ".join(sorted(other.stem for other in path.parent.glob("*.csv")))
        raise TesseraError(
            f"designs of {pair.workload} on {pair.platform}", f"the archive has {there}", SIMULATE
        )
    table = read_file(ARCHIVED_DESIGNS, path)
    known = table.set_index("changes", drop=False)
    missing = [design.name for design in designs if design.text not in known.index]
    if missing:
        raise TesseraError(
            f"design '{missing[0]}' of {pair.workload} on {pair.platform}",
            f"the archive has only: {'; '.join(text or 'no change' for text in known.index)}",
            SIMULATE,
        )
    rows = known.loc[[design.text for design in designs]].assign(design=[design.name for design in designs])
    return rows.reset_index(drop=True)[list(ARCHIVED_DESIGNS.names)]


# What may be said of the runtime of designs: the one decision, asked with what the notebooks have.
#
# :func:`tessera.fit.predict.decision.decide_question` decides. P is the pair's samples. No notebook measures
# them, so no class needs to be open.

SHOWN_COUNTS = ("stlb_hits", "stlb_misses", "walk_cycles")


def studied_pair(source: ResultsSource, workload: str = "", platform: str = "") -> PairSamples:
    """The pair; without names, the first whose platform is in the study of transfer, if there is one."""
    if not (workload or platform):
        studied = set(source.results.read(VERDICTS)["platform"])
        for one in source.pairs:
            if one[1] in studied:
                return source.pair(*one)
    return source.pair(workload, platform)


def answers(
    pair: PairSamples, designs: list[Design], points: pd.DataFrame, *, clock: bool = False
) -> list[Decision]:
    """A decision for each design.

    Args:
        points: a row for each design, with ``design``, H, M and C (counts and cycles) under 4KB pages.
        clock: their ``runtime_cycles`` is R of the timing engine, which can answer if it is the clock of P.

    Raises:
        TesseraError: ``points`` lacks a design, or one is another organisation of translation
            (``mmu.design``), whose look-ups these counts do not have.
    """
    base, known = platforms.load_platform(pair.platform), points.set_index("design")
    processor = of_table(pair.table).with_hardware(base)
    simulated = processor.origin == SIMULATED
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
            engine=_runtime(known.loc[design.name].get("runtime_cycles")) if clock and simulated else None,
            simulated=simulated, measured=processor.origin == MEASURED,
            layout="design" if design.hot_share else ALL_4KB,
        )  # fmt: skip
        found.append(decide_question(question, processor.bracket, None))
    return found


def for_a_new_design(source: ResultsSource, platform: str) -> pd.DataFrame:
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
