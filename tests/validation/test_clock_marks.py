"""Marks and programs held to this machine's clock: halves, closed forms, failures; two marks end to end."""

import csv
import json
from collections import Counter
from dataclasses import replace

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.platforms import all_keys, platforms_folder
from tessera.core.results.machine_tables import CLOCK_MARKS, CLOCK_MEASURED
from tessera.core.results.table_io import frame_of, write_table
from tessera.lab.clock import calibrate, errors, marks, measured, simulated
from tessera.lab.clock.marks import CALIBRATE, JUDGE, Cycles, Skipped, all_marks, marks_of
from tessera.lab.validation.synthetic import batch
from tessera.machine.reserve import HugePagesUnavailable

TEMPLATE = platforms_folder() / "host-template.yaml"


ONLY_JUDGES, PLACES = "crossings", ("-line", "-two-lines", "-two-pages")


def exactly(cycles):
    return Cycles(cycles, cycles, cycles, 9)


def value(keys, name):
    (found,) = [one.value for one in keys if one.key == name]
    return found


# The table of halves.


def test_a_mark_is_in_one_half():
    assert {mark.half for mark in all_marks()} == {CALIBRATE, JUDGE} and len(all_marks()) >= 40
    assert max(Counter(mark.name for mark in all_marks()).values()) == 1
    halves = Counter(mark.half for mark in all_marks() if mark.family != ONLY_JUDGES)
    assert abs(halves[CALIBRATE] - halves[JUDGE]) <= 1


def test_each_family_but_crossings_has_marks_in_both_halves():
    for family in {mark.family for mark in all_marks()}:
        expected = {JUDGE} if family == ONLY_JUDGES else {CALIBRATE, JUDGE}
        assert {mark.half for mark in all_marks() if mark.family == family} == expected


def test_crossings_differ_in_their_place_alone():
    names = [mark.name for mark in all_marks() if mark.family == ONLY_JUDGES]
    kinds = {name.removesuffix(place) for name in names for place in PLACES if name.endswith(place)}
    assert sorted(names) == sorted(kind + place for kind in kinds for place in PLACES) and len(names) == 18


def test_what_has_an_aim_of_its_own_judges():
    assert {mark.name for mark in all_marks() if mark.half == JUDGE} >= set(errors.NAMED)


def test_only_calibrating_marks_set_keys_and_each_key_is_known():
    of = {mark.name: mark for mark in all_marks()}
    used = {*calibrate.TIMES.values(), *calibrate.WIDTHS.values(), calibrate.CALLS, calibrate.SHORT}
    used |= {calibrate.LONG, calibrate.READ, calibrate.WRITE, simulated.RANDOM}
    assert {of[name].half for name in used} == {CALIBRATE}
    assert {mark.key for mark in all_marks() if mark.key} <= set(all_keys())
    assert not [mark.name for mark in all_marks() if mark.half == JUDGE and mark.key]


def test_the_small_amount_is_a_part_with_both_halves():
    small = marks_of("quick")
    assert {mark.half for mark in small} == {CALIBRATE, JUDGE} and len(small) < len(marks_of("full"))
    assert 0 < len(measured.programs_of("quick")) < len(measured.programs_of("full"))


# Closed forms.


def test_latencies_and_widths_are_times_of_a_unit():
    units = {"chain-alu": 1000, "chain-l2": 500, "width-load": 1200, "width-nop": 800}
    times = {"chain-alu": 1010, "chain-l2": 7100, "width-load": 405, "width-nop": 100}
    keys = calibrate.from_marks({name: exactly(cycles) for name, cycles in times.items()}, units)
    found = {one.key: one.value for one in keys}
    assert found == {
        "core.latency.alu": 1, "cache.l2.load_cycles": 14, "core.ports.load": 3, "core.dispatch_width": 8
    }  # fmt: skip


def test_strings_begin_and_take_time_by_page():
    # 24 cycles before the first line, 1.5 cycles a line: one of 16 lines takes 48, one of 256 takes 408
    measured = {"memset-1kb": exactly(48 * 100), "memset-16kb": exactly(408 * 10)}
    keys = calibrate.from_marks(measured, {"memset-1kb": 1600, "memset-16kb": 2560})
    assert value(keys, "core.string.begin_cycles") == 24
    assert value(keys, "core.string.page_cycles") == 96


def test_a_written_line_moves_twice():
    units = {"stream-read": 100, "stream-write": 100}
    slow_writes = {"stream-read": exactly(700), "stream-write": exactly(2000)}
    assert value(calibrate.from_marks(slow_writes, units), "memory.cycles_per_line") == 7
    slow_reads = {"stream-read": exactly(900), "stream-write": exactly(1000)}
    assert value(calibrate.from_marks(slow_reads, units), "memory.cycles_per_line") == 5


def test_calls_and_returns_share_their_time():
    keys = calibrate.from_marks({"calls": exactly(800)}, {"calls": 100})
    assert value(keys, "branch.call_cycles") == 4


def test_refill_is_where_the_simulated_line_meets_the_measured_time():
    tried = []

    def simulate(cycles):
        tried.append(cycles)
        return 1000 + 50 * cycles

    found = calibrate.refill(exactly(1850), simulate)
    assert (found.key, found.value) == ("branch.refill_cycles", 17)
    assert tried == list(calibrate.REFILLS)
    assert calibrate.refill(exactly(900), simulate).value == 0  # faster than without: never negative
    assert calibrate.refill(exactly(900), lambda cycles: 1000).value == 0  # a platform without branches


def test_a_mark_that_judges_sets_nothing():
    names = [mark.name for mark in all_marks() if mark.half == JUDGE]
    measured = {name: exactly(123456) for name in names}
    assert calibrate.from_marks(measured, dict.fromkeys(names, 100)) == []


def test_sources_name_the_mark_its_time_and_interval_and_values_keep_their_bounds():
    units = {"chain-multiply": 100, "width-alu": 10**9}
    measured = {"chain-multiply": Cycles(300, 290, 330, 9), "width-alu": exactly(1)}
    before = platforms.load_platform(TEMPLATE)
    after = calibrate.with_keys(before, "host-calibrated", calibrate.from_marks(measured, units))
    assert after.values["core.latency.multiply"].value == 3
    source = after.values["core.latency.multiply"].source
    assert source == "measured: chain-multiply takes 3 cycles a unit (2.9 to 3.3)"
    assert after.values["core.ports.alu"].value == all_keys()["core.ports.alu"].most
    others = set(before.values) - {"core.latency.multiply", "core.ports.alu"}
    assert all(after.values[key] == before.values[key] for key in others)


# Measured times.


def test_times_are_multiplied_by_the_frequency_beside_them():
    said = "mark,round,units,ns\nclock,0,4000,1000\na,0,10,50\nclock,0,2000,1000\nb,0,10,50\n"
    said += "clock,1,3000,1000\na,1,10,50\n" + json.dumps({"verified": True})
    found = marks.parse_marks([said])
    assert (found["a"].median, found["a"].runs) == (175, 2)  # 4 GHz and 3 GHz
    assert marks.parse_marks([said, said])["a"].runs == 4
    assert found["b"].median == 100


def test_an_interval_holds_the_median_and_few_runs_have_none():
    # Of 9 values, the 2nd smallest and the 2nd largest bound the median with 96% (binomial, 9 tosses).
    assert marks.median_cycles([5, 1, 2, 3, 4, 6, 7, 8, 100]) == Cycles(5, 2, 8, 9)
    few = marks.median_cycles([1.0, 2.0])
    assert (few.median, few.low, few.high, few.runs) == (1.5, None, None, 2)


def test_a_program_that_does_not_verify_has_no_time():
    assert marks.roi_ns("text\n" + json.dumps({"roi_ns": 12, "verified": True})) == 12
    with pytest.raises(TesseraError, match="verified.*false"):
        marks.roi_ns(json.dumps({"roi_ns": 12, "verified": False}))


# Failures.


def test_a_program_that_fails_is_a_reason_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(measured, "frequency_ghz", lambda: 2.0)
    monkeypatch.setattr(measured.TimedProgram, "argv", lambda self: [self.name])

    def run_under(layout, argv, paths=()):
        if argv == ["bad"]:
            raise TesseraError("run bad", "status 1: no memory", "buy some")
        return json.dumps({"roi_ns": 100, "verified": True})

    monkeypatch.setattr(measured, "run_on_last_processor", run_under)
    both = [measured.TimedProgram(name, (name,), True) for name in ("bad", "good")]
    found = measured.measure_programs(both, "4KB", 3, lambda text: None)
    assert found == {"bad": "run bad: status 1: no memory", "good": exactly_of_runs(200.0, 3)}


def exactly_of_runs(cycles, runs):
    return replace(marks.median_cycles([cycles] * runs), runs=runs)


def test_failed_and_skipped_measurements_become_rows_with_reasons():
    heads = [(name, {"mark": name, "family": "f", "half": JUDGE}) for name in ("a", "b")]
    measured = {
        "4KB": {"a": exactly(100), "b": "run b: status 1"},
        "2MB": dict.fromkeys("ab", Skipped("2MB pages need --reserve")),
    }
    cells = {"4KB": {"a": 110.0, "b": "record b: no QEMU"}, "2MB": {"a": 90.0}}
    table = frame_of(CLOCK_MARKS, simulated._rows(heads, measured, cells, "host-calibrated"))
    assert tuple(table.columns) == CLOCK_MARKS.names
    rows = {(r.mark, r.pages, r.provenance): r for r in table.itertuples()}
    assert len(rows) == len(table) == 8
    assert rows["a", "4KB", "measured"].cycles == 100 and rows["a", "4KB", "simulated"].cycles == 110
    assert rows["b", "4KB", "measured"].status == "failed"
    assert rows["b", "4KB", "measured"].message == "run b: status 1"
    assert rows["b", "4KB", "simulated"].message == "record b: no QEMU"
    assert rows["a", "2MB", "measured"].status == "skipped"
    assert rows["b", "2MB", "simulated"].message == "it was not recorded"


def test_marks_that_all_fail_keep_the_reason(monkeypatch):
    def measure(names, pages, rounds, processes):
        raise TesseraError("run clockmarks with clock-4kb", "status 1: out of memory", "")

    monkeypatch.setattr(marks, "measure_marks", measure)
    why = "run clockmarks with clock-4kb: status 1: out of memory"
    assert measured.measured_marks(["a", "b"], "4KB", "quick") == {"a": why, "b": why}


def test_without_huge_pages_marks_and_programs_are_skipped(monkeypatch):
    def refuse(*_):
        raise HugePagesUnavailable("reserve 9 pages of 2MB", "none may be reserved", "use --reserve")

    monkeypatch.setattr(marks, "measure_marks", refuse)
    monkeypatch.setattr(measured, "run_on_last_processor", refuse)
    monkeypatch.setattr(measured, "frequency_ghz", lambda: 2.0)
    monkeypatch.setattr(measured.TimedProgram, "argv", lambda self: [self.name])
    why = Skipped("reserve 9 pages of 2MB: none may be reserved; use --reserve")
    assert measured.measured_marks(["a"], "2MB", "quick") == {"a": why}
    one = [measured.TimedProgram("a", ("a",), True)]
    assert measured.measure_programs(one, "2MB", 2, lambda text: None) == {"a": why}


def test_the_table_of_measurements_reads_back_what_was_found(tmp_path):
    found = {
        "mark": {"4KB": {"a": Cycles(0.1 + 0.2, 1e-9, 1e17, 9), "b": Cycles(5, None, None, 2)}, "2MB": {}},
        "program": {"4KB": {"p": "run p: status 1"}, "2MB": {"p": Skipped("no pages, so none")}},
    }
    write_table(CLOCK_MEASURED, measured.measured_table(found), tmp_path / "clock_measured.csv")
    assert measured.read_measured(tmp_path / "clock_measured.csv") == found


@pytest.mark.parametrize(("before", "after"), [("program", "song"), ("2MB", "1GB")])
def test_measurements_of_another_kind_are_refused(tmp_path, before, after):
    path = tmp_path / "clock_measured.csv"
    found = {"mark": {"4KB": {}, "2MB": {}}, "program": {"4KB": {}, "2MB": {"p": "status 1"}}}
    write_table(CLOCK_MEASURED, measured.measured_table(found), path)
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(TesseraError, match=after):
        measured.read_measured(path)


# The built program.


def built():
    return (build_dir("workloads") / "clockmarks").exists()


@pytest.mark.toolchain
@pytest.mark.skipif(not built(), reason="clockmarks is not built: ./run tessera dev build workloads")
class TestBuilt:
    def test_the_program_has_each_mark_of_the_table_and_no_other(self):
        assert sorted(marks.units()) == sorted(mark.name for mark in all_marks())

    def test_each_mark_does_its_work(self):
        """Their answers are checked in the program; a wrong one ends it with an error."""
        names = [mark.name for mark in all_marks()]
        found = marks.measure_marks(names, "4KB", 2)
        assert sorted(found) == sorted(names) and all(one.median > 0 for one in found.values())

    def test_a_wrong_answer_is_found(self):
        argv = [str(build_dir("workloads") / "clockmarks"), "--marks", "chain-alu", "--self-test-corrupt"]
        with pytest.raises(TesseraError, match="clockmarks"):
            marks.run_on_last_processor(marks.layout_of("4KB", 64 << 20), argv)

    def test_a_mark_that_is_not_there_is_named(self):
        argv = [str(build_dir("workloads") / "clockmarks"), "--marks", "nothing"]
        with pytest.raises(TesseraError, match="nothing"):
            marks.run_on_last_processor(marks.layout_of("4KB", 64 << 20), argv)

    def test_two_marks_are_recorded_and_simulated(self, tmp_path):
        """A chain of one-cycle instructions takes its steps; a recording that is there is kept."""
        names = ["chain-alu", "chain-l1"]
        recordings = simulated.record_marks(names, tmp_path)
        assert [one.error for one in recordings.values()] == ["", ""]
        times = {name: recordings[name].trace.stat().st_mtime_ns for name in names}
        kept = simulated.record_marks(names, tmp_path)
        assert {name: kept[name].trace.stat().st_mtime_ns for name in names} == times
        platform = platforms.load_platform(TEMPLATE)
        with batch() as work:
            found = simulated.simulate_recordings(work, recordings, platform, "4KB", halves=True)
        steps = marks.units()
        l1 = platform.values["cache.l1d.load_cycles"].value
        for name, least in (("chain-alu", steps["chain-alu"]), ("chain-l1", l1 * steps["chain-l1"])):
            assert least <= found[name] <= 1.15 * least, name

    def test_a_recording_that_fails_leaves_the_others(self, tmp_path):
        program = str(build_dir("workloads") / "clockmarks")
        commands = {
            name: [program, "--marks", name, "--rounds", "1"] for name in ("chain-alu", "no-such-mark")
        }
        recordings = simulated.record_commands(commands, tmp_path)
        assert recordings["no-such-mark"].error and not recordings["chain-alu"].error
        with batch() as work:
            found = simulated.simulate_recordings(
                work, recordings, platforms.load_platform(TEMPLATE), "4KB", halves=True
            )
        assert found["chain-alu"] > 0 and isinstance(found["no-such-mark"], str)


def test_programs_are_named_once_and_are_built_workloads():
    with (platforms_folder().parents[1] / "src/tessera/lab/clock/programs.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert max(Counter(row["program"] for row in rows).values()) == 1
    assert any(row["quick"] == "1" for row in rows)
