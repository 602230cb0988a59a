"""Limits of cgroups: the smallest of machine, own cgroup and ancestors. What cannot be read is noted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB
from tessera.machine import limits

from .cgroups import AVAILABLE, HYBRID, IN_V1, NONE_V1, SERVICE, TOTAL, V1, V2, write

IN_V2 = (f"0::{SERVICE}",)
BOTH = (f"9:memory:{SERVICE}", "0::/init.scope")
SLICE, OWN = "system.slice", SERVICE[1:]
STAT = f"anon {GB}\ninactive_file {2 * GB}\nactive_file {GB}\nslab_reclaimable {MB}\nshmem 7"
STAT_V1 = f"inactive_file 1\ntotal_inactive_file {2 * GB}\ntotal_active_file {GB}"

#: name -> lines of /proc/self/cgroup, mounts, files, (total, available), the binding file and cgroup
MEMORY = {
    "no cgroups": ((), (), {}, (TOTAL, AVAILABLE), None),
    "v2, no files": (IN_V2, V2, {}, (TOTAL, AVAILABLE), None),
    "v2, max": (IN_V2, V2, {f"{OWN}/memory.max": "max"}, (TOTAL, AVAILABLE), None),
    "v2, own": (
        IN_V2, V2, {f"{OWN}/memory.max": 2 * GB, f"{OWN}/memory.current": 512 * MB},
        (2 * GB, 1536 * MB), ("memory.max", SERVICE),
    ),
    "v2, one byte below the machine": (
        IN_V2, V2, {f"{OWN}/memory.max": TOTAL - 1, f"{OWN}/memory.current": TOTAL - AVAILABLE},
        (TOTAL - 1, AVAILABLE - 1), ("memory.max", SERVICE),
    ),
    "v2, as the machine": (
        IN_V2, V2, {f"{OWN}/memory.max": TOTAL, f"{OWN}/memory.current": TOTAL - AVAILABLE},
        (TOTAL, AVAILABLE), None,
    ),
    "v2, files of the cache are free": (
        IN_V2, V2, {f"{OWN}/memory.max": 8 * GB, f"{OWN}/memory.current": 7 * GB, f"{OWN}/memory.stat": STAT},
        (8 * GB, 4 * GB + MB), ("memory.max", SERVICE),
    ),
    "v2, the parent is smaller": (
        IN_V2, V2, {f"{OWN}/memory.max": 8 * GB, f"{OWN}/memory.current": 0,
                    f"{SLICE}/memory.max": 4 * GB, f"{SLICE}/memory.current": GB},
        (4 * GB, 3 * GB), ("memory.max", "/system.slice"),
    ),
    "v2, the parent is larger, and fuller": (
        IN_V2, V2, {f"{OWN}/memory.max": 4 * GB, f"{OWN}/memory.current": GB,
                    f"{SLICE}/memory.max": 8 * GB, f"{SLICE}/memory.current": 7 * GB},
        (4 * GB, GB), ("memory.max", "/system.slice"),
    ),
    "v2, the controller ends above": (
        IN_V2, V2, {f"{OWN}/pids.max": "max", f"{SLICE}/memory.max": GB, f"{SLICE}/memory.current": 0},
        (GB, GB), ("memory.max", "/system.slice"),
    ),
    "v2, high": (
        IN_V2, V2, {f"{OWN}/memory.max": "max", f"{OWN}/memory.high": 3 * GB, f"{OWN}/memory.current": GB},
        (3 * GB, 2 * GB), ("memory.high", SERVICE),
    ),
    "v2, lowered below its usage": (
        IN_V2, V2, {f"{OWN}/memory.max": GB, f"{OWN}/memory.current": 2 * GB},
        (GB, 0), ("memory.max", SERVICE),
    ),
    "v2, nothing allowed": (IN_V2, V2, {f"{OWN}/memory.max": 0}, (0, 0), ("memory.max", SERVICE)),
    "v2, usage unknown": (IN_V2, V2, {f"{OWN}/memory.max": GB}, (GB, GB), ("memory.max", SERVICE)),
    "v2, folder with a space": (
        ("0::/a b",), (r"cgroup2 / /sys/fs/cgroup/un\040ified rw",), {"un ified/a b/memory.max": GB},
        (GB, GB), ("memory.max", "/a b"),
    ),
    "v2, a colon in the name": (
        ("0::/a:b",), V2, {"a:b/memory.max": GB}, (GB, GB), ("memory.max", "/a:b"),
    ),
    "v2, deleted: the parent still binds": (
        (f"0::{SERVICE} (deleted)",), V2, {f"{SLICE}/memory.max": GB},
        (GB, GB), ("memory.max", "/system.slice"),
    ),
    "v2, namespace: the mount's top is ours": (
        ("0::/",), V2, {"memory.max": GB, "memory.current": MB}, (GB, GB - MB), ("memory.max", "/"),
    ),
    "v2, a bind mount shows the container only": (
        ("0::/docker/7f/job",), ("cgroup2 /docker/7f /sys/fs/cgroup rw",),
        {"memory.max": 2 * GB, "job/memory.max": 4 * GB}, (2 * GB, 2 * GB), ("memory.max", "/docker/7f"),
    ),
    "v2, of two mounts the one that shows more": (
        ("0::/docker/7f",), ("cgroup2 /docker/7f /sys/fs/cgroup/c rw", "cgroup2 / /sys/fs/cgroup/all rw"),
        {"c/memory.max": 4 * GB, "all/docker/7f/memory.max": 4 * GB, "all/docker/memory.max": GB},
        (GB, GB), ("memory.max", "/docker"),
    ),
    "v2, beside the namespace": (
        ("0::/../other",), V2, {"memory.max": GB, "other/memory.max": MB}, (TOTAL, AVAILABLE), None,
    ),
    "v2, a mount of the namespace above": (
        ("0::/../other",), ("cgroup2 /.. /sys/fs/cgroup rw",), {"other/memory.max": GB},
        (GB, GB), ("memory.max", "/../other"),
    ),
    "v1, no limit": (IN_V1, V1, {f"memory/{OWN}/memory.limit_in_bytes": NONE_V1}, (TOTAL, AVAILABLE), None),
    "v1, own": (
        IN_V1, V1, {f"memory/{OWN}/memory.limit_in_bytes": 8 * GB,
                    f"memory/{OWN}/memory.usage_in_bytes": 7 * GB,
                    f"memory/{OWN}/memory.stat": f"{STAT_V1}\nhierarchical_memory_limit {NONE_V1}"},
        (8 * GB, 4 * GB), ("memory.limit_in_bytes", SERVICE),
    ),
    "v1, the parent": (
        IN_V1, V1, {f"memory/{OWN}/memory.limit_in_bytes": NONE_V1, f"memory/{SLICE}/memory.use_hierarchy": 1,
                    f"memory/{SLICE}/memory.limit_in_bytes": GB, f"memory/{SLICE}/memory.usage_in_bytes": MB},
        (GB, GB - MB), ("memory.limit_in_bytes", "/system.slice"),
    ),
    "v1, a parent that does not count its children": (
        IN_V1, V1, {f"memory/{OWN}/memory.limit_in_bytes": 4 * GB, f"memory/{SLICE}/memory.use_hierarchy": 0,
                    f"memory/{SLICE}/memory.limit_in_bytes": GB},
        (4 * GB, 4 * GB), ("memory.limit_in_bytes", SERVICE),
    ),
    "v1, memory and swap": (
        IN_V1, V1, {f"memory/{OWN}/memory.limit_in_bytes": 4 * GB, f"memory/{OWN}/memory.usage_in_bytes": GB,
                    f"memory/{OWN}/memory.memsw.limit_in_bytes": 4 * GB,
                    f"memory/{OWN}/memory.memsw.usage_in_bytes": 3 * GB},
        (4 * GB, GB), ("memory.memsw.limit_in_bytes", SERVICE),
    ),
    "v1, an ancestor above the mount": (
        ("9:memory:/docker/7f",), ("cgroup /docker/7f /sys/fs/cgroup/memory rw,memory",),
        {"memory/memory.limit_in_bytes": NONE_V1, "memory/memory.usage_in_bytes": MB,
         "memory/memory.stat": f"hierarchical_memory_limit {GB}"},
        (GB, GB - MB), ("memory.stat, hierarchical_memory_limit", "above /docker/7f"),
    ),
    "v1, memory beside others": (
        ("4:cpu,memory:/x",), ("cgroup / /sys/fs/cgroup/both rw,cpu,memory",),
        {"both/x/memory.limit_in_bytes": GB}, (GB, GB), ("memory.limit_in_bytes", "/x"),
    ),
    "hybrid, memory in v1": (
        BOTH, HYBRID, {f"memory/{OWN}/memory.limit_in_bytes": GB, "unified/init.scope/cgroup.type": "domain"},
        (GB, GB), ("memory.limit_in_bytes", SERVICE),
    ),
    "hybrid, memory in v2": (
        ("3:hugetlb:/", f"0::{SERVICE}"), HYBRID, {f"unified/{OWN}/memory.max": GB},
        (GB, GB), ("memory.max", SERVICE),
    ),
    "not a number": (IN_V2, V2, {f"{OWN}/memory.max": "2G", f"{SLICE}/memory.max": GB},
                     (GB, GB), ("memory.max", "/system.slice")),
    "5000 digits": (
        IN_V2, V2, {f"{OWN}/memory.max": "9" * 5000, f"{SLICE}/memory.max": 2 * GB,
                    f"{SLICE}/memory.stat": f"inactive_file {'9' * 5000}"},
        (2 * GB, 2 * GB), ("memory.max", "/system.slice"),
    ),
    "negative": (IN_V2, V2, {f"{OWN}/memory.max": "-5"}, (TOTAL, AVAILABLE), None),
    "empty": (IN_V2, V2, {f"{OWN}/memory.max": ""}, (TOTAL, AVAILABLE), None),
    "unreadable limit": (IN_V2, V2, {f"{OWN}/memory.max": None}, (TOTAL, AVAILABLE), None),
    "unreadable usage": (IN_V2, V2, {f"{OWN}/memory.max": GB, f"{OWN}/memory.current": None},
                         (GB, GB), ("memory.max", SERVICE)),
    "no text": (IN_V2, V2, {f"{OWN}/memory.max": b"\xff\xfe"}, (TOTAL, AVAILABLE), None),
    "damaged statistics": (
        IN_V2, V2, {f"{OWN}/memory.max": 2 * GB, f"{OWN}/memory.current": GB,
                    f"{OWN}/memory.stat": "inactive_file x\nactive_file\n 5 5 5"},
        (2 * GB, GB), ("memory.max", SERVICE),
    ),
    "damaged /proc/self/cgroup": (("what", "0:relative", "0::relative", "::"), V2, {"memory.max": GB},
                                  (TOTAL, AVAILABLE), None),
    "not mounted": (IN_V2, (), {f"{OWN}/memory.max": GB}, (TOTAL, AVAILABLE), None),
}  # fmt: skip

#: Rows of MEMORY that leave a limit unknown, with a word of the note.
UNKNOWN = {
    "v2, beside the namespace": "/../other", "not a number": "2G", "5000 digits": "999",
    "negative": "-5", "empty": "memory.max",
    "unreadable limit": "memory.max", "unreadable usage": "memory.current", "no text": "not text",
    "damaged /proc/self/cgroup": "what", "not mounted": "mountinfo",
}  # fmt: skip


@pytest.mark.parametrize("name", MEMORY)
def test_memory(tmp_path, name):
    member, mounts, files, expected, binding = MEMORY[name]
    root = write(tmp_path, member, mounts, files)
    total, available = limits.total_memory(root), limits.available_memory(root)
    assert (total.bytes, available.bytes) == expected
    assert (limits.total_memory_bytes(root), limits.available_memory_bytes(root)) == expected
    found = available.limit
    assert (found and (found.file.name, found.cgroup)) == binding
    assert (available.because == "") == (binding is None)
    if binding:
        assert binding[0] in available.because and binding[1] in available.because
    least = limits.memory_limit(root)
    assert total.bytes == (TOTAL if least is None else min(TOTAL, least.bytes))


@pytest.mark.parametrize("name", MEMORY)
def test_what_is_unknown_is_noted(tmp_path, name):
    member, mounts, files, *_ = MEMORY[name]
    groups = limits.Cgroups(write(tmp_path, member, mounts, files))
    groups.memory()
    assert (name in UNKNOWN) == bool(groups.unreadable), groups.unreadable
    assert UNKNOWN.get(name, "") in "; ".join(groups.unreadable)
    assert len(set(groups.unreadable)) == len(groups.unreadable)


def test_without_proc_there_are_no_limits_but_an_error(tmp_path):
    assert limits.memory_limit(tmp_path) is None and limits.huge_pages_room(PAGE_2MB, tmp_path) is None
    with pytest.raises(TesseraError, match="meminfo") as refused:
        limits.total_memory(tmp_path)
    assert refused.value.code == "meminfo"


def test_remedies_fit_the_limit(tmp_path):
    files = {f"{OWN}/memory.max": 4 * GB, f"{OWN}/memory.current": 3 * GB}
    memory = limits.available_memory(write(tmp_path, IN_V2, V2, files))
    fits, larger = memory.remedy(2 * GB), memory.remedy(5 * GB)
    for word in ("--mem", "--memory", "MemoryMax"):
        assert word in fits and word in larger
    assert "cgroup" in fits and "end other" not in larger  # nothing that ends makes room above the limit
    assert limits.UsableMemory(GB).remedy(2 * GB) == "end other programs"


#: name -> lines, mounts, files, pages of 2MB, pages of 1GB (None: no limit), file that binds for 2MB
HUGE = {
    "none": ((), (), {}, None, None, ""),
    "v2, max": (
        IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": "max", f"{OWN}/hugetlb.2MB.rsvd.max": "max"}, None, None, "",
    ),
    "v2, own": (
        IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": 64 * MB, f"{OWN}/hugetlb.2MB.current": 4 * MB},
        30, None, "hugetlb.2MB.max",
    ),
    "v2, nothing, as in a pod of Kubernetes": (
        IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": 0, f"{OWN}/hugetlb.1GB.max": 0}, 0, 0, "hugetlb.2MB.max",
    ),
    "v2, half a page is no page": (IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": 5 * MB}, 2, None, "hugetlb.2MB.max"),
    "v2, reservations": (
        IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": 64 * MB, f"{OWN}/hugetlb.2MB.rsvd.max": 32 * MB,
                    f"{OWN}/hugetlb.2MB.rsvd.current": 30 * MB},
        1, None, "hugetlb.2MB.rsvd.max",
    ),
    "v2, the parent": (
        IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": "max", f"{SLICE}/hugetlb.2MB.max": 8 * MB,
                    f"{SLICE}/hugetlb.2MB.current": 2 * MB, f"{SLICE}/hugetlb.1GB.max": 3 * GB},
        3, 3, "hugetlb.2MB.max",
    ),
    "v1, own and parent": (
        IN_V1, V1, {f"hugetlb/{OWN}/hugetlb.2MB.limit_in_bytes": 64 * MB,
                    f"hugetlb/{OWN}/hugetlb.2MB.usage_in_bytes": 4 * MB,
                    f"hugetlb/{SLICE}/hugetlb.2MB.limit_in_bytes": 66 * MB,
                    f"hugetlb/{SLICE}/hugetlb.2MB.usage_in_bytes": 64 * MB},
        1, None, "hugetlb.2MB.limit_in_bytes",
    ),
    "v1, reservations": (
        IN_V1, V1, {f"hugetlb/{OWN}/hugetlb.2MB.limit_in_bytes": "9223372036852678656",
                    f"hugetlb/{OWN}/hugetlb.2MB.rsvd.limit_in_bytes": 4 * MB,
                    f"hugetlb/{OWN}/hugetlb.2MB.rsvd.usage_in_bytes": 0},
        2, None, "hugetlb.2MB.rsvd.limit_in_bytes",
    ),
    "hybrid, in v2": (
        (f"9:memory:{SERVICE}", "0::/job"), HYBRID, {"unified/job/hugetlb.2MB.max": 2 * MB},
        1, None, "hugetlb.2MB.max",
    ),
    "v2, counted as memory": (
        IN_V2, ("cgroup2 / /sys/fs/cgroup rw,memory_hugetlb_accounting",),
        {f"{OWN}/memory.max": 2 * GB, f"{OWN}/memory.current": 512 * MB}, 768, 1, "memory.max",
    ),
    "v2, not counted as memory": (IN_V2, V2, {f"{OWN}/memory.max": 2 * GB}, None, None, ""),
    "v2, unreadable": (IN_V2, V2, {f"{OWN}/hugetlb.2MB.max": None}, None, None, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
def test_huge_pages(tmp_path, name):
    member, mounts, files, of_2mb, of_1gb, file = HUGE[name]
    root = write(tmp_path, member, mounts, files)
    rooms = [limits.huge_pages_room(size, root) for size in (PAGE_2MB, PAGE_1GB)]
    assert [room and room.pages for room in rooms] == [of_2mb, of_1gb]
    assert (rooms[0].limit.file.name if rooms[0] else "") == file


def test_the_remedy_for_huge_pages_is_a_limit_with_room(tmp_path):
    files = {f"{OWN}/hugetlb.2MB.max": 8 * MB, f"{OWN}/hugetlb.2MB.current": 6 * MB}
    root = write(tmp_path, IN_V2, V2, files)
    command = limits.huge_pages_room(PAGE_2MB, root).remedy(10, PAGE_2MB)
    assert f"echo {26 * MB} | sudo tee {root}/sys/fs/cgroup/{OWN}/hugetlb.2MB.max" in command
    assert "hugepages-2Mi" in command
    (root / "sys/fs/cgroup" / OWN / "hugetlb.2MB.max").write_text(f"{26 * MB}\n")
    assert limits.huge_pages_room(PAGE_2MB, root).pages == 10


#: name -> lines, mounts, files, processors (None: no quota)
QUOTA = {
    "none": ((), (), {}, None),
    "v2, max": (IN_V2, V2, {f"{OWN}/cpu.max": "max 100000"}, None),
    "v2, own": (IN_V2, V2, {f"{OWN}/cpu.max": "150000 100000"}, 1.5),
    "v2, the parent": (
        IN_V2, V2, {f"{OWN}/cpu.max": "400000 100000", f"{SLICE}/cpu.max": "50000 100000"}, 0.5,
    ),
    "v2, damaged": (
        IN_V2, V2, {f"{OWN}/cpu.max": "a b", f"{SLICE}/cpu.max": "1 0", "cpu.max": f"1 {'9' * 5000}"}, None,
    ),
    "v1, none": (IN_V1, V1, {f"cpu,cpuacct/{OWN}/cpu.cfs_quota_us": -1}, None),
    "v1, own": (
        IN_V1, V1, {f"cpu,cpuacct/{OWN}/cpu.cfs_quota_us": 200000,
                    f"cpu,cpuacct/{OWN}/cpu.cfs_period_us": 50000}, 4,
    ),
    "v1, no period": (IN_V1, V1, {f"cpu,cpuacct/{OWN}/cpu.cfs_quota_us": 200000}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTA)
def test_quota(tmp_path, name):
    member, mounts, files, expected = QUOTA[name]
    groups = limits.Cgroups(write(tmp_path, member, mounts, files))
    found = groups.quota()
    assert (found and found.processors) == expected
    assert bool(groups.unreadable) == (name in ("v2, damaged", "v1, no period"))


@pytest.mark.parametrize("name", QUOTA)
def test_processors_are_those_of_the_affinity_or_of_a_smaller_quota(tmp_path, monkeypatch, name):
    member, mounts, files, quota = QUOTA[name]
    root = write(tmp_path, member, mounts, files)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 4, 7})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert limits.usable_processors(root) == (3 if quota is None or quota > 3 else 1)
    assert (limits.allowed_processors(), limits.machine_processors()) == (3, 64)


def test_readable():
    words = {2 * GB: "2GB", 1536 * MB: "1536MB", 2 * GB - 1: "2.00GB", 3 * MB + 7: "3.0MB", 4096: "4KB"}
    assert {count: limits.readable(count) for count in words} == words


# --- a real cgroup ----------------------------------------------------------------------------------------


@pytest.fixture
def real_cgroup():
    """Makes a cgroup with a limit below that of the tests; returns its folder. All is restored."""
    made, enabled = [], []

    def make(controller, files):
        """``files``: name and value of the limit by version."""
        groups = limits.Cgroups()
        levels = [level for version in files for level in groups._levels(controller, version)]
        for level in levels:
            folder = level.folder / f"tessera-test-{os.getpid()}"
            control = level.folder / "cgroup.subtree_control"
            name, value = files[level.version]
            try:
                if level.version == "cgroup2" and controller not in control.read_text().split():
                    control.write_text(f"+{controller}")
                    enabled.append((control, controller))
                folder.mkdir()
                made.append(folder)
                (folder / name).write_text(str(value))
                return folder
            except OSError:
                continue
        pytest.skip(f"no cgroup with a limit on {controller} can be made here (needs root)")

    yield make
    for folder in made:
        folder.rmdir()
    for control, controller in enabled:
        control.write_text(f"-{controller}")


def inside(folder, root, script):
    """The words that a script prints in the cgroup; it joins before Python starts."""
    join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
    program = [sys.executable, "-c", f"from tessera.machine import limits; {script}"]
    done = subprocess.run(
        ["sh", "-c", join, str(folder), *program],
        env={**os.environ, "PYTHONPATH": str(root / "src")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_a_real_limit_on_memory(real_cgroup, root):
    limit = 512 * MB
    folder = real_cgroup(
        "memory", {"cgroup": ("memory.limit_in_bytes", limit), "cgroup2": ("memory.max", limit)}
    )
    script = "m = limits.available_memory(); print(limits.total_memory_bytes(), m.bytes, m.limit.cgroup)"
    total, available, cgroup = inside(folder, root, script)
    assert int(total) == limit and limit - 200 * MB < int(available) < limit
    assert cgroup.endswith(f"/{folder.name}")


def test_a_real_limit_on_huge_pages(real_cgroup, root):
    limit = 10 * MB
    folder = real_cgroup(
        "hugetlb", {"cgroup": ("hugetlb.2MB.limit_in_bytes", limit), "cgroup2": ("hugetlb.2MB.max", limit)}
    )
    script = f"room = limits.huge_pages_room({PAGE_2MB}); print(room.pages, room.limit.cgroup)"
    pages, cgroup = inside(folder, root, script)
    assert int(pages) == 5 and cgroup.endswith(f"/{folder.name}")


# --- the source -------------------------------------------------------------------------------------------


def test_no_other_module_asks_for_memory_or_processors(root):
    """psutil and ``os.cpu_count`` know neither cgroups nor affinity."""
    files = [path for folder in ("src", "tests", "artifacts") for path in (root / folder).rglob("*.py")]
    rules = [*(root / "workflow").rglob("*.smk"), root / "Snakefile"]
    assert len(files) > 500 and len(rules) > 10
    for path in {*files, *rules} - {root / "src/tessera/machine/limits.py", Path(__file__)}:
        text = path.read_text()
        assert not re.search(r"\bcpu_count\(|\bvirtual_memory\(|^\s*(import|from) psutil\b", text, re.M), path


def test_nor_does_any_other_module_read_the_memory_of_the_machine(root):
    """Files that are read below another root, and only to describe the machine, are the exceptions."""
    known = {"machine/limits.py", "report/provenance.py", "measure/counted/host.py"}
    source = root / "src/tessera"
    readers = (path for path in source.rglob("*.py") if "proc/meminfo" in path.read_text())
    assert {path.relative_to(source).as_posix() for path in readers} == known
