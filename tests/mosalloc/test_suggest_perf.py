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
from tessera.mosalloc.suggest import perf
from tessera.mosalloc.suggest.load import Load
from tessera.mosalloc.suggest.profile import add_up

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


def test_perf_script_lines():
    found = list(perf.parse(SCRIPT.splitlines(), 12348))
    base = 1 << 40
    addresses = [base + M2 + 64, base + 2 * M2 - 1, base + 2 * M2, 0xFFFFFFFFFFF, 0]
    assert found == list(zip(addresses, [997, 997, 1000, 997, 997], strict=True))


@pytest.mark.parametrize("line", ["no samples", "12348 r11d0:pp: 10", "1 2 r11d0:pp:"])
def test_other_lines_are_refused_with_their_number(line):
    with pytest.raises(TesseraError, match="perf script, line 2"):
        list(perf.parse(["1 2 e: 3", line], 1))


def test_samples_become_misses_of_pages():
    samples = list(perf.parse(SCRIPT.splitlines(), 12348))
    bases = {"mmap": (1 << 40, 4 * M2), "brk": (1 << 44, M2)}
    profile = perf.summed(samples, bases, POOL_BYTES, 997)
    assert profile.misses == {("mmap", M2): 2 * 997, ("mmap", 2 * M2): 1000}
    assert (profile.total, profile.outside) == (4 * 997 + 1000, 2 * 997)
    assert profile.provenance == "measured" and "only 3 samples" in profile.notes[0]


def test_pool_borders_are_exact():
    bases = {"mmap": (1 << 40, 2 * M2)}
    edge = [(1 << 40) - 1, 1 << 40, (1 << 40) + 2 * M2 - 1, (1 << 40) + 2 * M2]
    assert add_up([(a, 1) for a in edge], bases) == {("mmap", 0): 1, ("mmap", M2): 1}


def test_why_perf_cannot_be_used(monkeypatch):
    monkeypatch.setattr(perf.shutil, "which", lambda name: None)
    assert "linux-perf" in perf.unusable()
    monkeypatch.setattr(perf.shutil, "which", lambda name: "/usr/bin/perf")
    monkeypatch.setattr(perf.pmu, "open_counter", lambda kind, config: 2)
    assert "no PMU" in perf.unusable()
    monkeypatch.setattr(perf.pmu, "open_counter", lambda kind, config: 13)
    assert "perf_event_paranoid" in perf.unusable()
    monkeypatch.setattr(perf.pmu, "open_counter", lambda kind, config: 0)
    monkeypatch.setattr(perf, "cpu_facts", lambda: {"vendor_id": "Other", "cpu family": "1", "model": "2"})
    assert "Other" in perf.unusable()


def test_asking_for_perf_where_it_cannot_work(monkeypatch):
    monkeypatch.setattr(perf, "unusable", lambda: "no PMU: none")
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
    profile = perf.profile(
        program, tmp_path, pool_bytes=pools, load=None, period=1, event_names=["page-faults"]
    )
    full = [page for page, count in profile.misses.items() if count == 512 and page[0] == "mmap"]
    assert len(full) in (31, 32)  # 64MB need not start at a multiple of 2MB
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
    profile = perf.profile(
        [sys.executable, "-c", code],
        tmp_path,
        pool_bytes={"brk": 1 << 30, "mmap": 1 << 30},
        load=Load(f"{ask} && sleep 0.3", port),
        period=1,
        event_names=["page-faults"],
    )
    full = [page for page, count in profile.misses.items() if count == 512 and page[0] == "mmap"]
    assert len(full) in (7, 8)
