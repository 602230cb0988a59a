"""The parts of a measurement, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import MB, PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.measure.bundles.bundle import CountedEvent, EventCount, MeasuredRun
from tessera.measure.counted import bundle_rounds, plan, turns
from tessera.measure.counted.counted_run import Ended, pages_by_size, read_run_counts
from tessera.measure.mosalloc.report import Report, WindowReport

# --- one run ------------------------------------------------------------------------------------------


def report(used, *windows):
    return Report("confirmed", "", 0, None, used, windows, {}, False)


def test_pages_of_windows_and_of_the_rest():
    """10MB used, 4MB of it in a 2MB window from 2MB to 6MB: 6MB are 1536 pages of 4KB."""
    found = report(
        {"mmap": 10 * MB, "brk": 4096}, WindowReport("mmap", 2 * MB, 6 * MB, PAGE_2MB, PAGE_2MB, True)
    )
    assert pages_by_size(found) == {PAGE_4KB: 1536 + 1, PAGE_2MB: 2, PAGE_1GB: 0}


def test_a_window_beyond_the_use_counts_its_pages_but_covers_nothing():
    window = WindowReport("mmap", 0, PAGE_1GB, PAGE_1GB, PAGE_1GB, True)
    assert pages_by_size(report({"mmap": 10 * MB}, window)) == {PAGE_4KB: 0, PAGE_2MB: 0, PAGE_1GB: 1}


def test_a_window_in_4kb_pages_is_no_huge_page():
    window = WindowReport("mmap", 0, 2 * MB, PAGE_2MB, PAGE_4KB, False)
    assert pages_by_size(report({"mmap": 2 * MB}, window)) == {PAGE_4KB: 512, PAGE_2MB: 0, PAGE_1GB: 0}


GOOD = "event,value,enabled_ns,running_ns\nR_cycles_u,7,10,10\nM,2,10,9\nregion_ns,11,0,0\n"


def test_counts_are_read_in_order(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(GOOD)
    found = read_run_counts(path, ["R_cycles_u", "M"])
    assert found.events == (("R_cycles_u", 7, 10, 10), ("M", 2, 10, 9)) and found.region_ns == 11


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        GOOD.replace("event,", "name,"),
        GOOD.replace("M,2", "N,2"),
        GOOD.replace("M,2,10,9", "M,2,10"),
        GOOD.replace("M,2", "M,x"),
        GOOD.replace("M,2", "M," + "9" * 140_000),  # more than a field of the csv module may have
        GOOD.replace("region_ns,11", "region_ns,0"),
        GOOD.replace("region_ns,11,0,0\n", ""),
    ],
)
def test_other_files_of_counts_are_errors(tmp_path, text):
    path = tmp_path / "counts.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(TesseraError, match="counts.csv"):
        read_run_counts(path, ["R_cycles_u", "M"])


# --- a turn -------------------------------------------------------------------------------------------


def test_passes_rotate():
    passes = ["loads", "stores", "code"]
    assert [turns.order(passes, n)[0] for n in range(4)] == ["loads", "stores", "code", "loads"]
    assert sorted(turns.order(passes, 1)) == sorted(passes)


@pytest.mark.parametrize(
    ("found", "agree"), [([100, 105], True), ([100, 106], False), ([7], True), ([0], False)]
)
def test_r_of_the_passes_agrees_within_five_percent(found, agree):
    """5 / 102.5 is 4.9%, 6 / 103 is 5.8%."""
    assert (turns.why_runs_differ(found) == "") == agree


def ended(cycles=100, message=""):
    return Ended(message, cycles / 100)


def tried(outcomes, others=(100,)):
    left, said = list(outcomes), []
    done = turns.run_until_it_counts(
        lambda: left.pop(0), others, lambda one: round(one.seconds * 100), said.append
    )
    return done, len(outcomes) - len(left), said


def test_a_pass_is_tried_three_times():
    assert tried([ended()])[1:] == (1, [])
    done, count, said = tried([ended(message="taken"), ended(130), ended(101)])
    assert (done.message, count, len(said)) == ("", 3, 2)
    done, count, _ = tried([ended(message="a"), ended(message="b"), ended(message="c"), ended()])
    assert count == 3 and done.message.endswith("c")


def event(name, role, short):
    return CountedEvent(name, role, short, 0, 0, 0, 0, "u")


EVENTS = {name: (event(name, "R cycles", "R"), event(name, "M loads", "M")) for name in ("loads", "stores")}


def made_runs(*places):
    """(layout, round, pass, R) -> runs and counts; R None: the run failed."""
    runs, counts = [], {}
    for number, (layout, at, name, cycles) in enumerate(places):
        status = "failed" if cycles is None else "ok"
        runs.append(MeasuredRun(number, "w", "s", layout, at, name, status))
        counts[number] = [EventCount(number, "R", cycles or 0, 1, 1), EventCount(number, "M", 3, 1, 1)]
    return runs, counts


def test_only_complete_turns_count():
    runs, counts = made_runs(
        ("a", 0, "loads", 10),
        ("a", 0, "stores", 20),
        ("b", 0, "loads", 10),
        ("a", 1, "stores", 8),
        ("a", 1, "loads", None),
    )
    assert turns.finished(runs, counts, EVENTS, "w") == [turns.Turn("a", 0, "ok", 15.0)]
    assert turns.finished(runs, counts, EVENTS, "other") == []
    assert turns.role_count(counts[0], EVENTS["loads"], "M loads") == 3
    assert turns.role_count(counts[0], EVENTS["loads"], "C loads") is None


# --- the folder beside the bundle ---------------------------------------------------------------------


def test_two_processes_do_not_measure_into_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "LOCK_ATTEMPTS", 2)
    with plan.locked_folder(tmp_path / "b") as folder:
        assert folder.is_dir()
        with pytest.raises(TesseraError) as error, plan.locked_folder(tmp_path / "b"):
            pass
        assert error.value.code == "measuring"
    assert not folder.exists(), "without a plan there is nothing to resume"


def test_a_plan_is_read_as_it_was_written(tmp_path):
    made = plan.MeasurementPlan(
        {"seed": 1}, {"w": plan.WorkloadPlan(1.5, {"brk": 7}, ("a", "b"))}, "simulated", "x-sim", None
    )
    with plan.locked_folder(tmp_path / "b"):
        plan.save_plan(tmp_path / "b", made)
    assert plan.load_plan(tmp_path / "b") == made
    assert plan.load_plan(tmp_path / "c") is None


# --- the summary --------------------------------------------------------------------------------------


def test_spread_is_marked_above_five_percent():
    assert bundle_rounds.spread([100.0]) == "-"
    assert bundle_rounds.spread([99.0, 101.0]) == "1.41%"  # sqrt(2) of 100
    assert bundle_rounds.spread([90.0, 110.0]).endswith("(above 5%)")
