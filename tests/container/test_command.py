"""The argument list of ``docker run``: what is visible, as whom, and with which rights."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import command
from tessera.machine.container.command import RunOptions, docker_run, mounts


@pytest.fixture(autouse=True)
def client(monkeypatch):
    """No docker command is needed to spell one."""
    monkeypatch.setattr(command, "docker_client", lambda: "docker")


def test_whole_command(checkout, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    argv = docker_run("image:tag", ["prog", checkout / "x"], paths=[data], env={"A": "b c"}, name="n")
    assert argv == [
        *["docker", "run", "--rm", "--init", "--log-driver", "none", "--name", "n"],
        *["--user", f"{os.getuid()}:{os.getgid()}"],
        *["--volume", f"{checkout}:{checkout}", "--volume", f"{data}:{data}"],
        *["--workdir", str(checkout / "inner"), "--env", "A=b c", "--network", "none"],
        *["image:tag", "prog", str(checkout / "x")],
    ]


def test_paths_inside_the_checkout_are_mounted_once(checkout):
    assert mounts([checkout / "inner", checkout]) == [checkout]


def test_working_folder_that_is_not_visible_becomes_the_checkout(checkout, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    argv = docker_run("image", ["prog"])
    assert argv[argv.index("--workdir") + 1] == str(checkout)


@pytest.mark.parametrize(
    "path, found",
    [("/no/such/path", "does not exist"), ("/usr", "would hide the image's own folder"), ("/", "would hide")],
)
def test_paths_that_are_refused(checkout, path, found):
    with pytest.raises(TesseraError, match=found):
        mounts([Path(path)])


def test_a_colon_in_a_path_is_refused(checkout, tmp_path):
    odd = tmp_path / "a:b"
    odd.mkdir()
    with pytest.raises(TesseraError, match="colon"):
        mounts([odd])


OPTIONS = {
    "default": (RunOptions(), ["--network", "none"]),
    "network": (RunOptions(network="bridge"), ["--network", "bridge"]),
    "capabilities": (
        RunOptions(capabilities=("SYS_ADMIN", "IPC_LOCK")),
        ["--network", "none", "--cap-add", "SYS_ADMIN", "--cap-add", "IPC_LOCK"],
    ),
    "unconfined": (
        RunOptions(unconfined=True),
        ["--network", "none", "--security-opt", "seccomp=unconfined"],
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    options, arguments = OPTIONS[name]
    assert options.arguments() == arguments


def test_huge_pages_add_ipc_lock_once():
    arguments = RunOptions(capabilities=("IPC_LOCK",), huge_pages=True).arguments()
    assert arguments.count("IPC_LOCK") == 1


def test_docker_run_is_spelled_in_one_module_only(root):
    """Every container is started through command.py (the tests of this folder aside)."""
    spelled = [
        path.relative_to(root).as_posix()
        for folder in ("src", "workflow")
        for path in (root / folder).rglob("*")
        if path.suffix in (".py", ".smk", ".sh") and '"run", "--rm"' in path.read_text()
    ]
    assert spelled == ["src/tessera/machine/container/command.py"]
