"""Where page tables lie: a computed GUPS under each placement of Mitosis Table 2."""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.numa.figure11 import gains
from tessera.numa.machine import PLATFORM, published
from tessera.results.schema.numa import FRAGMENTED, MAPS, PLACEMENTS, PROGRAMS
from tessera.results.schema.shown import REFERENCE
from tessera.results.status import ok_rows, other_rows
from tessera.show.figures import numa_programs
from tessera.show.figures.numa_placements import NAME

#: claims about placements, by the beginnings of their names
CLAIMS = (
    "mitosis-migration-", "mitosis-remote-tables-", "mitosis-all-remote-", "mitosis-local-fastest",
    "mitosis-gups-2mb-", "mitosis-multi-socket-", "mitosis-fragmented-", "tessera-numa-",
)  # fmt: skip


def page(facts) -> dict:
    rows = facts.results.read(PLACEMENTS, expected=False)
    programs = facts.results.read(PROGRAMS, expected=False)
    return {
        "title": "Placements",
        "figure": facts.figure(NAME),
        "machine": published(),
        "rows": ok_rows(rows).to_dict("records") if len(rows) else [],
        "failed": other_rows(rows).to_dict("records") if len(rows) else [],
        "bars": _bars(facts) if len(ok_rows(programs)) else [],
        "programs_figure": facts.figure(numa_programs.NAME) if len(programs) else None,
        "failed_programs": other_rows(programs).to_dict("records") if len(programs) else [],
        "maps": facts.results.read(MAPS, expected=False).to_dict("records"),
        "fragmented": facts.results.read(FRAGMENTED, expected=False).to_dict("records"),
        "gains": _gains(facts),
        "claims": [row for row in facts.claims.to_dict("records") if row["id"].startswith(CLAIMS)],
    }


def _gains(facts) -> list[dict]:
    """Gains of Figure 11; none without shares of a guest, or without simulated costs."""
    fragmented = ok_rows(facts.results.read(FRAGMENTED, expected=False))
    rows = ok_rows(facts.results.read(PLACEMENTS, expected=False))
    rows = rows[rows["platform"] == PLATFORM]
    if fragmented.empty or rows.empty:
        return []
    try:
        return gains(fragmented, rows, facts.results.read(REFERENCE["archived"], expected=False)).to_dict(
            "records"
        )
    except TesseraError:  # a cell that the gain needs has failed; its row says so
        return []


def _bars(facts) -> list[dict]:
    """The bars of programs, with the size and scale of each."""
    sizes = facts.results.read(PROGRAMS, expected=False).drop_duplicates("workload").set_index("workload")
    found = numa_programs.judged_bars(facts.results).to_dict("records")
    return [row | sizes.loc[row["workload"], ["scale", "footprint_bytes"]].to_dict() for row in found]
