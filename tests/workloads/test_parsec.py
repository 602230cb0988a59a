"""``kind: parsec``: a small installation of PARSEC's form, run whole; what is missing is named."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.record import workloads
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.kinds import parsec
from tessera.record.workloads.program_run import HOST, Finished

ROWS = [name for name in workloads.workload_names() if name.startswith("parsec-")]
RUNCONF = """#!/bin/bash
# the program, relative to its build
run_exec="bin/sums"   # a comment
run_args="-n ${NTHREADS} in_4.txt out.txt"
export SUM_THREADS=${NTHREADS}
"""


@pytest.fixture
def installation(tmp_path, monkeypatch) -> Path:
    """``pkgs/kernels/sums`` with two builds and a packed input."""
    package = tmp_path / "parsec-3.0" / "pkgs" / "kernels" / "sums"
    for build in ("gcc-old", "gcc-new"):
        program = package / "inst" / build / "bin" / "sums"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    os.utime(package / "inst" / "gcc-old" / "bin" / "sums", (1, 1))
    (package / "parsec").mkdir()
    (package / "parsec" / "test.runconf").write_text(RUNCONF)
    (package / "inputs").mkdir()
    (tmp_path / "in_4.txt").write_text("4\n")
    with tarfile.open(package / "inputs" / "input_test.tar", "w") as packed:
        packed.add(tmp_path / "in_4.txt", "in_4.txt")
    monkeypatch.setenv(parsec.VARIABLE, str(tmp_path / "parsec-3.0"))
    return package


def size(*args) -> Size:
    found = workloads.load_workload("parsec-vips").sizes["tiny"]
    return type(found)(**{**vars(found), "args": tuple(args)})


def workload(name="sums") -> Workload:
    return Workload("parsec-sums", name, "", "", {"tiny": size("--input", "test")}, kind="parsec")


def test_the_command_of_the_runconf(installation, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    run = parsec.prepare(workload(), size("--input", "test", "--threads", "8"), folder)
    program = installation / "inst" / "gcc-new" / "bin" / "sums"
    assert run.argv == (str(program), "-n", "8", "in_4.txt", "out.txt")
    assert run.environment == {"SUM_THREADS": "8"} and run.threads and run.image == HOST
    assert (folder / "in_4.txt").read_text() == "4\n" and run.folder == folder
    assert not parsec.prepare(workload(), size("--input", "test"), folder).threads
    result = run.verify(Finished(0, "", "", folder))
    assert result["verified"] and result["verified_by"].startswith("exit status")


def test_an_input_that_leaves_its_folder(installation, tmp_path):
    with tarfile.open(installation / "inputs" / "input_test.tar", "w") as packed:
        packed.add(tmp_path / "in_4.txt", "../in_4.txt")
    with pytest.raises(TesseraError, match="input_test") as caught:
        parsec.prepare(workload(), size("--input", "test"), installation)
    assert caught.value.code == "parsec-archive"


def test_nothing_is_missing(installation):
    assert parsec.missing(workload(), size("--input", "test")) == ""


@pytest.mark.parametrize("name", ROWS)
def test_rows_without_parsec_say_what_is_missing(name, monkeypatch):
    monkeypatch.delenv(parsec.VARIABLE, raising=False)
    found = workloads.load_workload(name)
    assert found.kind == "parsec" and set(found.sizes) == {"tiny", "default", "paper"}
    for one in found.sizes.values():
        assert "PARSECDIR" in parsec.missing(found, one)


def test_what_can_be_missing(installation):
    assert "pkgs" in parsec.missing(workload("absent"), size("--input", "test"))
    assert "native.runconf" in parsec.missing(workload(), size("--input", "native"))
    for program in installation.glob("inst/*/bin/sums"):
        program.chmod(0o644)
    assert "parsecmgmt -a build -p sums" in parsec.missing(workload(), size("--input", "test"))


@pytest.mark.parametrize("line", ['run_args="$(date)"', 'run_args="${HOME}/x"', "run_args=`date`"])
def test_a_runconf_that_needs_a_shell(installation, line):
    (installation / "parsec" / "test.runconf").write_text(f'run_exec="bin/sums"\n{line}\n')
    with pytest.raises(TesseraError, match=r"test\.runconf line 2") as caught:
        parsec.prepare(workload(), size("--input", "test"), installation)
    assert caught.value.code == "parsec-shell"


@pytest.mark.parametrize(
    "args", [(), ("--input", "huge"), ("--input", "test", "--threads", "0"), ("--input",), ("--size", "test")]
)
def test_wrong_options(args):
    with pytest.raises(TesseraError) as caught:
        parsec.missing(workload(), size(*args))
    assert caught.value.code == "parsec-options"


def test_the_page_lists_every_row():
    page = (repo_root() / "docs" / "howto" / "spec-and-parsec.md").read_text()
    assert {row for row in ROWS if f"`{row}`" in page} == set(ROWS) and len(ROWS) == 6
