"""``tessera mosalloc reserve``: needs, consent, nodes, one run or kept, and everything given back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.reserve import HugePagesUnavailable, pools, restore_leftovers
from tessera.machine.reserve.machine_state import BOOT_ID, Owner
from tessera.measure.mosalloc.memory_needs import page_needs

FILES = ("nr_hugepages", "free_hugepages", "resv_hugepages")


def released_nothing(done) -> bool:
    """Whether ``--release`` succeeded and reports no pages."""
    return done.exit_code == 0 and "release" in done.output and not re.search(r"\d", done.output)


class FakeSysfs:
    """Pools of 2MB pages on two nodes as files, and a kernel that keeps them consistent."""

    def __init__(self, folder: Path):
        self.folder, self.limit = folder, 1000
        for pool in self._folders():
            pool.mkdir(parents=True)
        self.free, self.used, self.promised = {0: 0, 1: 0}, {0: 0, 1: 0}, 0
        self.write()

    def _folders(self):
        name = "hugepages-2048kB"
        return [self.folder / name, *(self.folder / f"node{n}" / "hugepages" / name for n in (0, 1))]

    def write(self) -> None:
        totals = [self.free[n] + self.used[n] for n in (0, 1)]
        rows = [(sum(totals), sum(self.free.values()), self.promised)]
        rows += [(totals[n], self.free[n], 0) for n in (0, 1)]
        for pool, row in zip(self._folders(), rows, strict=True):
            for name, value in zip(FILES, row, strict=True):
                (pool / name).write_text(f"{value}\n")

    def set_total(self, page_bytes: int, total: int, node: int | None = None) -> int:
        assert page_bytes == PAGE_2MB
        if node is None:  # the kernel spreads the change over its nodes
            change = min(total, self.limit) - sum(self.free.values()) - sum(self.used.values())
            self.free[0] += change // 2
            self.free[1] += change - change // 2
        else:
            self.free[node] = min(total, self.limit) - self.used[node]
        self.write()
        return pools.huge_pages_total(page_bytes, node)


@pytest.fixture
def sysfs(monkeypatch, tmp_path):
    """A machine with two nodes, no permission, and a launcher that says how many pages there were."""
    from tessera.machine.reserve import reservation

    fake = FakeSysfs(tmp_path / "sysfs")
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(fake.folder))
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("TESSERA_RESERVE", raising=False)
    monkeypatch.setattr(reservation, "set_total", fake.set_total)
    launcher = tmp_path / "build" / "mosalloc" / "mosalloc-run"
    launcher.parent.mkdir(parents=True)
    total = fake.folder / "hugepages-2048kB" / "nr_hugepages"
    launcher.write_text(f'#!/bin/sh\ncat {total} > {tmp_path}/seen\necho "$@" >> {tmp_path}/seen\nexit 7\n')
    launcher.chmod(0o755)
    return fake


def invoke(*arguments):
    return CliRunner().invoke(mosalloc, ["reserve", *map(str, arguments)])


def total() -> int:
    return pools.huge_pages_total(PAGE_2MB)


LAYOUT = Layout("l", {}, (Window("brk", 0, 8 << 20, PAGE_2MB), Window("mmap", 0, 120 << 20, PAGE_2MB)))


def test_needs_count_all_windows_and_what_is_free(sysfs):
    sysfs.free, sysfs.used, sysfs.promised = {0: 6, 1: 4}, {0: 5, 1: 0}, 3
    sysfs.write()
    (need,) = page_needs(LAYOUT)
    assert (need.pages, need.free, need.missing) == (64, 7, 57)  # 10 free, 3 of them promised
    assert need.free_on_nodes == {0: 6, 1: 4}
    assert need.command == "sudo sysctl vm.nr_hugepages=72"  # 15 there are, 57 more


def test_needs_of_one_node(sysfs):
    sysfs.free, sysfs.used = {0: 60, 1: 4}, {0: 0, 1: 2}
    sysfs.write()
    (need,) = page_needs(LAYOUT, node=1)
    assert (need.free, need.missing) == (4, 60)
    path = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
    assert need.command == f"echo 66 | sudo tee {path}"


def test_sizes_that_the_machine_lacks_are_named(sysfs):
    huge = Layout("l", {}, (Window("mmap", 0, PAGE_1GB, PAGE_1GB),))
    with pytest.raises(TesseraError, match="^1GB pages: .*: 2MB"):
        page_needs(huge)


@pytest.mark.parametrize("node, found", [("2", "use one of: 0, 1, or --node all"), ("x", "neither a number")])
def test_unknown_nodes(sysfs, layout, node, found):
    done = invoke("--layout", layout("mmap,2MB,0,4MB"), "--node", node)
    assert isinstance(done.exception, TesseraError) and found in str(done.exception)


def test_dry_run_says_it_all_and_changes_nothing(sysfs, layout):
    done = invoke("--layout", layout("mmap,2MB,0,8MB"), "--dry-run", "--yes")
    assert done.exit_code == 0, done.output
    assert re.search(r"2MB pages: 4 \w+, 0 free \(node 0: 0, node 1: 0\), 4 ", done.output)
    assert "by hand: sudo sysctl vm.nr_hugepages=4" in done.output
    assert total() == 0


def test_without_consent_nothing_happens_and_the_sysctl_is_named(sysfs, layout):
    done = invoke("--layout", layout("mmap,2MB,0,8MB"))
    assert isinstance(done.exception, HugePagesUnavailable)
    assert "sysctl vm.nr_hugepages=4" in done.exception.remedy
    assert total() == 0


@pytest.mark.parametrize("variable", [False, True], ids=["--yes", "TESSERA_RESERVE"])
def test_kept_until_released_exactly_once(sysfs, layout, monkeypatch, variable):
    sysfs.free[0] = 3
    sysfs.write()
    if variable:
        monkeypatch.setenv("TESSERA_RESERVE", "1")
    done = invoke("--layout", layout("mmap,2MB,0,8MB"), *([] if variable else ["--yes"]))
    assert done.exit_code == 0, done.output
    assert re.search(r"verified: 4 2MB pages .*\b4 needed, 1 added", done.output)
    assert total() == 4
    assert restore_leftovers() == {} and total() == 4  # the next ./run leaves them alone
    done = invoke("--release")
    assert re.search(r"\b1 2MB pages\b.*\b3\b", done.output) and total() == 3
    assert released_nothing(invoke("--release")) and total() == 3


def test_one_node_gets_the_pages_and_gives_them_back(sysfs, layout):
    sysfs.free[0] = 2
    sysfs.write()
    assert invoke("--layout", layout("mmap,2MB,0,8MB"), "--yes", "--node", "1").exit_code == 0
    assert sysfs.free == {0: 2, 1: 4}
    assert invoke("--release").exit_code == 0
    assert sysfs.free == {0: 2, 1: 0}


def test_enough_free_pages_are_not_recorded(sysfs, layout):
    sysfs.free[0] = 4
    sysfs.write()
    done = invoke("--layout", layout("mmap,2MB,0,8MB"))
    assert done.exit_code == 0 and "0 added" in done.output
    assert released_nothing(invoke("--release")) and total() == 4


def test_a_program_runs_with_the_pages_and_they_go(sysfs, layout, tmp_path):
    path = layout("mmap,2MB,0,8MB")
    done = invoke("--layout", path, "--yes", "--", "ls", "-l")
    assert done.exit_code == 7  # the launcher's
    assert (tmp_path / "seen").read_text() == f"4\n--layout {path} -- ls -l\n"
    assert total() == 0
    assert released_nothing(invoke("--release"))


def test_too_few_is_a_failure_and_all_goes_back(sysfs, layout, tmp_path):
    sysfs.limit = 3
    done = invoke("--layout", layout("mmap,2MB,0,8MB"), "--yes", "--", "ls")
    assert isinstance(done.exception, HugePagesUnavailable) and done.exception.exit_code == 1
    assert "the kernel found 3" in str(done.exception)
    assert total() == 0 and not (tmp_path / "seen").exists()


def test_a_killed_reservation_for_a_node_is_taken_back(sysfs, tmp_path):
    sysfs.free = {0: 10, 1: 10}
    sysfs.write()
    _record(tmp_path, f"{PAGE_2MB}@node1", 4, 10, BOOT_ID.read_text().strip())
    assert restore_leftovers() == {PAGE_2MB: 4}
    assert sysfs.free == {0: 10, 1: 6}


def test_what_was_kept_before_a_reboot_is_forgotten(sysfs, tmp_path):
    sysfs.free[0] = 10
    sysfs.write()
    path = _record(tmp_path, str(PAGE_2MB), 4, 10, "an earlier boot", kept=True)
    assert released_nothing(invoke("--release"))
    assert total() == 10 and not path.exists()


def _record(root: Path, pool: str, added: int, total: int, boot_id: str, *, kept: bool = False) -> Path:
    """The record of a process that has died."""
    owner = asdict(replace(Owner.of(os.getpid()), started=0))
    one = {"name": "dead", "owner": owner, "added": {pool: added}, "kept": kept}
    facts = {"boot_id": boot_id, "reservations": {"dead": one}, "totals": {pool: total}, "change": None}
    (root / "state").mkdir(mode=0o700)
    path = root / "state" / "huge-pages.json"
    path.write_text(json.dumps(facts))
    return path


def test_writing_a_nodes_pool(monkeypatch, tmp_path):
    """The real function on plain files: only the node's file is written."""
    fake = FakeSysfs(tmp_path)
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path))
    monkeypatch.setattr(pools, "COMPACT_MEMORY", tmp_path / "none")
    assert pools.nodes() == [0, 1] and pools.supported_sizes() == [PAGE_2MB]
    assert pools.set_total(PAGE_2MB, 9, 1) == 9
    machine, first, second = [int((pool / "nr_hugepages").read_text()) for pool in fake._folders()]
    assert (machine, first, second) == (0, 0, 9)


def test_layout_and_release_exclude_each_other(sysfs, layout):
    assert "not given" in str(invoke().exception)
    assert "takes neither" in str(invoke("--release", "--layout", layout()).exception)


def test_layouts_without_huge_pages_need_nothing(sysfs, layout):
    done = invoke("--layout", layout())
    assert done.exit_code == 0 and " no huge" in done.output and "needed" not in done.output


@pytest.mark.toolchain
@pytest.mark.hugepages
@pytest.mark.skipif(os.environ.get("TESSERA_RESERVE") != "1", reason="needs ./run --reserve test")
@pytest.mark.parametrize("node", ["all", "0"])
def test_real_pages_for_a_real_program(build, layout, node):
    """The program sees its window in its own smaps; the machine's pool is as before."""
    if node != "all" and not pools.nodes():
        pytest.skip("this kernel has no NUMA nodes (/sys/devices/system/node)")
    before = total()
    path = layout("mmap,2MB,0,16MB")
    code = "print(open('/proc/self/smaps').read().count('KernelPageSize:     2048 kB'))"
    words = ["mosalloc", "reserve", "--layout", path, "--node", node, "--", sys.executable, "-c", code]
    done = subprocess.run([sys.executable, "-m", "tessera", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) >= 1
    assert total() == before
