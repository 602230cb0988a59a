"""Numbers of a run in fragmented memory, and the gains of Figure 11 that follow from its share."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.mapping.free_blocks import machine_free_blocks, unusable_index
from tessera.lab.numa.fragmented_memory import CASES, FREE, columns_of_run, listed_pages, page_bytes
from tessera.lab.numa.guest_map import CapturedMap
from tessera.lab.numa.mitosis_figures import figure11_gains
from tessera.lab.numa.placement_map import DATA, TABLE, PlacementMap

from .test_mixed import rows as costs

BUDDYINFO = """Node 0, zone DMA 1 0 0 0 0 0 0 0 0 1 1
Node 0, zone DMA32 488 8 0 0 0 0 0 0 0 1 0
Node 1, zone DMA32 4 0 0 0 0 0 0 0 0 0 0
"""


def mapped(*rows):
    found = PlacementMap.of([*rows, (TABLE, 1, 0, 0, 512, 0)])
    return CapturedMap(found, found, 0, [], [])


@pytest.mark.parametrize(("node", "frames", "large"), [(0, 1 + 512 + 1024 + 488 + 16 + 512, 2048), (1, 4, 0)])
def test_free_memory_of_a_node(tmp_path, node, frames, large):
    (tmp_path / "buddyinfo").write_text(BUDDYINFO)
    blocks = machine_free_blocks(tmp_path, node)
    assert unusable_index(blocks) == pytest.approx(1 - large / frames)
    assert machine_free_blocks(tmp_path)[0] == 1 + 488 + 4


def test_shares_are_of_bytes():
    found = mapped((DATA, 1, 1, 0, 512, 0), (DATA, 2, 1, 512, 512 * 4, 0))
    assert page_bytes(found.map) == {1: 2 << 20, 2: 6 << 20, 3: 0}
    got = columns_of_run(found, [512] + [0] * 8 + [1], [4] + [0] * 9, "AnonHugePages:      6144 kB\n")
    assert got["share"] == 0.75 and got["index"] == 0.5 and got["index_after"] == 1
    assert (got["free_bytes"], got["large_free_bytes"]) == (4 << 20, 2 << 20)
    assert got["large_data_bytes"] == got["smaps_large_bytes"] == 6 << 20


def test_pages_in_lists_of_processors_are_counted_by_node():
    zone = "Node {}, zone DMA32\n  pages free 9\n  pagesets\n    cpu: 0\n     count:    {}\n     high: 7\n"
    text = zone.format(0, 5) + "    cpu: 1\n              count: 6\n" + zone.format(1, 90)
    assert (listed_pages(text, 0), listed_pages(text, 1)) == (11, 90)


def test_a_kernel_that_counts_nothing_gives_no_number():
    assert columns_of_run(mapped((DATA, 1, 1, 0, 1, 0)), [1], [1], "Rss: 4 kB\n")["smaps_large_bytes"] is None


def test_the_first_case_is_a_control():
    assert CASES[0][2] == 0 and all(index > 0 for _, _, index in CASES[1:])


def archive():
    """C of 4KB pages 100 and 400, of 2MB pages 0; in pieces 80 and 300: shares of 0.2 and 0.25."""
    cycles = {
        ("Figure 10a", "LP-LD", "4KB"): 100, ("Figure 10a", "RPI-LD", "4KB"): 400,
        ("Figure 10a", "TLP-LD", "2MB"): 0, ("Figure 10a", "TRPI-LD", "2MB"): 0,
        ("Figure 11", "TLP-LD", "2MB"): 80, ("Figure 11", "TRPI-LD", "2MB"): 300,
    }  # fmt: skip
    found = [(*where, "walk", value) for where, value in cycles.items()]
    found += [
        ("Figure 11", "TRPI-LD", "2MB", "runtime", 600),
        ("Figure 11", "TRPI-LD+M", "2MB", "runtime", 200),
    ]
    names = ["location", "configuration", "page_size", "quantity", "value"]
    return pd.DataFrame(found, columns=names).assign(workload="GUPS")


def measured(share):
    rows = [
        ("TRP-LD", FREE, 0.0, "ok", 1.0),
        ("TRP-LD", FREE, 0.9, "ok", share),
        ("TLP-LD", FREE, 0.9, "failed", None),
    ]
    return pd.DataFrame(rows, columns=["configuration", "blocks", "least_index", "status", "share"])


def test_gains_for_shares_of_the_guest_and_of_the_archive():
    found = figure11_gains(measured(0.5), costs(), archive())
    assert found["source"].tolist() == ["guest, free blocks", "archive", "archive"]
    assert found["configuration"].tolist() == ["TRP-LD", "TLP-LD", "TRPI-LD"]
    assert found["share"].tolist() == pytest.approx([0.5, 0.2, 0.25])
    assert found["runtime_gain"].tolist() == pytest.approx([230 / 75, 332 / 90, 315 / 87.5])
    assert set(found["archived_gain"]) == {3.0}


def test_without_an_archive_only_the_guest_has_shares():
    found = figure11_gains(measured(0.5), costs(), pd.DataFrame())
    assert len(found) == 1 and found["archived_gain"].isna().all()
