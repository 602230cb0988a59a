"""The doctor's rows of memory and disk: the needs of the default configuration, as the README states them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.units import GB
from tessera.machine import limits
from tessera.machine.doctor import hardware


@pytest.mark.parametrize(
    ("free", "status"),
    [(18 * GB, PASS), (18 * GB - 1, SKIP), (5 * GB, SKIP), (5 * GB - 1, FAIL)],
)
def test_disk(monkeypatch, free, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    row = hardware._disk()
    assert row.status == status and (status == PASS) == (row.remedy == "")


@pytest.mark.parametrize(("available", "status"), [(16 * GB, PASS), (16 * GB - 1024, SKIP)])
def test_memory(monkeypatch, tmp_path, available, status):
    (tmp_path / "proc").mkdir()
    text = f"MemTotal: {64 * GB // 1024} kB\nMemAvailable: {available // 1024} kB\n"
    (tmp_path / "proc/meminfo").write_text(text)
    monkeypatch.setattr(limits, "ROOT", tmp_path)
    row = hardware._ram()
    assert row.status == status and (status == PASS or "16 GB" in row.remedy)


def test_a_checkout_that_cannot_be_written(monkeypatch):
    monkeypatch.setattr(hardware.os, "access", lambda path, mode: False)
    row = hardware._disk()
    assert row.status == FAIL and "nothing can be written" in row.found and "copy it" in row.remedy


def test_pages_say_what_the_main_job_needs():
    root = Path(__file__).resolve().parents[2]
    text = " ".join((root / "docs/howto/reproduce.md").read_text().split())
    (memory,) = re.findall(r"up to (\d+) GB of memory", text)
    ((peak, left),) = re.findall(r"(\d+) GB of disk at the peak, and (\d+) GB when it is done", text)
    assert f"; {memory} GB of memory" in (root / "README.md").read_text()
    needs = (hardware.RAM_BYTES, hardware.DISK_BYTES, hardware.DISK_LEFT_BYTES)
    assert [int(number) * GB for number in (memory, peak, left)] == list(needs)
