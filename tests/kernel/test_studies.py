"""The kernel's studies with guests that are played here: tables, and what ends with status 1."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import (
    cost_experiments,
    debug_kernels,
    image,
    mutants,
    placement_experiments,
    third_party_tests,
)
from tessera.lab.kernel.guest import GuestRun
from tessera.lab.study import Run, run_study


@pytest.fixture(autouse=True)
def guest(monkeypatch):
    """No kernel is built; the program of a guest is the name of its variant."""
    monkeypatch.setattr(image, "guest_program", lambda variant, say, **options: (variant, options))
    monkeypatch.setattr(image, "kernel_tools", lambda say: None)


@pytest.fixture
def says(monkeypatch):
    """A run in the guest that prints these lines."""

    def play(module, text: str) -> None:
        def run(tools, program, script, out, **_):
            out.mkdir(parents=True, exist_ok=True)
            (out / "stdout").write_text(text)
            return GuestRun(0, out, "6.12", 5.0)

        monkeypatch.setattr(module, "run_in_guest", run)

    return play


def made(study, folder, **values):
    """Tables of a study, by file, and what it found wrong."""
    run = Run(folder)
    run_study(study, run, values)
    return {path.name: pd.read_csv(path) for path in sorted(folder.glob("*.csv"))}, run.wrong


@pytest.mark.parametrize(("more", "wrong"), [(0, 0), (4, 1)])
def test_memory_of_replicas(says, tmp_path, more, wrong):
    pages = {size: cost_experiments.table_count(size) - 1 for size in cost_experiments.FOOTPRINTS_BYTES}
    lines = [
        f"{copies},{size},{4 * count + (more if lone else 0)},{4 * (copies - 1) * count}"
        for size, count in pages.items()
        for copies in cost_experiments.COPIES
        for lone in [(size, copies) == (1 << 20, 1)]
    ]
    says(cost_experiments, "\n".join(lines) + "\n")
    tables, found = made(cost_experiments.table4_study, tmp_path)
    assert len(tables["table4.csv"]) == 20 and len(tables["table4_measured.csv"]) == 9
    assert len(found) == wrong


def test_the_formula_alone_needs_no_guest(tmp_path):
    tables, found = made(cost_experiments.table4_study, tmp_path, measured=False)
    assert len(tables["table4.csv"]) == 20 and tables["table4_measured.csv"].empty and not found


def test_instructions_are_those_of_all_configurations(monkeypatch, tmp_path):
    def vma_operations(tools, config, program, out, regions):
        assert program[0] == {"unpatched": "plain"}.get(config, "measure") and list(regions) == ["4KB"]
        count = {"replicated": 150.0, "unpatched": 80.0}.get(config, 100.0)
        row = ("mmap", "4KB", 4096, config, 1, count, "measured")
        return pd.DataFrame([row], columns=list(cost_experiments.TABLE5_COUNTS.names))

    monkeypatch.setattr(cost_experiments, "vma_operations", vma_operations)
    tables, _ = made(cost_experiments.table5_study, tmp_path, regions=("4KB",))
    assert len(tables["instructions.csv"]) == 4
    assert tables["table5.csv"].iloc[0][["replicated_ratio", "off_ratio"]].tolist() == [1.5, 1.25]
    with pytest.raises(TesseraError, match="5KB"):
        made(cost_experiments.table5_study, tmp_path, regions=("5KB",))


def test_instructions_of_whole_programs(monkeypatch, tmp_path):
    def measure_whole_run(tools, config, program, out):
        rows = [(name, config, 1, {"off": 100, "replicated": 104}[config], "measured") for name in ("gups",)]
        return pd.DataFrame(rows, columns=list(cost_experiments.TABLE6_COUNTS.names))

    monkeypatch.setattr(cost_experiments, "measure_whole_run", measure_whole_run)
    tables, _ = made(cost_experiments.table6_study, tmp_path)
    assert tables["table6.csv"].overhead_percent.tolist() == [4] and len(tables["instructions.csv"]) == 2


def test_a_placement_that_two_readings_see_differently(monkeypatch, tmp_path):
    def observe_placement(tools, program, what, out, machine, timeout):
        rows = [(what.workload, what.config, "0", 1, 0, socket, 1, 5) for socket in (0, 1)]
        columns = list(placement_experiments.PLACEMENT.names)
        return pd.DataFrame(rows, columns=columns), ["other"] * (
            what.config == "F" and what.workload == "gups"
        )

    monkeypatch.setattr(placement_experiments, "observe_placement", observe_placement)
    tables, wrong = made(placement_experiments.placement, tmp_path, megabytes=1)
    assert len(tables["placement.csv"]) == 40 and len(tables["figure4.csv"]) == 20
    assert wrong == ["gups F: other"]


@pytest.mark.parametrize(("unnoticed", "wrong"), [("", 0), ("set_pmd", 1)])
def test_a_hook_whose_absence_nobody_notices(monkeypatch, tmp_path, unnoticed, wrong):
    def observe(tools, program, runs, out):
        assert program[0] == "broken"
        return {n: mutants.Observed(left=int(bool(hook) and n != unnoticed)) for n, _, hook in runs}

    monkeypatch.setattr(mutants, "observe", observe)
    tables, found = made(mutants.prove, tmp_path)
    assert len(tables["prove.csv"]) == len(mutants.FEW) + 3 and len(found) == wrong


@pytest.mark.parametrize(("status", "own"), [("0", []), ("1", ["status 1"]), ("", ["it never ran"])])
def test_a_debug_kernel_that_complains(monkeypatch, tmp_path, status, own):
    def run(tools, program, script, out, files, **_):
        assert program[0] == "kcsan" and files == {"/kselftest": b"program"}
        out.mkdir(parents=True, exist_ok=True)
        (out / "stdout").write_text("ok 1 - a\nok 2 - b\n" if out.name == "selftests" else "write 7\n")
        (out / "kselftest").write_text("ok 1 - c\n")
        (out / "kselftest-status").write_text(status)
        race = "BUG: KCSAN: data-race in {0} / {0}\n by task 7 on cpu 1:\n {0}+0x1\n"
        text = race.format("do_exit") + (race.format("replica_link") if out.name == "stress" else "")
        (out / "dmesg").write_text(text)
        return GuestRun(0, out, "6.12", 5.0)

    monkeypatch.setattr(debug_kernels, "run_in_guest", run)
    monkeypatch.setattr(debug_kernels, "kselftest_of", lambda program: {"/kselftest": b"program"})
    tables, found = made(debug_kernels.debug_kernel, tmp_path, variant="kcsan")
    table = tables["debug.csv"].set_index("part")
    assert table.passed.tolist() == [3, 1] and table.failed.tolist() == [len(own), 0]
    assert table.complaints.tolist() == [0, 1] and table.others.tolist() == [1, 1]
    *failed, race = found
    assert race == "stress: BUG: KCSAN: data-race in replica_link / replica_link"
    assert len(failed) == len(own) and all(word in line for word, line in zip(own, failed, strict=True))


@pytest.mark.parametrize(
    "line", ["WARNING: possible circular locking dependency detected", "BUG: KASAN: use-after-free in x"]
)
def test_any_other_report_of_a_debug_kernel_counts(tmp_path, line):
    (tmp_path / "stdout").write_text("ok 1 - a\nnot ok 2 - b\n")
    (tmp_path / "dmesg").write_text(f"Linux version\n{line}\n")
    done = GuestRun(0, tmp_path, "6.12", 5.0)
    assert debug_kernels.judge_debug(done) == (1, ["not ok 2 - b"], [line], [])


def test_selftests_that_replicas_break(says, tmp_path):
    names = list(third_party_tests.SELFTESTS_MM_RUNS)
    text = "".join(f"{name} plain 0\n{name} replicated {int(name == names[3])}\n" for name in names)
    says(third_party_tests, text)
    tables, wrong = made(third_party_tests.selftests_mm, tmp_path)
    assert len(tables["selftests-mm.csv"]) == len(names)
    assert wrong == [f"{names[3]}: passed without replicas, status 1 with"]


def test_stressors(says, tmp_path):
    says(third_party_tests, "vm 0\nnuma 4\nmmap 2\n")
    tables, wrong = made(third_party_tests.stress_ng, tmp_path, stressors=("vm", "numa", "mmap"))
    assert tables["stress-ng.csv"].outcome.tolist() == ["passed", "skipped", "failed"] and len(wrong) == 1
    with pytest.raises(TesseraError, match="nothing"):
        made(third_party_tests.stress_ng, tmp_path, stressors=("nothing",))
