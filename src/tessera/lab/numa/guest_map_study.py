"""Maps of the guest beside those of the rules, for each rule that a program with one thread can show.

The rules know the first touches of a trace of the same program, recorded under the emulator. Pages and page
tables must lie on the same nodes in both maps.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.mapping.paging import read_touches
from tessera.core.results.kernel_tables import MAPS
from tessera.core.results.outcomes import FAILED, OK, other_rows
from tessera.core.results.table_io import frame_of
from tessera.lab.numa.guest_map import FIRST_TOUCH, Guest, ready_guest
from tessera.lab.numa.map_rules import Reach, expected_map, touches_as_far_as, touches_behind
from tessera.lab.numa.placement_map import compare_maps, named_differences, write_map
from tessera.lab.study import Run, printed, study
from tessera.record import traces

NODES = 2
DIFFERENT = ("other_node", "only_guest", "only_rule")  #: columns that count differences
#: interleave is left out: which node gets its first table depends on what the kernel allocated before
RULES = (
    "LP-LD", "LP-RD", "RP-LD", "RP-RD", FIRST_TOUCH, "RP-LD+M", "RP-RD+M", "TLP-LD", "TRP-LD", "TRP-LD+M",
)  # fmt: skip


@study(MAPS, show=printed(0, without=["workload", "size", "provenance"]))
def maps(
    run: Run, workload: str = "mitosis-gups", size: str = "tiny", accept_series: bool = False
) -> pd.DataFrame:
    """Capture a map of a program's pages and page tables under each rule; compare it with the rule's.

    Both maps of each rule are beside the table. A rule whose run fails is one row that says so. The exit
    status is 1 if a rule failed or a map differs.

    Example (after: tessera dev build mosalloc tracer workloads):
      ./run tessera lab run numa-maps --out /tmp/maps

    Args:
        workload: a program of artifacts/workloads.
        size: its size; the guest has 1 GB.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the program cannot be recorded, or the guest cannot run it.
    """
    with tempfile.TemporaryDirectory(prefix="tessera-map-") as name:
        guest = ready_guest(workload, size, Path(name), run.say, accept_series=accept_series)
        rows = _all_rows(guest, run)
    table = frame_of(MAPS, rows)
    run.wrong.extend(f"{row.rule}: {row.message}" for row in other_rows(table).itertuples())
    if differing := int(table[list(DIFFERENT)].sum().sum()):
        run.wrong.append(f"{differing} pages and page tables are not where the rules put them")
    return table


def _all_rows(guest: Guest, run: Run) -> list[dict]:
    run.folder.mkdir(parents=True, exist_ok=True)
    trace = run.folder / "trace.tst"
    run.say(f"recording {guest.workload} from its first instruction")
    traces.record_program(
        guest.run.argv, trace, heap_pool=guest.size.heap_pool, anon_pool=guest.size.anon_pool, roi="whole",
        kernel_accesses=True,
    )  # fmt: skip
    traces.write_touches(trace, run.folder / "touches.csv")
    rows: list[dict] = []
    for rule in RULES:
        run.say(f"map of {guest.workload} under {rule}")
        rows += _rows(guest, rule, trace, run.folder)
    trace.unlink()
    return rows


def _rows(guest: Guest, rule: str, trace: Path, out: Path) -> list[dict]:
    same = {"workload": guest.workload, "size": guest.label, "rule": rule, "provenance": "measured"}
    folder = out / rule.lower()
    try:
        found = guest.map(rule, folder)
    except TesseraError as error:
        return [same | {"status": FAILED, "message": str(error)}]
    order = touches_behind(found.begin, read_touches(out / "touches.csv"))
    reach = Reach.of(found.begin, traces.trace_info(trace))
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
