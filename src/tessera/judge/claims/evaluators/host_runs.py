"""Real runs on this machine: variation of repeats (``host/cells.csv``)."""

from __future__ import annotations

from tessera.judge.claims import distribution
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.results.schema.cells import HOST_CELLS
from tessera.results.status import ok_rows

RESERVE = "./run --reserve reproduce"
THIS_MACHINE = "host"


def host_variation(claim, evidence) -> Outcome:
    """Largest standard deviation over mean of the runtimes of a layout's repeats, percent."""
    rows = ok_rows(evidence.table(HOST_CELLS, RESERVE))
    rows = rows[rows["runtime_provenance"] == "measured"]
    groups = rows.dropna(subset=["runtime_ns"]).groupby(["workload", "layout"])["runtime_ns"]
    varied = [100 * float(g.std() / g.mean()) for _, g in groups if len(g) > 1]
    if not varied:
        raise Missing("no layout has two good real runs", RESERVE)
    spread = distribution.describe(varied, "max", "layouts")
    return Outcome(max(varied), "measured", THIS_MACHINE, distribution=spread)


EVALUATORS = {"host_variation": host_variation}
