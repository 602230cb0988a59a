"""Profiles of ``tessera mosalloc suggest`` by perf: its output, its absence, and real recordings.

Where no PMU is, page faults stand for TLB misses: they are counted by software, and have addresses too.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB as M2
from tessera.measure.suggest import sampled_profile
from tessera.measure.suggest.perf_script import parse_samples
from tessera.measure.suggest.profile import add_up
from tessera.measure.suggest.sample_weights import weigh
from tessera.measure.suggest.sampled_profile import summed_profile
from tessera.measure.suggest.server_load import Load

INTEL = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "79", "stepping": "1"}
AMD = {"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "1", "stepping": "1"}
OTHER = {"vendor_id": "Other", "cpu family": "1", "model": "2", "stepping": "3"}
POOL_BYTES = {"brk": 64 << 20, "mmap": 64 << 20}

#: As perf 6.1 prints `perf script -F pid,period,event,addr`.
SCRIPT = """\
  12346        997 r11d0:pp:     7ffc70f23008
  12348        997 r11d0:pp:     10000200040
  12348        997 r12d0:pp:     100003fffff

  12348       1000 r11d0:pp:     10000400000
  12348        997 r11d0:pp:      fffffffffff
  12348        997 r11d0:pp:                0
"""


def samples(pid: int = 12348):
    return weigh(parse_samples(SCRIPT.splitlines()), pid).misses


def test_perf_script_lines():
    base = 1 << 40
    addresses = [base + M2 + 64, base + 2 * M2 - 1, base + 2 * M2, 0xFFFFFFFFFFF, 0]
    assert sorted(samples()) == sorted(zip(addresses, [997, 997, 1000, 997, 997], strict=True))


@pytest.mark.parametrize("line", ["no samples", "12348 r11d0:pp: 10", "1 2 r11d0:pp:"])
def test_other_lines_are_refused_with_their_number(line):
    with pytest.raises(TesseraError, match="perf script, line 2"):
        list(parse_samples(["1 2 e: 3", line]))


def test_samples_become_misses_of_pages():
    bases = {"mmap": (1 << 40, 4 * M2), "brk": (1 << 44, M2)}
    profile = summed_profile(samples(), bases, POOL_BYTES, "by hand")
    assert profile.misses == {("mmap", M2): 2 * 997, ("mmap", 2 * M2): 1000}
    assert (profile.total, profile.outside) == (4 * 997 + 1000, 2 * 997)
    assert profile.provenance == "measured" and "only 3 samples" in profile.notes[0]


def test_pool_borders_are_exact():
    bases = {"mmap": (1 << 40, 2 * M2)}
    edge = [(1 << 40) - 1, 1 << 40, (1 << 40) + 2 * M2 - 1, (1 << 40) + 2 * M2]
    assert add_up([(a, 1) for a in edge], bases) == {("mmap", 0): 1, ("mmap", M2): 1}


def test_why_perf_cannot_be_used(monkeypatch):
    monkeypatch.setattr(sampled_profile.shutil, "which", lambda name: None)
    assert "linux-perf" in sampled_profile.why_unusable()
    monkeypatch.setattr(sampled_profile.shutil, "which", lambda name: "/usr/bin/perf")
    monkeypatch.setattr(sampled_profile.hardware, "open_counter", lambda kind, config: 2)
    assert "no PMU" in sampled_profile.why_unusable()
    monkeypatch.setattr(sampled_profile.hardware, "open_counter", lambda kind, config: 13)
    assert "perf_event_paranoid" in sampled_profile.why_unusable()
    monkeypatch.setattr(sampled_profile.hardware, "open_counter", lambda kind, config: 0)
    monkeypatch.setattr(sampled_profile, "cpu_facts", lambda: OTHER)
    assert "Other" in sampled_profile.why_unusable()
    monkeypatch.setattr(sampled_profile, "cpu_facts", dict)
    assert "CPUID" in sampled_profile.why_unusable()


class Tried:
    """What unusable() asks the machine; perf itself is a list of its arguments."""

    def __init__(self, monkeypatch, cpu, allowed=(0, 1), cpus=None, status=0, pmus=("cpu", "ibs_op")):
        self.argv = []
        monkeypatch.setattr(sampled_profile.shutil, "which", lambda name: "/usr/bin/perf")
        monkeypatch.setattr(sampled_profile.hardware, "open_counter", lambda kind, config: 0)
        monkeypatch.setattr(sampled_profile, "cpu_facts", lambda: cpu)
        monkeypatch.setattr(sampled_profile.os, "sched_getaffinity", lambda pid: set(allowed))
        monkeypatch.setattr(sampled_profile.sysfs, "pmu_cpus", lambda pmu: (cpus or {}).get(pmu, ""))
        found = lambda names: next(((n, 4) for n in names if n in pmus), None)  # noqa: E731
        monkeypatch.setattr(sampled_profile.sysfs, "pmu_type", found)
        monkeypatch.setattr(sampled_profile.subprocess, "run", self.run)
        self.status = status

    def run(self, argv, **options):
        self.argv = argv
        return subprocess.CompletedProcess(argv, self.status, "", "\nevent syntax error: none\n")


@pytest.mark.parametrize(
    "cpu, period, event",
    [
        (INTEL, "997", "cpu/event=0xd0,umask=0x11/pp"),
        (INTEL | {"model": "42"}, "997", "cpu/event=0xcd,umask=0x01,ldlat=4,period=20011/pp"),
        (INTEL | {"model": "62"}, "997", "cpu/event=0xcd,umask=0x02,period=20011/pp"),
        (AMD, "98416", "ibs_op/cnt_ctl=1/"),
    ],
)
def test_what_each_processor_records(monkeypatch, cpu, period, event):
    """Tried once before the program runs; before Haswell with accesses, because misses have no address."""
    tried = Tried(monkeypatch, cpu)
    assert sampled_profile.why_unusable() == ""
    assert tried.argv[:4] == ["perf", "record", "-q", "-d"] and event in tried.argv
    assert tried.argv[tried.argv.index("-c") + 1] == period and tried.argv[-2:] == ["--", "true"]


def test_what_perf_refuses_is_its_last_line(monkeypatch):
    """A guest that has counters, but no IBS."""
    Tried(monkeypatch, AMD, status=129)
    assert sampled_profile.why_unusable() == "perf can't sample ibs_op/cnt_ctl=1/: event syntax error: none"


HYBRID = INTEL | {"model": "151"}
CORES = {"cpu_core": "0-15", "cpu_atom": "16-19"}


@pytest.mark.parametrize(
    "allowed, event",
    [
        ([3], "cpu_core/event=0xd0,umask=0x11/pp"),
        ([16, 19], "cpu_atom/event=0xd0,umask=0x11/pp"),
        ([15, 16], ""),
    ],
)
def test_two_types_of_cores_are_not_mixed(monkeypatch, allowed, event):
    """Each type counts its own misses only, so a program that moves would lose some."""
    tried = Tried(monkeypatch, HYBRID, allowed, CORES, pmus=("cpu_core", "cpu_atom"))
    reason = sampled_profile.why_unusable()
    if event:
        assert not reason and event in tried.argv
        return
    assert "taskset --cpu-list 0-15 for goldencove" in reason and "16-19 for gracemont" in reason
    done = CliRunner().invoke(mosalloc, ["suggest", "--method", "perf", "--", "true"])
    assert isinstance(done.exception, TesseraError) and "2 types" in done.exception.found
    assert done.exception.code == "cannot-sample"


def test_a_class_without_such_events(monkeypatch):
    Tried(monkeypatch, INTEL)
    monkeypatch.setattr(sampled_profile, "sampling_plan", lambda found, pmu: None)
    assert sampled_profile.why_unusable() == "no event of broadwell shows TLB misses with addresses"


def test_asking_for_perf_where_it_cannot_work(monkeypatch):
    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "no PMU: none")
    done = CliRunner().invoke(mosalloc, ["suggest", "--method", "perf", "--", "true"])
    assert isinstance(done.exception, TesseraError) and "no PMU" in str(done.exception)


def perf_records_faults(folder) -> bool:
    """Page faults are counted by software, with addresses: they stand for TLB misses where no PMU is."""
    if shutil.which("perf") is None:
        return False
    argv = ["perf", "record", "-q", "-d", "-e", "page-faults", "-o", folder / "try", "--", "true"]
    return subprocess.run(argv, capture_output=True).returncode == 0


@pytest.mark.toolchain
def test_a_real_recording_of_perf(build, tmp_path):
    """The first touches of 64MB: 512 page faults in each of its 2MB (a software event: no PMU needed)."""
    program = [sys.executable, "-c", "bytearray(64 << 20)"]
    if not perf_records_faults(tmp_path):
        pytest.skip("perf can't record page faults here; apt install linux-perf, and root")
    pools = {"brk": 1 << 30, "mmap": 1 << 30}
    profile = sampled_profile.recorded_profile(
        program, tmp_path, pool_bytes=pools, load=None, recording=sampled_profile.FAULT_SAMPLING
    )
    full = [page for page, count in profile.misses.items() if count == 512 and page[0] == "mmap"]
    # 64MB need not start at a multiple of 2MB; the kernel drops a record where its buffer is full.
    assert 28 <= len(full) <= 32
    assert profile.outside > 10  # the program's own image


@pytest.mark.toolchain
def test_a_servers_profile_by_perf(build, tmp_path):
    """The load makes it touch 16MB: 8 pages; the server is ended in an orderly way, through perf."""
    if not perf_records_faults(tmp_path):
        pytest.skip("perf can't record page faults here; apt install linux-perf, and root")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    code = (
        "import signal, socket, sys\n"
        "signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\n"
        f"s = socket.create_server(('127.0.0.1', {port}))\n"
        "kept = []\n"
        "while True:\n"
        "    kept += [bytearray(16 << 20)] if s.accept()[0].recv(1) else []\n"
    )
    ask = f'{sys.executable} -c \'import socket; socket.create_connection(("127.0.0.1", {port})).send(b"x")\''
    profile = sampled_profile.recorded_profile(
        [sys.executable, "-c", code],
        tmp_path,
        pool_bytes={"brk": 1 << 30, "mmap": 1 << 30},
        load=Load(f"{ask} && sleep 0.3", port),
        recording=sampled_profile.FAULT_SAMPLING,
    )
    full = [page for page, count in profile.misses.items() if count == 512 and page[0] == "mmap"]
    assert len(full) in (7, 8)
