"""Bundles while they are measured: kills lose one run at most, and no private text gets in."""

import os
import random
import socket
from dataclasses import replace

import pytest

from tessera.core.errors import TesseraError
from tessera.measure import bundles
from tessera.measure.bundles import csv_files, file_format, json_files, texts, writer
from tessera.measure.bundles.bundle import EventCount, MeasuredRun
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.bundles.verify import verify_bundle, verify_files
from tests.bundles.processor import Plan, made, opened, parts_of, put

PLAN = Plan(rounds=2, layouts=("growing-0", "growing-8"))


@pytest.fixture
def measured(tmp_path):
    """A folder with all runs, written one by one."""
    files = opened(PLAN).files
    bundle, heads = parts_of(files)
    made_by = writer.create_bundle(tmp_path / "b", *heads)
    for run in bundle.runs:
        made_by.append(run, bundle.counts.get(run.run, ()))
    return tmp_path / "b", files


def test_the_writer_writes_the_files(measured):
    folder, files = measured
    assert {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    } == files


def test_a_kill_at_any_byte_loses_one_run_at_most(measured):
    """Counts are written before their run. Every state on the disk is a prefix of these bytes."""
    folder, files = measured
    rng = random.Random(1)
    counts, runs = files[file_format.COUNTS_FILE], files[file_format.RUNS_FILE]
    head = len(runs.splitlines(keepends=True)[0])
    run_ends = [0, *[at + 1 for at, byte in enumerate(runs[head:]) if byte == 10]]
    rows = counts.splitlines(keepends=True)
    of_run = {}
    for row in rows[1:]:
        of_run.setdefault(int(row.split(b",")[0]), b"")
        of_run[int(row.split(b",")[0])] += row
    order = [run.run for run in opened(PLAN).runs]
    for _ in range(40):
        done = rng.randrange(len(order))
        torn = of_run[order[done]]
        cut = rng.randrange(len(torn) + 1)
        row_cut = rng.randrange(run_ends[done + 1] - run_ends[done]) if cut == len(torn) else 0
        (folder / file_format.COUNTS_FILE).write_bytes(
            rows[0] + b"".join(of_run[n] for n in order[:done]) + torn[:cut]
        )  # fmt: skip
        (folder / file_format.RUNS_FILE).write_bytes(runs[: head + run_ends[done] + row_cut])
        again, bundle = writer.resume_bundle(folder)
        assert [run.run for run in bundle.runs] == order[:done]
        assert set(bundle.counts) == set(order[:done])
        whole = parse_bundle("made", files)
        for run in whole.runs[done:]:
            again.append(run, whole.counts[run.run])
        assert (folder / file_format.COUNTS_FILE).read_bytes() == counts
        assert (folder / file_format.RUNS_FILE).read_bytes() == runs
    bundles.seal(folder)
    assert verify_bundle(folder).passed


def test_a_sealed_folder_gets_no_more_runs(measured):
    folder, _ = measured
    bundles.seal(folder)
    with pytest.raises(TesseraError) as error:
        writer.resume_bundle(folder)
    assert error.value.code == "bundle-sealed"


def test_a_folder_with_files_is_not_started_again(measured):
    folder, files = measured
    with pytest.raises(TesseraError):
        writer.create_bundle(folder, *parts_of(files)[1])


def test_values_that_nobody_could_read_are_not_written(measured):
    folder, _ = measured
    add, _ = writer.resume_bundle(folder)
    before = (folder / file_format.RUNS_FILE).read_bytes(), (folder / file_format.COUNTS_FILE).read_bytes()
    run = MeasuredRun(99, "gups-16gb", "paper", "growing-0", 5, "data", "ok", "", 1, 1, 1, 1)
    for wrong, counts in (
        (replace(run, roi_ns=-1), ()),
        (replace(run, layout="a,b"), ()),
        (replace(run, status="good"), ()),
        (run, [EventCount(99, "x", 2**53, 1, 1)]),
        (run, [EventCount(99, "x", 1.5, 1, 1)]),
        (run, [EventCount(99, "x\n", 1, 1, 1)]),
    ):
        with pytest.raises(TesseraError):
            add.append(wrong, counts)
    assert before == (
        (folder / file_format.RUNS_FILE).read_bytes(),
        (folder / file_format.COUNTS_FILE).read_bytes(),
    )


# -- private texts


@pytest.fixture
def alice(monkeypatch):
    """A machine with names."""
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setenv("LOGNAME", "alice")
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setattr(socket, "gethostname", lambda: "wonderland7")
    return "alice", "wonderland7", "/home/alice", "example.org"


MESSAGES = (
    "layout /home/alice/tessera/growing-0.csv: no such file",
    "status 1: wonderland7.example.org refused alice",
    "alice@wonderland7: ~/run.sh line 3",
    "can't open '/data/alice/x' (eth0 52:54:00:12:34:56)",
    "two\nlines\tof wonderland7",
    "open:/data/alice/x failed, and /home/alice/thesis/x.csv too; connect to 10.20.30.40:7000",
)


def test_a_bundle_has_no_names_of_its_machine(alice, tmp_path):
    files = opened(PLAN).files
    bundle, heads = parts_of(files)
    about, machine, environment, *rest = heads
    machine = replace(machine, mitigations={"meltdown": "PTI, see /home/alice/notes"})
    environment = [replace(one, found=f"{one.found} on wonderland7") for one in environment]
    add = writer.create_bundle(tmp_path / "b", about, machine, environment, *rest)
    for run in bundle.runs:
        add.append(run, bundle.counts.get(run.run, ()))
    for number, message in enumerate(MESSAGES):
        run = MeasuredRun(
            100 + number, "gups-16gb", "paper", "growing-0", 2 + number, "data", "failed", message
        )
        add.append(run)
    bundles.seal(tmp_path / "b")
    everything = b"".join(p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file())
    everything += csv_files.csv_text(csv_files.COUNTS_SHAPE, ()).encode()
    for name in (*alice, "52:54:00:12:34:56", "/data", "data/", "thesis", "10.20.30.40"):
        assert name.encode() not in everything
    done = verify_bundle(tmp_path / "b")
    assert "private" not in [check.name for check in done.checks if not check.passed]


@pytest.mark.parametrize("text, kept", [
    ("echo never > /sys/kernel/mm/transparent_hugepage/enabled", True),
    ("Mitigation: usercopy/swapgs barriers and __user pointer sanitization", True),
    ("2MB/1GB pages: 12 / 4", True),
    ("sysctl kernel.nmi_watchdog=0; /proc/sys/vm", True),
    ("1.23 at 12:34:56", True),
    ("https://example.org/path and 6.1.0.13-amd64 and 1.2.3", True),
    ("/opt/tool", False),
    ("open:/opt/tool", False),
    ("host 192.168.0.17:7000", False),
    ("see /root", False),
    ("a --file=/srv/x", False),
])  # fmt: skip
def test_ordinary_texts_stay(text, kept):
    assert (texts.clean(text) == text) == kept
    assert (list(texts.private_texts([("here", text)])) == []) == kept


def test_verify_finds_names_of_this_machine(alice):
    files = opened(PLAN).files
    for place, changes in (
        ("arguments", {"arguments": ("--file", "/home/alice/graph")}),
        ("arguments", {"arguments": ("--owner=alice",)}),
        ("arguments", {"arguments": ("--host", "wonderland7.example.org")}),
    ):
        workloads = json_files.read_workloads(files[file_format.WORKLOADS_FILE])
        workloads = {name: replace(one, **changes) for name, one in workloads.items()}
        new = files | {file_format.WORKLOADS_FILE: json_files.workloads_text(workloads).encode()}
        done = verify_files("made", writer.sealed_files("made", new))
        (check,) = [check for check in done.checks if not check.passed]
        assert check.name == "private" and place
        assert "alice" not in " ".join(check.reasons) and "gups-16gb" in check.reasons[0]


def test_a_user_with_the_name_of_a_workload_can_verify(monkeypatch):
    """Names of workloads, layouts and conditions are Tessera's words."""
    monkeypatch.setenv("LOGNAME", "chase")
    monkeypatch.setattr(socket, "gethostname", lambda: "governor")
    assert verify_files("made", made(Plan(workloads=("chase",))).files).passed


def test_files_are_not_left_open(tmp_path):
    put(opened(PLAN).files, tmp_path / "b")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        writer.resume_bundle(tmp_path / "b")
    assert len(os.listdir("/proc/self/fd")) == before
    assert made(PLAN).files[file_format.RUNS_FILE] == (tmp_path / "b" / file_format.RUNS_FILE).read_bytes()
