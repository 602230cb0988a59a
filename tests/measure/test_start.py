"""One harness: runs with counters and without start their program in the same way, and their numbers stay."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.container.process import HostProcess
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.measure import hybrid_cells
from tessera.measure.counted.counted_run import RunCounters, launched
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.request import ReadyWorkload
from tessera.measure.hybrid_cells import Experiment, run_host
from tessera.measure.launch import huge_pages_needed
from tessera.measure.rounds import StoppingRule
from tessera.record.workloads.definition import Size
from tessera.record.workloads.program_run import ProgramRun
from tests.measure.counted.world import LAUNCHER, World

LAYOUTS = ("growing-0", "growing-4", "growing-8")


class Recorder(Toolchain):
    """Starts nothing but `true`; keeps what was asked for."""

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        self.argv, self.paths, self.env = [os.fspath(word) for word in argv], list(paths), env
        self.options = options
        return HostProcess(["true"], **keywords)

    def describe(self):
        return {}


@pytest.fixture
def world(tmp_path, monkeypatch):
    made = World(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


def row(*argv, **more):
    return ReadyWorkload("alpha", Size("default", (), 0, 0, 0), ProgramRun(argv, **more), "")


def test_a_counted_run_adds_options_of_the_launcher_and_nothing_else(tmp_path, monkeypatch):
    layout, work, events = tmp_path / "layouts" / "a.csv", tmp_path / "work", tmp_path / "events"
    where, seen = MeasurementSite(Path("/"), Path("/launcher"), False), []
    for counted in (None, RunCounters(events, ("x",), "roi")):
        seen.append(Recorder())
        monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: seen[-1])
        launched(row("/program", "--size", "1"), layout, work, where, counted)
    plain, counted = seen
    head, program = ["/launcher", "--layout", str(layout), "--report", str(work / "report.json")], ["--"]
    program += ["/program", "--size", "1"]
    options = ["--count", str(events), "--counts", str(work / "counts.csv"), "--count-region", "roi"]
    assert plain.argv == [*head, *program]
    assert counted.argv == [*head, *options, *program]
    assert plain.paths == counted.paths == [layout.parent] and plain.options.writes == (work,)
    assert plain.env == counted.env and list(plain.env) == ["GLIBC_TUNABLES"]
    assert plain.options.huge_pages and not plain.options.unconfined
    assert counted.options == replace(plain.options, unconfined=True)


def test_all_that_a_counted_run_may_ask_for(tmp_path, monkeypatch):
    seen, layout, work = Recorder(), tmp_path / "a.csv", tmp_path / "work"
    monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: seen)
    where, events = MeasurementSite(Path("/"), Path("/launcher"), False), tmp_path / "events"
    program = row("sh", "run.sh", folder=Path("/f"), target="/t", paths=(Path("/p"),), environment={"A": "1"})
    launched(program, layout, work, where, RunCounters(events, ("x",), "roi"), ("taskset", "--cpu-list", "1"))
    assert seen.argv == [
        *("taskset", "--cpu-list", "1", "/launcher", "--layout", str(layout)),
        *("--report", str(work / "report.json"), "--target", "/t", "--count", str(events)),
        *(
            "--counts",
            str(work / "counts.csv"),
            "--count-region",
            "roi",
            "--",
            "env",
            "-C",
            "/f",
            "sh",
            "run.sh",
        ),
    ]
    assert seen.paths == [layout.parent, Path("/p")] and seen.env["A"] == "1"
    assert seen.options.writes == (work, Path("/f"))
    assert seen.options.unconfined and seen.options.huge_pages


def test_an_output_that_is_no_text_fails_a_run_by_its_status(tmp_path, monkeypatch):
    class Noise(Recorder):
        def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
            return HostProcess(["sh", "-c", r"printf '\377' >&2; exit 3"], **keywords)

    monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: Noise())
    found = launched(
        row("p"), tmp_path / "a.csv", tmp_path, MeasurementSite(Path("/"), Path("/l"), False), None
    )
    assert found.message.startswith("status 3: ")


def test_tables_of_real_runs_are_those_of_the_launchers_times(world, monkeypatch):
    """The fake launcher's region takes R / 2 ns in each run, so intervals are 0 and ratios are those of R."""
    monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: HostToolchain())
    monkeypatch.setattr(hybrid_cells, "real_host", lambda: MeasurementSite(Path("/"), LAUNCHER, False))
    monkeypatch.setattr(hybrid_cells.launch, "common_key", lambda command: "k")
    monkeypatch.setattr(hybrid_cells, "reserve_huge_pages", lambda *counts: nullcontext())
    files = []
    for name in LAYOUTS:
        files.append(world.folder / "alpha" / f"{name}.csv")
        write_layout(Layout(name, {"brk": PAGE_2MB, "mmap": PAGE_1GB}), files[-1])
    out = world.folder / "out" / "cells.csv"
    run_host(Experiment("alpha", "default", tuple(files), out, rule=StoppingRule(0.005, 2, 2)))
    cells = pd.read_csv(out).set_index("layout")
    times = {name: round(world.cells["alpha", name]["runtime_cycles"] / 2) for name in LAYOUTS}
    assert cells["runtime_ns"].to_dict() == times and set(cells["runtime_ns_ci95"]) == {0}
    assert set(cells["message"]) == {"2 runs"} and cells["runtime_cycles"].isna().all()
    compared = pd.read_csv(out.with_name("comparison.csv")).set_index("layout")["measured_delta"]
    for name in LAYOUTS:
        assert compared[name] == pytest.approx(times[name] / times[LAYOUTS[0]] - 1, abs=1e-12)
    runs = pd.read_csv(out.with_name("runs.csv"))
    assert len(runs) == 6 and set(runs["status"]) == {"ok"}


def test_pages_are_those_of_the_most_demanding_layout_of_each_size():
    def layout(name, *windows):
        return Layout(name, {"brk": PAGE_1GB, "mmap": 4 * PAGE_1GB}, windows)

    small = layout("small")
    large = layout("large", Window("mmap", 0, 5 * PAGE_2MB, PAGE_2MB), Window("brk", 0, PAGE_2MB, PAGE_2MB))
    largest = layout("1gb", Window("mmap", 0, 3 * PAGE_1GB, PAGE_1GB))
    assert huge_pages_needed([small, large, largest]) == (6, 3)
    assert huge_pages_needed([small]) == huge_pages_needed([]) == (0, 0)
