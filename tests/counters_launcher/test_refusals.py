"""Runs that are not counted whole, and requests that are wrong: no counts, a status, a cause, a remedy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from .conftest import FAULTS, WRITES

pytestmark = pytest.mark.toolchain


@pytest.mark.parametrize(
    ("mode", "status"),
    [
        ("never-begins", 1), ("never-ends", 1), ("stray", 1), ("nested", 1), ("closes", 1),
        ("killed-inside", 128 + signal.SIGKILL),
    ],
)  # fmt: skip
def test_regions_that_are_not_whole_have_no_counts(count, events, regions, tmp_path, mode, status):
    (tmp_path / "counts.csv").write_text("of an earlier run\n")
    done = count(events(WRITES), regions, mode)
    assert (done.status, done.rows) == (status, {})
    assert "tessera-count: region roi: " in done.errors


def test_closed_descriptors_are_named(count, events, regions):
    assert os.strerror(9) in count(events(WRITES), regions, "closes").errors  # EBADF


@pytest.mark.parametrize(
    ("mode", "status"), [("killed-after", 128 + signal.SIGKILL), ("fails", 3)], ids=lambda v: str(v)
)
def test_a_whole_region_counts_however_the_program_ends(count, events, regions, mode, status):
    done = count(events(WRITES), regions, mode)
    assert (done.status, done.value("writes")) == (status, 1000), done.errors


def test_mosalloc_run_has_the_same_rules(count, events, regions, layout):
    for mode, status in (("never-ends", 1), ("killed-inside", 128 + signal.SIGKILL)):
        done = count(events(WRITES), regions, mode, layout=layout)
        assert (done.status, done.rows) == (status, {}), done.errors


@pytest.mark.parametrize("program", ["no-markers", "static"])
def test_programs_that_have_no_hook(count, events, compiled, program):
    command = "/bin/true" if program == "no-markers" else compiled("regions", "-static", "-no-pie")
    done = count(events(FAULTS), command)
    assert (done.status, done.rows) == (1, {}) and "region whole" in done.errors


def test_signals_reach_the_program(launchers, events, regions, tmp_path):
    argv = [launchers / "tessera-count", "--events", events(WRITES), "--counts", tmp_path / "c.csv"]
    with subprocess.Popen([*argv, "--", regions, "sleeps"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "inside\n"
        process.terminate()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert not (tmp_path / "c.csv").exists()


def test_unknown_events_are_refused_before_the_program_runs(count, events, tmp_path):
    done = count(events(FAULTS, "nothing\t4095\t0x0\t0x0\t0x0\tu\n"), "touch", tmp_path / "ran")
    assert (done.status, done.rows) == (2, {}) and not (tmp_path / "ran").exists()
    assert "event nothing: " in done.errors and f"errno {2}" in done.errors  # ENOENT: no such type


def test_no_room_for_breakpoints_is_named(count, events):
    five = [
        WRITES.replace("writes", f"w{i}").replace("0x10000000", hex(0x10000000 + 64 * i)) for i in range(5)
    ]
    done = count(events(*five), "/bin/true", region="whole")
    assert done.status == 2 and "event w4: " in done.errors  # x86 has four debug registers


def test_missing_permission_names_the_level(launchers, needs_root):
    level = Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip()
    if int(level) < 2:
        pytest.skip(f"perf_event_paranoid is {level}: every user may count the kernel")
    with tempfile.TemporaryDirectory() as folder:  # other users may not look into tmp_path
        for name in ("tessera-count", "libtessera-roi.so"):
            shutil.copy(launchers / name, folder)
        events = Path(folder, "events.tsv")
        events.write_text("clock\t1\t0x1\t0x0\t0x0\tuk\n")
        os.chmod(folder, 0o777)
        argv = [
            f"{folder}/tessera-count",
            "--events",
            events,
            "--counts",
            f"{folder}/c.csv",
            "--region",
            "whole",
        ]
        done = subprocess.run([*argv, "--", "/bin/true"], user=65534, capture_output=True, text=True)
        assert done.returncode == 2 and f"perf_event_paranoid is {level}" in done.stderr
        events.write_text("clock\t1\t0x1\t0x0\t0x0\tu\n")
        if level == "2":  # the user's own mode is open to all
            done = subprocess.run([*argv, "--", "/bin/true"], user=65534, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", ["", "# nothing\n", "faults 1 0x2\n", FAULTS + FAULTS, "\0\n"])
def test_bad_events_files(count, events, text):
    done = count(events(text), "/bin/true", region="whole")
    assert (done.status, done.rows) == (2, {}) and "events.tsv: " in done.errors


def test_missing_and_oversized_events_files(count, events, tmp_path):
    assert count(tmp_path / "none.tsv", "/bin/true").status == 2
    assert count(tmp_path, "/bin/true").status == 2
    assert count(events("#" * 70000), "/bin/true").status == 2


def test_counts_that_cannot_be_written(count, events, tmp_path):
    ran = tmp_path / "ran"
    for out in (tmp_path / "no" / "counts.csv", tmp_path, Path("/dev/null")):
        done = count(events(FAULTS), "touch", ran, region="whole", out=out)
        assert done.status == 2 and f"counts {out}: " in done.errors and not ran.exists()
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("--events", "e.tsv"), ("--fast",), ("--events",), ("--region", "program"),
        ("--events", "e.tsv", "--counts", "c.csv"),
        ("--events", "e.tsv", "--counts", "c.csv", "--", "no-such-program"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_command_lines(launchers, arguments):
    done = subprocess.run([launchers / "tessera-count", *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("tessera-count: ") and "do: " in done.stderr


def test_mosalloc_run_needs_both_files(launchers, layout, events, tmp_path):
    for one in (("--count", events(FAULTS)), ("--counts", tmp_path / "c.csv")):
        argv = [launchers / "mosalloc-run", "--layout", layout, *one, "--", "/bin/true"]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 2 and "--count" in done.stderr


def test_the_program_sees_no_other_descriptor_numbers(count, events, tmp_path):
    """Events have high numbers: what the program opens first is still number 3."""
    seen = tmp_path / "seen"
    script = f"import os, sys; open({str(seen)!r}, 'w').write(str(os.open('/dev/null', 0)))"
    free = subprocess.run(
        ["python3", "-c", "import os; print(os.open('/dev/null', 0))"], capture_output=True, text=True
    )
    done = count(events(FAULTS), "python3", "-c", script)
    assert done.status == 1  # python has no markers, but it ran to its end
    assert int(seen.read_text()) <= int(free.stdout) + 1  # one more: the file `seen` itself
