"""`tessera mapping capture` on real programs: moments, large pages, refusals, signals, markers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tessera.core.files import build_dir
from tessera.core.mapping.mapping_file import read_mapping
from tessera.measure.mosalloc import pools
from tessera.measure.mosalloc.stopping import NotStarted, StartedProgram, StopPoint
from tests.docs import pages


def python(code):
    return ("--", os.path.realpath(sys.executable), "-c", code)


HOLD = "import mmap, os; m = mmap.mmap(-1, 32 << 20, flags=34)\nfor i in range(0, 32 << 20, 4096): m[i] = 1\n"


def test_the_end_of_a_program(live):
    done, out, facts = live(*python(HOLD + "print('done', flush=True); os._exit(0)"))
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
    rows = read_mapping(out).at(0)
    assert 8192 <= rows.pages.sum() < 12000 and set(rows.size.tolist()) == {1}
    found = json.loads(facts.read_text())
    assert found["provenance"] == "measured" and found["kernel"] == os.uname().release
    assert found["mapped_pages"] == rows.pages.sum() and found["moment"]["stopped_by"] == "exit"


def test_large_pages_of_one_program(live):
    before = pools.large_page_settings()
    if before.get("enabled", "never") == "never":
        pytest.skip(f"{pools.LARGE_PAGE_SYSFS}/enabled is never")
    done, out, facts = live("--thp", "always", *python(HOLD + "os._exit(0)"))
    assert done.returncode == 0, done.stderr
    pages = json.loads(facts.read_text())["pages_in_2mb"]
    assert pages == read_mapping(out).at(0).where(read_mapping(out).at(0).size == 512).pages.sum()
    if not pages:
        pytest.skip("the kernel found no free 2MB of memory")
    assert pools.large_page_settings() == before


def test_a_number_of_seconds_and_the_programs_status(live, tmp_path):
    facts = tmp_path / "live.csv.json"
    wait = f"while time.monotonic() - t < 60 and not os.path.exists({str(facts)!r}): time.sleep(0.1)\n"
    code = "import time; t = time.monotonic()\n" + HOLD + wait + "raise SystemExit(3)"
    done, out, facts = live("--after-seconds", "4", *python(code))
    assert done.returncode == 3
    assert read_mapping(out).at(0).pages.sum() >= 8192
    assert json.loads(facts.read_text())["moment"] == {"asked": "after", "stopped_by": "time", "seconds": 4.0}


def test_pages_that_were_only_read_are_counted(live):
    code = "import mmap, os; m = mmap.mmap(-1, 1 << 20, flags=34); s = sum(m[::4096]); os._exit(s)"
    done, out, facts = live(*python(code))
    assert done.returncode == 0, done.stderr
    assert json.loads(facts.read_text())["zero_pages"] >= 256


@pytest.mark.parametrize(
    ("words", "status", "value"),
    [
        (["--after-seconds", "30", *python("pass")], 1, "status 0"),
        ([*python("raise SystemExit(5)")], 1, "status 5"),
        ([*python("import os; os.kill(os.getpid(), 9)")], 1, "signal 9"),
        (["--at", "begin", *python("pass")], 2, "--after-seconds"),
        (["--at", "begin", "--after-seconds", "1", *python("pass")], 2, "--at"),
        (["--anon-pool", "x", *python("pass")], 2, "x"),
        (["--", "no-such-program"], 2, "no-such-program"),
        (["--", "env", "true"], 2, "env"),
        (["--", "/bin/sh", "-c", "true"], 2, "sh"),
    ],
)
def test_refused_captures_write_nothing(live, words, status, value):
    done, out, facts = live(*words)
    assert done.returncode == status and value in done.stderr, done.stderr
    assert not out.exists() and not facts.exists()


def test_a_failure_at_the_entry_ends_the_program():
    def fails(pid):
        raise ValueError(pid)

    try:
        program = StartedProgram(["/bin/sleep", "60"], {}, large_pages=False, at_entry=fails)
    except NotStarted as error:
        pytest.skip(str(error))
    with pytest.raises(ValueError):
        program.run_to(StopPoint("end"))
    program.send_signal(signal.SIGTERM)
    assert program.finish() == 128 + signal.SIGTERM


def test_a_file_that_cannot_be_executed(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(NotStarted):
        StartedProgram([str(tmp_path / "x")], {}, large_pages=False).run_to(StopPoint("end"))


def test_signals_reach_the_program_and_it_ends_in_its_own_time(live, root, tmp_path):
    code = (
        "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(6))\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    facts = tmp_path / "live.csv.json"
    argv = [sys.executable, "-m", "tessera", "mapping", "capture", "--out", str(facts.with_suffix(""))]
    env = os.environ | {"PYTHONPATH": str(root / "src")}
    argv += ["--after-seconds", "0.1", *python(code)]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE) as command:
        assert command.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        while not facts.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        command.terminate()
        assert command.wait(60) == 6


@pytest.fixture(scope="module")
def marked(root, tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
    out, include = tmp_path_factory.mktemp("marked") / "marked", root / "artifacts/workloads/common"
    source = root / "tests/mapping/programs/marked.c"
    subprocess.run([compiler, "-O1", "-pthread", f"-I{include}", "-o", out, source], check=True)
    return out


def test_a_static_program_has_no_pools(live, tmp_path):
    source, out = tmp_path / "s.c", tmp_path / "s"
    source.write_text("int main(void) { return 0; }\n")
    compiler = shutil.which("cc")
    argv = [compiler, "-static", "-o", out, source]
    if not compiler or subprocess.run(argv, capture_output=True).returncode:
        pytest.skip("no static C library: apt install gcc libc6-dev")
    done, mapping, _ = live("--", out)
    assert done.returncode == 1 and not mapping.exists()


@pytest.mark.parametrize("at", ["begin", "end"])
@pytest.mark.parametrize("thp", ["never", "as-is"])
def test_markers_stop_all_threads_and_spare_the_children(live, marked, at, thp):
    done, out, facts = live("--at", at, "--thp", thp, "--", marked, 8 << 20)
    assert done.returncode == 0 and done.stdout == "complete\n", done.stderr
    assert json.loads(facts.read_text())["moment"] == {"asked": at, "stopped_by": "marker"}
    rows = read_mapping(out).at(0)
    assert rows.pages[rows.pool == 1].sum() >= 2048


def test_the_commands_of_the_page_run(live, tmp_path):
    if not (build_dir("workloads") / "gups").exists():
        pytest.skip("gups is not built: ./run tessera dev build workloads")
    if pools.large_page_settings().get("enabled", "never") == "never":
        pytest.skip(f"{pools.LARGE_PAGE_SYSFS}/enabled is never")
    places = {"/tmp/": f"{tmp_path}/", "build/workloads": build_dir("workloads")}
    for line in pages.typed("map-memory.md", "A live program"):
        pages.shell(pages.replaced(line, places), pages.ROOT)
