"""The share of 2MB pages that a program gets in a guest whose memory is fragmented (Mitosis, Figure 11).

The paper fragments memory "until FMFI reaches a high value (> 0.9)" and prints no formula. Here this is the
unusable index of order 9 (:func:`tessera.core.mapping.free_blocks.unusable_index`) of the node that has the
data. The tool ``fragment`` of the guest holds memory there, and leaves free :data:`FREE_OF_DATA` times what
the program needs: the paper's GUPS has 64 GB of the 128 GB of a socket.

Without compaction, 2MB pages can only come from free blocks, so the index bounds the share. The kernel's
proactive compaction is off then, too. Compaction moves the pages that the tool holds. The paper's runs take
long enough for khugepaged and kcompactd, which work in the background. The guest's are too short for them, so
page faults compact in their place. The two rows of a configuration, without and with compaction, enclose what
a kernel with background work does.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.mapping.free_blocks import ORDER_OF_2MB, machine_free_blocks, unusable_index
from tessera.core.results.kernel_tables import FRAGMENTED
from tessera.core.results.outcomes import FAILED, OK, is_ok
from tessera.core.results.table_io import frame_of
from tessera.core.units import KB, MB
from tessera.lab.numa.guest_map import CapturedMap, Guest, ready_guest
from tessera.lab.numa.map_rules import map_rule, node_of
from tessera.lab.numa.placement_map import DATA, LEVELS, PAGE_BYTES, PlacementMap, unit_pages
from tessera.lab.study import Run, printed, study

INDEX = 0.9  #: section 8.2
FREE_OF_DATA = 2
FREE, COMPACTED = "free", "compacted"
#: how page faults look for a 2MB page -> word of ``transparent_hugepage/defrag``, commands before the program
BLOCKS = {
    FREE: ("never", "echo 0 > /proc/sys/vm/compaction_proactiveness || exit\n"),
    COMPACTED: ("always", ""),
}
#: configuration, blocks, least index; the first is the control
CASES = (
    ("TRP-LD", FREE, 0.0), ("TLP-LD", FREE, INDEX), ("TRP-LD", FREE, INDEX),
    ("TLP-LD", COMPACTED, INDEX), ("TRP-LD", COMPACTED, INDEX),
)  # fmt: skip
#: with huge pages on, the kernel keeps 22 MB of a node in reserve, as much as the index leaves in blocks
_RESERVE = "echo 4096 > /proc/sys/vm/min_free_kbytes || exit\n"
_HUGE_PAGES = re.compile(r"^AnonHugePages: +(\d+) kB$", re.MULTILINE)


@study(FRAGMENTED, show=printed(3, without=["workload", "size", "provenance"]))
def fragmented(
    run: Run, workload: str = "mitosis-gups", size: str = "guest", accept_series: bool = False
) -> pd.DataFrame:
    """Fragment the memory of the data's node, run a program with huge pages on, and count its 2MB pages.

    The first run is a control without fragmentation. The others have an unusable index of order 9 above 0.9,
    without and with compaction by page faults. A run that fails is a row that says so, and exit status 1.

    Example (after: tessera dev build mosalloc workloads):
      ./run tessera lab run numa-fragmented --out /tmp/fragmented

    Args:
        workload: a program of artifacts/workloads.
        size: its size; the guest has 1 GB.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: as :func:`tessera.lab.numa.guest_map.ready_guest`.
    """
    rows = []
    with tempfile.TemporaryDirectory(prefix="tessera-fragmented-") as name:
        guest = ready_guest(workload, size, Path(name), run.say, accept_series=accept_series)
        for configuration, blocks, index in CASES:
            run.say(f"{workload} under {configuration}, index above {index:g}, {blocks} blocks")
            folder = run.folder / f"{configuration.lower()}-{blocks}-{index}"
            rows.append(_row(guest, configuration, blocks, index, folder))
    run.wrong.extend(f"{row['configuration']}: {row['message']}" for row in rows if not is_ok(row))
    return frame_of(FRAGMENTED, rows)


def page_bytes(found: PlacementMap) -> dict[int, int]:
    """Bytes of the program's pages by level: 1 for 4KB pages, 2 for 2MB pages."""
    return {
        level: len(found.units(DATA, level)[0]) * unit_pages(DATA, level) * PAGE_BYTES
        for level in LEVELS[:-1]
    }


def listed_pages(zoneinfo: str, node: int) -> int:
    """Free pages of a node that lie in lists of processors; ``buddyinfo`` does not have them."""
    zones = re.split(r"^Node +", zoneinfo, flags=re.MULTILINE)
    mine = [zone for zone in zones if re.match(rf"{node}, zone ", zone)]
    return sum(int(count) for zone in mine for count in re.findall(r"cpu: \d+\n +count: +(\d+)", zone))


def columns_of_run(
    found: CapturedMap, before: list[int], after: list[int], smaps: str, listed: int = 0
) -> dict:
    """Columns of a run from its map, the free blocks of the data's node, and ``smaps_rollup``."""
    by_level = page_bytes(found.map)
    total, large = sum(by_level.values()), sum(by_level[level] for level in by_level if level > 1)
    frames = [count << order for order, count in enumerate(before)]
    kernel = _HUGE_PAGES.search(smaps)
    return {
        "index": unusable_index(before), "free_bytes": sum(frames) * PAGE_BYTES,
        "large_free_bytes": sum(frames[ORDER_OF_2MB:]) * PAGE_BYTES,
        "listed_bytes": listed * PAGE_BYTES, "data_bytes": total,
        "large_data_bytes": large, "share": large / total if total else None,
        "smaps_large_bytes": int(kernel[1]) * KB if kernel else None, "index_after": unusable_index(after),
    }  # fmt: skip


def _row(guest: Guest, configuration: str, blocks: str, index: float, out: Path) -> dict:
    same = {
        "workload": guest.workload, "size": guest.label, "configuration": configuration, "blocks": blocks,
        "least_index": index, "provenance": "measured",
    }  # fmt: skip
    where = map_rule(configuration).begins
    node, free_mb = node_of(where.data, where), FREE_OF_DATA * guest.size.footprint // MB
    defrag, before = BLOCKS[blocks]
    before += f"{_RESERVE}mkdir /out/before || exit\n"
    before += f"fragment {node} {index} {free_mb} > /out/fragmented || exit\n" if index else ""
    before += (
        "cat /proc/buddyinfo > /out/before/buddyinfo && cat /proc/zoneinfo > /out/before/zoneinfo || exit"
    )
    try:
        found = guest.map(configuration, out, defrag=defrag, before=before)
        listed = listed_pages((out / "before" / "zoneinfo").read_text(), node)
        smaps = (out / "smaps").read_text()
        got = columns_of_run(
            found, machine_free_blocks(out / "before", node), machine_free_blocks(out, node), smaps, listed
        )
        _check(found, got, index, out)
    except TesseraError as error:
        return same | {"status": FAILED, "message": str(error)}
    return same | {"status": OK, "message": ""} | got


def _check(found: CapturedMap, got: dict, index: float, out: Path) -> None:
    """The memory is as fragmented as asked, and two readings agree with the map.

    Raises:
        TesseraError: they do not.
    """
    wrong = ""
    if got["index"] <= index and index:
        wrong = f"the unusable index is {got['index']:.3f}, and must be above {index:g}"
    elif got["smaps_large_bytes"] != got["large_data_bytes"]:
        wrong = f"the kernel counts {got['smaps_large_bytes']} bytes in 2MB pages, the page tables "
        wrong += f"{got['large_data_bytes']}"
    elif found.differences:
        wrong = f"two readings of the page tables differ: {found.differences[0]}"
    if wrong:
        raise TesseraError(
            "a program in fragmented memory",
            wrong,
            f"read the files of {out}",
            exit_code=EXIT_FAILED,
            code="numa-fragmented",
        )
