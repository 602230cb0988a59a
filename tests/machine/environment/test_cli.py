"""``tessera measure environment`` on a machine of files: its table, its exit status, --fix."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli import machine as command
from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.machine.environment import CHECKS

from . import trees


@pytest.fixture
def loud(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path / "no pools"))
    root = trees.write(tmp_path / "root", trees.LOUD)
    monkeypatch.setattr(command, "_root", lambda: root)
    return root


def run(*words, **options):
    return CliRunner().invoke(cli, ["measure", "environment", *words], **options)


def last_lines(result):
    """(conditions that stop, conditions that bar claims), as the summary lists them."""
    stops, bars = result.stdout.strip().splitlines()[-2:]
    return [set(line.split(": ")[1].split(", ")) for line in (stops, bars)]


def test_a_quiet_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_root", lambda: trees.write(tmp_path))
    done = run()
    assert done.exit_code == 0 and last_lines(done) == [{"nothing"}, {"nothing"}]
    rows = [line.split()[:3] for line in done.stdout.splitlines()[: len(CHECKS)]]
    assert [row[2] for row in rows] == list(CHECKS) and {row[0] for row in rows} == {"ok"}


def test_a_loud_machine_stops(loud, tmp_path):
    done = run("--out", str(tmp_path / "environment.csv"))
    assert done.exit_code == 1
    assert last_lines(done) == [{"counting"}, {"overcommit", "thp", "smt", "numa-balancing"}]
    with (tmp_path / "environment.csv").open() as stream:
        assert [row["check"] for row in csv.DictReader(stream)] == list(CHECKS)
    assert trees.values(loud)["proc/sys/kernel/nmi_watchdog"] == "1"


def test_colours_only_on_a_terminal(loud):
    assert "\x1b[" not in run().stdout and "\x1b[31mdiffers" in run(color=True).stdout


def test_what_is_missing_is_said_by_number(loud):
    done = run("--pages-2mb", "1000", "--node", "1")
    # Node 1: 5 free in its pool of 6; 995 are missing.
    assert last_lines(done)[0] == {"counting", "2mb-pages"} and "echo 1001 | sudo tee" in done.stdout


def test_fix_holds_while_the_command_runs_and_returns_its_status(loud):
    before = trees.values(loud)
    watchdog = loud / "proc/sys/kernel/nmi_watchdog"
    done = run("--fix", "--", "sh", "-c", f"cat {watchdog} > {loud}/seen; exit 7")
    assert done.exit_code == 7 and (loud / "seen").read_text() == "0"
    assert last_lines(done)[0] == {"nothing"} and f"write '0' to {watchdog}" in done.stderr
    assert trees.values(loud) == before


def test_a_stop_that_stays_keeps_the_command_from_running(loud):
    (loud / "sys/bus/event_source/devices/cpu/type").unlink()
    before = trees.values(loud)
    done = run("--fix", "--", "touch", str(loud / "seen"))
    assert done.exit_code == 1 and not (loud / "seen").exists() and trees.values(loud) == before


@pytest.mark.parametrize("words, value", [((), "0\n"), (("--free-memory",), "3")])
def test_what_cannot_be_undone_needs_consent(loud, words, value):
    done = run("--fix", *words, "--pages-2mb", "100000", "--", "true")
    assert "/proc/sys/vm/drop_caches" in done.stderr and "/proc/sys/vm/compact_memory" in done.stderr
    assert (loud / "proc/sys/vm/drop_caches").read_text() == value and done.exit_code == 1


@pytest.mark.parametrize("words", [("--", "true"), ("--no-turbo",), ("--free-memory",)])
def test_options_of_fix_need_it(loud, words):
    error = run(*words).exception
    assert isinstance(error, TesseraError) and "--fix" in error.remedy


def test_a_program_that_is_missing(loud):
    before = trees.values(loud)
    error = run("--fix", "--", "/no/such/program").exception
    assert isinstance(error, TesseraError) and "/no/such/program" in error.asked
    assert trees.values(loud) == before


def _hears_ctrl_c():
    """A shell's background jobs ignore it, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_command_it_holds_until_a_signal(loud, number):
    before = trees.values(loud)
    code = (
        "from pathlib import Path\nfrom tessera.cli import machine, main\n"
        f"machine._root = lambda: Path({str(loud)!r})\nmain.main()"
    )
    argv = [sys.executable, "-c", code, "measure", "environment", "--fix"]
    with subprocess.Popen(
        argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=_hears_ctrl_c
    ) as process:
        for line in process.stderr:
            if "Ctrl-C" in line:
                break
        assert trees.values(loud) == trees.SET
        os.kill(process.pid, number)
        try:
            process.communicate(timeout=30)
        finally:
            process.kill()  # of no effect if it has ended
    assert process.returncode == (0 if number == signal.SIGINT else 143)
    assert trees.values(loud) == before
