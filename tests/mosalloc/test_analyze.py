"""``tessera mosalloc analyze``: the contract's JSON in words and as a plot; a real run where it is built."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.measure.mosalloc.analysis import (
    COLUMNS,
    analysis_lines,
    read_analysis,
    recommended_changes,
    rough_size,
)

MB, GB = 1 << 20, 1 << 30


def document(**changes) -> dict:
    """A program that used 1.2GB of the anonymous pool, most of it given back at the end."""
    pool = {"base": 1 << 40, "calls": 7}
    return {
        "interval_ms": 10,
        "columns": list(COLUMNS),
        "samples": [
            [0, 0, 0, 0, 0, 0, 0],
            [10, 1 * MB, 1 * MB, 1100 * MB, 1200 * MB, 0, 0],
            [20, 1 * MB, 3 * MB, 2 * MB, 1228 * MB, 0, 0],
        ],
        "pools": [
            pool | {"type": "brk", "size_bytes": 4 * GB, "used_bytes": 3 * MB, "live_bytes": 2 * MB},
            pool | {"type": "mmap", "size_bytes": 12 * GB, "used_bytes": 1228 * MB - 4096, "live_bytes": MB},
        ],
        "file_pool": pool | {"size_bytes": GB, "used_bytes": 0, "live_bytes": 0},
        "calls": {
            "mmap": {"pool": 5, "kernel": 11, "failed": 0},
            "brk": {"pool": 4, "kernel": 0, "failed": 0},
            "mremap": {"pool": 0, "kernel": 0, "failed": 0},
        },
        "counters": {"split_pages": 0, "pool_full_calls": 0, "largest_refused_bytes": 0},
        "outside": {
            "kernel_heap_bytes": 132 * 1024,
            "stack_bytes": 8 * MB,
            "anonymous_bytes": 0,
            "unseen_bytes": 0,
            "second_libc": False,
        },
    } | changes


@pytest.fixture
def analysis(tmp_path):
    def make(**changes):
        path = tmp_path / "analysis.json"
        path.write_text(json.dumps(document(**changes)))
        return read_analysis(path)

    return make


@pytest.fixture
def launcher(monkeypatch, tmp_path):
    """A launcher that writes a document and ends with a status; ``launcher(document, 3)``."""
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))

    def install(content: dict | None, status: int) -> None:
        program = tmp_path / "build" / "mosalloc" / "mosalloc-run"
        program.parent.mkdir(parents=True)
        (tmp_path / "content.json").write_text(json.dumps(content))
        copy = (
            "" if content is None else "shutil.copy(folder / 'content.json', a[a.index('--analyze') + 1])\n"
        )
        program.write_text(
            f"#!{sys.executable}\nimport pathlib, shutil, sys\na = sys.argv\n"
            f"folder = pathlib.Path({str(tmp_path)!r})\n(folder / 'seen').write_text(' '.join(a[1:]))\n"
            f"shutil.copy(a[a.index('--layout') + 1], folder / 'layout.csv')\n{copy}sys.exit({status})\n"
        )
        program.chmod(0o755)

    return install


def invoke(*arguments):
    return CliRunner().invoke(mosalloc, ["analyze", *map(str, arguments)])


def test_each_pool_has_its_line(analysis):
    text = "\n".join(analysis_lines(analysis()))
    heap = r"heap pool +4GB +3MB +2MB +2MB +7"  # live at the end is above all samples
    assert re.search(heap, text), text
    assert re.search(r"anonymous pool +12GB +1\.2GB +1\.07GB +1MB +7", text), text
    assert "3 samples, one in 10 ms, over 0.02 s" in text


def test_calls_and_where_they_went(analysis):
    lines = analysis_lines(analysis())
    assert [line.split() for line in lines if line.startswith("mmap")] == [["mmap", "5", "11", "0"]]
    assert not any(line.startswith("mremap") for line in lines)  # never called


def test_the_size_that_would_do(analysis):
    # 1228MB less a page, rounded up to 2MB pages, is 614 of them
    expected = "the anonymous pool would fit in 1.2GB (row `mmap,-1,0,1228MB`), 614 x 2MB"
    assert any(line.startswith(expected) for line in recommended_changes(analysis()))


@pytest.mark.parametrize(
    "section, values, expected",
    [
        ("outside", {"stack_bytes": 400 * MB}, "400MB are stacks outside the pools: --stacks pool"),
        ("outside", {"anonymous_bytes": 400 * MB}, "--hints pool"),
        (
            "outside",
            {"anonymous_bytes": 400 * MB, "unseen_bytes": 399 * MB},
            "399MB are anonymous memory mapped by calls that can't be seen",
        ),
        ("outside", {"second_libc": True}, "second copy of libc"),
        ("counters", {"split_pages": 3}, "3 huge pages were split"),
        (
            "counters",
            {"pool_full_calls": 2, "largest_refused_bytes": GB},
            "a pool was full 2 times (largest refused: 1GB): give sizes such as heap pool 5GB, "
            "anonymous pool 13GB",
        ),
        (
            "counters",
            {"reservation_calls": 1, "reserved_bytes": 256 * GB + 4096, "opened_bytes": 2 * MB},
            "1 reservations without access (256GB at a time) have no room in the anonymous pool; 2MB of them "
            "were used, with 4KB pages under every layout: to have them in the pool, give row "
            "`mmap,-1,0,258GB`",
        ),
    ],
)
def test_advice(analysis, section, values, expected):
    assert not any(expected in line for line in recommended_changes(analysis()))
    found = analysis(**{section: document()[section] | values})
    assert any(expected in line for line in recommended_changes(found)), recommended_changes(found)


def test_unseen_memory_is_counted_once(analysis):
    """The launcher's anonymous_bytes include unseen_bytes."""
    outside = document()["outside"] | {"anonymous_bytes": 5 * MB, "unseen_bytes": 3 * MB}
    lines = analysis_lines(analysis(outside=outside))
    assert "  anonymous memory: 2MB" in lines
    assert "  anonymous memory mapped by calls that can't be seen: 3MB" in lines


def test_absent_parts_are_missing_not_zero(analysis, tmp_path):
    content = document()
    for key in ("calls", "outside", "file_pool"):
        del content[key]
    (tmp_path / "old.json").write_text(json.dumps(content))
    text = "\n".join(analysis_lines(read_analysis(tmp_path / "old.json")))
    assert "outside" not in text and "file pool" not in text and "kernel" not in text


@pytest.mark.parametrize(
    "size, text", [(0, "0B"), (1023, "1023B"), (1536, "1.5KB"), (1228 * MB, "1.2GB"), (135 * MB, "135MB")]
)
def test_sizes_for_people(size, text):
    assert rough_size(size) == text


@pytest.mark.parametrize("damage", ["columns", "samples", "pools", "interval_ms"])
def test_damaged_files_are_named(tmp_path, damage):
    content = document()
    del content[damage]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TesseraError, match=rf"mosalloc analysis .*a.json: KeyError: '{damage}'"):
        read_analysis(path)


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document(columns=["time_ms"], samples=[[0]])))
    with pytest.raises(TesseraError, match="no column anon_live_bytes"):
        read_analysis(path)


def test_the_command_end_to_end(launcher, tmp_path):
    launcher(document(), 3)
    out, plot = tmp_path / "m.json", tmp_path / "m.svg"
    done = invoke("--out", out, "--interval-ms", "5", "--plot", plot, "--stacks", "pool", "--", "ls", "-l")
    assert done.exit_code == 3, done.output
    seen = (tmp_path / "seen").read_text()
    assert seen.endswith("-- ls -l") and "--interval-ms 5" in seen and "--stacks pool" in seen
    assert (tmp_path / "layout.csv").read_text() == "type,pageSize,startOffset,endOffset\n"  # all 4KB
    assert json.loads(out.read_text()) == document()
    drawn = plot.read_text()
    assert "anonymous pool, live" in drawn and "Memory of ls -l" in drawn
    assert "file pool" not in drawn  # it was not used


def test_png(launcher, tmp_path):
    launcher(document(), 0)
    plot = tmp_path / "m.png"
    assert invoke("--out", tmp_path / "m.json", "--plot", plot, "--", "ls").exit_code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_wrong_ending_is_refused_before_the_program_runs(launcher, tmp_path):
    launcher(document(), 0)
    done = invoke("--out", tmp_path / "m.json", "--plot", tmp_path / "m.gif", "--", "ls")
    assert isinstance(done.exception, TesseraError) and ".svg, .png" in str(done.exception)
    assert not (tmp_path / "seen").exists()


def test_an_old_file_is_not_this_runs(launcher, tmp_path):
    launcher(None, 0)
    out = tmp_path / "m.json"
    out.write_text(json.dumps(document()))
    done = invoke("--out", out, "--", "ls")
    assert isinstance(done.exception, TesseraError) and "m.json" in str(done.exception)


def test_a_refusal_is_passed_on(launcher, tmp_path):
    launcher(None, 2)
    assert invoke("--out", tmp_path / "m.json", "--", "ls").exit_code == 2


@pytest.mark.toolchain
def test_a_real_program(build, tmp_path):
    """64MB are touched and given back: high-water mark and peak show them, the end does not."""
    usage = subprocess.run([build / "mosalloc-run", "--help"], capture_output=True, text=True).stdout
    if "--analyze" not in usage:
        pytest.skip("mosalloc-run has no --analyze; ./run tessera dev build --test mosalloc")
    out = tmp_path / "m.json"
    code = "import time; x = bytearray(64 << 20); time.sleep(0.3); del x; time.sleep(0.1)"
    done = invoke("--out", out, "--", sys.executable, "-c", code)
    assert done.exit_code == 0, done.output
    found = read_analysis(out)
    (anon,) = [pool for pool in found.pools if pool.pool == "mmap"]
    assert 64 * MB <= anon.used_bytes < 96 * MB
    assert found.peak_live_bytes(anon) >= 64 * MB and anon.live_bytes < 64 * MB
    assert 20 <= len(found.samples) <= 80  # 0.4 s, one in 10 ms
    assert list(found.samples["time_ms"]) == sorted(found.samples["time_ms"])
    assert found.calls["mmap"]["pool"] > 0
