"""Engine docker, for real: the contract of the toolchain on a live engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tessera.machine.container import RunOptions, engine
from tessera.machine.container.image_inputs import base_tag, toolchain_tag
from tessera.machine.container.images import image_manifest
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import DockerToolchain
from tessera.machine.container.watchdog import ProgramHangs

pytestmark = [
    pytest.mark.toolchain,
    pytest.mark.skipif(
        os.environ.get("TESSERA_ENGINE", "docker") != "docker", reason="this run uses another engine"
    ),
]


@pytest.fixture(scope="module")
def tools():
    return DockerToolchain(toolchain_tag())


def test_files_belong_to_the_caller_and_lie_at_the_same_path(tools, tmp_path):
    tools.run(["sh", "-c", f"echo text > {tmp_path}/file"], options=RunOptions(writes=(tmp_path,)))
    assert (tmp_path / "file").read_text() == "text\n"
    assert (tmp_path / "file").stat().st_uid == os.getuid()


def test_what_is_not_named_is_not_visible(tools, tmp_path):
    assert tools.run(["test", "-e", tmp_path], check=False).returncode == 1


def test_a_program_writes_its_own_folders_only(tools, root, tmp_path):
    """Neither what the host executes later (`run`, sources, hooks of git), nor what it was given to read."""
    own, given = tmp_path / "own", tmp_path / "given"
    own.mkdir()
    given.mkdir()
    targets = [root / "run", root / ".git" / "x", root / "src" / "x", root / "build" / "x", given / "x"]
    script = 'for path in "$@"; do (: >> "$path") 2> /dev/null && echo "$path"; done; true'
    argv = ["sh", "-c", script, "sh", *targets, own / "x"]
    done = tools.run(argv, paths=[given], capture=True, options=RunOptions(writes=(own,)))
    assert done.stdout.split() == [str(own / "x")] and (own / "x").exists()


@pytest.mark.parametrize("asked", [(), ("SYS_ADMIN",)])
def test_a_program_has_the_capabilities_that_are_listed(tools, asked):
    """In the bounding set, too: no program that it starts gets others."""
    done = tools.run(["cat", "/proc/self/status"], capture=True, options=RunOptions(capabilities=asked))
    status = dict(line.split(":\t", 1) for line in done.stdout.splitlines() if ":\t" in line)
    expected = sum({"SYS_ADMIN": 1 << 21}[name] for name in asked)
    assert int(status["CapBnd"], 16) == expected and status["NoNewPrivs"] == "1"
    assert int(status["CapEff"], 16) == (expected if os.getuid() == 0 else 0)


def test_an_image_that_is_not_here_is_not_fetched():
    absent = DockerToolchain("tessera-absent:none").run(["true"], capture=True, check=False)
    assert absent.returncode == 125 and "No such image" in absent.stderr


def test_a_killed_client_leaves_no_container(tools):
    process = tools.popen(["sh", "-c", "echo started; exec sleep 1000"], stdout=subprocess.PIPE, text=True)
    with stopped_at_exit(process):
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert not _running(process.container_name)


def test_no_network(tools):
    done = tools.run(["sh", "-c", "ls /sys/class/net"], capture=True)
    assert done.stdout.split() == ["lo"]


def test_status_and_output(tools):
    done = tools.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)


def test_image_has_what_components_need(tools):
    versions = tools.run(["sh", "-c", "qemu-x86_64 --version; g++ --version"], capture=True).stdout
    assert "version 7.2." in versions and "g++ (Debian 12." in versions
    header = tools.run(["cat", "/usr/local/include/qemu-plugin.h"], capture=True).stdout
    assert "qemu_plugin_register_vcpu_mem_cb" in header


def test_a_container_that_sleeps_is_ended(tools, monkeypatch):
    """The engine is asked for its processor time, since the client uses none."""
    monkeypatch.setenv("TESSERA_IDLE_MINUTES", "0.02")
    with pytest.raises(ProgramHangs, match="no processor time"):
        tools.run(["sleep", "1000.5"], capture=True)
    left = engine.docker("ps", "--no-trunc", "--format", "{{.Command}}").stdout
    assert "sleep 1000.5" not in left


def test_terminate_ends_the_container(tools):
    process = tools.popen(["sh", "-c", "echo started; exec sleep 1000"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    process.terminate()
    process.wait(30)
    assert not _running(process.container_name)


def test_a_container_whose_output_nobody_reads_ends(tools):
    """As in ``./run ... | head``: the client ends with an error of its own, and the program would run on."""
    end, output = os.pipe()
    os.close(end)
    process = tools.popen(["sh", "-c", "echo lost; exec sleep 1000"], stdout=output)
    os.close(output)
    assert process.wait(60) != 0
    assert not _running(process.container_name)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_container_ends_with_its_caller(number, root):
    code = (
        "import signal\n"
        "from tessera.machine.container.toolchain import DockerToolchain\n"
        "from tessera.machine.container.image_inputs import toolchain_tag\n"
        # A test run that a shell put in the background hands down an ignored SIGINT.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "DockerToolchain(toolchain_tag()).run(['sh', '-c', 'echo $HOSTNAME; exec sleep 1000'],"
        " env={'HOSTNAME': 'started'})\n"
    )
    env = os.environ | {"PYTHONPATH": str(root / "src")}
    before = _containers()
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    assert caller.stdout.readline() == "started\n"
    ours, until = set(), time.monotonic() + 30
    while not ours and time.monotonic() < until:  # the engine lists a container after its program began
        ours = _children_of(caller.pid, _containers() - before)
    assert len(ours) == 1
    caller.send_signal(number)
    caller.wait(30)
    assert not _running(ours.pop())


def test_manifests_record_packages_and_the_base_is_reproducible():
    """Images of an unpacked package are listed in its index, and have no manifest."""
    toolchain, base = image_manifest(toolchain_tag()), image_manifest(base_tag())
    if toolchain is None or base is None:
        pytest.skip("the images are those of an unpacked package")
    assert toolchain["packages"]["qemu-user"].startswith("1:7.2")
    assert base["arguments"]["DEBIAN_SUITE"] == "bookworm"
    assert len(base["rootfs_sha256"]) == 64
    assert base["packages"].items() <= toolchain["packages"].items()


def _containers() -> set[str]:
    return set(engine.docker("ps", "--format", "{{.Names}}", "--filter", "name=tessera-").stdout.split())


def _children_of(pid: int, names: set[str]) -> set[str]:
    """Those of ``names`` that a child process of ``pid`` started: others may start containers too."""
    with open(f"/proc/{pid}/task/{pid}/children") as stream:
        children = stream.read().split()
    lines = [open(f"/proc/{child}/cmdline").read() for child in children]
    return {name for name in names if any(name in line for line in lines)}


def _running(name: str) -> bool:
    """Whether the container still runs after up to 10 s."""
    for _ in range(50):
        if name not in _containers():
            return False
        time.sleep(0.2)
    return True
