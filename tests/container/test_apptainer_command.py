"""The argument list of ``apptainer exec``: what is visible, with which variables and rights."""

from __future__ import annotations

import csv
import os
import re

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.command import VARIABLES, RunOptions, apptainer_exec, clean_environment


@pytest.fixture(autouse=True)
def client(monkeypatch):
    """No apptainer command is needed to spell one."""
    monkeypatch.setattr("tessera.machine.container.command.apptainer_client", lambda: "apptainer")


@pytest.fixture
def spelled(tmp_path):
    """The command of the program ``prog``, with a new work folder each time."""
    number = 0

    def spell(**options) -> list[str]:
        nonlocal number
        number += 1
        workdir = tmp_path / f"work-{number}"
        workdir.mkdir()
        return apptainer_exec(tmp_path / "i.sif", ["prog", tmp_path / "x"], workdir=workdir, **options)

    return spell


def mounted(command: list[str]) -> list[dict[str, str]]:
    """Fields of each ``--mount``."""
    fields = [next(csv.reader([command[i + 1]])) for i, word in enumerate(command) if word == "--mount"]
    return [dict((*field.split("=", 1), "")[:2] for field in row) for row in fields]


def test_whole_command(checkout, tmp_path, spelled):
    command = spelled(env={"A": "b,c d"})
    assert command[command.index("apptainer") :][:3] == ["apptainer", "--quiet", "exec"]
    assert command[-2:] == ["prog", str(tmp_path / "x")]
    inside = command[command.index(str(tmp_path / "i.sif")) + 1 : -2]
    assert command[command.index("--pwd") + 1] == str(checkout / "inner")
    assert inside[:2] == ["env", "-i"]
    assert dict(word.split("=", 1) for word in inside[2:]) == VARIABLES | {"A": "b,c d"}
    assert command[command.index("--workdir") + 1] == str(tmp_path / "work-1")
    assert {"--containall", "--no-home"} <= set(command)
    assert mounted(command) == [
        {"type": "bind", "source": str(checkout), "destination": str(checkout), "ro": ""},
    ]
    found = mounted(spelled(options=RunOptions(writes=(checkout / "inner",))))
    assert [("ro" in row, row["destination"]) for row in found] == [
        (True, str(checkout)),
        (False, str(checkout / "inner")),
    ]


def test_given_variables_win(checkout, spelled):
    assert "PATH=/opt" in spelled(env={"PATH": "/opt"})
    assert f"PATH={VARIABLES['PATH']}" not in spelled(env={"PATH": "/opt"})


@pytest.mark.parametrize("name", ["data", "da,ta", 'da"t a,'])
def test_mounts_have_the_same_path(checkout, tmp_path, spelled, name):
    (tmp_path / name).mkdir()
    also = ((tmp_path / name, "/.tessera/input,0"),)
    found = mounted(spelled(paths=[tmp_path / name], options=RunOptions(also=also)))
    named = [row["destination"] for row in found if row["source"] == str(tmp_path / name)]
    assert sorted(named) == ["/.tessera/input,0", str(tmp_path / name)]


def test_mount_points_below_tmp_exist(checkout, tmp_path, spelled, monkeypatch):
    """Apptainer makes none in a folder of this machine."""
    file = tmp_path / "file"
    file.touch()
    also = (
        (file, "/tmp/a/file"),
        (checkout, "/tmp/b/folder"),
        (checkout, "/var/tmp/c"),
        (checkout, "/opt/d"),
    )
    spelled(options=RunOptions(also=also))
    work = tmp_path / "work-1"
    assert (work / "tmp/a/file").is_file() and (work / "tmp/b/folder").is_dir()
    assert (work / "var_tmp/c").is_dir() and not (work / "opt").exists()


PERMISSIONS = {
    "default": (RunOptions(), ["--net", "--network", "none"], set()),
    "network of this machine": (RunOptions(network="host"), [], set()),
    "hostname": (RunOptions(network="host", hostname="n"), ["--hostname", "n"], set()),
    "capability": (RunOptions(network="host", capabilities=("SYS_ADMIN",)), [], {"CAP_SYS_ADMIN"}),
    "huge pages": (RunOptions(network="host", huge_pages=True), [], {"CAP_IPC_LOCK"}),
    "no filter": (RunOptions(network="host", unconfined=True), [], set()),
}


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("name", PERMISSIONS)
def test_permissions(checkout, spelled, monkeypatch, name, root):
    """Root has the capabilities that are asked for; an ordinary user has none, as in docker."""
    options, words, more = PERMISSIONS[name]
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    command = spelled(options=options)
    rights = command[
        max(i for i, word in enumerate(command) if word == "--mount") + 2 : command.index("--pwd")
    ]
    if root:
        at = rights.index("--no-privs")
        if more:
            assert rights[at + 1] == "--add-caps" and set(rights[at + 2].split(",")) == more
        del rights[at : at + (3 if more else 1)]
    assert rights == words


def test_hugetlbfs_is_mounted_where_it_is(checkout, spelled, monkeypatch, tmp_path):
    monkeypatch.setattr("tessera.machine.container.command.HUGE_PAGES", tmp_path / "huge")
    assert len(mounted(spelled(options=RunOptions(huge_pages=True)))) == 1
    (tmp_path / "huge").mkdir()
    assert len(mounted(spelled(options=RunOptions()))) == 1
    found = mounted(spelled(options=RunOptions(huge_pages=True)))
    (row,) = [row for row in found if row["source"] == str(tmp_path / "huge")]
    assert row["destination"] == row["source"] and "ro" not in row


def test_a_network_that_apptainer_lacks_is_an_error(checkout, spelled):
    with pytest.raises(TesseraError, match="bridge") as error:
        spelled(options=RunOptions(network="bridge"))
    assert "--engine docker" in error.value.remedy


def test_variables_are_those_of_the_images(root):
    """Docker takes them from the image; here they are named."""
    named: dict[str, str] = {}
    for path in sorted((root / "docker").glob("*/Dockerfile")):
        for line in re.findall(r"^ENV (.*)$", path.read_text(), re.MULTILINE):
            named |= dict(word.split("=", 1) for word in line.split())
    assert {name: value for name, value in VARIABLES.items() if name != "PATH"} == named


def test_options_of_the_users_environment_do_not_reach_the_container():
    environ = {"APPTAINER_BIND": "/", "SINGULARITYENV_A": "b", "APPTAINER_TMPDIR": "/t", "PATH": "/bin"}
    assert clean_environment(environ) == {"APPTAINER_TMPDIR": "/t", "PATH": "/bin"}
