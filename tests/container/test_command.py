"""The argument list of ``docker run``: what is visible, as whom, and with which rights."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core.errors import TesseraError
from tessera.core.processes import MARK_VARIABLE, WorkMark, process_name
from tessera.machine.container import command
from tessera.machine.container.command import (
    MOST_PROCESSES,
    Mount,
    RunOptions,
    all_mounts,
    docker_run,
    mounts,
    writable_of_caller,
)

#: The options of every container.
CLOSED = [
    *["--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    *["--pids-limit", str(MOST_PROCESSES)],
]


@pytest.fixture(autouse=True)
def client(monkeypatch):
    """No docker command is needed to spell one."""
    monkeypatch.setattr(command, "docker_client", lambda: "docker")


def test_whole_command(checkout, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    argv = docker_run("image:tag", ["prog", checkout / "x"], paths=[data], env={"A": "b c"}, name="n")
    assert argv == [
        *["docker", "run", "--rm", "--init", "--log-driver", "none", "--pull", "never"],
        *["--label", f"tessera.run={process_name()} {checkout}", "--name", "n"],
        *["--user", f"{os.getuid()}:{os.getgid()}"],
        *["--volume", f"{checkout}:{checkout}:ro", "--volume", f"{data}:{data}:ro"],
        *["--workdir", str(checkout / "inner"), "--env", "A=b c", *CLOSED],
        *["image:tag", "prog", str(checkout / "x")],
    ]


def test_the_label_of_a_step_is_that_of_its_run(checkout, monkeypatch):
    mark = WorkMark(process_name(), "/other/check out")
    monkeypatch.setenv(MARK_VARIABLE, str(mark))
    argv = docker_run("image:tag", ["prog"])
    assert argv[argv.index("--label") + 1] == f"tessera.run={mark}"
    assert WorkMark.parse(str(mark)) == mark


def test_paths_inside_the_checkout_are_mounted_once(checkout):
    assert mounts([checkout / "inner", checkout]) == [checkout]


def test_only_what_is_named_can_be_written(checkout, tmp_path):
    """Under each name that it has in the container; also a link's, whose folder is elsewhere."""
    data, inner, link = tmp_path / "data", checkout / "inner", checkout / "link"
    (data / "out").mkdir(parents=True)
    link.symlink_to(data)
    options = RunOptions(writes=(inner, data / "out", link / "out"), also=((checkout, "/second"),))
    found = {mount.name: (mount.path, mount.writable) for mount in all_mounts([data], options)}
    assert found == {
        str(checkout): (checkout, False),
        "/second": (checkout, False),
        str(inner): (inner, True),
        "/second/inner": (inner, True),
        str(data): (data, False),
        str(data / "out"): (data / "out", True),
        str(link / "out"): (link / "out", True),
        "/second/link/out": (link / "out", True),
    }
    names = list(found)
    assert names.index(str(checkout)) < names.index(str(inner)) < names.index(str(link / "out"))


def test_a_file_system_in_the_checkout_can_only_be_read_either(checkout, monkeypatch):
    """`ro` of a mount says nothing of those in it."""
    (checkout / "results").mkdir()
    monkeypatch.setattr(command, "_mounted_below", lambda root: [checkout / "results"])
    options = RunOptions(also=((checkout, "/second"),))
    assert [mount for mount in all_mounts([], options) if mount.path.name == "results"] == [
        Mount(checkout / "results", "/second/results", False),
        Mount(checkout / "results", str(checkout / "results"), False),
    ]
    written = all_mounts([], RunOptions(writes=(checkout / "results",)))
    assert Mount(checkout / "results", str(checkout / "results"), True) in written


def test_mounted_file_systems_are_found():
    assert {Path("/proc"), Path("/dev")} <= set(command._mounted_below(Path("/")))


def test_a_folder_around_the_checkout_gives_no_right_in_it(checkout, tmp_path):
    also = ((tmp_path / "file", "/name"), (checkout / "inner", "/inner"))
    found = all_mounts([], RunOptions(writes=(tmp_path,), also=also))
    assert {mount.name for mount in found if mount.writable} == {str(tmp_path), "/name"}


def test_a_folder_that_is_written_must_exist(checkout, tmp_path):
    with pytest.raises(TesseraError, match="does not exist"):
        all_mounts([], RunOptions(writes=(tmp_path / "absent",)))


def test_the_callers_program_writes_neither_in_the_checkout_nor_around_it(checkout, tmp_path):
    data = tmp_path / "data"
    assert writable_of_caller([checkout, checkout / "inner", tmp_path, data]) == [data]


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
    "default": (RunOptions(), CLOSED),
    "network": (RunOptions(network="bridge"), ["--network", "bridge", *CLOSED[2:]]),
    "capabilities": (
        RunOptions(capabilities=("SYS_ADMIN", "IPC_LOCK")),
        [*CLOSED[:4], "--cap-add", "SYS_ADMIN", "--cap-add", "IPC_LOCK", *CLOSED[4:]],
    ),
    "unconfined": (RunOptions(unconfined=True), [*CLOSED, "--security-opt", "seccomp=unconfined"]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(checkout, name):
    options, arguments = OPTIONS[name]
    assert options.arguments() == arguments


@pytest.mark.parametrize(
    ("user", "owner", "more"), [(0, 0, []), (0, 1000, ["DAC_OVERRIDE"]), (1000, 1000, []), (1000, 0, [])]
)
def test_root_may_use_what_belongs_to_the_owner_of_the_checkout(checkout, monkeypatch, user, owner, more):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(
        command, "repo_root", lambda: SimpleNamespace(stat=lambda: SimpleNamespace(st_uid=owner))
    )
    assert RunOptions().all_capabilities() == more


def test_huge_pages_add_ipc_lock_once(checkout):
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
