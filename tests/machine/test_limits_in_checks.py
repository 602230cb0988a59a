"""Every check of memory, huge pages or processors keeps to the limits of cgroups, and names the limit."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.cli.pipeline import needs
from tessera.cli.plan.command import plan as plan_command
from tessera.core.checks import PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.core.units import GB, MB, PAGE_2MB
from tessera.lab.faults import measured
from tessera.machine import limits
from tessera.machine.container.toolchain import HostToolchain
from tessera.machine.doctor import hardware
from tessera.machine.environment import Needs, examine_conditions
from tessera.machine.environment.condition import SystemFiles
from tessera.machine.reserve import HugePagesUnavailable, pools, reserve_huge_pages
from tessera.measure.mosalloc import background
from tessera.measure.program.gains import variant
from tessera.record.workloads import Size, prepared
from tessera.record.workloads.definition import Prepared
from tessera.record.workloads.execution import execute
from tessera.record.workloads.program_run import HOST, ProgramRun

from .cgroups import SERVICE, V2, write
from .environment import trees

OWN = SERVICE[1:]
LARGER = ("--mem", "--memory", "MemoryMax")  #: who gives a job or container more memory


@pytest.fixture
def limited(monkeypatch, tmp_path):
    """A machine of 64 GB on which this process is in a cgroup with these files."""

    def make(**files):
        named = {f"{OWN}/{name.replace('__', '.')}": value for name, value in files.items()}
        root = write(tmp_path / "machine", (f"0::{SERVICE}",), V2, named)
        monkeypatch.setattr(limits, "ROOT", root)
        return root

    return make


SIZE = Size("four", (), footprint=3 * GB, heap_pool=64 * MB, anon_pool=4 * GB)


def test_a_recording_above_the_limit_is_refused(limited, tmp_path):
    limited(memory__max=2 * GB, memory__current=GB)
    with pytest.raises(TesseraError) as refused:
        needs.check_memory("recording four", SIZE, 1000, tmp_path)
    assert f"1GB are free: the limit of this cgroup ({SERVICE}: memory.max 2GB)" in refused.value.found
    assert all(word in refused.value.remedy for word in LARGER)


def test_a_recording_starts_at_exactly_the_limit(limited, tmp_path):
    needed = needs.memory_bytes(SIZE)
    limited(memory__max=needed + MB, memory__current=MB)
    needs.check_memory("recording four", SIZE, 1000, tmp_path)
    limited(memory__max=needed + MB, memory__current=MB + 1)
    with pytest.raises(TesseraError):
        needs.check_memory("recording four", SIZE, 1000, tmp_path)


@pytest.mark.parametrize("most", [2 * GB, "max"])
def test_the_message_of_a_killed_program_names_the_limit(limited, tmp_path, most):
    limited(memory__max=most)
    killed = ("sh", "-c", "kill -9 $$")
    with pytest.raises(TesseraError) as component:
        HostToolchain().run(killed)
    with pytest.raises(TesseraError) as workload:
        execute(ProgramRun(killed, image=HOST), tmp_path)
    for said in (component.value.found, workload.value.remedy):
        assert "ran out" in said and (f"({SERVICE}: memory.max 2GB)" in said) == (most != "max")


def test_rows_above_the_limit_are_left_out(limited, tmp_path):
    limited(memory__max=2 * GB)
    (row,) = needs.left_out({"four": (SIZE, 1000)}, tmp_path)
    assert row.startswith("four: ") and f"({SERVICE}: memory.max 2GB)" in row
    limited(memory__max="max")
    assert needs.left_out({"four": (SIZE, 1000)}, tmp_path) == []


def test_a_prepared_file_is_not_built_above_the_limit(limited, tmp_path, monkeypatch):
    def run(*arguments, **options):
        raise AssertionError("the program was started")

    limited(memory__max=2 * GB)
    program = tmp_path / "maker"
    program.write_text("x")
    monkeypatch.setattr(prepared, "built", lambda component, name: program)
    monkeypatch.setattr(prepared, "toolchain", lambda: SimpleNamespace(run=run))
    with pytest.raises(TesseraError, match="memory.max 2GB") as refused:
        prepared.ensure(Prepared("graph", "maker", (), bytes=1, memory=2 * GB + 1), tmp_path / "graph")
    assert all(word in refused.value.remedy for word in LARGER)


def test_a_plan_is_for_what_this_process_may_use(limited, monkeypatch):
    asked = []
    made = SimpleNamespace(lines=[], seconds=0, jobs=0, disk=0, elapsed_seconds=0, too_large=[])
    monkeypatch.setattr(
        "tessera.cli.plan.estimate.estimate_reproduction",
        lambda name, machines: asked.append(machines) or made,
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 3})
    limited(memory__max=2 * GB)
    done = CliRunner().invoke(plan_command, [])
    assert done.exit_code == 0 and f"({SERVICE}: memory.max 2GB)" in done.output
    done = CliRunner().invoke(plan_command, ["--memory", "8", "--cores", "16"])
    assert done.exit_code == 0 and "memory.max" not in done.output
    assert [(one.cores, one.memory) for one in asked] == [(3, 2 * GB), (16, 8 * GB)]


def test_passes_of_faults_keep_to_the_limit(limited):
    root = limited(memory__max=GB, memory__current=0)
    found = SimpleNamespace(free_bytes=limits.available_memory_bytes(root), thp="madvise", governor="")
    (root / "proc/cpuinfo").write_text("flags\t: constant_tsc nonstop_tsc\n")
    fits = (GB - measured.SPARE_BYTES) // 2
    measured.require(SystemFiles(root), found, bytes_=fits, huge=False, any_governor=False)
    with pytest.raises(TesseraError, match="memory.max 1GB") as refused:
        measured.require(SystemFiles(root), found, bytes_=fits + 1, huge=False, any_governor=False)
    assert refused.value.code == "too-little-memory"


def test_the_fragmenter_stops_before_the_limit(limited, monkeypatch):
    limited(memory__max=GB, memory__current=GB - background.LEAST_AVAILABLE + 1)
    monkeypatch.setattr(background, "Blocks", lambda: SimpleNamespace(take=None, keep=None))
    monkeypatch.setattr(background, "machine_free_blocks", lambda: [0] * 9 + [10])
    monkeypatch.setattr(background, "end_with_parent", lambda: None)
    assert background.main(0.5) == 1


@pytest.mark.parametrize(
    ("asked", "quota", "expected"),
    [
        (3, "150000 100000", 1),
        (3, "250000 100000", 2),
        (3, "300000 100000", 3),
        (3, "max 100000", 3),
        (8, "150000 100000", 8),
    ],
)
def test_jobs_at_once_keep_to_the_quota_unless_somebody_chose_their_number(
    limited, monkeypatch, asked, quota, expected
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 3})
    limited(cpu__max=quota)
    found, why = needs.job_cores(asked)
    assert found == expected
    assert (f"({SERVICE}: cpu.max " in why) == (found < asked)


# --- the doctor -------------------------------------------------------------------------------------------


def test_memory_of_the_doctor(limited):
    limited(memory__max=2 * GB, memory__current=GB)
    row = hardware._ram()
    assert row.status == SKIP and row.found.startswith("1.0 GB available of 2.0 GB")
    assert f"({SERVICE}: memory.max 2GB)" in row.found and "48.0 GB available of 64.0 GB" in row.found
    assert "16 GB" in row.remedy and all(word in row.remedy for word in LARGER)
    limited(memory__max=20 * GB)
    assert hardware._ram().status == PASS and "memory.max 20GB" in hardware._ram().found
    limited(memory__max="max")
    assert hardware._ram().found == "48.0 GB available of 64.0 GB"


def test_limits_that_cannot_be_read(limited):
    limited(memory__max=None)
    row = hardware._cgroups()
    assert row.status == SKIP and "memory.max" in row.found and row.remedy


def test_whether_there_are_limits(limited):
    limited(memory__max="max")
    none = hardware._cgroups()
    limited(hugetlb__2MB__max=MB)
    some = hardware._cgroups()
    assert none.status == some.status == PASS and none.found != some.found


@pytest.mark.parametrize(
    ("quota", "status"), [("150000 100000", SKIP), ("300000 100000", PASS), ("max 1", PASS)]
)
def test_processors_of_the_doctor(limited, monkeypatch, quota, status):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 3})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    limited(cpu__max=quota)
    row = hardware._cores()
    assert row.status == status and row.found.startswith("3 usable of 64")
    assert status == PASS or ("1.5" in row.found and "cpu.max" in row.found and "--cores 1" in row.remedy)


@pytest.fixture
def pool(monkeypatch, tmp_path):
    """A machine with 10 free 2MB pages, a kernel that gives more, and no permission."""
    folder = tmp_path / "sysfs/hugepages-2048kB"
    folder.mkdir(parents=True)
    for name, value in (("nr", 10), ("free", 10), ("resv", 0)):
        (folder / f"{name}_hugepages").write_text(f"{value}\n")
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(folder.parent))
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("TESSERA_RESERVE", raising=False)
    return folder / "nr_hugepages"


def test_pages_of_the_doctor(limited, pool):
    limited(hugetlb__2MB__max=8 * MB, hugetlb__2MB__current=2 * MB)
    row = hardware.page_checks()[0]
    assert row.status == PASS and row.found.startswith("10 free of 10 reserved; at most 3 ")
    assert f"({SERVICE}: hugetlb.2MB.max 8MB)" in row.found
    limited(hugetlb__2MB__max=0, hugetlb__2MB__current=0)
    row = hardware.page_checks()[0]
    assert row.status == SKIP and "hugetlb.2MB.max" in row.remedy and f"echo {512 * PAGE_2MB} " in row.remedy


# --- huge pages -------------------------------------------------------------------------------------------


def test_free_pages_are_at_most_those_of_the_limit(limited, pool):
    limited(hugetlb__2MB__max=8 * MB, hugetlb__2MB__current=2 * MB)
    assert (pools.huge_pages_free(PAGE_2MB), pools.free_in_pool(PAGE_2MB)) == (3, 10)
    limited(hugetlb__2MB__max=GB)
    assert pools.huge_pages_free(PAGE_2MB) == 10


def test_a_reservation_above_the_limit_is_refused_whatever_is_free(limited, pool):
    limited(hugetlb__2MB__max=8 * MB)
    with reserve_huge_pages(4, allowed=True):
        pass
    with pytest.raises(HugePagesUnavailable) as refused, reserve_huge_pages(5, allowed=True):
        raise AssertionError("it started")
    assert refused.value.code == "reserve/limit"
    assert f"({SERVICE}: hugetlb.2MB.max 8MB)" in refused.value.found
    assert f"echo {10 * MB} " in refused.value.remedy and "sysctl" not in refused.value.remedy
    assert pool.read_text() == "10\n" and not list((pool.parents[2] / "state").glob("*.json"))


def layout(tmp_path, pages_) -> Path:
    path = tmp_path / "l.csv"
    path.write_text(f"type,pageSize,startOffset,endOffset\nmmap,2MB,0,{2 * pages_}MB\nmmap,-1,0,1GB\n")
    return path


def test_mosalloc_reserve_refuses_before_it_asks(limited, pool, tmp_path):
    limited(hugetlb__2MB__max=8 * MB)
    dry = CliRunner().invoke(mosalloc, ["reserve", "--layout", str(layout(tmp_path, 20)), "--dry-run"])
    assert dry.exit_code == 0 and "leaves 4 " in dry.output and f"echo {40 * MB} " in dry.output
    done = CliRunner().invoke(mosalloc, ["reserve", "--layout", str(layout(tmp_path, 20)), "--yes"])
    assert isinstance(done.exception, HugePagesUnavailable) and done.exception.code == "reserve/limit"
    assert pool.read_text() == "10\n"
    done = CliRunner().invoke(mosalloc, ["reserve", "--layout", str(layout(tmp_path, 4)), "--yes"])
    assert done.exit_code == 0, done.output


def test_mosalloc_check_names_the_limit(limited, pool, tmp_path):
    limited(hugetlb__2MB__max=8 * MB)
    assert CliRunner().invoke(mosalloc, ["check", str(layout(tmp_path, 4))]).exit_code == 0
    done = CliRunner().invoke(mosalloc, ["check", str(layout(tmp_path, 5))])
    assert isinstance(done.exception, HugePagesUnavailable) and done.exception.code == "reserve/limit"


def test_hugetlb_without_a_page_names_the_limit(limited, pool):
    limited(hugetlb__2MB__max=0)
    with pytest.raises(HugePagesUnavailable) as refused:
        variant("hugetlb")
    assert refused.value.code == "reserve/limit"


@pytest.mark.parametrize(("wanted", "status"), [(0, "ok"), (4, "ok"), (5, "differs")])
def test_the_environment_of_a_measurement(tmp_path, wanted, status):
    """Its table is published with the counts, so it has the limit and no name of a cgroup."""
    root = trees.write(tmp_path)
    write(root, (f"0::{SERVICE}",), V2, {f"{OWN}/hugetlb.2MB.max": 8 * MB})
    row = next(one for one in examine_conditions(root, Needs(pages_2mb=wanted)) if one.check == "2mb-pages")
    assert row.status == status and "hugetlb.2MB.max" in row.found and row.found.endswith(" 4")
    assert SERVICE not in f"{row.found} {row.remedy}" and (status == "ok" or "hugetlb.2MB.max" in row.remedy)
