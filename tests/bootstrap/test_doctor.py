"""The doctor: every gap has a remedy, required gaps decide the status, nothing is changed."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from tessera.machine.doctor import events, pages, software
from tessera.machine.doctor.check import FAIL, PASS, SKIP, failed, passed, skipped
from tessera.machine.doctor.examine import as_json, as_table, examine, exit_status

ROWS = [passed("a", "here"), skipped("bb", "gone", "get it")]


def test_status_is_1_only_for_required_gaps():
    assert exit_status(ROWS) == 0
    assert exit_status([*ROWS, failed("c", "gone", "must")]) == 1


def test_table():
    assert as_table(ROWS).splitlines()[:3] == ["PASS  a   here", "SKIP  bb  gone", "          -> get it"]


def test_json():
    rows = json.loads(as_json(ROWS))
    assert rows["status"] == PASS
    assert rows["checks"][1] == {"name": "bb", "status": SKIP, "found": "gone", "remedy": "get it"}


def test_every_gap_of_this_machine_has_a_remedy():
    for row in examine():
        assert (row.remedy == "") == (row.status == PASS), row


def test_system_python_runs_it_quickly_and_leaves_nothing(root, tmp_path):
    """Before anything is installed: no third-party package; a second (3 once in three tries, if busy)."""
    env = {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    seconds = []
    for _ in range(3):
        start = time.monotonic()
        done = subprocess.run(
            ["/usr/bin/python3", "-S", "-m", "tessera.machine.doctor", "--json"],
            env=env, capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        seconds.append(time.monotonic() - start)
    assert min(seconds) < 3
    assert done.returncode == (json.loads(done.stdout)["status"] == FAIL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("free, status", [(0, SKIP), (3, PASS)])
def test_huge_pages_row(monkeypatch, tmp_path, free, status):
    pool = tmp_path / "hugepages-2048kB"
    pool.mkdir()
    for name, value in (("nr", 10), ("free", free), ("resv", 0)):
        (pool / f"{name}_hugepages").write_text(f"{value}\n")
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path))
    two_megabytes, one_gigabyte = pages.checks()[:2]
    assert (two_megabytes.status, two_megabytes.found) == (status, f"{free} free of 10 reserved")
    assert one_gigabyte.status == SKIP and "not supported" in one_gigabyte.found


def test_missing_engine_is_required(monkeypatch):
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    monkeypatch.setattr(software.shutil, "which", lambda name: None)
    row = software.checks()[0]
    assert (row.name, row.status) == ("Docker", FAIL)
    assert "--engine none" in row.remedy


def test_engine_none_names_the_missing_packages(monkeypatch):
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    monkeypatch.setattr(software, "missing_programs", lambda: ["cmake", "qemu-user"])
    row = software.checks()[0]
    assert (row.status, row.found) == (FAIL, "no cmake, qemu-user")


# Intel SDM volume 3: event and unit mask of loads' completed walks
WALK_COMPLETED = {45: 0x0208, 63: 0x0E08, 79: 0x0E08, 85: 0x0E08, 143: 0x0E12}


@pytest.mark.parametrize("model", WALK_COMPLETED)
def test_event_codes(model):
    known = events.generation("GenuineIntel", 6, model)
    assert known.events["dtlb_load_misses.walk_completed"] == WALK_COMPLETED[model]
    assert len(known.events) == 6


def test_models_belong_to_one_generation():
    models = [model for generation in events.GENERATIONS for model in generation.models]
    assert len(models) == len(set(models))


def test_other_vendors_have_no_walk_cycles():
    assert events.generation("AuthenticAMD", 25, 1) is None
