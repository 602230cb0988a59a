"""Every condition on a machine of files: met, not met, not readable."""

from __future__ import annotations

import csv
import struct

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.environment import (
    CHECKS,
    RUN_CHECKS,
    Needs,
    as_csv,
    barring,
    examine_conditions,
    stopping,
    throttles,
)

from . import trees

#: check -> level, as the specification of a measurement has them.
LEVELS = {
    "counting": "stop", "pmu": "stop", "2mb-pages": "stop", "1gb-pages": "noted", "overcommit": "bars",
    "thp": "bars", "guest": "bars", "smt": "bars", "socket": "bars", "numa-balancing": "bars", "load": "bars",
    "watchdog": "noted", "irqbalance": "noted", "ksm": "noted", "aslr": "noted", "governor": "noted",
    "turbo": "noted", "c-states": "noted", "kpti": "noted", "mitigations": "noted", "la57": "noted",
    "prefetchers": "noted",
}  # fmt: skip
CPU = "sys/devices/system/cpu"


def found(root, check, needs=Needs()):  # noqa: B008
    return next(one for one in examine_conditions(root, needs) if one.check == check)


def test_a_quiet_machine_meets_all(tmp_path):
    rows = examine_conditions(trees.write(tmp_path))
    assert {row.check: row.level for row in rows} == LEVELS
    assert [row.check for row in rows] == list(CHECKS) and not set(CHECKS) & set(RUN_CHECKS)
    assert [row for row in rows if row.status != "ok" or row.remedy or not row.found] == []


def test_nothing_readable_is_unknown_and_never_ok(tmp_path):
    """An empty folder: nothing says that the kernel lacks a feature."""
    rows = examine_conditions(tmp_path)
    assert {row.status for row in rows} == {"unknown"}
    assert all(row.found and row.remedy for row in rows)
    assert {row.check for row in stopping(rows)} == {"counting", "pmu", "2mb-pages"}
    assert len(barring(rows)) == sum(level == "bars" for level in LEVELS.values())


@pytest.mark.parametrize(
    "check, changes, words",
    [
        ("counting", {"proc/sys/kernel/perf_event_paranoid": "3"}, ["3", "sysctl"]),
        ("pmu", {"sys/bus/event_source/devices/cpu/type": None}, ["tessera measure counters check"]),
        ("overcommit", {f"{trees.POOL}/nr_overcommit_hugepages": "8"}, ["2048kB", "8"]),
        ("thp", {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"}, ["enabled"]),
        ("thp", {"sys/kernel/mm/transparent_hugepage/defrag": "[always] never"}, ["defrag"]),
        (
            "thp",
            {"sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "[always] inherit"},
            ["hugepages-64kB"],
        ),
        ("guest", {"proc/cpuinfo": trees.CPUINFO.replace("fpu vme", "fpu hypervisor")}, ["bare metal"]),
        ("smt", {f"{CPU}/smt/active": "1"}, ["on", "echo off"]),
        ("socket", {"usr/bin/taskset": None}, ["2 nodes", "taskset"]),
        ("numa-balancing", {"proc/sys/kernel/numa_balancing": "1"}, ["sysctl"]),
        ("load", {"proc/pressure/memory": "some avg10=1.01 avg60=0"}, ["1.01%", "psi=1"]),
        ("watchdog", {"proc/sys/kernel/nmi_watchdog": "1"}, ["sysctl"]),
        ("irqbalance", {"proc/77/comm": "irqbalance"}, ["77", "systemctl"]),
        ("ksm", {"sys/kernel/mm/ksm/run": "1"}, ["/sys/kernel/mm/ksm/run"]),
        ("governor", {f"{CPU}/cpufreq/policy1/scaling_governor": "powersave"}, ["powersave (1)"]),
        ("turbo", {f"{CPU}/intel_pstate/no_turbo": "1"}, ["off"]),
        ("kpti", {f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI"}, ["nopti"]),
        ("mitigations", {f"{CPU}/vulnerabilities/spectre_v2": "Mitigation: Retpolines"}, ["spectre_v2"]),
        ("la57", {"proc/cpuinfo": trees.CPUINFO.replace("vme", "la57")}, ["5", "no5lvl"]),
    ],
)
def test_each_condition_that_is_not_met(tmp_path, check, changes, words):
    rows = examine_conditions(trees.write(tmp_path, changes))
    row = next(one for one in rows if one.check == check)
    assert row.status == "differs" and row.remedy
    assert all(word in f"{row.found} {row.remedy}" for word in words), row
    others = {one.check for one in rows if one.status != "ok"} - {check}
    assert others <= {"mitigations"}  # PTI is one, too


@pytest.mark.parametrize(
    "check, gone",
    [
        ("counting", "proc/sys/kernel/perf_event_paranoid"),
        ("2mb-pages", "proc/buddyinfo"),
        ("2mb-pages", f"{trees.POOL}/resv_hugepages"),
        ("overcommit", f"{trees.POOL}/nr_overcommit_hugepages"),
        ("thp", "sys/kernel/mm/transparent_hugepage/defrag"),
        ("guest", "proc/cpuinfo"),
        ("smt", f"{CPU}/smt/active"),
        ("load", "proc/pressure/cpu"),
        ("ksm", "sys/kernel/mm/ksm/run"),
        ("turbo", f"{CPU}/intel_pstate/no_turbo"),
        ("kpti", f"{CPU}/vulnerabilities/meltdown"),
        ("la57", "proc/cpuinfo"),
        ("aslr", "proc/sys/kernel/randomize_va_space"),
    ],
)
def test_a_file_that_is_missing_is_unknown(tmp_path, check, gone):
    changes = {gone: None}
    if check == "ksm":  # another file: the folder can be read, and the kernel has the feature
        changes["sys/kernel/mm/ksm/run"] = "merge"
    row = found(trees.write(tmp_path, changes), check)
    assert row.status == "unknown" and row.found


def test_an_empty_file_is_unknown(tmp_path):
    root = trees.write(tmp_path, {f"{CPU}/vulnerabilities/meltdown": ""})
    assert found(root, "kpti").status == "unknown"


def test_a_kernel_without_a_feature_needs_no_setting(tmp_path):
    """Without CONFIG_NUMA_BALANCING, the folder has no such file."""
    changes = {"proc/sys/kernel/numa_balancing": None, "proc/sys/kernel/nmi_watchdog": None}
    root = trees.write(tmp_path, changes)
    assert found(root, "numa-balancing").status == found(root, "watchdog").status == "ok"


@pytest.mark.parametrize(
    "paranoid, mode, capabilities, status",
    [
        ("2", "u", "0", "ok"),
        ("2", "uk", "0", "differs"),
        ("1", "uk", "0", "ok"),
        ("-1", "uk", "0", "ok"),
        ("4", "u", "0000004000000000", "ok"),  # CAP_PERFMON is 38: 2^38
        ("4", "uk", "0000000000200000", "ok"),  # CAP_SYS_ADMIN is 21: 2^21
        ("4", "u", "0000000000100000", "differs"),
        ("four", "u", "0", "unknown"),
    ],
)
def test_permission_to_count(tmp_path, paranoid, mode, capabilities, status):
    changes = {
        "proc/sys/kernel/perf_event_paranoid": paranoid,
        "proc/self/status": f"Name:\tx\nCapEff:\t{capabilities}",
    }
    row = found(trees.write(tmp_path, changes), "counting", Needs(mode))
    assert row.status == status


@pytest.mark.parametrize(
    "needs, status, numbers",
    [
        # The machine: 10 free - 3 promised = 7 in the pool; 19 blocks on node 0, 100 on node 1.
        (Needs(pages_2mb=126), "ok", ["7", "119"]),
        (Needs(pages_2mb=127), "differs", ["7", "119"]),
        # Node 0: 5 of its pages are free, fewer than the machine's 7; 19 blocks.
        (Needs(pages_2mb=24, node=0), "ok", ["5", "19"]),
        (Needs(pages_2mb=25, node=0), "differs", ["5", "19", "node0", "26"]),  # 6 in the pool + 20 missing
        (Needs(pages_2mb=1, node=7), "unknown", ["node7"]),
    ],
)
def test_pages_that_the_pool_and_free_memory_have(tmp_path, needs, status, numbers):
    row = found(trees.write(tmp_path), "2mb-pages", needs)
    assert row.status == status
    assert all(number in f"{row.found} {row.remedy}" for number in numbers), row


def test_promises_below_zero_are_none(tmp_path):
    """The kernel shows -1 as 2^64 - 1 for a moment. Then all 10 free pages count, and the 119 blocks."""
    root = trees.write(tmp_path, {f"{trees.POOL}/resv_hugepages": str((1 << 64) - 1)})
    assert found(root, "2mb-pages", Needs(pages_2mb=129)).status == "ok"
    assert found(root, "2mb-pages", Needs(pages_2mb=130)).status == "differs"


def test_pages_of_1gb(tmp_path):
    root = trees.write(tmp_path)
    assert found(root, "1gb-pages", Needs(pages_1gb=1)).status == "differs"
    assert found(root, "1gb-pages").status == "ok"


def test_siblings_say_smt_where_the_kernel_is_old(tmp_path):
    changes = {f"{CPU}/smt/active": None, f"{CPU}/smt/control": None}
    changes[f"{CPU}/cpu0/topology/thread_siblings_list"] = "0"
    root = trees.write(tmp_path, changes)
    (root / CPU / "smt").rmdir()
    assert found(root, "smt").status == "ok"
    (root / CPU / "cpu0/topology/thread_siblings_list").write_text("0,28\n")
    assert found(root, "smt").status == "differs"


def test_idle_states_and_prefetchers(tmp_path):
    root = trees.write(tmp_path)
    (root / "dev/cpu_dma_latency").write_bytes(struct.pack("=i", 2_000_000_000))
    row = found(root, "c-states")
    assert (row.status, row.found.split()[-2]) == ("differs", "2000000000")
    (root / "dev/cpu_dma_latency").write_bytes(b"")
    assert found(root, "c-states").status == "unknown"
    (root / "dev/cpu/0/msr").write_bytes(bytes(0x1A4) + struct.pack("=Q", 0b0101))
    row = found(root, "prefetchers")
    assert (row.status, "0101b" in row.found) == ("differs", True)
    (root / "dev/cpu/0/msr").write_bytes(bytes(0x1A4))
    assert found(root, "prefetchers").status == "unknown"


def test_the_table_as_a_file(tmp_path):
    rows = examine_conditions(trees.write(tmp_path, {"proc/sys/kernel/perf_event_paranoid": "4"}))
    read = list(csv.DictReader(as_csv(rows).splitlines()))
    assert list(read[0]) == ["check", "level", "wanted", "found", "status", "remedy"]
    assert [row["check"] for row in read] == list(CHECKS)
    assert (read[0]["found"], read[0]["status"]) == ("4", "differs")


def test_an_unknown_mode_is_refused():
    with pytest.raises(TesseraError) as refused:
        Needs("k")
    assert "uk" in refused.value.remedy


def test_throttling_is_added_up(tmp_path):
    """Two processors, two counts of 4 each."""
    assert throttles(trees.write(tmp_path)) == 16
    assert throttles(tmp_path / "none") is None
