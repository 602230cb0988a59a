"""Measure all kinds of first touches and write their tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.faults import tables
from tessera.faults.conditions import environment, processor_of, require
from tessera.faults.kinds import Kind
from tessera.faults.probe import Plan, measured
from tessera.faults.series import Series
from tessera.machine.container.toolchain import Toolchain
from tessera.machine.environment.tree import Tree
from tessera.results.schema.faults import COMB, ENVIRONMENT, LATENCY, PASSES
from tessera.results.tree import Tree as Results
from tessera.results.write import frame_of, write

#: The least number of passes of a kind that count.
LEAST_PASSES = 2


def measure(
    tools: Toolchain,
    kinds: Sequence[Kind],
    plan: Plan,
    out: Path,
    say: Callable[[str], None],
    *,
    root: Path = Path("/"),
    any_governor: bool = False,
    keep: Path | None = None,
) -> list[Series]:
    """Measure kinds one after the other and write the tables below ``out``, a results folder.

    Args:
        root: where ``/proc`` and ``/sys`` are.
        any_governor: accept every governor of frequencies.
        keep: folder for the latency of every touch.

    Raises:
        TesseraError: a condition is not met; or of a kind, fewer than :data:`LEAST_PASSES` passes count (code
            ``too-few-passes``). The tables are written in that case, too.
    """
    tree = Tree(root)
    processor_of(plan.processor)
    found = environment(tree, plan.processor)
    require(tree, found, bytes_=plan.bytes_, huge=any(kind.huge for kind in kinds), any_governor=any_governor)
    all_series = []
    for kind in kinds:
        series = measured(tools, kind, plan, keep)
        all_series.append(series)
        say(f"{kind.name}: {len(series.counted)} of {len(series.passes)} passes count")
    paths = Results(out)
    for table, name, rows in (
        (LATENCY, "latency", [row for one in all_series for row in tables.latency_rows(one)]),
        (COMB, "comb", [row for one in all_series for row in tables.comb_rows(one)]),
        (PASSES, "passes", [row for one in all_series for row in tables.pass_rows(one)]),
        (ENVIRONMENT, "environment", [tables.environment_row(found, all_series[0], plan.bytes_)]),
    ):
        write(table, frame_of(table, rows), paths.host_faults(name))
    few = [one for one in all_series if len(one.counted) < LEAST_PASSES]
    if few:
        listed = "; ".join(f"{one.kind.name}: {_reasons(one)}" for one in few)
        raise TesseraError(
            f"at least {LEAST_PASSES} passes that count",
            f"{listed} (all passes: {paths.host_faults('passes')})",
            "stop other programs, then measure again; or give more --passes",
            exit_code=EXIT_FAILED,
            code="too-few-passes",
        )
    return all_series


def _reasons(series: Series) -> str:
    return ", ".join(dict.fromkeys(one.refused for one in series.passes if one.refused))
