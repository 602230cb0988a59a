"""The package's one writer of files: what a target may be, what is left after an error, who wins a race."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tessera.core.errors import EXIT_USAGE, TesseraError
from tessera.core.files import check_target, making, with_names, write_text, writing

SMALL_FILES = """
import resource, signal, sys
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_text(sys.argv[1], "n" * int(sys.argv[2]))
except TesseraError as error:
    assert error.exit_code == EXIT_FAILED and sys.argv[1] in error.asked, error
    sys.exit(3)
"""


def test_a_file_is_written_whole_with_the_mode_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "new" / "x.csv", "a\r\nä\n")
    finally:
        os.umask(old)
    assert (tmp_path / "new" / "x.csv").read_bytes() == "a\r\nä\n".encode()
    assert stat.S_IMODE((tmp_path / "new" / "x.csv").stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "new") == ["x.csv"]


def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path):
    write_text(tmp_path / "x", "old")
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "x") as stream:
        stream.write("new")
        stream.flush()
        raise KeyboardInterrupt
    assert (tmp_path / "x").read_text() == "old" and os.listdir(tmp_path) == ["x"]


def test_a_readers_error_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), writing(tmp_path / "x"):
        open(tmp_path / "none")
    assert os.listdir(tmp_path) == []


def test_a_users_own_files_beside_the_target_stay(tmp_path):
    for name in ("x.tmp", "x.csv.tmp", ".x.csv.tmp", "x.part"):
        (tmp_path / name).write_text("mine")
    write_text(tmp_path / "x.csv", "table")
    assert {p.name for p in tmp_path.iterdir() if p.read_text() == "mine"} == {
        "x.tmp", "x.csv.tmp", ".x.csv.tmp", "x.part",
    }  # fmt: skip


@pytest.mark.parametrize(("size", "status", "left"), [(4096, 0, "n" * 4096), (4097, 3, "old")])
def test_a_full_disk_is_failed_work_and_leaves_the_old_file(tmp_path, size, status, left):
    """A limit of 4096 bytes per file stands for the disk. Not in this process: its output may be a file."""
    write_text(tmp_path / "x", "old")
    command = [sys.executable, "-c", SMALL_FILES, tmp_path / "x", str(size)]
    done = subprocess.run(command, stderr=subprocess.PIPE)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "x").read_text() == left and os.listdir(tmp_path) == ["x"]


def special(folder, kind):
    """A target that nothing can be written to under a temporary name."""
    path = folder / "target"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/null")
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "below a file":
        path.write_text("a file")
        return path / "x"
    elif kind == "name of 300 bytes":
        return folder / ("n" * 300)
    else:
        return kind
    return path


KINDS = ("folder", "pipe", "link to a device", "link to itself", "below a file",
         "name of 300 bytes", "/dev/full", "/dev/stdout", "/proc/self/fd/1", "/proc/none")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_that_is_no_file_is_refused_before_and_while_writing(tmp_path, kind):
    path = special(tmp_path, kind)
    before = sorted(os.listdir(tmp_path))
    for attempt in (check_target, lambda p: write_text(p, "text")):
        with pytest.raises(TesseraError) as refused:
            attempt(path)
        assert refused.value.exit_code == EXIT_USAGE and str(path) in refused.value.asked
    assert sorted(os.listdir(tmp_path)) == before


def test_standard_output_is_refused_where_it_is_a_regular_file(tmp_path):
    code = "from tessera.core.files import write_text; write_text('/dev/stdout', 'new')"
    with (tmp_path / "out").open("w") as stdout:
        done = subprocess.run([sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "TesseraError" in done.stderr and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(tmp_path, there):
    (tmp_path / "data").mkdir()
    if there:
        (tmp_path / "data" / "x").write_text("old")
    (tmp_path / "link").symlink_to("data/x")
    check_target(tmp_path / "link")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "data" / "x").read_text() == "new"


def test_a_check_changes_nothing(tmp_path):
    check_target(tmp_path / "a" / "b" / "x.csv")
    assert os.listdir(tmp_path) == []


def test_a_program_may_write_under_the_temporary_name(tmp_path):
    with making(tmp_path / "x") as name:
        assert name.parent == tmp_path
        subprocess.run(["cp", sys.executable, name], check=True)
    assert (tmp_path / "x").stat().st_size == os.stat(sys.executable).st_size
    assert os.listdir(tmp_path) == ["x"]


def test_the_last_of_many_writers_wins_with_all_of_its_bytes(tmp_path):
    texts = [f"{number:02d}" * 50_000 for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_text(tmp_path / "x", text, sync=False), texts))
    assert (tmp_path / "x").read_text() in texts and os.listdir(tmp_path) == ["x"]


def test_messages_name_the_users_files_and_no_temporary_ones(tmp_path):
    """The text is a program's; the folder is deleted when the user reads it."""
    folder = tmp_path / "tessera-simulate-x"
    said = f"trace {folder}/trace.tst: no frame; see {folder}/platform.txt and {folder}/log"
    names = {
        folder / "trace.tst": "/home/u/gups.tst",
        folder / "platform.txt": "haswell-sim",
        f"{folder}/": "",
    }
    assert with_names(said, names) == "trace /home/u/gups.tst: no frame; see haswell-sim and log"
