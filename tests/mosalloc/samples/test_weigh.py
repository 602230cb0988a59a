"""What events sample, what samples stand for, and what to record on each class of processors."""

from __future__ import annotations

import json
import re

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters.event_table import class_named, counter_classes
from tessera.measure.suggest import perf_events
from tessera.measure.suggest.perf_events import (
    ACCESS_PERIOD,
    IBS_PERIOD,
    MISS_PERIOD,
    EventKind,
    event_kind,
    sampling_plan,
)
from tessera.measure.suggest.perf_script import parse_samples, read_recorded_pools
from tessera.measure.suggest.sample_weights import weigh

from .builders import BASES, LOAD_HIT, LOAD_MISSED, NOTHING, PID, STORE_MISSED, line, report

LOADS, STORES = "cpu/event=0xcd,umask=0x01,ldlat=4/pp", "cpu/event=0xcd,umask=0x02/pp"


def weighed(*lines: str, pid: int = PID):
    return weigh(parse_samples(lines), pid)


@pytest.mark.parametrize(
    "event, what, side",
    [
        ("r11d0", "misses", "loads"), ("r12d0:pp", "misses", "stores"), ("r11d0:ppu", "misses", "loads"),
        ("cpu/event=0xd0,umask=0x11/pp", "misses", "loads"),
        ("cpu_atom/event=0xd0,umask=0x12/upp", "misses", "stores"),
        ("cpu/config=0x11d0/pp", "misses", "loads"),
        ("mem_uops_retired.stlb_miss_stores:pp", "misses", "stores"),
        ("MEM_INST_RETIRED.STLB_MISS_LOADS:ppp", "misses", "loads"),
        ("cpu/mem_inst_retired.stlb_miss_loads/ppu", "misses", "loads"),
        ("cpu/mem-loads,ldlat=30/P", "accesses", "loads"), ("cpu_core/mem-stores/P", "accesses", "stores"),
        (LOADS, "accesses", "loads"), (STORES, "accesses", "stores"),
        ("mem_trans_retired.load_latency_gt_4:pp", "accesses", "loads"),
        ("cpu_core/mem-loads,ldlat=30/", "accesses", "loads"),
        ("cpu_atom/mem-loads,ldlat=30/P", "accesses", "loads"),
        ("cpu_atom/mem-stores/P", "accesses", "stores"),
        ("cpu_core/event=0xcd,umask=0x2/P", "accesses", "stores"), ("cpu_core/r2cd/", "accesses", "stores"),
        ("cpu_atom/event=0xd0,umask=0x05,ldlat=3/upp", "accesses", "loads"),
        ("cpu_atom/config=0x6d0/pp", "accesses", "stores"), ("cpu_lowpower/r5d0/pp", "accesses", "loads"),
        ("cpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/", "accesses", "loads"),
        ("cpu_atom/mem_uops_retired.load_latency_gt_128/upp", "accesses", "loads"),
        ("mem_uops_retired.store_latency:pp", "accesses", "stores"),
        ("cpu_core/mem_trans_retired.store_sample/pp", "accesses", "stores"),
        ("cpu_core/r11d0/pp", "misses", "loads"), ("cpu_atom/r12d0/pp", "misses", "stores"),
        ("cpu_core/mem-loads-aux/", "nothing", "loads"), ("cpu/mem-loads-aux/P", "nothing", "loads"),
        ("cpu_core/event=0x03,umask=0x82/", "nothing", "loads"),
        ("ibs_op//", "accesses", "loads and stores"),
        ("ibs_op/cnt_ctl=1,swfilt=1/u", "accesses", "loads and stores"),
        ("page-faults:u", "faults", "loads and stores"),
    ],
)  # fmt: skip
def test_events_by_name(event, what, side):
    assert event_kind(event) == EventKind(what, side)


@pytest.mark.parametrize(
    "event",
    ["cycles", "cycles:pp", "r1008", "r11d1:pp", "ibs_fetch//", "cpu/event=0xd0,umask=0x81/pp", "r1000011d0",
     "cpu/event=0xd0,umask=0x11,cmask=1/pp", "cpu/event=0xd0/", "cpu_core/event=0xd0,umask=0x05/pp",
     "cpu_core/dTLB-load-misses/", "cpu_gpu/mem-loads/", "", "r", "//"],
)  # fmt: skip
def test_other_events_show_no_misses(event):
    assert event_kind(event) is None


@pytest.mark.parametrize(
    "event, core",
    [("cpu_core/r11d0/pp", "cpu_core"), ("cpu_atom/mem-loads,ldlat=30/P", "cpu_atom"),
     ("cpu_lowpower/r11d0/", "cpu_lowpower"), ("cpu/mem-loads/P", ""), ("ibs_op//", ""), ("r11d0:pp", "")],
)  # fmt: skip
def test_the_type_of_core(event, core):
    assert perf_events.event_core(event) == core


def test_every_class_has_a_plan_whose_events_are_known():
    for name, found in counter_classes().items():
        made = sampling_plan(found)
        assert made is not None, name
        wanted = perf_events.ACCESSES if name.startswith("zen") else perf_events.MISSES
        assert event_kind(made.events[0]).what == wanted, name
        assert all(event_kind(event) for event in made.events)


def test_plans_by_hand():
    words = "-e cpu/event=0xd0,umask=0x11/pp -e cpu/event=0xd0,umask=0x12/pp"
    assert sampling_plan(class_named("skylake")).shown() == f"perf record -d -c 997 {words} -o perf.data --"
    assert sampling_plan(class_named("skylake")).fields == "pid,tid,period,event,addr"
    assert sampling_plan(class_named("goldencove")).events[0] == "cpu_core/event=0xd0,umask=0x11/pp"
    # a server of E-cores only calls their PMU cpu
    assert sampling_plan(class_named("crestmont"), "cpu").events[0] == "cpu/event=0xd0,umask=0x11/pp"
    for name in ("sandybridge", "ivybridge"):
        assert sampling_plan(class_named(name)).events == (
            "cpu/event=0xd0,umask=0x11/pp",
            "cpu/event=0xd0,umask=0x12/pp",
            "cpu/event=0xcd,umask=0x01,ldlat=4,period=20011/pp",
            "cpu/event=0xcd,umask=0x02,period=20011/pp",
        )
        assert sampling_plan(class_named(name)).fields.endswith(",data_src")
    zen = sampling_plan(class_named("zen4"), "cpu")
    assert zen.events == ("ibs_op/cnt_ctl=1/",) and zen.period == IBS_PERIOD and "data_src" in zen.fields


def test_periods():
    """Primes, so that loops don't hide; IBS has a multiple of 16, as the kernel demands."""
    for number in (MISS_PERIOD, ACCESS_PERIOD, IBS_PERIOD // 16):
        assert all(number % divisor for divisor in range(2, int(number**0.5) + 1))
    assert IBS_PERIOD % 16 == 0


def test_a_class_without_such_events_has_no_plan():
    found = class_named("skylake")
    without = type(found)(found.name, tuple(e for e in found.events if e.role != "sampling"))
    assert sampling_plan(without) is None


def test_accesses_that_hit_do_not_count():
    found = weighed(line(LOADS, 16, LOAD_HIT), line(LOADS, 32, LOAD_MISSED), line(LOADS, 48, NOTHING))
    assert found.misses == ((32, 997),) and found.seen == 3


def test_counted_misses_give_the_scale():
    """10 samples of load misses are 9,970; two accesses missed, one with twice the period of the other."""
    lines = [line("r11d0:pp", 0, NOTHING)] * 10
    lines += [line(LOADS, 16, LOAD_MISSED, period=100), line(LOADS, 32, LOAD_MISSED, period=200)]
    found = weighed(*lines)
    assert dict(found.misses) == pytest.approx({16: 9970 / 3, 32: 9970 * 2 / 3})


def test_scales_that_are_not_known_are_noted():
    found = weighed(line(LOADS, 16, LOAD_MISSED), line(STORES, 32, STORE_MISSED))
    assert len(found.misses) == 2 and len(found.notes) == 1
    found = weighed(
        line(LOADS, 16, LOAD_MISSED),
        *[line("r12d0:pp", 0, NOTHING)] * 2,
        line(STORES, 32, (0x48080144, "|TLB L2 hit|")),
    )
    assert found.misses == ((16, 997),) and "1,994" in found.notes[0]


def test_other_processes_do_not_count():
    assert weighed(line("r11d0", 16), line("r11d0", 32, pid=1)).misses == ((16, 997),)


@pytest.mark.parametrize(
    "lines, code",
    [
        ([line("cycles", 1)], "samples-of-another-event"),
        ([line("page-faults", 1)], "samples-of-faults"),
        ([line("r11d0", 1, pid=1)], "samples-of-another-run"),
        ([line("r11d0", 0)], "samples-without-address"),
        ([line(LOADS, 16, LOAD_HIT)], "samples-without-address"),
        ([line(LOADS, 16)], "samples-without-source"),
        ([line(LOADS, 16, NOTHING)], "samples-without-tlb"),
        ([line("r11d0", 16, NOTHING), line(LOADS, 16, LOAD_MISSED)], "samples-mixed"),
    ],
)
def test_samples_that_say_nothing_are_errors(lines, code):
    with pytest.raises(TesseraError) as error:
        weighed(*lines)
    assert error.value.code == code and error.value.remedy


def test_the_report_gives_process_and_pools(tmp_path):
    place = read_recorded_pools(report(tmp_path / "r.json"))
    assert (place.pid, place.bases) == (PID, BASES)
    assert place.pool_bytes == {"brk": 128 << 20, "mmap": 512 << 20}


POOL = '{"pid": 1, "pools": [{"type": "brk", "base": 0, "size_bytes": %s}], "windows": []}'


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"pid": 1, "pools": 3, "windows": []}', '{"pid": null, "pools": [], "windows": []}',
     '{"pid": 1, "pools": [{"type": 2, "base": 0, "size_bytes": 1}], "windows": []}',
     '{"pid": 1, "pools": [], "windows": []}', "[" * 100_000, POOL % "Infinity", POOL % "1.5", POOL % "true",
     POOL % "-1", POOL % ("9" * 5000)],
)  # fmt: skip
def test_other_reports_are_errors(tmp_path, content):
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(TesseraError, match=re.escape(str(tmp_path))) as error:
        read_recorded_pools(tmp_path / "r.json")
    assert error.value.code == "samples-report"
    with pytest.raises(TesseraError):
        read_recorded_pools(tmp_path / "none.json")


def test_a_run_with_huge_pages_is_refused(tmp_path):
    path = report(tmp_path / "r.json", windows=[{"type": "mmap"}])
    assert json.loads(path.read_text())["windows"]
    with pytest.raises(TesseraError, match=r"\b1 windows"):
        read_recorded_pools(path)
