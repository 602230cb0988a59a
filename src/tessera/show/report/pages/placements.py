"""Where page tables lie: a computed GUPS under each placement of Mitosis Table 2."""

from __future__ import annotations

from tessera.numa.machine import published
from tessera.results.schema.numa import PLACEMENTS
from tessera.results.status import ok_rows, other_rows
from tessera.show.figures.numa_placements import NAME

#: claims about placements, by the beginnings of their names
CLAIMS = (
    "mitosis-migration-", "mitosis-remote-tables-", "mitosis-all-remote-", "mitosis-local-fastest",
    "mitosis-gups-2mb-", "mitosis-multi-socket-", "tessera-numa-",
)  # fmt: skip


def page(facts) -> dict:
    rows = facts.results.read(PLACEMENTS, expected=False)
    return {
        "title": "Placements",
        "figure": facts.figure(NAME),
        "machine": published(),
        "rows": ok_rows(rows).to_dict("records") if len(rows) else [],
        "failed": other_rows(rows).to_dict("records") if len(rows) else [],
        "claims": [row for row in facts.claims.to_dict("records") if row["id"].startswith(CLAIMS)],
    }
