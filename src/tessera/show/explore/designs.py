"""H, M, C of designs that nobody has built, simulated without a runtime (engine `partial`), or with it.

A design is a platform with some keys changed, or an operating system that gives 2MB pages to the hottest
parts of memory, or both. A results tree with recorded traces is simulated for real. The archive of
the checkout has no traces; it has the H, M, C of a few designs, simulated when it was made.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.space import Space
from tessera.platforms.keys import own_key
from tessera.platforms.model import Platform, Value
from tessera.record import traces
from tessera.results.read import read_file
from tessera.results.schema.cells import ARCHIVED_DESIGNS
from tessera.results.status import is_ok
from tessera.show.explore.hot import profile, suggestion
from tessera.show.explore.source import Pair, Source
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Plan, Sampling
from tessera.simulate.runner import simulate

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
    source: Source, pair: Pair, designs: list[Design], *, timed: bool = False
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
    trace: Path, pair: Pair, designs: list[Design], space: Space, misses: pd.DataFrame, *, timed: bool
) -> pd.DataFrame:
    """The designs on a trace, one after another, by the real simulator; ``misses`` as `hot.profile`."""
    plan = plan_for(traces.info(trace)["accesses"])
    base, rows = platforms.load(pair.platform), []
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
            (row,) = simulate(trace, changed, [layout], cache=CellCache(None), **options)
            if not is_ok(row):
                raise TesseraError(
                    f"design '{design.name}'", row["message"], "change the design", exit_code=EXIT_FAILED
                )
            rows.append({**row, "design": design.name, "changes": design.text})
    return pd.DataFrame(rows)[list(ARCHIVED_DESIGNS.names)]


def plan_for(accesses: int) -> Plan:
    """Everything of a short trace; the 20 units of config/default.yaml of a longer one."""
    return Sampling(units=0) if accesses < WHOLE_BELOW_ACCESSES else Sampling()


def _archived(pair: Pair, designs: list[Design]) -> pd.DataFrame:
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
