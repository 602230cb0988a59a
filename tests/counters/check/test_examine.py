"""All checks on machines of numbers: what is opened, refused, scheduled, proved, and not proved."""

from __future__ import annotations

import csv
import errno
import os

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.measure import counters as command
from tessera.machine.counter_check.examine import check_counters
from tessera.machine.counter_check.known_programs import chase_counter
from tessera.machine.counter_check.opening import TimedCount, failed_checks, rows_csv
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import class_named, of_cpu

from . import fakes

BROADWELL = Cpu("GenuineIntel", 6, 79, 1)
ZEN3 = Cpu("AuthenticAMD", 25, 1, 1)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "chase"
    path.touch()
    return path


def check(tmp_path, program, cpu=BROADWELL, kernel=None, count=None, **machine):
    root = fakes.sysfs(tmp_path / "root", **machine)
    kernel = kernel or fakes.Kernel()
    rows = check_counters(cpu, of_cpu(cpu), kernel, count or fakes.chase(), program=program, root=root)
    assert kernel.opened == {}  # every descriptor is closed
    return rows


def of(rows, name, subject=""):
    return [row for row in rows if row.check == name and subject in row.subject]


def test_a_machine_that_counts_right(tmp_path, program):
    kernel = fakes.Kernel()
    rows = check(tmp_path, program, kernel=kernel)
    assert failed_checks(rows) == [] and {row.status for row in rows} == {"ok"}
    opened = [row.subject for row in of(rows, "opens")]
    required = [event.quantity for event in class_named("broadwell").required()]
    assert set(required) < set(opened) and len(opened) == len(set(opened))
    assert "pass data" in [row.subject for row in of(rows, "scheduled")]
    # H, M, C of loads and stores, in three chases.
    proved = {row.subject.split(",")[0] for row in of(rows, "proof", "many pages")}
    assert {"H loads", "M loads", "C loads", "M stores", "C stores", "R cycles"} <= proved
    assert len(of(rows, "proof", "M loads")) == 3
    # Each event alone, then as a member of the group that cycles leads.
    assert {("M stores", None), ("M stores", "R cycles"), ("R cycles", None)} <= set(kernel.groups)


def test_zen_counts_no_walk_cycles(tmp_path, program):
    rows = check(tmp_path, program, ZEN3, formats=fakes.AMD)
    assert failed_checks(rows) == []
    facts = {row.subject: (row.found, row.status) for row in of(rows, "fact")}
    assert facts["events of C"] == ("0", "ok") and facts["events of M"] == ("1", "ok")
    assert {row.subject.split(",")[0] for row in of(rows, "proof")} == {
        "R cycles", "instructions", "H any", "M any",
    }  # fmt: skip


def test_a_refused_event_decides_nothing(tmp_path, program):
    kernel = fakes.Kernel({"M any": errno.EINVAL})
    rows = check(tmp_path, program, ZEN3, kernel, formats=fakes.AMD)
    assert of(rows, "proof") == []
    assert {row.status for row in of(rows, "fact")} == {"unproven"}
    assert [row.subject for row in failed_checks(rows)] == ["M any", "pass data"]
    assert "M any" in of(rows, "scheduled", "pass data")[0].found


@pytest.mark.parametrize(
    "number, word",
    [
        (errno.EACCES, "perf_event_paranoid"),
        (errno.EPERM, "PERFMON"),
        (errno.ENOENT, "bare metal"),
        (errno.EINVAL, "tessera measure counters show"),
        (errno.EBUSY, "profilers"),
        (errno.ENOSYS, "container"),
        (errno.EMFILE, "ulimit"),
        (errno.E2BIG, "perf_event_open(2)"),
    ],
)
def test_each_errno_has_a_remedy(tmp_path, program, number, word):
    rows = check(tmp_path, program, kernel=fakes.Kernel({"H loads": number}))
    row = of(rows, "opens", "H loads")[0]
    assert row.status == "refused" and errno.errorcode[number] in row.found and word in row.remedy


def test_an_optional_event_may_be_refused(tmp_path, program):
    rows = check(tmp_path, program, kernel=fakes.Kernel({"M loads 4KB": errno.EINVAL}))
    refused = [row for row in rows if row.status == "refused"]
    assert {row.check for row in refused} == {"opens", "scheduled"} and failed_checks(rows) == []


@pytest.mark.parametrize("kernel", [fakes.Kernel(late=["C loads"]), fakes.Kernel(lost=["C loads"])])
def test_a_pass_that_is_not_whole(tmp_path, program, kernel):
    rows = check(tmp_path, program, kernel=kernel)
    row = of(rows, "scheduled", "pass data")[0]
    assert row.status == "differs" and "C loads" in row.found and "nmi_watchdog" in row.remedy
    assert of(rows, "proof") == []


@pytest.mark.parametrize("late_ns, enabled_ns, whole", [
    (0, 10**6, True), (10_000, 10**6, True), (10_001, 10**6, False), (10_001, 10_001_000, True),
])  # fmt: skip
def test_members_may_start_late(late_ns, enabled_ns, whole):
    """10 us, or 0.1% of the time."""
    assert TimedCount(1, enabled_ns, enabled_ns - late_ns).whole == whole
    assert not TimedCount(1, 0, 0).whole


def test_a_wrong_event_fails(tmp_path, program):
    rows = check(tmp_path, program, count=fakes.chase({"M loads": (1, 1, 1)}))
    assert {row.subject.split(",")[0] for row in failed_checks(rows)} == {"M loads"}


def test_without_chase_nothing_is_proved(tmp_path):
    rows = check(tmp_path, tmp_path / "absent" / "chase")
    (row,) = of(rows, "proof", "pass data")
    assert row.status == "unproven" and "build workloads" in row.remedy and failed_checks(rows) == []


def test_a_chase_that_fails_proves_nothing(tmp_path, program):
    def count(events, words):
        raise ValueError("no memory")

    rows = check(tmp_path, program, count=count)
    assert {row.status for row in of(rows, "proof")} == {"unproven"}
    assert all(row.found == "no memory" and "--elements" in row.remedy for row in of(rows, "proof"))


def test_without_a_pmu(tmp_path, program):
    rows = check(tmp_path, program, pmus={})
    assert [(row.subject, row.status) for row in failed_checks(rows)] == [("PMU", "refused")]
    assert (
        "bare metal" in failed_checks(rows)[0].remedy
        and "perf_event_paranoid" in failed_checks(rows)[0].remedy
    )
    assert {row.status for row in of(rows, "software")} == {"ok"}


def test_an_unknown_processor(tmp_path, program):
    rows = check(tmp_path, program, Cpu("GenuineIntel", 6, 0xFE, 0))
    (row,) = failed_checks(rows)
    assert "06_FE" in row.found and "pmu-events.csv" in row.remedy


def test_both_types_of_cores_are_checked(tmp_path, program):
    cpu = Cpu("GenuineIntel", 6, 151, 2)
    rows = check(tmp_path, program, cpu, pmus={"cpu_core": 4, "cpu_atom": 10})
    assert {row.class_name for row in of(rows, "scheduled")} == {"goldencove", "gracemont"}
    assert "type 10" in next(r for r in of(rows, "opens", "M loads") if r.class_name == "gracemont").wanted


def test_events_of_a_type_of_cores_are_counted_on_it(tmp_path, program):
    """Gracemont's M loads on the last processor, software events and later ones on all."""
    before = os.sched_getaffinity(0)
    root = fakes.sysfs(tmp_path / "root", pmus={"cpu_atom": 10})
    last = max(before)
    (root / "sys/bus/event_source/devices/cpu_atom/cpus").write_text(f"{last}-{last + 3},9999\n")
    kernel, found = fakes.Kernel(), (class_named("gracemont"),)
    check_counters(Cpu("GenuineIntel", 6, 151, 2), found, kernel, fakes.chase(), program=program, root=root)
    assert kernel.processors["M loads"] == {last} and kernel.processors["page-faults"] == before
    assert os.sched_getaffinity(0) == before


def test_one_type_of_cores_may_be_absent(tmp_path, program):
    rows = check(tmp_path, program, Cpu("GenuineIntel", 6, 151, 2), pmus={"cpu_core": 4})
    assert failed_checks(rows) == []
    (row,) = [row for row in rows if row.subject == "PMU"]
    assert (row.class_name, row.needed) == ("gracemont", False)


def test_a_format_that_lacks_a_field(tmp_path, program):
    rows = check(tmp_path, program, formats={"event": "config:0-7"})
    assert any("umask" in row.found and row.status == "refused" for row in failed_checks(rows))


def test_the_command_and_its_file(tmp_path, program, monkeypatch):
    rows = check(tmp_path, program, ZEN3, formats=fakes.AMD)
    monkeypatch.setattr(command, "_checked", lambda mode: rows)
    out = tmp_path / "checks.csv"
    done = CliRunner().invoke(cli, ["measure", "counters", "check", "--out", str(out)])
    assert done.exit_code == 0 and "zen3" in done.stdout and "NOT-MEASURABLE" in done.stdout
    read = list(csv.DictReader(out.read_text().splitlines()))
    assert len(read) == len(rows) and rows_csv(rows) == out.read_text()
    (fact,) = [row for row in read if row["subject"] == "events of C"]
    assert (fact["class_name"], fact["found"], fact["status"]) == ("zen3", "0", "ok")


def test_the_command_fails_without_a_pmu(tmp_path, program, monkeypatch):
    monkeypatch.setattr(command, "_checked", lambda mode: check(tmp_path, program, pmus={}))
    done = CliRunner().invoke(cli, ["measure", "counters", "check"])
    assert done.exit_code == 1 and "bare metal" in done.stdout and "software" in done.stdout


def test_the_counter_of_programs_closes_what_it_opened():
    """Events are opened on a shell that waits; a refusal ends it."""
    kernel = fakes.Kernel({"page-faults": errno.EACCES})
    from tessera.machine.counters.attributes import Attribute

    events = [Attribute(name, name, 1, 1, 0, 0, "u") for name in ("task-clock", "page-faults")]
    with pytest.raises(ValueError):
        chase_counter(kernel)(events, ["true"])
    assert kernel.opened == {}
