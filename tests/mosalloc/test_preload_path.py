"""A launcher whose own folder has spaces preloads its libraries through a link, or ends with an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain
LIBRARIES = ("libmosalloc.so", "libtessera-roi.so")
CLOCK = "clock\t1\t0x1\t0x0\t0x0\tuk\n"


@pytest.fixture
def runtime(tmp_path) -> Path:
    """A runtime folder of this user; links go there, so that no run of another test sees them."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def spaced(build, tmp_path, runtime):
    """``spaced(program, *words)``: run a launcher, from a folder with spaces."""
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    for name in ("mosalloc-run", "tessera-count", *LIBRARIES):
        shutil.copy2(build / name, folder / name)

    def start(program: str, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"XDG_RUNTIME_DIR": str(runtime)} | variables
        argv = [folder / program, *map(str, words)]
        return subprocess.run(argv, env=env, capture_output=True, text=True)

    start.folder = folder
    return start


def links(runtime: Path) -> dict[Path, str]:
    """Links and their targets."""
    return {path: os.readlink(path) for path in runtime.glob(f"tessera-preload-{os.geteuid()}/*")}


def test_the_program_runs_in_the_pools(spaced, runtime, layout, tmp_path):
    report = tmp_path / "r.json"
    code = "import os; print(os.environ['LD_PRELOAD'])"
    words = ("--layout", layout(), "--report", report, "--", sys.executable, "-c", code)
    done = spaced("mosalloc-run", *words)
    assert done.returncode == 0, done.stderr
    assert read_report(report).confirmed
    made = links(runtime)
    assert list(made.values()) == [str(spaced.folder / "libmosalloc.so")]
    assert done.stdout.strip() in map(str, made)
    assert spaced("mosalloc-run", *words).stdout == done.stdout and links(runtime) == made


def test_its_children_have_the_library_too(spaced, layout):
    """They inherit LD_PRELOAD; the link outlives the launcher."""
    code = "import subprocess; print(subprocess.run(['true'], capture_output=True, text=True).stderr)"
    done = spaced("mosalloc-run", "--layout", layout(), "--", sys.executable, "-c", code)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_path_is_printed_for_other_callers(spaced, runtime, name):
    done = spaced("mosalloc-run", "--preload-path", spaced.folder / name)
    assert done.returncode == 0, done.stderr
    assert links(runtime) == {Path(done.stdout.rstrip("\n")): str(spaced.folder / name)}
    plain = runtime / name
    shutil.copy2(spaced.folder / name, plain)
    assert spaced("mosalloc-run", "--preload-path", plain).stdout == f"{plain}\n"


def test_the_hook_of_counters_is_preloaded(spaced, runtime, tmp_path):
    """The message says that the program has no marker, which only the hook can know."""
    events = tmp_path / "events.tsv"
    events.write_text(CLOCK)
    done = spaced("tessera-count", "--events", events, "--counts", tmp_path / "c.csv", "--", "true")
    if "errno" in done.stderr:
        pytest.skip(f"no events here: {done.stderr.splitlines()[0]}")
    assert "TESSERA_ROI_BEGIN" in done.stderr  # what to add, where the program has no marker
    assert list(links(runtime).values()) == [str(spaced.folder / "libtessera-roi.so")]


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_enter_is_an_error_before_the_program_starts(
    spaced, runtime, layout, tmp_path, mode
):
    folder = runtime / f"tessera-preload-{os.geteuid()}"
    folder.mkdir()
    folder.chmod(mode)
    ran = tmp_path / "ran"
    for words in (
        ("--layout", layout(), "--", "touch", ran),
        ("--preload-path", spaced.folder / LIBRARIES[0]),
    ):
        done = spaced("mosalloc-run", *words)
        assert done.returncode == 2 and done.stdout == ""
        for word in (str(folder), f"{mode:04o}", "0700", "XDG_RUNTIME_DIR"):
            assert word in done.stderr
    assert not ran.exists()


def test_a_library_that_the_linker_does_not_load_is_an_error(spaced, layout):
    """Whatever the reason: the launcher reads from the pool map that the library never started."""
    (spaced.folder / "libmosalloc.so").write_bytes(b"no library")
    path = layout()
    done = spaced("mosalloc-run", "--layout", path, "--", "true")
    assert done.returncode == 2 and f"layout {path}: " in done.stderr and "LD_PRELOAD" in done.stderr
