"""Each check by a bundle that breaks one relation only: cells and sums are made again from wrong counts."""

from dataclasses import replace

import pytest

from tessera.core.errors import TesseraError
from tessera.measure.bundles import csv_files, file_format, head_checks, json_files, run_checks
from tessera.measure.bundles.bundle import REGION
from tessera.measure.bundles.verify import CHECKS, verify_files
from tessera.measure.bundles.writer import sealed_files
from tests.bundles.processor import Plan, made, opened
from tests.docs import pages

PLAN = Plan(rounds=2, optional=("by-size",))


def failed(files):
    done = verify_files("made", files)
    return [check.name for check in done.checks if not check.passed]


def with_counts(change, plan=PLAN):
    """The sealed bundle after ``change(run, role, count)`` of every count."""
    files = dict(opened(plan).files)
    roles = {
        (e.pass_name, e.name): e.role
        for e in csv_files.parse_csv(csv_files.EVENTS_SHAPE, files[file_format.EVENTS_FILE])
    }
    runs = {run.run: run for run in csv_files.parse_csv(csv_files.RUNS_SHAPE, files[file_format.RUNS_FILE])}
    rows = []
    for count in csv_files.parse_csv(csv_files.COUNTS_SHAPE, files[file_format.COUNTS_FILE]):
        run = runs[count.run]
        rows.append(change(run, roles.get((run.pass_name, count.event), REGION), count))
    files[file_format.COUNTS_FILE] = csv_files.csv_text(csv_files.COUNTS_SHAPE, rows).encode()
    return sealed_files("made", files)


def scaled(layout, role, factor, pass_name=""):
    def change(run, found, count):
        if run.layout == layout and found == role and run.pass_name.startswith(pass_name):
            return replace(count, value=round(count.value * factor))
        return count

    return change


def with_runs(change, plan=PLAN, drop=()):
    """The sealed bundle after ``change(run)`` of every run, without some runs."""
    files = dict(opened(plan).files)
    runs = [
        change(run)
        for run in csv_files.parse_csv(csv_files.RUNS_SHAPE, files[file_format.RUNS_FILE])
        if run.run not in drop
    ]
    counts = [
        c
        for c in csv_files.parse_csv(csv_files.COUNTS_SHAPE, files[file_format.COUNTS_FILE])
        if c.run not in drop
    ]
    files[file_format.RUNS_FILE] = csv_files.csv_text(csv_files.RUNS_SHAPE, runs).encode()
    files[file_format.COUNTS_FILE] = csv_files.csv_text(csv_files.COUNTS_SHAPE, counts).encode()
    return sealed_files("made", files)


def with_document(file, read, text, **changes):
    files = dict(opened(PLAN).files)
    files[file] = text(replace(read(files[file]), **changes)).encode()
    return sealed_files("made", files)


def about(**changes):
    return with_document(file_format.ABOUT_FILE, json_files.read_about, json_files.about_text, **changes)


def machine(**changes):
    return with_document(
        file_format.MACHINE_FILE, json_files.read_machine, json_files.machine_text, **changes
    )


def test_the_base_passes():
    assert failed(with_counts(lambda run, role, count: count)) == []


@pytest.mark.parametrize("layout, role, factor, checks", [
    # two walkers: C of 4KB pages is 1.04e9 of R of 1.01e9; three times of it is above 2 R
    ("growing-0", "C loads", 3, {"bounds", "cells"}),
    ("growing-0", "C loads", 1.6, {"bounds"}),  # below 2 R, but above 2 x the cycles with a walk
    ("growing-0", "C active loads", 3, {"bounds"}),
    ("growing-0", "M loads 4KB", 1.2, {"sizes"}),
    ("growing-0", "M loads", 1.2, {"sizes"}),
    ("growing-4", "instructions", 1.002, {"instructions"}),
    ("growing-4", "R reference cycles", 50, {"rates", "environment"}),
    ("growing-4", "R time", 1.1, {"rates"}),
    ("random-1", "R cycles", 1.2, {"equal-layouts", "environment"}),
    ("growing-4", REGION, 1.5, {"region"}),
    ("growing-4", "R time", 0.9, {"environment"}),
])  # fmt: skip
def test_counts(layout, role, factor, checks):
    assert set(failed(with_counts(scaled(layout, role, factor)))) == checks


def test_instructions_may_differ_by_a_tenth_of_a_percent():
    assert failed(with_counts(scaled("growing-4", "instructions", 1.0009))) == []


@pytest.mark.parametrize("class_name, cores, threads, fails", [
    ("goldencove", 16, 24, False),  # 8 cores with two threads, 8 with one
    ("broadwell", 16, 24, True), ("broadwell", 16, 32, False), ("goldencove", 16, 15, True),
    ("goldencove", 16, 65, True),
])  # fmt: skip
def test_threads_of_hybrid_processors(class_name, cores, threads, fails):
    files = dict(opened(replace(PLAN, class_name=class_name)).files)
    found = replace(
        json_files.read_machine(files[file_format.MACHINE_FILE]), sockets=1, cores=cores, threads=threads
    )
    files[file_format.MACHINE_FILE] = json_files.machine_text(found).encode()
    assert failed(sealed_files("made", files)) == (["machine"] if fails else [])


def test_passes_that_disagree_fail_their_cell():
    """R of the pass of sizes is 10% above R of the other pass."""
    files = with_counts(scaled("growing-8", "R cycles", 1.1, "by-size"))
    assert "cells" in failed(files)
    assert "failed" in files[file_format.CELLS_FILE].decode()


@pytest.mark.parametrize("enabled, running, fails", [
    (1.0, 1.0, False), (1.0, 0.9995, False),
    (1.0, 0.99, True), (1.0, 0.0, True), (0.9, 1.0, True), (0.0, 0.0, True),
])  # fmt: skip
def test_enabled_and_running(enabled, running, fails):
    def change(run, role, count):
        if role != "M loads":
            return count
        return replace(
            count, enabled_ns=int(run.roi_ns * enabled), running_ns=int(run.roi_ns * running)
        )  # fmt: skip

    assert failed(with_counts(change)) == (["whole"] if fails else [])


def test_runs():
    first = opened(PLAN).runs[0]

    def only(**changes):
        return lambda run: replace(run, **changes) if run.run == first.run else run

    assert failed(with_runs(only(pages_2mb=first.pages_2mb + 1))) == ["pages"]
    assert failed(with_runs(only(pages_1gb=first.pages_1gb + 1))) == ["pages"]
    assert failed(with_runs(only(pages_4kb=20_000))) == ["pages"]
    assert failed(with_runs(only(size="small"))) == ["workloads"]
    with pytest.raises(TesseraError, match="round 7") as error:
        with_runs(only(round=7))
    assert error.value.code == "bundle-value"
    assert "rounds" in failed(with_runs(lambda run: run, drop=(first.run,)))


def test_a_round_without_a_layout_is_not_whole():
    runs = opened(PLAN).runs
    drop = {run.run for run in runs if run.round == 1 and run.layout == "growing-4"}
    assert failed(with_runs(lambda run: run, drop=drop)) == ["rounds"]


@pytest.mark.parametrize("changes, check", [
    ({"protocol": "rounds-9"}, "protocol"),
    ({"protocol_sha256": "0" * 64}, "protocol"),
    ({"region": "whole"}, "protocol"),
    ({"platform": "broadwell-00000000"}, "machine"),
    ({"created": "2096-01-01"}, "day"),
    ({"created": "2026-02-30"}, "day"),
    ({"mode": "u"}, "events"),
])  # fmt: skip
def test_about(changes, check):
    assert failed(about(**changes)) == [check]


@pytest.mark.parametrize("changes", [
    {"sockets": 3}, {"cores": 15}, {"cpuid": ()},
    {"cpuid": ((4, 0, 1, 2, 3, 4), (4, 0, 1, 2, 3, 4))},
    {"cpuid": ((1, 0, 0x306A9, 0, 0, 0),)},  # an Ivy Bridge
])  # fmt: skip
def test_machine(changes):
    assert failed(machine(**changes)) == ["machine"]


def test_the_signature_of_broadwell():
    """06_4F stepping 1 is 0x406F1, 06_56 is 0x50661, 06_3D is 0x306D1, 06_47 is 0x40671."""
    found = json_files.read_machine(opened(PLAN).files[file_format.MACHINE_FILE])
    eax = {0x4F: 0x406F1, 0x56: 0x50661, 0x3D: 0x306D1, 0x47: 0x40671}[found.model]
    assert failed(machine(cpuid=((1, 0, eax, 0, 0, 0),))) == []


def test_a_class_that_is_not_that_of_cpuid():
    """The cells can't be computed; a bundle that says so was edited after it was sealed."""
    files = made(PLAN).files
    found = json_files.read_about(files[file_format.ABOUT_FILE])
    text = json_files.about_text(replace(found, class_name="skylake", platform="skylake-01234567"))
    assert "machine" in failed(files | {file_format.ABOUT_FILE: text.encode()})


@pytest.mark.parametrize("changes", [
    {"config": 0x1008}, {"config1": 1}, {"config2": 1}, {"type": 0}, {"role": "M started loads"},
    {"modifiers": "u"},
])  # fmt: skip
def test_events(changes):
    files = dict(opened(PLAN).files)
    rows = csv_files.parse_csv(csv_files.EVENTS_SHAPE, files[file_format.EVENTS_FILE])
    at = next(at for at, event in enumerate(rows) if event.role == "C active loads")
    rows[at] = replace(rows[at], **changes)
    files[file_format.EVENTS_FILE] = csv_files.csv_text(csv_files.EVENTS_SHAPE, rows).encode()
    assert failed(sealed_files("made", files)) == ["events"]


def environment(change):
    files = dict(opened(PLAN).files)
    rows = [
        change(one)
        for one in csv_files.parse_csv(csv_files.ENVIRONMENT_SHAPE, files[file_format.ENVIRONMENT_FILE])
    ]
    files[file_format.ENVIRONMENT_FILE] = csv_files.csv_text(
        csv_files.ENVIRONMENT_SHAPE, [one for one in rows if one]
    ).encode()
    return sealed_files("made", files)


def test_conditions():
    def only(name, **changes):
        return lambda one: replace(one, **changes) if one.check == name else one

    assert failed(environment(lambda one: one)) == []
    assert failed(environment(lambda one: None if one.check == "smt" else one)) == ["environment"]
    assert failed(environment(only("smt", level="noted"))) == ["environment"]
    assert failed(environment(only("smt", status="differs"))) == ["environment"]
    assert failed(environment(only("frequency", status="differs", remedy="do"))) == ["environment"]
    assert failed(environment(only("counting", status="unknown", remedy="do"))) == ["environment"]
    uncounted = {"status": "unknown", "remedy": "do", "found": "the kernel has no counts of thermal_throttle"}
    assert failed(environment(only("heat", level="noted", **uncounted))) == []
    assert failed(environment(only("heat", **uncounted))) == ["environment"]
    assert failed(environment(only("heat", level="noted"))) == ["environment"]


def test_what_bars_a_good_bundle():
    def bars(files):
        done = verify_files("made", files)
        assert done.passed and not done.decides
        return done.bars

    def smt(one):
        return replace(one, status="differs", found="1", remedy="do") if one.check == "smt" else one

    assert any("smt differs: 1" in reason for reason in bars(environment(smt)))
    assert any("5" in reason and "gups-16gb: 2" in reason for reason in bars(made(PLAN).files))
    assert any("simulated" in reason for reason in bars(made(Plan(rehearsal=True)).files))


def test_an_older_protocol_is_named_and_bars(monkeypatch, tmp_path):
    files = made().files
    for name in ("rounds-1", "rounds-2"):
        text = (head_checks.PROTOCOLS_FOLDER / "rounds-1.json").read_text()
        (tmp_path / f"{name}.json").write_text(text.replace("rounds-1", name))
    found = head_checks.measurement_protocols(tmp_path)
    for module in (head_checks, run_checks):
        monkeypatch.setattr(module, "measurement_protocols", lambda: found)
    monkeypatch.setattr(head_checks, "CURRENT_PROTOCOL", "rounds-2")
    done = verify_files("made", files)
    assert done.passed and not done.decides
    assert any("rounds-1" in reason and "rounds-2" in reason for reason in done.bars)


def test_every_check_is_described():
    table = pages.text("codes.md", "Checks of a bundle")
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert [row[0].strip("| `") for row in rows] == list(CHECKS) and all(len(row[1]) > 20 for row in rows)
    assert {"`sums`", "`readable`"} <= set(pages.text("bundle-format.md", "Checks").split())
