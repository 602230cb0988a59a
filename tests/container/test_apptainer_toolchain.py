"""Engine apptainer, for real where it is installed: the contract of the toolchain in a SIF file."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tessera.machine.container.command import RunOptions
from tessera.machine.container.image_inputs import toolchain_tag
from tessera.machine.container.sif import sif_path
from tessera.machine.container.toolchain import ApptainerToolchain

pytestmark = pytest.mark.skipif(
    shutil.which("apptainer") is None, reason="apptainer is not installed (docs/howto/cluster.md)"
)


@pytest.fixture(scope="module")
def tools():
    file = sif_path(toolchain_tag())
    if not file.is_file():
        pytest.skip(f"no {file.name}: ./run tessera dev build --sif toolchain")
    return ApptainerToolchain(toolchain_tag())


@pytest.fixture
def outside(monkeypatch):
    """A folder that is neither in the checkout nor below /tmp."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        yield Path(folder)


def test_files_belong_to_the_caller_and_lie_at_the_same_path(tools, tmp_path, outside):
    for folder in (tmp_path, outside):
        tools.run(["sh", "-c", f"echo text > {folder}/file"], options=RunOptions(writes=(folder,)))
        assert (folder / "file").read_text() == "text\n"
        assert (folder / "file").stat().st_uid == os.getuid()


def test_a_program_writes_its_own_folders_only(tools, root, tmp_path, outside):
    own, given = tmp_path, outside
    script = 'for path in "$@"; do (: >> "$path") 2> /dev/null && echo "$path"; done; true'
    argv = ["sh", "-c", script, "sh", root / "run", root / "src" / "x", given / "x", own / "x"]
    done = tools.run(argv, paths=[given], capture=True, options=RunOptions(writes=(own,)))
    assert done.stdout.split() == [str(own / "x")] and (own / "x").exists()


def test_a_second_name_and_a_comma(tools, tmp_path):
    folder = tmp_path / "a,b c"
    folder.mkdir()
    (folder / "file").write_text("text\n")
    options = RunOptions(also=((folder, "/.tessera/other"),), hostname="named")
    script = 'cat "$1/file" /.tessera/other/file; hostname; cd /.tessera && pwd'
    done = tools.run(["sh", "-c", script, "sh", folder], [folder], capture=True, options=options)
    assert done.stdout.splitlines() == ["text", "text", "named", "/.tessera"]


def test_what_is_not_named_is_not_visible(tools, tmp_path, outside):
    for path in (tmp_path, outside):
        assert tools.run(["test", "-e", path], check=False).returncode == 1


def test_variables_are_those_of_the_image_and_those_given(tools, monkeypatch):
    monkeypatch.setenv("SEEN", "1")
    monkeypatch.setenv("APPTAINERENV_SEEN", "1")
    done = tools.run(["env"], env={"GIVEN": "-A,-B $HOME"}, capture=True)
    found = dict(line.split("=", 1) for line in done.stdout.splitlines())
    path = found.pop("PATH")
    assert path.endswith("/usr/bin:/sbin:/bin")
    expected = {
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        "GIVEN": "-A,-B $HOME",
    }
    assert found == expected


def test_the_stack_has_the_limit_of_dockers(tools):
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard if hard != resource.RLIM_INFINITY else 1 << 26, hard))
    try:
        done = tools.run(["sh", "-c", "ulimit -Ss"], capture=True)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    assert done.stdout == "8192\n"


def test_no_network(tools):
    """In /proc: an ordinary user's /sys is that of the machine, which shows names and gives nothing."""
    done = tools.run(["cat", "/proc/net/dev"], capture=True)
    assert [line.split(":")[0].strip() for line in done.stdout.splitlines()[2:]] == ["lo"]


def test_tmp_is_on_disk_and_removed(tools, tmp_path, monkeypatch):
    """Apptainer's own /tmp is a part of memory, 64 MB by default."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = "head -c 100000000 /dev/zero > /tmp/large && stat -c %s /tmp/large"
    done = tools.run(["sh", "-c", script], capture=True)
    assert done.stdout.split() == ["100000000"]
    assert list(tmp_path.iterdir()) == []


def test_status_and_output(tools):
    done = tools.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)
    assert tools.run(["no-such-program"], capture=True, check=False).returncode == 127
    assert tools.run(["sh", "-c", "kill -9 $$"], check=False).returncode == 137


def test_image_has_what_components_need(tools):
    versions = tools.run(["sh", "-c", "qemu-x86_64 --version; g++ --version"], capture=True).stdout
    assert "version 7.2." in versions and "g++ (Debian 12." in versions


def test_terminate_ends_the_program_which_may_finish(tools, tmp_path):
    script = 'trap "echo ended > $1/end; exit 5" TERM; echo started; while :; do sleep 0.1; done'
    argv, options = ["sh", "-c", script, "sh", tmp_path], RunOptions(writes=(tmp_path,))
    process = tools.popen(argv, options=options, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    process.terminate()
    assert process.wait(30) == 5
    assert (tmp_path / "end").read_text() == "ended\n"


def test_kill_ends_all_programs(tools):
    mark = 100_000_000 + os.getpid()
    script = f"sleep {mark} & echo started; exec sleep {mark}"
    process = tools.popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    try:
        assert _become(2, mark)
    finally:
        process.kill()
        process.wait(30)
    assert _become(0, mark)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_programs_end_with_their_caller(number, root, tools, tmp_path):
    mark = 200_000_000 + os.getpid()
    code = (
        "import signal\n"
        "from tessera.machine.container.toolchain import ApptainerToolchain\n"
        "from tessera.machine.container.image_inputs import toolchain_tag\n"
        # A test run that a shell put in the background hands down an ignored SIGINT.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"script = 'sleep {mark} & echo started; exec sleep {mark}'\n"
        "ApptainerToolchain(toolchain_tag()).run(['sh', '-c', script])\n"
    )
    # A caller that is killed leaves its container's /tmp.
    env = os.environ | {"PYTHONPATH": str(root / "src"), "TMPDIR": str(tmp_path)}
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    assert caller.stdout.readline() == "started\n"
    try:
        assert _become(2, mark)
    finally:
        caller.send_signal(number)
        caller.wait(30)
    assert _become(0, mark)


def _sleeping(mark: int) -> list[str]:
    """Processes ``sleep <mark>``, zombies aside."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", str(mark).encode()]:
            found.append(process.name)
    return found


def _become(count: int, mark: int) -> bool:
    """Whether there are so many of them within 60 s."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if len(_sleeping(mark)) == count:
            return True
        time.sleep(0.1)
    return False
