"""``tessera measure --regions``: hot regions from samples; perf is a script that prints written samples."""

from __future__ import annotations

import os
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.measure.group import measure
from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB
from tessera.measure.program import hot_regions, walk_counts
from tessera.measure.suggest import sampled_profile
from tessera.measure.suggest.profile import Profile
from tessera.measure.suggest.server_load import Load
from tests.mosalloc.samples.builders import SCRIPTS

MB = 1 << 20
BROADWELL = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "79", "stepping": "1"}

#: `perf record ... --report R ...` leaves the report of the written run, `perf script` prints its samples.
FAKE = """#!{python}
import shutil, sys
words = sys.argv[1:]
open({log!r}, "a").write(" ".join(words) + chr(10))
if words[0] == "record" and "--report" in words:
    shutil.copy({report!r}, words[words.index("--report") + 1])
elif words[0] == "script":
    sys.stdout.write(open({samples!r}).read())
"""


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A Broadwell whose perf has sampled `written-6.1-hot`: 95% of the misses lie in 14MB, from 40MB on."""
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    values = {"python": sys.executable, "log": str(log), "report": str(SCRIPTS / "written-6.1-hot.json"),
              "samples": str(SCRIPTS / "written-6.1-hot.txt")}  # fmt: skip
    (folder / "perf").write_text(FAKE.format(**values))
    (folder / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sampled_profile.hardware, "open_counter", lambda kind, config: 0)
    monkeypatch.setattr(sampled_profile, "cpu_facts", lambda: BROADWELL)
    monkeypatch.setattr(sampled_profile.sysfs, "pmu_type", lambda names: ("cpu", 4))
    monkeypatch.setattr(
        sampled_profile,
        "mosalloc_command",
        lambda program, layout, report: ["run", "--report", str(report), *program],
    )
    monkeypatch.setattr(walk_counts, "why_no_counters", lambda root: "counters are not part of this test")
    return log


def profile(misses, outside=0.0):
    """A profile with these misses of 2MB pages of the anonymous pool, by number."""
    pages = {("mmap", number * PAGE_2MB): float(count) for number, count in misses.items()}
    return Profile("measured", "by hand", pages, sum(misses.values()) + outside, {"brk": 0, "mmap": 1 << 30})


def test_neighbours_are_one_region_and_the_hottest_comes_first():
    found = hot_regions.hot_regions(profile({3: 10, 7: 40, 8: 41, 20: 1, 21: 1}, outside=7))
    assert [(one.start // PAGE_2MB, one.end // PAGE_2MB, one.misses) for one in found] == [
        (7, 9, 81.0),
        (3, 4, 10.0),
    ]  # 91 of 93 are at least 90%; 81 are not


def test_shares_are_of_all_misses_those_outside_included():
    one = profile({5: 60}, outside=40)
    printed = list(hot_regions.region_rows(hot_regions.hot_regions(one), one))
    assert printed == [
        ("anonymous pool 10MB", "2MB", "60", "60.0%"),
        ("outside the pools", "", "40", "40.0%"),
    ]


def test_many_regions_are_cut_after_the_hottest():
    one = profile({2 * number: 100 - number for number in range(30)})
    printed = list(hot_regions.region_rows(hot_regions.hot_regions(one, 1.0), one))
    assert len(printed) == hot_regions.MOST + 2
    assert printed[0][0] == "anonymous pool 0B" and printed[hot_regions.MOST][:2] == ("20 more", "40MB")
    assert printed[hot_regions.MOST][2] == f"{sum(100 - number for number in range(10, 30)):,}"


def test_no_miss_in_the_pools_is_an_error():
    with pytest.raises(TesseraError) as error:
        hot_regions.hot_regions(profile({}, outside=12))
    assert error.value.code == "no-miss-in-pools" and "12" in error.value.found


def run(*words):
    return CliRunner().invoke(measure, [*words, "--", "true"])


def test_the_command_prints_the_regions_of_the_samples(machine):
    """By the generator of tests/mosalloc/samples: 95% of the misses in the pools are in 40MB to 54MB."""
    done = run("--regions")
    assert done.exit_code == 0, done.output
    line = next(line for line in done.output.splitlines() if line.startswith("anonymous pool 40MB"))
    assert "14MB" in line and 90 <= float(line.split()[-1].rstrip("%")) <= 97
    assert "2,991" in done.output and "400 samples" in done.output  # outside the pools; all
    calls = machine.read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["record", "record", "script"]  # tried, recorded, printed
    assert "cpu/event=0xd0,umask=0x11/pp" in calls[1]


def test_a_server_is_sampled_while_its_load_runs(machine, monkeypatch):
    asked = []
    monkeypatch.setattr(
        hot_regions.sampled_profile,
        "recorded_profile",
        lambda program, folder, **options: asked.append(options) or profile({1: 5}),
    )
    load = Load("true")
    assert hot_regions.sampled(["true"], load=load).total == 5 and asked[0]["load"] is load


def test_without_samples_the_remedy_is_named_before_the_program_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "no PMU: x17")
    done = CliRunner().invoke(measure, ["--regions", "--", "touch", str(tmp_path / "ran")])
    error = done.exception
    assert isinstance(error, TesseraError) and (error.code, error.exit_code) == ("cannot-sample", 1)
    assert "x17" in error.found and "suggest --method simulate" in error.remedy
    assert not (tmp_path / "ran").exists()


def test_it_is_for_one_run():
    assert run("--regions", "--try", "thp").exit_code == 2
    assert run("--regions", "--predict", "x.csv").exit_code == 2
