"""`tessera mapping capture --matrix`: cases, settings and rows; captures are made by hand."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.mapping.contiguity import ChunkHistogram
from tessera.core.mapping.mapping_file import write_mapping
from tessera.core.mapping.page_mapping import MappingRows, PageMapping
from tessera.measure.mosalloc import background
from tessera.measure.mosalloc import capture_matrix as matrix
from tessera.measure.mosalloc.capture_matrix import Asked, capture_matrix, median_chunk, settings_for
from tests.docs import pages


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Captures write a mapping; memory cannot reach an index above 0.9; settings are files."""
    seen = []

    @contextmanager
    def fragmented(index):
        if index is not None and index > 0.9:
            raise TesseraError("index", "no block", "less", code="mapping/no-blocks")
        seen.append(("fragmented", index))
        yield 3
        seen.append(("whole", index))

    @contextmanager
    def co_running(programs, copies, seconds):
        seen.append(("with", copies, [list(one) for one in programs]))
        yield lambda: copies

    def capture(asked, case):
        if "fails" in asked.program:
            return "tessera: capture: status 5"
        size = "2MB" if case.thp == "always" else "4KB"
        rows = MappingRows.of([("mmap", 0, 0, 512, size), ("mmap", 512, 5120, 512, "4KB")])
        write_mapping(PageMapping.fixed(case.name, rows), asked.folder / f"{case.name}.csv")
        return ""

    for name, value in (("fragmented_memory", fragmented), ("co_running", co_running), ("_capture", capture)):
        monkeypatch.setattr(matrix, name, value)
    monkeypatch.setattr(matrix, "_index", lambda: 0.25)
    monkeypatch.setattr(matrix, "ENABLED", tmp_path / "enabled")
    monkeypatch.setattr(matrix, "QUIET", {tmp_path / "compact": "0"})
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    (tmp_path / "compact").write_text("1\n")
    return seen


def asked(folder, program=("gups",), **changes):
    values = {"thp": ["never", "always"], "indices": [None, 0.5], "co_runners": [0, 2]} | changes
    return Asked(list(program), folder, **values)


def test_each_combination_is_captured_and_described(world, tmp_path):
    rows = capture_matrix(asked(tmp_path), allowed=True)
    assert [row["case"] for row in rows] == [
        f"{thp}-index-{index}-with-{copies}"
        for index in ("as-is", "0.5") for copies in (0, 2) for thp in ("never", "always")
    ]  # fmt: skip
    with (tmp_path / "matrix.csv").open(newline="") as stream:
        table = {row["case"]: row for row in csv.DictReader(stream)}
    row = table["always-index-0.5-with-2"]
    assert row["status"] == "ok" and row["provenance"] == "measured" and row["target_index"] == "0.5"
    assert (row["mapped_pages"], row["chunks"], row["median_chunk_pages"]) == ("1024", "2", "512")
    assert float(row["share_2mb"]) == 0.5 and table["never-index-as-is-with-0"]["share_2mb"] == "0.0"
    assert row["index_at_start"] == "0.25" and row["co_runners_at_end"] == "2"
    assert (tmp_path / row["mapping"]).exists() and "<svg" in (tmp_path / "contiguity.svg").read_text()
    assert ("with", 2, [["gups"]]) in world  # copies of the program
    assert world.count(("fragmented", 0.5)) == world.count(("whole", 0.5)) == 4


def test_a_case_that_fails_is_a_row_and_the_others_go_on(world, tmp_path):
    rows = capture_matrix(asked(tmp_path, indices=[0.95, 0.5], co_runners=[0]), allowed=True)
    assert [row["status"] for row in rows] == ["failed", "failed", "ok", "ok"]
    assert "no block" in rows[0]["message"] and rows[0]["mapping"] == ""
    rows = capture_matrix(asked(tmp_path, ["fails"], co_runners=[0]), allowed=True)
    assert {row["status"] for row in rows} == {"failed"} and "status 5" in rows[0]["message"]


def test_settings_are_changed_only_if_needed_and_restored(world, tmp_path):
    enabled, compact = tmp_path / "enabled", tmp_path / "compact"
    assert settings_for(asked(tmp_path), enabled) == {compact: "0"}
    assert settings_for(asked(tmp_path, indices=[None]), enabled) == {}
    enabled.write_text("always madvise [never]\n")
    assert settings_for(asked(tmp_path, indices=[None]), enabled) == {enabled: "madvise"}
    assert settings_for(asked(tmp_path, indices=[None], thp=["never"]), enabled) == {}
    capture_matrix(asked(tmp_path), allowed=True)
    assert compact.read_text() == "1"


def test_without_permission_nothing_starts(world, tmp_path, monkeypatch):
    monkeypatch.delenv("TESSERA_RESERVE", raising=False)
    with pytest.raises(TesseraError) as refused:
        capture_matrix(asked(tmp_path))
    assert refused.value.code == "settings/permission" and not world


def test_the_median_is_of_memory_not_of_chunks():
    # 100 chunks of 1 page and one of 400: most of the memory is in the large one
    assert median_chunk(ChunkHistogram(np.array([1, 400]), np.array([100, 1]))) == 400
    assert median_chunk(ChunkHistogram(np.array([1, 8]), np.array([8, 1]))) == 1


@pytest.mark.parametrize(
    ("line", "code", "value"),
    [
        ("failed no-blocks 0.61", "mapping/no-blocks", "0.61"),
        ("failed no-memory 0.2", "mapping/no-memory", "0.2"),
        ("failed above-target 0.97", "mapping/above-target", "0.97"),
        ("", "mapping/fragmenter", "0.9"),
    ],
)
def test_reasons_of_the_fragmenter_are_named(monkeypatch, line, code, value):
    real = subprocess.Popen

    def start(argv, **options):
        return real([sys.executable, "-c", f"print({line!r})"], **options)

    monkeypatch.setattr(background.subprocess, "Popen", start)
    with pytest.raises(TesseraError) as refused, background.fragmented_memory(0.9):
        pass
    assert refused.value.code == code and value in str(refused.value)


def test_the_fragmenter_ends_with_its_block(monkeypatch):
    real, made = subprocess.Popen, []

    def start(argv, **options):
        made.append(real([sys.executable, "-c", "print('ready 0.9 7', flush=True); input()"], **options))
        return made[0]

    monkeypatch.setattr(background.subprocess, "Popen", start)
    with background.fragmented_memory(0.9) as blocks:
        assert blocks == 7 and made[0].poll() is None
    assert made[0].poll() is not None


def test_co_runners_run_in_turn_and_end(tmp_path):
    code = "import sys, time; open(sys.argv[1], 'a').write(sys.argv[2]); time.sleep(60)"
    programs = [[sys.executable, "-c", code, str(tmp_path / "seen"), word] for word in ("a", "b")]
    began = time.monotonic()
    with background.co_running(programs, 3, 2) as running:
        assert running() == 3
    assert time.monotonic() - began < 30
    assert sorted((tmp_path / "seen").read_text()) == ["a", "a", "b"]


@pytest.mark.parametrize("argv", [["/no/such/program"], [sys.executable, "-c", "raise SystemExit(4)"]])
def test_a_co_runner_that_does_not_run_is_an_error(argv):
    with pytest.raises(TesseraError) as refused, background.co_running([argv], 1, 3):
        pass
    assert refused.value.code == "mapping/co-runner" and argv[0] in refused.value.asked


def test_co_runners_die_with_a_killed_owner(tmp_path, root):
    code = (
        "import os, signal\nfrom tessera.measure.mosalloc.background import co_running\n"
        "with co_running([['sleep', '300']], 1, 0.2):\n    print('on', flush=True)\n    signal.pause()\n"
    )
    env = {"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "on\n"
        children = open(f"/proc/{owner.pid}/task/{owner.pid}/children").read().split()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(_lives(child) for child in children):
        time.sleep(0.05)
    assert children and not any(_lives(child) for child in children)


def _lives(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--thp", "sometimes"], "sometimes"),
        (["--unusable-index", "0.5,1.5"], "1.5"),
        (["--unusable-index", "x"], "x"),
        (["--co-runners", "0,-1"], "-1"),
        (["--at", "end", "--after-seconds", "1"], "--at"),
    ],
)
def test_wrong_lists_are_refused(tmp_path, words, value):
    done = CliRunner().invoke(
        cli, ["mapping", "capture", "--matrix", "--out", str(tmp_path / "m"), *words, "--", "true"]
    )
    message = (
        done.output
        if done.exception is None or isinstance(done.exception, SystemExit)
        else str(done.exception)
    )
    assert done.exit_code != 0 and value in message and not (tmp_path / "m").exists()


def test_help_teaches():
    shown = CliRunner().invoke(cli, ["mapping", "capture", "--help"])
    assert shown.exit_code == 0 and "--reserve" in shown.output and "Example" in shown.output


def test_the_codes_are_on_the_page(root):
    names = ("measure/mosalloc/background.py", "core/mapping/free_blocks.py", "machine/reserve/settings.py")
    sources = [(root / "src/tessera" / name).read_text() for name in names]
    used = {code for text in sources for code in re.findall(r'code="((?:mapping|settings)/[a-z-]+)"', text)}
    used.remove("mapping/out-of-memory")  # of the stand-in buddy in free_blocks.py, not of this machine
    used |= {f"mapping/{code}" for code in (*background.UNREACHABLE,)}
    assert used <= {row[0] for row in pages.table("errors.md", "| code | found | what to do |")}
