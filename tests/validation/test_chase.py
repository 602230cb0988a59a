"""The chase's series, its output, and its twin in the simulator."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import read_layout, write_layout
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.lab.chase import latency_steps, measured, simulated
from tessera.lab.study import Run, read_words, run_study


@pytest.mark.parametrize("one", measured.SERIES, ids=lambda one: one.name)
def test_layouts_are_valid_and_hold_the_array(tmp_path, one):
    path = tmp_path / f"{one.layout().name}.csv"
    write_layout(one.layout(), path)
    layout = read_layout(path)
    assert layout.pool_bytes["mmap"] > one.array_bytes
    huge = layout.pages(PAGE_2MB)
    assert huge == one.pages_2mb
    assert (huge * PAGE_2MB >= one.array_bytes) == (one.page_bytes == PAGE_2MB)


def test_quick_needs_no_huge_pages_and_little_memory():
    quick = measured.series_for(measured.SCALES["quick"])
    assert {"pages", "lines"} <= {one.name for one in quick}
    assert all(one.pages_2mb == 0 and one.array_bytes <= 16 << 20 for one in quick)


def test_unknown_names_list_the_valid_ones(tmp_path):
    with pytest.raises(TesseraError, match="full, quick"):
        read_words("chase", measured.chase, ["amount=huge"], tmp_path)
    with pytest.raises(TesseraError, match="line-chains"):
        measured.series_named("huge")


#: the same pairs are in artifacts/workloads/tests/chase_test.cpp
OFFSETS = [
    (64, 5, 320),
    (PAGE_4KB, 0, 0),
    (PAGE_4KB, 1, 4096 + 64),
    (PAGE_4KB, 32, 32 * 4096 + 33 * 64),
    (PAGE_4KB, 63, 63 * 4096 + 0),  # 63 + 1 lines
    (PAGE_2MB, 1, PAGE_2MB + 4096 + 64),
    (PAGE_2MB, 512, 512 * PAGE_2MB + (512 + 16) % 64 * 64),
]


@pytest.mark.parametrize("stride, element, offset", OFFSETS)
def test_offsets_are_those_of_the_program(stride, element, offset):
    assert simulated.offsets(np.array([element]), stride)[0] == offset


@pytest.mark.parametrize("stride", [PAGE_4KB, PAGE_2MB])
def test_offsets_fill_cache_sets_evenly(stride):
    """2048 elements: each pair of a line and a 4KB part (modulo 32) once, so every set by bits 6 to 16."""
    found = simulated.offsets(np.arange(2048), stride)
    assert len(set((found >> 6 & 2047).tolist())) == 2048
    assert len(set((found // stride).tolist())) == 2048  # one element per page


def test_a_tour_visits_everything_once_before_it_is_timed():
    one = measured.series_named("pages")
    order, warmup = simulated.visits(one, 100, 1)
    assert warmup == 100 and len(order) == 100 + simulated.TIMED
    assert sorted(order[:100].tolist()) == list(range(100))
    assert (order[:100] == order[100:200]).all()


OUTPUT = """elements,chains,round,accesses,ns
16,1,0,1000,2000
0,0,0,3000,1000
{"workload": "chase", "frames_known": true, "verified": %s}
"""


def test_rows_of_a_run():
    rows, result = measured.parse_measurements(OUTPUT % "true", "pages")
    assert result["frames_known"] is True
    table = pd.DataFrame(rows)
    assert latency_steps.clock_ghz(table) == 3.0
    found = latency_steps.latencies(table)
    assert found[["series", "elements", "chains", "ns", "cycles"]].values.tolist() == [
        ["pages", 16, 1, 2.0, 6.0]
    ]


def test_an_unverified_run_gives_no_rows():
    with pytest.raises(Exception, match="not verified"):
        measured.parse_measurements(OUTPUT % "false", "pages")


def test_missing_huge_pages_skip_a_series_and_say_what_to_do(tmp_path, monkeypatch):
    from tessera.machine.reserve import HugePagesUnavailable

    def refused(count):
        if count:
            raise HugePagesUnavailable(
                f"{count} free 2MB pages", "0 are free", "sudo sysctl vm.nr_hugepages=9"
            )
        return _Nothing()

    monkeypatch.setattr(measured, "reserve_huge_pages", refused)
    monkeypatch.setattr(
        measured, "_run", lambda one, scale, seed: measured.parse_measurements(OUTPUT % "true", one.name)
    )
    table, _ = run_study(measured.chase, Run(tmp_path / "chase.csv"), {"amount": "full", "seed": 1})
    states = pd.read_csv(tmp_path / "chase_series.csv", keep_default_na=False).set_index("series")
    assert states.at["pages", "status"] == "ok"
    assert states.at["large-pages", "status"] == "skipped"
    assert "sysctl vm.nr_hugepages" in states.at["large-pages", "message"]
    assert "large-pages" not in set(table["series"])
    # rounds of different passes are different rounds
    assert table[(table["series"] == "pages") & (table["elements"] > 0)]["round"].is_unique


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None
