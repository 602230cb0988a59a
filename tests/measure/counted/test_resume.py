"""Interrupted measurements go on; other plans are refused; nothing that was finished is lost."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from itertools import groupby

import pytest

from tessera.core.errors import TesseraError
from tessera.measure.bundles import file_format, verify, writer
from tessera.measure.counted import campaign
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule

from .world import TWO_PASSES, engine_cells

CORE = 10  #: growing-0 to growing-8, and 1gb


def run(world, **changes):
    return measure_bundle(world.request(**changes), say=world.said.append)


def test_a_sealed_bundle_is_left_alone(world):
    run(world, workloads=("alpha",))
    before = (world.folder / "bundle/SHA256SUMS").read_bytes()
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("alpha",))
    assert error.value.code == "bundle-sealed"
    assert (world.folder / "bundle/SHA256SUMS").read_bytes() == before


class Killed(BaseException):
    """Ends a measurement as a signal does."""


def stopped_after(count):
    """A listener that ends the measurement after so many runs."""
    seen = []

    def say(text):
        seen.append(text)
        if sum(line.startswith("round ") for line in seen) >= count:
            raise Killed

    return say


def test_a_resumed_measurement_uses_every_run_and_finishes_its_round(world):
    world.change(TWO_PASSES)
    for count in (3, 21, 7):  # ends in the middle of a turn, too
        with pytest.raises(Killed):
            measure_bundle(world.request(workloads=("alpha",)), say=stopped_after(count))
    trials = 2  # one for each pass, at the first start only
    assert len(world.lines("ends")) == 31 + trials
    bundle = run(world, workloads=("alpha",))
    assert len(bundle.runs) == len(world.lines("ends")) - trials == CORE * 2 * 2
    assert len({(r.layout, r.round, r.pass_name) for r in bundle.runs}) == len(bundle.runs)


@pytest.mark.parametrize("worse_at", [0, 1])
def test_conditions_of_every_start_are_kept(world, worse_at):
    """Runs of a start count although the machine is as it should be at the last one."""
    for start in range(3):
        always = "[always] madvise never" if start == worse_at else "always madvise [never]"
        world.change({"sys/kernel/mm/transparent_hugepage/enabled": always})
        if start < 2:
            with pytest.raises(Killed):
                measure_bundle(world.request(workloads=("alpha",)), say=stopped_after(3))
    bundle = run(world, workloads=("alpha",))
    (thp,) = [one for one in bundle.environment if one.check == "thp"]
    assert thp.status == "differs"
    assert len({one.check for one in bundle.environment}) == len(bundle.environment)
    assert not verify.verify_bundle(world.folder / "bundle").decides


def smaller(world, name):
    """A workload with half the footprint of the others."""
    world.workload(name)
    path = world.checkout / f"config/workloads/{name}.yaml"
    path.write_text(path.read_text().replace("footprint: 8MB", "footprint: 4MB"))
    engine_cells(world.folder / "engine.csv", ("alpha", "beta", name))


def test_a_resumed_measurement_keeps_the_order_of_workloads(world):
    """The smallest one sorts last by its name, and runs first."""
    smaller(world, "zeta")
    with pytest.raises(Killed):
        measure_bundle(world.request(), say=stopped_after(3))
    bundle = run(world)
    assert [name for name, _ in groupby(one.workload for one in bundle.runs)] == ["zeta", "alpha", "beta"]


@pytest.mark.parametrize("count", [CORE * 2 + 1, CORE * 2 + 7, CORE * 4 + 1])
def test_a_cut_round_is_finished_although_no_time_is_left(world, monkeypatch, count):
    """Killed in a round, in its first turn, too; the next start has no time, and finishes this round only."""
    world.change(TWO_PASSES)
    request = world.request(workloads=("alpha",), rule=StoppingRule(0.005, 2, 9), minutes=60.0)
    monkeypatch.setenv("TESSERA_FAKE_NOISE", "0.01")  # so many rounds are needed
    with pytest.raises(Killed):
        measure_bundle(request, say=stopped_after(count))
    real = campaign.Measurement._rule
    monkeypatch.setattr(
        campaign.Measurement, "_rule", lambda self, at: replace(real(self, at), max_minutes=0.0)
    )
    bundle = measure_bundle(request)
    rounds = {one.round for one in bundle.runs}
    assert len(bundle.runs) == CORE * 2 * len(rounds) and max(rounds) == (count - 1) // (CORE * 2)
    wrong = [one.name for one in verify.verify_bundle(world.folder / "bundle").checks if not one.passed]
    assert "rounds" not in wrong


def test_workloads_before_the_cut_one_get_no_further_rounds(world, monkeypatch):
    """Alpha's rounds have ended by the time; with new time, beta's cut round comes first."""
    request = world.request(rule=StoppingRule(0.005, 2, 9), minutes=60.0)
    monkeypatch.setenv("TESSERA_FAKE_NOISE", "0.01")
    real = campaign.Measurement._rule
    monkeypatch.setattr(
        campaign.Measurement, "_rule", lambda self, at: replace(real(self, at), max_minutes=0.0)
    )
    with pytest.raises(Killed):
        measure_bundle(request, say=stopped_after(CORE + 3))
    monkeypatch.setattr(campaign.Measurement, "_rule", real)
    bundle = measure_bundle(request)
    assert {one.round for one in bundle.runs if one.workload == "alpha"} == {0}
    assert len({one.round for one in bundle.runs if one.workload == "beta"}) > 1


@pytest.mark.parametrize(
    "change", [{"seed": 2}, {"layouts": "full"}, {"rule": StoppingRule(max_repeats=7)}, {"mode": "uk"}]
)
def test_other_options_are_another_plan(world, change):
    with pytest.raises(Killed):
        measure_bundle(world.request(workloads=("alpha",)), say=stopped_after(3))
    with pytest.raises(TesseraError) as error:
        measure_bundle(replace(world.request(workloads=("alpha",)), **change))
    assert error.value.code == "other-plan"
    if (name := next(iter(change))) != "rule":
        assert name in error.value.found


@pytest.mark.parametrize(
    ("place", "text", "named"),
    [
        ("machine/proc/sys/kernel/osrelease", "6.2.0", "kernel"),
        ("machine/sys/devices/system/cpu/smt/active", "1", "events.csv"),
        ("checkout/build/workloads/alpha", "another program", "alpha"),
    ],
)
def test_another_machine_or_program_is_another_plan(world, place, text, named):
    with pytest.raises(Killed):
        measure_bundle(world.request(workloads=("alpha",)), say=stopped_after(3))
    (world.folder / place).write_text(text)
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("alpha",))
    assert error.value.code == "other-plan" and named in error.value.found


def test_a_folder_with_other_files_is_refused(world):
    (world.folder / "bundle").mkdir()
    (world.folder / "bundle/mine.txt").write_text("keep")
    with pytest.raises(TesseraError) as error:
        run(world)
    assert error.value.code == "other-plan"
    assert (world.folder / "bundle/mine.txt").read_text() == "keep"


def test_heads_that_a_kill_left_incomplete_are_written_again(world, monkeypatch):
    real = writer.write_text

    def cut(path, text):
        if path.name == "workloads.json":
            raise Killed
        real(path, text)

    monkeypatch.setattr(writer, "write_text", cut)
    with pytest.raises(Killed):
        run(world, workloads=("alpha",))
    monkeypatch.setattr(writer, "write_text", real)
    assert len(run(world, workloads=("alpha",)).runs) == CORE * 2


@pytest.mark.parametrize("left", [file_format.COUNTS_FILE, "nothing"])
def test_a_kill_after_the_last_step_leaves_a_finished_bundle(world, monkeypatch, left):
    """Killed between the sums and the removal of working files."""

    def rmtree(path):
        raise Killed

    monkeypatch.setattr(campaign.shutil, "rmtree", rmtree)
    with pytest.raises(Killed):
        run(world, workloads=("alpha",))
    monkeypatch.undo()
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    if left == file_format.COUNTS_FILE:
        (world.folder / "bundle" / file_format.COUNTS_FILE).write_text(
            "run,event,value,enabled_ns,running_ns\n"
        )
    assert len(run(world, workloads=("alpha",)).runs) == CORE * 2
    assert [path.name for path in world.folder.glob("bundle*")] == ["bundle"]


def test_a_full_disk_ends_the_measurement_and_loses_one_run(world, monkeypatch):
    real, calls = os.pwrite, []

    def write(descriptor, data, at):
        calls.append(1)
        if len(calls) == 12:
            real(descriptor, data[: len(data) // 2], at)
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", write)
    with pytest.raises(TesseraError) as error:
        run(world, workloads=("alpha",))
    assert "No space left" in error.value.found
    monkeypatch.setattr(os, "pwrite", real)
    bundle = run(world, workloads=("alpha",))
    assert len(bundle.runs) == CORE * 2 and len(world.lines("ends")) == CORE * 2 + 1 + 1  # trial, lost run
