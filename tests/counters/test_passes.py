"""Passes: what fits on the counters, against an exhaustive search, and the known numbers of passes."""

from __future__ import annotations

import itertools
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.machine.counters import sysfs
from tessera.machine.counters.event_table import class_named, counter_classes
from tessera.machine.counters.passes import (
    CounterSharing,
    base_events,
    counter_passes,
    fit_on_counters,
    matched,
    perf_groups,
    perf_stat,
)

FREE = CounterSharing(smt=False, watchdog=False)
MACHINES = [CounterSharing(smt, watchdog) for smt in (False, True) for watchdog in (False, True)]


def general_used(one):
    """General counters that a pass uses; the names of fixed ones begin with F."""
    return sum(not counter.startswith("F") for counter in one.counters.values())


def exhaustive(allowed):
    """Whether some assignment works: every product of counters is tried."""
    return any(len(set(one)) == len(one) for one in itertools.product(*allowed.values()))


@given(st.dictionaries(st.sampled_from("abcde"), st.sets(st.sampled_from("01234"), min_size=1), max_size=5))
@settings(max_examples=200)
def test_matching_equals_an_exhaustive_search(allowed):
    done = matched({name: sorted(counters) for name, counters in allowed.items()})
    assert (done is not None) == exhaustive(allowed)
    if done is not None:
        assert set(done) == set(allowed) and len(set(done.values())) == len(done)
        assert all(done[name] in allowed[name] for name in done)


def names(name, machine):
    return [one.name for one in counter_passes(class_named(name), machine)]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", counter_classes())
def test_passes_without_h_m_and_c_are_optional(name, machine):
    """By their events, not by their name. Cycles with a walk are an input of no model."""
    inputs = {event.quantity for event in class_named(name).required()}
    for one in counter_passes(class_named(name), machine):
        has_inputs = bool(inputs & {event.quantity for event in one.events})
        assert has_inputs == (not one.optional), one.name
        assert not one.optional or one.name.rstrip("0123456789").rstrip("-") == one.optional


@pytest.mark.parametrize(
    "name", ["sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "cascadelake"]
)
def test_up_to_cascade_lake_smt_decides(name):
    """Eight general counters without SMT hold H, M, C of loads and stores; four with SMT do not."""
    assert names(name, FREE)[0] == "data"
    assert names(name, CounterSharing(smt=True, watchdog=False))[:2] == ["loads", "stores"]


@pytest.mark.parametrize("name", ["icelake", "sapphirerapids", "graniterapids", "goldencove", "redwoodcove"])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_from_ice_lake_on_tlb_events_have_four_counters(name, machine):
    first, second = counter_passes(class_named(name), machine)[:2]
    assert (first.name, second.name) == ("loads", "stores")
    assert [e.quantity for e in first.events[-4:]] == ["H loads", "M loads", "C loads", "C active loads"]
    assert {first.counters[e.quantity] for e in first.events[-4:]} == set("0123")


@pytest.mark.parametrize("name", ["zen1", "zen2", "zen3", "zen4", "zen5"])
def test_zen_has_no_fixed_counters_and_one_pass(name):
    (first, *_) = counter_passes(class_named(name), CounterSharing())
    assert [event.quantity for event in first.events] == ["R cycles", "instructions", "H any", "M any"]
    assert general_used(first) == 4


def test_the_watchdog_takes_a_counter():
    """Skylake without SMT: cycles with a walk fit in the first pass only if the watchdog is off."""
    assert len(counter_passes(class_named("skylake"), FREE)[0].events) == 11
    assert names("skylake", CounterSharing(smt=False, watchdog=True))[:2] == ["data", "active"]


@pytest.mark.parametrize("name", list(counter_classes()))
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_every_pass_fits_and_nothing_is_lost(name, machine):
    found = class_named(name)
    made = counter_passes(found, machine)
    counted = [event.quantity for one in made for event in one.events]
    for event in (*found.required(), *found.active()):
        assert counted.count(event.quantity) == 1, event.quantity
    for one in made:
        assert one.events[: len(base_events(found))] == base_events(found)
        assert len(set(one.counters.values())) == len(one.events)
        for event in one.events:
            own = one.counters[event.quantity]
            spare = event.role == "all" and own.isdigit()
            assert spare or own in event.counters(machine.smt), event.quantity
        assert general_used(one) <= found.general(machine.smt)


def test_too_many_events_do_not_fit():
    """Five TLB events on four counters."""
    found = class_named("icelake")
    assert fit_on_counters(found, (*base_events(found), *found.required()), FREE) is None


def test_the_command_of_a_pass():
    (one, *_) = counter_passes(class_named("broadwell"), CounterSharing(smt=True, watchdog=True))
    words = shlex.split(perf_stat(one, "u"))
    assert words[:7] == ["LC_ALL=C", "perf", "stat", "-x;", "-o", "LAYOUT.loads.perf", "-e"]
    assert words[7] == (
        "{cycles:u,ref-cycles:u,instructions:u,cpu/event=0x08,umask=0x60,name=H_loads_u/u,"
        "cpu/event=0x08,umask=0x0e,name=M_loads_u/u,cpu/event=0x08,umask=0x10,name=C_loads_u/u}"
    )


def test_hybrid_events_name_their_pmu():
    (one, *_) = counter_passes(class_named("goldencove"), CounterSharing())
    text = perf_groups(one, "uk")
    assert (
        text.startswith("{cpu_core/cycles/uk,")
        and "cpu_core/event=0x12,umask=0x20,name=H_loads_uk/uk" in text
    )
    assert "cpu/event=0x08" in perf_groups(
        counter_passes(class_named("crestmont"), CounterSharing())[0], "u", "cpu"
    )


def test_unknown_mode():
    with pytest.raises(TesseraError, match="uk"):
        perf_groups(counter_passes(class_named("zen1"), CounterSharing())[0], "k")


def test_sysfs_of_a_hybrid_machine(tmp_path):
    for name, number in (("cpu_core", 4), ("cpu_atom", 10)):
        (tmp_path / "sys/bus/event_source/devices" / name).mkdir(parents=True)
        (tmp_path / "sys/bus/event_source/devices" / name / "type").write_text(f"{number}\n")
    assert sysfs.pmu_type(class_named("gracemont").pmus, tmp_path) == ("cpu_atom", 10)
    assert sysfs.pmu_type(("cpu",), tmp_path) is None
    assert sysfs.counting_machine(tmp_path) == CounterSharing(
        smt=True, watchdog=True
    )  # unknown: fewer counters
    (tmp_path / "sys/devices/system/cpu/smt").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/smt/active").write_text("0\n")
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/nmi_watchdog").write_text("0\n")
    assert sysfs.counting_machine(tmp_path) == FREE
