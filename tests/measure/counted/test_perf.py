"""perf as the second back end: its command line, its numbers, and what it refuses."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_cells
from tessera.measure.bundles import verify
from tessera.measure.bundles.bundle import CountedEvent
from tessera.measure.counted import perf_stat
from tessera.measure.counted.campaign import measure_bundle

from .world import LAUNCHER

U = ("u",)
R = CountedEvent("data", "R cycles", "R_cycles_u", 0, 0, 0, 0, "u")
H = CountedEvent("data", "H loads", "H_loads_u", 4, 0x2008, 0, 0, "u")
OFFCORE = CountedEvent("data", "x", "x_u", 4, 0x1B7, 0x3F8, 0, "u")
TIME = CountedEvent("data", "R time", "task-clock", 1, 1, 0, 0, "u")


@pytest.fixture
def fake(world, monkeypatch):
    """``perf`` on $PATH is the fake one."""
    folder = world.folder / "bin"
    folder.mkdir()
    (folder / "perf").symlink_to(LAUNCHER.with_name("perf"))
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return world


def run(world, **changes):
    values = {"counter": "perf", "region": "whole", "workloads": ("alpha",)}
    return measure_bundle(world.request(**values | changes), say=world.said.append)


def test_words_for_perf():
    assert perf_stat.perf_terms([R, H, TIME, OFFCORE], "cpu") == (
        "{cycles:u,cpu/config=0x2008,name=H_loads_u/u,cpu/config=0x1b7,config1=0x3f8,name=x_u/u}",
        "task-clock:u",
        "duration_time",
    )
    core = CountedEvent("data", "R cycles", "R_cycles_u", 0, 10 << 32, 0, 0, "uk")
    assert perf_stat.perf_terms([core], "cpu_core")[0] == "{cpu_core/cycles/uk}"
    assert perf_stat.shown_names([TIME, R, H]) == {
        "R_cycles_u": "cycles", "H_loads_u": "H_loads_u", "task-clock": "task-clock",
    }  # fmt: skip


LOG = """# started on Tue Nov 24 18:15:44 2026

2000;;cycles:u;496020;100.00;0.068;GHz
17;;H_loads_u;496020;100.00;;
0.50;msec;task-clock:u;496020;100.00;0.068;CPUs utilized
7292427;ns;duration_time;7292427;100.00;14.702;G/sec
"""
NAMES = perf_stat.shown_names([R, H, TIME])
ORDER = ["task-clock", "R_cycles_u", "H_loads_u"]


def read(tmp_path, text):
    (tmp_path / "log").write_text(text)
    return perf_stat.read_perf_counts(tmp_path / "log", NAMES, ORDER)


def test_counts_of_a_log(tmp_path):
    """0.50 msec are 500000 ns; events come in our order."""
    found = read(tmp_path, LOG)
    assert found.events == (
        ("task-clock", 500_000, 496_020, 496_020),
        ("R_cycles_u", 2000, 496_020, 496_020),
        ("H_loads_u", 17, 496_020, 496_020),
    )
    assert found.region_ns == 7_292_427
    hybrid = LOG.replace("cycles:u", "cpu_core/cycles/u").replace("H_loads_u", "H_loads_u:u")
    assert read(tmp_path, hybrid).events == found.events


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("17;;H_loads_u;496020;100.00", "17;;H_loads_u;496020;99.99", "99.99%"),
        ("17;;H_loads_u;496020", "<not counted>;;H_loads_u;0", "<not counted>"),
        ("17;;H_loads_u;496020", "<not supported>;;H_loads_u;0", "<not supported>"),
        ("17;;H_loads_u;496020;100.00;;\n", "", "H_loads_u"),
        ("H_loads_u", "M_loads_u", "M_loads_u"),
        (";msec;", ";Joules;", "Joules"),
        ("2000;;", "2000.50;;", "2000.50"),
        ("7292427;ns;duration_time;7292427", "3196;ns;duration_time;3196", "3196 ns"),  # seen with perf 6.1
    ],
)
def test_what_is_no_count(tmp_path, before, after, words):
    assert before in LOG
    with pytest.raises(TesseraError) as error:
        read(tmp_path, LOG.replace(before, after))
    assert error.value.code == "perf-counts" and words in error.value.found


def test_a_measurement_with_perf_has_the_engines_cells_and_decides_nothing(fake):
    bundle = run(fake)
    assert (bundle.about.counter, bundle.about.region, bundle.about.protocol) == ("perf", "whole", "other")
    cells = read_cells(fake.folder / "bundle/cells.csv").set_index("layout")
    assert set(cells.status) == {"ok"} and set(cells.engine) == {"perf"}
    for layout in ("growing-0", "growing-5", "1gb"):
        for column, value in fake.cells["alpha", layout].items():
            assert cells[column][layout] == value, (layout, column)
    wrong = [one.name for one in verify.verify_bundle(fake.folder / "bundle").checks if not one.passed]
    assert wrong == ["protocol"]  # so `bundle judge` refuses it


@pytest.mark.parametrize("broken", ["not counted", "not supported", "percent"])
def test_counts_that_perf_lacks_or_scales_end_the_trial(fake, monkeypatch, broken):
    monkeypatch.setenv("TESSERA_FAKE_PERF", broken)
    with pytest.raises(TesseraError) as error:
        run(fake)
    assert error.value.code == "no-trial"
    assert {"percent": "99.98%"}.get(broken, f"<{broken}>") in error.value.found


def test_perf_may_count_what_this_process_may_not(fake):
    """A perf with file capabilities: its trial run shows that it may."""
    fake.change({"proc/sys/kernel/perf_event_paranoid": "4"})
    bundle = run(fake)
    assert next(one for one in bundle.environment if one.check == "counting").status == "differs"
    found = {one.name: one for one in verify.verify_bundle(fake.folder / "bundle").checks}
    assert found["environment"].passed


def test_without_perf_the_package_is_named(world, monkeypatch):
    """Only the launcher's interpreter and env are on $PATH."""
    folder = world.folder / "bin"
    folder.mkdir()
    for name in ("env", "prlimit", "setpriv", "sh", "python3"):
        if path := shutil.which(name):
            (folder / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(TesseraError) as error:
        run(world)
    assert "linux-perf" in error.value.found


def test_perf_knows_no_region_of_interest(world):
    with pytest.raises(TesseraError) as error:
        world.request(counter="perf")
    assert error.value.code == "option" and "--region whole" in error.value.remedy


def test_software_events_of_the_real_perf(tmp_path):
    """`sleep`: some page faults, and a clock; no PMU is needed."""
    if shutil.which("perf") is None:
        pytest.skip("perf is not installed: apt install linux-perf")
    faults = CountedEvent("data", "page faults", "page-faults", 1, 2, 0, 0, "u")
    log = tmp_path / "log"
    words = perf_stat.perf_terms([TIME, faults], "cpu")
    subprocess.run([*perf_stat.perf_command(words, log), "sleep", "0.3"], check=True)
    found = perf_stat.read_perf_counts(
        log, perf_stat.shown_names([TIME, faults]), ["page-faults", "task-clock"]
    )
    (_, count, enabled, running), (_, clock, _, _) = found.events
    assert 10 <= count < 10_000 and enabled == running > 0
    assert 0 < clock <= found.region_ns
