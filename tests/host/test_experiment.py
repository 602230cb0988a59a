"""From a request to hybrid cells: joined, flagged, failed, skipped, resumed."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_cells
from tessera.machine.reserve import HugePagesUnavailable
from tessera.measure import hybrid_cells
from tessera.measure.hybrid_cells import run_host
from tessera.measure.rounds import StoppingRule


def by_layout(bench):
    return read_cells(bench.request().out).set_index("layout")


def compared(bench):
    return pd.read_csv(bench.request().out.with_name("comparison.csv")).set_index("layout")


def test_cells_are_hybrid(bench):
    run_host(bench.request(simulated=bench.simulated()))
    cells = by_layout(bench)
    assert list(cells.index) == ["growing-0", "growing-4", "growing-8"]
    assert set(cells.status) == {"ok"} and set(cells.engine) == {"host"}
    assert set(cells.runtime_provenance) == {"measured"}
    assert set(cells.tlb_provenance) == {"simulated"}
    assert cells.runtime_cycles.isna().all(), "clock time is not unhalted cycles"
    assert cells.runtime_ns["growing-8"] == pytest.approx(0.9e9)
    assert cells.stlb_misses["growing-8"] == 36
    assert set(cells.message) == {"5 runs"}


def test_the_most_demanding_layout_is_reserved_for(bench):
    run_host(bench.request())
    assert bench.reserved == [(64, 0)]


def test_without_simulated_cells_nothing_is_invented(bench):
    run_host(bench.request())
    cells = by_layout(bench)
    assert cells[["stlb_hits", "stlb_misses", "walk_cycles"]].isna().all(axis=None)
    assert set(cells.tlb_provenance) == {""}
    assert compared(bench).simulated_delta.isna().all()


def test_the_comparison_has_both_differences(bench):
    run_host(bench.request(simulated=bench.simulated()))
    rows = compared(bench)
    assert rows.measured_delta["growing-8"] == pytest.approx(-0.1, abs=1e-6)
    assert rows.simulated_delta["growing-8"] == pytest.approx(-0.2)
    assert rows.measured_delta["growing-0"] == 0
    assert list(rows.pairs) == [5, 5, 5]


def test_imprecise_cells_are_flagged_and_ok(bench):
    bench.noise = [1.0, 1.3, 0.8, 1.1, 0.7]
    run_host(bench.request(rule=StoppingRule(max_repeats=6)))
    cells = by_layout(bench)
    assert set(cells.status) == {"ok"}
    assert cells.message["growing-8"].startswith("6 runs: 95% half-width of the difference to growing-0 is")
    assert cells.message["growing-8"].endswith("asked 0.50%")


def test_a_failing_layout_is_a_failed_row(bench):
    bench.failing["growing-4"] = "status 1: gups: verification: checksum 1, expected 2"
    run_host(bench.request(simulated=bench.simulated()))
    cells = by_layout(bench)
    assert list(cells.status) == ["ok", "failed", "ok"]
    assert "checksum" in cells.message["growing-4"]
    assert pd.isna(cells.runtime_ns["growing-4"]) and pd.isna(cells.stlb_misses["growing-4"])
    assert list(compared(bench).index) == ["growing-0", "growing-8"]


def test_a_failing_base_leaves_means_without_differences(bench):
    bench.failing["growing-0"] = "status 1: broken"
    run_host(bench.request(simulated=bench.simulated()))
    assert list(by_layout(bench).status) == ["failed", "ok", "ok"]
    assert compared(bench).measured_delta.isna().all()


def test_missing_pages_skip_with_the_remedy(bench, monkeypatch):
    def refuse(*counts):
        raise HugePagesUnavailable("64 free 2MB pages", "0 are free", "sudo sysctl vm.nr_hugepages=64")

    monkeypatch.setattr(hybrid_cells, "reserve_huge_pages", refuse)
    run_host(bench.request())
    cells = by_layout(bench)
    assert set(cells.status) == {"skipped"} and not bench.launched
    for part in ("sysctl vm.nr_hugepages=64", "./run --reserve reproduce"):
        assert cells.message.str.contains(part).all()
    assert compared(bench).empty


def test_finished_runs_are_used_again(bench):
    run_host(bench.request())
    first = len(bench.launched)
    run_host(bench.request())
    assert len(bench.launched) == first


def test_another_program_or_layout_is_measured_again(bench):
    run_host(bench.request())
    first = len(bench.launched)
    bench.programs = "2"
    run_host(bench.request())
    assert len(bench.launched) == 2 * first
    bench.layouts[1].write_text(bench.layouts[1].read_text().replace("67108864", "65011712"))
    run_host(bench.request())
    assert set(bench.launched[2 * first :]) >= {"growing-4"}


def test_failed_runs_are_tried_again(bench):
    bench.failing["growing-4"] = "status 1: broken"
    run_host(bench.request())
    bench.failing.clear()
    run_host(bench.request())
    assert set(by_layout(bench).status) == {"ok"}


@pytest.mark.parametrize(
    "rule",
    [
        StoppingRule(half_width=0),
        StoppingRule(half_width=1),
        StoppingRule(min_repeats=1),
        StoppingRule(max_repeats=0),
    ],
)
def test_wrong_precision_is_refused(bench, rule):
    with pytest.raises(TesseraError, match="must be"):
        run_host(bench.request(rule=rule))
