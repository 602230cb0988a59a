"""Maps of the guest beside those of the rules, for each rule that a program with one thread can show.

The rules know the first touches of a trace of the same program, recorded under the emulator. Pages and page
tables must lie on the same nodes in both maps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.mapping.paging import read_touches
from tessera.core.results.kernel_tables import MAPS
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.results.table_io import frame_of, write_table
from tessera.lab.numa.guest_map import FIRST_TOUCH, Guest
from tessera.lab.numa.map_rules import Reach, expected_map, touches_as_far_as, touches_behind
from tessera.lab.numa.placement_map import compare_maps, named_differences, write_map
from tessera.record import traces

NODES = 2
DIFFERENT = ("other_node", "only_guest", "only_rule")  #: columns that count differences
#: interleave is left out: which node gets its first table depends on what the kernel allocated before
RULES = (
    "LP-LD", "LP-RD", "RP-LD", "RP-RD", FIRST_TOUCH, "RP-LD+M", "RP-RD+M", "TLP-LD", "TRP-LD", "TRP-LD+M",
)  # fmt: skip


def maps_study(guest: Guest, out: Path, progress: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Write the table :data:`MAPS` and, for each rule, both maps into the folder ``out``.

    A rule whose run fails is one row that says so.

    Raises:
        TesseraError: the program cannot be recorded.
    """
    out.mkdir(parents=True, exist_ok=True)
    trace = out / "trace.tst"
    progress(f"recording {guest.workload} from its first instruction")
    traces.record(
        guest.run.argv, trace, heap_pool=guest.size.heap_pool, anon_pool=guest.size.anon_pool, roi="whole",
        kernel_accesses=True,
    )  # fmt: skip
    traces.touches(trace, out / "touches.csv")
    rows: list[dict] = []
    for rule in RULES:
        progress(f"map of {guest.workload} under {rule}")
        rows += _rows(guest, rule, trace, out)
    trace.unlink()
    return write_table(MAPS, frame_of(MAPS, rows), out / MAPS.file)


def _rows(guest: Guest, rule: str, trace: Path, out: Path) -> list[dict]:
    same = {"workload": guest.workload, "size": guest.label, "rule": rule, "provenance": "measured"}
    folder = out / rule.lower()
    try:
        found = guest.map(rule, folder)
    except TesseraError as error:
        return [same | {"status": FAILED, "message": str(error)}]
    order = touches_behind(found.begin, read_touches(out / "touches.csv"))
    reach = Reach.of(found.begin, traces.info(trace))
    by_rule = expected_map(touches_as_far_as(order, found.map), rule, NODES, reach=reach)
    write_map(found.begin, folder / "begin.csv")
    write_map(found.map, folder / "guest.csv")
    write_map(by_rule, folder / "rule.csv")
    if found.differences:
        said = f"two readings of the page tables differ: {'; '.join(found.differences[:3])}"
        return [same | {"status": FAILED, "message": said}]
    notes = {}
    for kind, level, line in named_differences(found.map, by_rule):
        notes.setdefault((kind, level), line)
    return [
        same
        | {"status": OK, "message": notes.get((row.kind, row.level), ""), "kind": row.kind}
        | {"level": row.level, "guest_units": row.first_units, "rule_units": row.second_units}
        | {"same_node": row.same_node, "other_node": row.other_node}
        | {"only_guest": row.only_first, "only_rule": row.only_second}
        for row in compare_maps(found.map, by_rule).itertuples()
    ]
