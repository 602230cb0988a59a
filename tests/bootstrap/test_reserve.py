"""Huge pages: only with permission, exactly as many as asked, and always given back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.reserve import HugePagesUnavailable, pools, reserve_huge_pages, restore_leftovers
from tessera.machine.reserve.machine_state import BOOT_ID, Owner


def _records(tmp_path) -> list[Path]:
    return list((tmp_path / "state").glob("*.json"))


def test_reserves_and_gives_back(kernel, tmp_path):
    with reserve_huge_pages(64):
        assert kernel.total[PAGE_2MB] == 64
        (record,) = [json.loads(path.read_text()) for path in _records(tmp_path)]
        assert [one["added"] for one in record["reservations"].values()] == [{str(PAGE_2MB): 64}]
    assert kernel.total[PAGE_2MB] == 0
    assert _records(tmp_path) == []


# total, used before -> total while 64 are reserved
POOLS = {"empty": (0, 0, 64), "63 free": (63, 0, 64), "64 free": (64, 0, 64), "10 of 20 used": (20, 10, 74)}


@pytest.mark.parametrize("name", POOLS)
def test_free_pages_are_used_first(kernel, name):
    total, used, during = POOLS[name]
    kernel.total[PAGE_2MB], kernel.used[PAGE_2MB] = total, used
    with reserve_huge_pages(64):
        assert kernel.total[PAGE_2MB] == during
    assert kernel.total[PAGE_2MB] == total


def test_nested_reservations_add_up_and_unwind(kernel):
    with reserve_huge_pages(64):
        with reserve_huge_pages(100):
            assert kernel.total[PAGE_2MB] == 100
        assert kernel.total[PAGE_2MB] == 64
    assert kernel.total[PAGE_2MB] == 0


def test_exceptions_give_back(kernel):
    with pytest.raises(ValueError), reserve_huge_pages(64):
        raise ValueError
    assert kernel.total[PAGE_2MB] == 0


def test_without_permission_nothing_changes_and_the_sysctl_is_named(kernel, monkeypatch):
    monkeypatch.setenv("TESSERA_RESERVE", "0")
    kernel.total[PAGE_2MB], kernel.used[PAGE_2MB] = 5, 2
    with pytest.raises(HugePagesUnavailable) as error, reserve_huge_pages(64):
        pass
    assert "3 are free" in error.value.found
    assert "./run --reserve" in error.value.remedy
    assert "sysctl vm.nr_hugepages=66" in error.value.remedy  # 2 stay used
    assert kernel.total[PAGE_2MB] == 5


def test_free_pages_need_no_permission(kernel, monkeypatch):
    monkeypatch.setenv("TESSERA_RESERVE", "0")
    kernel.total[PAGE_2MB] = 64
    with reserve_huge_pages(64):
        assert kernel.total[PAGE_2MB] == 64


@pytest.mark.parametrize("limit, enough", [(64, True), (63, False)])
def test_what_the_kernel_really_gave_counts(kernel, limit, enough):
    kernel.limit = limit
    if enough:
        with reserve_huge_pages(64):
            assert kernel.total[PAGE_2MB] == 64
    else:
        with pytest.raises(HugePagesUnavailable, match="64 free 2MB pages: .* 63 "):
            with reserve_huge_pages(64):
                pass
    assert kernel.total[PAGE_2MB] == 0


def test_what_a_killed_run_left_is_taken_back_once(kernel, tmp_path):
    kernel.total[PAGE_2MB] = 74  # 10 of somebody else
    _leave(tmp_path, 64, 74, BOOT_ID.read_text().strip())
    assert restore_leftovers() == {PAGE_2MB: 64}
    assert kernel.total[PAGE_2MB] == 10
    assert restore_leftovers() == {}
    assert kernel.total[PAGE_2MB] == 10


def test_leftovers_of_an_earlier_boot_are_only_forgotten(kernel, tmp_path):
    kernel.total[PAGE_2MB] = 10
    _leave(tmp_path, 64, 10, "an earlier boot")
    assert restore_leftovers() == {}
    assert kernel.total[PAGE_2MB] == 10
    assert _records(tmp_path) == []


def test_reservations_of_living_processes_are_left_alone(kernel):
    with reserve_huge_pages(64):
        assert restore_leftovers() == {}
        assert kernel.total[PAGE_2MB] == 64


def _leave(root: Path, added: int, total: int, boot_id: str) -> None:
    """The record of a process that has died."""
    pool, owner = str(PAGE_2MB), asdict(replace(Owner.of(os.getpid()), started=0))
    one = {"name": "dead", "owner": owner, "added": {pool: added}, "kept": False}
    facts = {"boot_id": boot_id, "reservations": {"dead": one}, "totals": {pool: total}, "change": None}
    (root / "state").mkdir(mode=0o700)
    (root / "state" / "huge-pages.json").write_text(json.dumps(facts))


def test_free_pages_exclude_promised_ones(monkeypatch, tmp_path):
    pool = tmp_path / "hugepages-2048kB"
    pool.mkdir()
    for name, value in (("nr", 20), ("free", 12), ("resv", 5)):
        (pool / f"{name}_hugepages").write_text(f"{value}\n")
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path))
    assert pools.supported_sizes() == [PAGE_2MB]
    assert pools.huge_pages_total(PAGE_2MB) == 20
    assert pools.huge_pages_free(PAGE_2MB) == 7
    with pytest.raises(TesseraError, match="1GB pages: .*: 2MB"):
        pools.huge_pages_free(PAGE_1GB)


@pytest.mark.hugepages
@pytest.mark.skipif(os.environ.get("TESSERA_RESERVE") != "1", reason="needs ./run --reserve test")
@pytest.mark.parametrize("end", ["return", "sigterm", "sigkill"])
def test_real_pages_come_and_go(root, end, tmp_path):
    """A child reserves 8 pages more than are free, and ends in three ways."""
    code = (
        "import os, signal, sys\n"
        "from tessera.machine.reserve import huge_pages_free, reserve_huge_pages\n"
        f"with reserve_huge_pages(huge_pages_free({PAGE_2MB}) + 8):\n"
        f"    print(huge_pages_free({PAGE_2MB}), flush=True)\n"
        "    number = {'sigterm': 15, 'sigkill': 9}.get(sys.argv[1])\n"
        "    if number: os.kill(os.getpid(), number)\n"
    )
    before = pools.huge_pages_total(PAGE_2MB)
    free = pools.huge_pages_free(PAGE_2MB)
    env = os.environ | {"PYTHONPATH": str(root / "src"), "TESSERA_MACHINE_STATE": str(tmp_path / "state")}
    done = subprocess.run([sys.executable, "-c", code, end], env=env, capture_output=True, text=True)
    assert done.stdout.split() == [str(free + 8)]
    assert done.returncode == {"return": 0, "sigterm": 143, "sigkill": -9}[end]
    if end == "sigkill":
        assert pools.huge_pages_total(PAGE_2MB) == before + 8
        subprocess.run([sys.executable, "-m", "tessera.machine.reserve"], env=env, check=True)
    assert pools.huge_pages_total(PAGE_2MB) == before
