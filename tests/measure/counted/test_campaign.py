"""A whole measurement on a fake machine: cells, resuming, failures, refusals."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_cells
from tessera.machine.reserve import HugePagesUnavailable
from tessera.measure.bundles import verify
from tessera.measure.counted import campaign
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule

from .world import ID, TWO_PASSES, engine_cells

CORE = 10  #: growing-0 to growing-8, and 1gb


def run(world, **changes):
    return measure_bundle(world.request(**changes), say=world.said.append)


def test_without_noise_the_cells_are_the_engines(world):
    """With the protocol's rounds; the bundle passes ``verify``."""
    bundle = run(world, rule=StoppingRule())
    cells = read_cells(world.folder / "bundle" / "cells.csv")
    assert len(cells) == 2 * CORE
    assert set(cells.status) == {"ok"} and set(cells.runtime_provenance) == {"simulated"}
    assert set(cells.platform) == {f"broadwell-{ID[:8]}"}
    for row in cells.itertuples():
        engine = world.cells[row.workload, row.layout]
        for column, value in engine.items():
            assert getattr(row, column) == value, (row.workload, row.layout, column)
    assert cells.set_index(["workload", "layout"]).walk_cycles["alpha", "growing-0"] > 500_000_100
    about = json.loads((world.folder / "bundle/bundle.json").read_text())
    assert (about["rehearsal"], about["class"], about["protocol"]) == (True, "broadwell", "rounds-1")
    assert len(bundle.runs) == 2 * CORE * 5
    assert not (world.folder / "bundle.measuring").exists()
    checked = verify.verify_bundle(world.folder / "bundle")
    assert [check for check in checked.checks if not check.passed] == []


def test_walk_cycles_of_loads_alone_may_exceed_r(world):
    """C = 1.83 R, as the timing engine computes for gups of 32GB under 4KB pages on two walkers."""
    cells = (world.folder / "engine.csv").read_text().splitlines()
    cells[1] = "alpha,growing-0,5779268170,10651,59988855,10474690174,700000000"
    (world.folder / "engine.csv").write_text("\n".join(cells) + "\n")
    run(world, workloads=("alpha",), rule=StoppingRule())
    found = read_cells(world.folder / "bundle" / "cells.csv").set_index("layout").loc["growing-0"]
    assert (found.runtime_cycles, found.walk_cycles) == (5779268170, 10474690174)
    checked = verify.verify_bundle(world.folder / "bundle")
    assert [check for check in checked.checks if not check.passed] == []


def test_the_clocks_of_program_and_launcher_are_both_in_the_bundle(world, monkeypatch):
    """R of growing-0 is 500,000,000 cycles at 2 per ns: 250 ms. The program's clock begins 700 ns later."""
    monkeypatch.setenv("TESSERA_FAKE_LAG", "700")
    bundle = run(world, workloads=("alpha",), rule=StoppingRule())
    first = next(one for one in bundle.runs if one.layout == "growing-0")
    clock = bundle.counts[first.run][-1]
    assert (clock.event, clock.value, clock.enabled_ns, clock.running_ns) == ("region_ns", 250_000_000, 0, 0)
    assert first.roi_ns == 249_999_300
    assert all(bundle.counts[one.run][-1].value - one.roi_ns == 700 for one in bundle.runs)
    assert verify.verify_bundle(world.folder / "bundle").passed


def test_clocks_that_disagree_fail_the_check(world, monkeypatch):
    """The program's region is 270 ms or less, the launcher's is 20 ms shorter: more than 1% and 5 ms."""
    monkeypatch.setenv("TESSERA_FAKE_LAG", "-20000000")
    run(world, workloads=("alpha",), rule=StoppingRule())
    (wrong,) = [one for one in verify.verify_bundle(world.folder / "bundle").checks if not one.passed]
    assert wrong.name == "region" and "region_ns" in wrong.reasons[0]


def test_minutes_count_from_the_start_of_the_command(world, monkeypatch):
    """Trials took 0.5 of 2 minutes: at most 1.5 are left for the first round of the only workload."""
    # Start of the command, of the plan, of the trials, of alpha's; their end; before the rounds.
    rules, ticks = [], iter([0.0, 0.0, 0.0, 0.0, 6.0, 30.0])
    monkeypatch.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    real = campaign.Measurement._rule

    def rule(self, at):
        rules.append(real(self, at))
        return rules[-1]

    monkeypatch.setattr(campaign.Measurement, "_rule", rule)
    run(world, workloads=("alpha",), minutes=2.0)
    assert 1.4 < rules[0].max_minutes <= 1.5


def test_conditions_of_runs_are_in_the_bundle(world):
    bundle = run(world, workloads=("alpha",))
    found = {row.check: row for row in bundle.environment}
    for check in ("counting", "pmu", "2mb-pages", "smt", "thp", "running", "faults", "frequency", "heat"):
        assert found[check].status == "ok", found[check]
    assert found["sliding-windows"].level == "noted"


def test_two_passes_alternate_and_make_one_cell(world):
    world.change(TWO_PASSES)
    bundle = run(world, workloads=("alpha",))
    assert list(bundle.passes()) == ["loads", "stores"]
    first = [(r.layout, r.pass_name) for r in bundle.runs if r.round == 0]
    second = [(r.layout, r.pass_name) for r in bundle.runs if r.round == 1]
    assert [name for _, name in first] == ["loads", "stores"] * CORE
    assert [name for _, name in second] == ["stores", "loads"] * CORE
    assert [layout for layout, _ in first] != [layout for layout, _ in second]
    cells = read_cells(world.folder / "bundle" / "cells.csv").set_index("layout")
    for column in ("stlb_hits", "stlb_misses", "walk_cycles", "runtime_cycles"):
        assert cells[column]["growing-3"] == world.cells["alpha", "growing-3"][column]


def test_noise_needs_more_rounds(world, monkeypatch):
    monkeypatch.setenv("TESSERA_FAKE_NOISE", "0.004")
    bundle = run(world, workloads=("alpha",), rule=StoppingRule(0.005, 2, 7))
    rounds = 1 + max(r.round for r in bundle.runs)
    assert 2 < rounds <= 7


def test_a_failing_layout_leaves_the_others(world, monkeypatch):
    monkeypatch.setenv("TESSERA_FAKE_BREAK", "alpha/growing-3")
    bundle = run(world, workloads=("alpha",))
    bad = [r for r in bundle.runs if not r.good]
    assert [(r.layout, r.round, r.status) for r in bad] == [("growing-3", 0, "failed")]
    assert "C_loads" in bad[0].message
    assert len(bundle.runs) == 9 * 2 + 1
    assert world.lines("starts").count("alpha/growing-3") == 3  # attempts


def test_a_run_that_fails_once_is_tried_again(world, monkeypatch):
    monkeypatch.setenv("TESSERA_FAKE_BREAK", "alpha/growing-3/1")
    bundle = run(world, workloads=("alpha",))
    assert all(r.good for r in bundle.runs)
    assert any("attempt 1 of 3" in line for line in world.said)


def test_minutes_choose_rows_and_layouts(world, monkeypatch):
    """A run takes 6 s: two rounds of a layout 12 s. 0.8 x 2.1 minutes are 100.8 s: 8 layouts, best first."""
    real = campaign.try_all

    def try_all(*arguments):
        tried, left_out = real(*arguments)
        return [replace(one, seconds=6.0) for one in tried], left_out

    monkeypatch.setattr(campaign, "try_all", try_all)
    monkeypatch.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: 0.0))
    run(world, minutes=2.1)
    cells = read_cells(world.folder / "bundle" / "cells.csv")
    chosen = {(row.workload, row.layout) for row in cells.itertuples()}
    names = ("growing-0", "growing-8", "growing-4", "1gb")
    assert chosen == {(workload, name) for workload in ("alpha", "beta") for name in names}
    assert any("8 layouts" in line and "2 min" in line for line in world.said)  # 96 s


@pytest.mark.parametrize(
    ("place", "text", "code"),
    [
        ("proc/sys/kernel/perf_event_paranoid", "3", "environment"),
        (
            "proc/cpuinfo",
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 1\nstepping : 0\n",
            "class-unknown",
        ),
    ],
)
def test_machines_that_cannot_count_stop_before_any_run(world, place, text, code):
    world.change({place: text})
    with pytest.raises(TesseraError) as error:
        run(world)
    assert error.value.code == code
    assert world.lines("starts") == []


def test_without_a_pmu_nothing_runs(world):
    (world.machine / "sys/bus/event_source/devices/cpu/type").unlink()
    with pytest.raises(TesseraError) as error:
        run(world)
    assert error.value.code in ("no-pmu", "environment")
    assert world.lines("starts") == []


def test_a_workload_that_cannot_be_measured(world):
    world.workload("many", "kind: server\n")
    bundle = run(world)  # left out, named
    assert {r.workload for r in bundle.runs} == {"alpha", "beta"}
    assert any(line.startswith("left out: many:") for line in world.said)
    with pytest.raises(TesseraError) as error:
        measure_bundle(world.request(out=world.folder / "second", workloads=("many",)))
    assert error.value.code == "workload-unfit"


def test_a_workload_that_always_fails_is_left_out(world, monkeypatch):
    monkeypatch.setenv("TESSERA_FAKE_BREAK", "beta/growing-0")
    bundle = run(world)
    assert {r.workload for r in bundle.runs} == {"alpha"}
    assert any("left out: beta" in line for line in world.said)


def test_full_without_a_profile_says_what_to_do(world):
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("alpha",), layouts="full", results=world.folder / "none")
    assert error.value.code == "no-profile"


@pytest.mark.parametrize(
    "change",
    [
        {"workloads": ("gamma",)},
        {"workloads": ("alpha",), "size": "huge"},
        {"rule": StoppingRule(0.005, 1, 1)},
        {"minutes": 0.0},
        {"also": ("everything",)},
        {"class_name": "skylake"},
        {"mode": "k"},
        {"region": "half"},
    ],
)
def test_wrong_requests_run_nothing(world, change):
    with pytest.raises(TesseraError):
        run(world, **change)
    assert world.lines("starts") == []
    assert [path.name for path in world.folder.glob("bundle*")] == []


def test_fix_holds_while_it_measures_and_is_undone(world):
    loud = {"proc/sys/kernel/perf_event_paranoid": "4", "proc/sys/kernel/numa_balancing": "1"}
    world.change(loud)
    bundle = measure_bundle(world.request(workloads=("alpha",)), fix=True, say=world.said.append)
    found = {row.check: row for row in bundle.environment}
    assert (found["numa-balancing"].status, found["numa-balancing"].found) == ("ok", "0")
    assert found["counting"].status == "ok"
    assert {name: (world.machine / name).read_text().strip() for name in loud} == loud
    assert any("numa_balancing" in line for line in world.said)


def test_layouts_of_1gb_pages_are_skipped_where_there_are_none(world, monkeypatch):
    monkeypatch.setattr(
        campaign, "_reserved", lambda where, needs: (nullcontext(), "4 free 1GB pages: 0 are free")
    )
    bundle = run(world, workloads=("alpha",))
    skipped = [r for r in bundle.runs if not r.good]
    assert [(r.layout, r.status) for r in skipped] == [("1gb", "skipped")]
    cells = read_cells(world.folder / "bundle" / "cells.csv").set_index("layout")
    assert cells.status["1gb"] == "skipped" and "1GB" in cells.message["1gb"]


def test_pages_are_reserved_for_the_most_demanding_layouts(world, monkeypatch):
    """S is 2MB of the heap and 16MB of the other pool: 9 pages of 2MB, or a 1GB page for each pool."""
    asked = []

    def reserve(count_2mb, count_1gb=0, *, node):
        asked.append((count_2mb, count_1gb))
        if count_1gb:
            raise HugePagesUnavailable("2 free 1GB pages", "0 are free", "reserve them at boot")
        return nullcontext()

    monkeypatch.setattr(campaign, "reserve_huge_pages", reserve)
    real = campaign._reserved
    monkeypatch.setattr(
        campaign, "_reserved", lambda where, needs: real(replace(where, rehearsal=False), needs)
    )
    bundle = run(world, workloads=("alpha",))
    assert asked == [(9, 0), (0, 2)]
    assert {r.layout for r in bundle.runs if r.status == "skipped"} == {"1gb"}


def test_another_region_is_another_protocol(world):
    world.workload("mine", "kind: program\n")
    program = world.checkout / "build/workloads/mine"
    path = world.checkout / "config/workloads/mine.yaml"
    path.write_text(path.read_text().replace("executable: mine", f"executable: {program}"))
    program.chmod(0o755)
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("mine",))
    assert error.value.code == "workload-unfit" and "--region program" in error.value.remedy
    engine_cells(world.folder / "engine.csv", ("mine",))
    bundle = run(world, workloads=("mine",), region="program", rule=StoppingRule(0.005, 5, 20))
    assert (bundle.about.region, bundle.about.protocol) == ("program", "other")
    clocks = [(one.roi_ns, bundle.counts[one.run][-1].value) for one in bundle.runs]
    assert all(own == clock for own, clock in clocks)  # the program's own clock is of another region


def test_a_workload_of_the_user_is_no_part_of_a_bundle(world):
    """Its name and arguments say what its owner does; ``tessera measure -- PROGRAM`` writes no bundle."""
    path = world.checkout / "config/workloads/alpha.yaml"
    path.write_text(path.read_text().replace("source: tests", "source: the user's own"))
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("alpha",))
    assert error.value.code == "workload-unfit" and "tessera measure -- PROGRAM" in error.value.remedy
    assert {one.workload for one in run(world).runs} == {"beta"}
    assert any("left out: alpha" in line for line in world.said)
