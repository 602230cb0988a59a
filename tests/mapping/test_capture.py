"""`tessera mapping capture`: refusals on files written by hand; real captures if this machine allows them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.paths import build_dir
from tessera.mapping import capture as capturing
from tessera.mapping.capture import Span, capture, check_allowed
from tessera.mapping.file import read_mapping
from tessera.mosalloc import large_pages
from tessera.mosalloc.pool_map import MAGIC, PoolPlace, clear_pool_map, read_pool_map
from tessera.mosalloc.stopping import Moment, NotStarted, Program

PRESENT, SWAPPED, EXCLUSIVE = 1 << 63, 1 << 62, 1 << 56
THP, ZERO_PAGE = 1 << 22, 1 << 24
BASE, PID = 1 << 30, 77  # page 262144
ADMIN, NOBODY = "0000000000200000", "00000000ffdfffff"


class Fake:
    """A /proc with one process, whose pool ``mmap`` begins at ``BASE``."""

    def __init__(self, folder):
        self.proc = folder / "proc"
        for name in ("self", str(PID)):
            (self.proc / name).mkdir(parents=True)
        self.capabilities(ADMIN)
        self.pages({0: PRESENT | EXCLUSIVE | 100})
        self.flags({})
        self.huge(0)

    def capabilities(self, effective):
        (self.proc / "self/status").write_text(f"Name:\tx\nCapEff:\t{effective}\nCapBnd:\tffffffffffffffff\n")

    def pages(self, words):
        self._write(self.proc / str(PID) / "pagemap", {BASE // 4096 + page: w for page, w in words.items()})

    def flags(self, words):
        self._write(self.proc / "kpageflags", words)

    def huge(self, kb):
        (self.proc / str(PID) / "smaps").write_text(
            f"{BASE - 4096:x}-{BASE:x} rw-p 00000000 00:00 0 \nAnonHugePages:      2048 kB\nVmFlags: rd wr\n"
            f"{BASE:x}-{BASE + (1 << 23):x} rw-p 00000000 00:00 0 \nSize: 8192 kB\nAnonHugePages:  {kb} kB\n"
            f"{BASE + (1 << 36):x}-{BASE + (1 << 37):x} ---p 00000000 00:00 0 \nAnonHugePages: 2048 kB\n"
        )

    def capture(self, used=1 << 23):
        return capture(PID, [Span("mmap", BASE, used)], self.proc)

    @staticmethod
    def _write(path, words):
        with path.open("wb") as stream:
            for number, word in words.items():
                stream.seek(8 * number)
                stream.write(np.uint64(word).tobytes())


@pytest.fixture
def fake(tmp_path):
    return Fake(tmp_path)


def run(page, frame, pages, more=EXCLUSIVE):
    return {page + i: PRESENT | more | (frame + i) for i in range(pages)}


def refused(call, code):
    with pytest.raises(TesseraError) as error:
        call()
    assert error.value.code == code
    return error.value


def test_root_may_capture(fake):
    check_allowed(fake.proc)


def test_without_the_capability_nothing_starts(fake):
    fake.capabilities(NOBODY)
    assert "CAP_SYS_ADMIN" in refused(lambda: check_allowed(fake.proc), "mapping/hidden-frames").found


def test_without_kpageflags_nothing_starts(fake):
    (fake.proc / "kpageflags").unlink()
    error = refused(lambda: check_allowed(fake.proc), "mapping/kpageflags")
    assert "CONFIG_PROC_PAGE_MONITOR" in error.remedy
    refused(fake.capture, "mapping/kpageflags")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({0: PRESENT | EXCLUSIVE, 5: PRESENT | EXCLUSIVE}, "mapping/hidden-frames"),
        ({0: PRESENT | EXCLUSIVE | 9, 5: SWAPPED | 9}, "mapping/swapped"),
        ({}, "mapping/no-pools"),
        ({1 << 11: PRESENT | EXCLUSIVE | 9}, "mapping/no-pools"),  # behind the used part
    ],
)
def test_words_that_are_no_mapping(fake, words, code):
    fake.pages(words)
    refused(fake.capture, code)


def test_the_process_has_ended(fake):
    (fake.proc / str(PID) / "pagemap").unlink()
    assert str(PID) in refused(fake.capture, "mapping/ended").asked


def test_a_large_page_is_flagged_aligned_and_in_smaps(fake):
    fake.pages(run(3, 5000, 2) | run(512, 2048, 512) | run(1024, 2560, 512) | run(1536, 9000, 512))
    fake.flags({2048 + i: THP for i in range(512)} | {2560 + i: THP for i in range(511)} | {9000: THP})
    fake.huge(2048)
    assert fake.capture().rows.tuples() == [
        ("mmap", 3, 5000, 2, "4KB"),
        ("mmap", 512, 2048, 512, "2MB"),
        ("mmap", 1024, 2560, 512, "4KB"),  # one of 512 without the flag
        ("mmap", 1536, 9000, 512, "4KB"),  # not aligned
    ]


def test_pages_of_the_zero_page_have_no_row(fake):
    fake.pages({1: PRESENT | 40, 2: PRESENT | 40, 3: PRESENT | 41, 4: PRESENT | EXCLUSIVE | 42})
    fake.flags({40: ZERO_PAGE, 41: 0, 42: ZERO_PAGE})  # an exclusive page is never looked up
    found = fake.capture()
    assert found.rows.tuples() == [("mmap", 3, 41, 2, "4KB")] and found.zero_pages == 2


def test_frames_far_apart_are_looked_up_one_by_one(fake):
    frames = [7, 1 << 20, 3, 500, 560]
    fake.pages({page: PRESENT | frame for page, frame in enumerate(frames)})
    fake.flags({500: ZERO_PAGE, 1 << 20: ZERO_PAGE})
    assert [row[2] for row in fake.capture().rows.tuples()] == [7, 3, 560]


def test_a_page_that_splits_is_read_again(fake, monkeypatch):
    fake.pages(run(512, 2048, 512))
    fake.flags({2048 + i: THP for i in range(512)})
    answers = [0, 0, 0, 2 << 20]
    monkeypatch.setattr(capturing, "_huge_bytes", lambda *_: answers.pop(0))
    assert fake.capture().rows.tuples()[0][4] == "2MB" and not answers


def test_after_four_attempts_the_difference_is_an_error(fake, monkeypatch):
    asked = []
    monkeypatch.setattr(capturing, "_huge_bytes", lambda *_: asked.append(1) or 4096)
    assert "4096" in refused(fake.capture, "mapping/smaps").found and len(asked) == 4


def test_pages_that_move_are_an_error(fake, monkeypatch):
    moved, words = [100], capturing._words

    def moving(descriptor, first, count):
        moved[0] += 1
        fake.pages({0: PRESENT | EXCLUSIVE | moved[0]})
        return words(descriptor, first, count)

    monkeypatch.setattr(capturing, "_words", moving)
    assert refused(fake.capture, "mapping/changed").found.startswith("1 ")


def test_eight_gigabytes_of_scattered_pages(fake):
    pages = 1 << 21
    frames = np.random.default_rng(1).permutation(pages).astype(np.uint64) + np.uint64(10)
    with (fake.proc / str(PID) / "pagemap").open("wb") as stream:
        stream.seek(BASE // 4096 * 8)
        stream.write((frames | np.uint64(PRESENT | EXCLUSIVE)).tobytes())
    found = fake.capture(8 << 30)
    assert int(found.rows.pages.sum()) == pages


@pytest.mark.parametrize(
    ("mode", "enabled", "large"),
    [
        ("never", "always", False),
        ("always", "madvise", True),
        ("always", "always", True),
        ("as-is", "always", True),
        ("as-is", "madvise", False),
        ("as-is", "never", False),
    ],
)
def test_which_settings_give_large_pages(tmp_path, mode, enabled, large):
    words = (f"[{word}]" if word == enabled else word for word in ("always", "madvise", "never"))
    (tmp_path / "enabled").write_text(" ".join(words) + "\n")
    (tmp_path / "khugepaged").mkdir()
    (tmp_path / "khugepaged/defrag").write_text("1\n")
    machine = large_pages.settings(tmp_path)
    assert machine == {"enabled": enabled, "khugepaged/defrag": "1"}
    assert large_pages.wanted(mode, machine) is large


def test_a_machine_without_large_pages_refuses_them():
    for machine in ({}, {"enabled": "never"}):
        refused(lambda machine=machine: large_pages.wanted("always", machine), "mapping/thp")


def test_the_pool_map_is_that_of_the_header(root, tmp_path):
    header = (root / "artifacts/mosalloc/include/mosalloc/pool_map.h").read_text()
    assert int(re.search(r"POOL_MAP_MAGIC UINT64_C\((0x\w+)\)", header).group(1), 16) == MAGIC
    path = tmp_path / "pools"
    words = [MAGIC, 9, 1, 0, 0, 0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51]
    np.array(words, dtype="<u8").tofile(path)
    assert read_pool_map(path, 9) == [PoolPlace("brk", 10, 20, 30), PoolPlace("mmap", 11, 21, 31)]
    assert read_pool_map(path, 8) == []
    np.array([MAGIC, 9, 2, *words[3:]], dtype="<u8").tofile(path)  # the library refused
    assert read_pool_map(path, 9) == []
    np.array(words, dtype="<u8").tofile(path)
    clear_pool_map(path)
    assert read_pool_map(path, 9) == []
    clear_pool_map(tmp_path / "none")
    path.write_bytes(b"")
    assert read_pool_map(path, 9) == []


# Real captures.


@pytest.fixture
def live(root, tmp_path):
    """``live("OPTION"..., "--", "PROGRAM"...)``: the finished command, and the paths of mapping and facts."""
    if not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("mosalloc is not built: ./run tessera build mosalloc")
    try:
        check_allowed()
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    out = tmp_path / "live.csv"

    def call(*words):
        argv = [sys.executable, "-m", "tessera", "mapping", "capture", "--out", str(out), *map(str, words)]
        env = os.environ | {"PYTHONPATH": str(root / "src")}
        done = subprocess.run(argv, env=env, cwd=root, capture_output=True, text=True, timeout=120)
        return done, out, out.with_name("live.csv.json")

    yield call
    assert not list(tmp_path.glob(".*.tmp"))


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
    before = large_pages.settings()
    if before.get("enabled", "never") == "never":
        pytest.skip(f"{large_pages.SYSFS}/enabled is never")
    done, out, facts = live("--thp", "always", *python(HOLD + "os._exit(0)"))
    assert done.returncode == 0, done.stderr
    pages = json.loads(facts.read_text())["pages_in_2mb"]
    assert pages == read_mapping(out).at(0).where(read_mapping(out).at(0).size == 512).pages.sum()
    if not pages:
        pytest.skip("the kernel found no free 2MB of memory")
    assert large_pages.settings() == before


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
        (["--pool-size", "x", *python("pass")], 2, "x"),
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
        program = Program(["/bin/sleep", "60"], {}, large_pages=False, at_entry=fails)
    except NotStarted as error:
        pytest.skip(str(error))
    with pytest.raises(ValueError):
        program.run_to(Moment("end"))
    program.send_signal(signal.SIGTERM)
    assert program.finish() == 128 + signal.SIGTERM


def test_a_file_that_cannot_be_executed(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(NotStarted):
        Program([str(tmp_path / "x")], {}, large_pages=False).run_to(Moment("end"))


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


def test_the_commands_of_the_page_run(live, root, tmp_path):
    if not (build_dir("workloads") / "gups").exists():
        pytest.skip("gups is not built: ./run tessera build workloads")
    text = (root / "docs/mappings.md").read_text().split("## A live program")[1]
    lines = re.search(r"```sh\n(.*?)```", text, re.DOTALL).group(1).splitlines()
    if large_pages.settings().get("enabled", "never") == "never":
        pytest.skip(f"{large_pages.SYSFS}/enabled is never")
    for line in lines:
        line = line.replace("/tmp/", f"{tmp_path}/").replace("build/workloads", str(build_dir("workloads")))
        words = [sys.executable, "-m", "tessera", *shlex.split(line)[2:]]
        env = os.environ | {"PYTHONPATH": str(root / "src")}
        done = subprocess.run(words, env=env, cwd=root, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_codes_are_on_the_page(root):
    sources = [*(root / "src/tessera/mapping").glob("capture.py"), root / "src/tessera/mapping/pagemap.py"]
    sources += [root / "src/tessera/mosalloc" / f"{name}.py" for name in ("capture", "large_pages")]
    used = {code for path in sources for code in re.findall(r'"(mapping/[a-z-]+)"', path.read_text())}
    table = (root / "docs/mappings.md").read_text().split("| code | reason")[1]
    assert used == set(re.findall(r"`(mapping/[a-z-]+)`", table.split("\n\n")[0]))
