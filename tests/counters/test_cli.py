"""``tessera measure counters``: what it lists, and its errors."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.measure import counters as command
from tessera.core.errors import TesseraError
from tessera.machine.counters import sysfs
from tessera.machine.counters.event_table import counter_classes
from tessera.machine.counters.passes import CounterSharing
from tessera.machine.doctor import hardware


def run(*words):
    return CliRunner().invoke(cli, ["measure", "counters", *words])


def test_every_class_is_listed_with_its_passes():
    lines = run("show").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(counter_classes())
    passes = {line.split()[0]: line.split()[-1] for line in lines[1:]}
    assert (passes["broadwell"], passes["icelake"], passes["lioncove"], passes["zen4"]) == (
        "2/1", "2/2", "1/1", "1/1",
    )  # fmt: skip


@pytest.mark.parametrize("name, rows", [("broadwell", 42), ("gracemont", 12), ("any", 9)])
def test_events_of_a_class(name, rows):
    """Every row of the table, with status and source."""
    lines = run("show", name, "--details").stdout.splitlines()
    assert len(lines) == 1 + rows
    assert all("linux" in line or "intel/perfmon" in line for line in lines[1:])


def test_an_unknown_class_lists_the_known():
    for words in (("show", "broadwel", "--details"), ("show", "broadwel")):
        error = run(*words).exception
        assert isinstance(error, TesseraError) and "broadwell" in error.remedy


def test_the_pmu_of_servers_with_small_cores():
    """Sierra Forest's only PMU is `cpu`; client processors have `cpu_atom`."""
    assert "cpu_atom/event=0x08" in run("show", "crestmont").stdout
    assert "cpu_atom/" not in run("show", "crestmont", "--pmu", "cpu").stdout.split("remarks:")[0]
    assert "cpu_core" in run("show", "goldencove", "--pmu", "cpu").exception.remedy


def test_this_machine(monkeypatch):
    facts = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "79", "stepping": "1"}
    monkeypatch.setattr(hardware, "cpu_facts", lambda: facts)
    monkeypatch.setattr(sysfs, "counting_machine", lambda: CounterSharing(smt=False, watchdog=False))
    found, settings = command._this()
    assert (found.name, settings) == ("broadwell", CounterSharing(smt=False, watchdog=False))
    assert "pass data:" in run("show", "this").stdout
    facts["model"] = "151"  # two types of cores
    assert "goldencove, gracemont" in run("show", "this").stderr
    facts["model"] = "254"
    assert "06_FE" in run("show", "this").exception.asked
