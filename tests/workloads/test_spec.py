"""SPEC rows on an installation made for the test: a tiny C program under SPEC's folder structure."""

from __future__ import annotations

import re
import shutil

import pytest
from click.testing import CliRunner

from tessera.cli.workload import spec as spec_command
from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import prepare
from tessera.record.workloads.kinds.spec import SUITES, first_difference, read_commands
from tessera.record.workloads.program_run import Finished

RUN = "benchspec/CPU2006/900.sum/run/run_base_ref_gcc.0000"


@pytest.fixture
def installation(tmp_path, monkeypatch, spec_installation):
    """The folder that $SPEC_CPU2006 names: benchmark 900.sum, set up for its ref input."""
    root = spec_installation(tmp_path / "spec", "900.sum")
    monkeypatch.setenv("SPEC_CPU2006", str(root))
    return root


def row(*args: str) -> Workload:
    size = Size("paper", args or ("--suite", "CPU2006", "--input", "ref"), 1, 1, 1)
    return Workload("spec06-sum", "900.sum", "", "", {"paper": size}, kind="spec")


def test_runs_as_spec_set_it_up_and_leaves_the_installation_alone(installation, tmp_path):
    folder = tmp_path / "run"
    run = prepare(row(), "paper", folder)
    _, result = execute(run, folder)
    assert result == {"workload": "spec06-sum", "verified": True, "verified_by": "2 expected outputs"}
    assert (installation / RUN / "sum.out").read_text() == "from an earlier run\n"
    assert (folder / "sum.out").read_text() == "total 42.250000\n"
    execute(prepare(row(), "paper", folder), folder)  # a second time, over the first one's files


def test_a_wrong_answer_is_refused(installation, tmp_path):
    (installation / "benchspec/CPU2006/900.sum/data/ref/output/sum.log").write_text("sum 43 of metres\n")
    folder = tmp_path / "run"
    with pytest.raises(TesseraError, match="sum.log, line 1: 'sum 42 of metres', expected 'sum 43"):
        execute(prepare(row(), "paper", folder), folder)


def test_an_output_that_was_not_written_is_named(installation, tmp_path):
    folder = tmp_path / "run"
    run = prepare(row(), "paper", folder)
    with pytest.raises(TesseraError, match=r"^result of .*: .* sum\.out\n"):
        run.verify(Finished(0, "sum 42 of metres\n", "", folder))


def test_without_expected_outputs_the_result_says_so(installation, tmp_path):
    shutil.rmtree(installation / "benchspec/CPU2006/900.sum/data")
    folder = tmp_path / "run"
    _, result = execute(prepare(row(), "paper", folder), folder)
    assert result["verified_by"] == "exit status: the installation has no expected output"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--suite", "CPU2000", "--input", "ref"), "'CPU2000'"),
        (
            ("--suite", "CPU2006", "--input", "train"),
            "runspec --action=setup --tune=base --size=train 900.sum",
        ),
        (("--suite", "CPU2006", "--input", "ref", "--command", "2"), "--command 2: "),
        (("--suite", "CPU2006"), "--suite CPU2006: "),
        (("--suite", "CPU2017", "--input", "ref"), "SPEC_CPU2017"),
    ],
    ids=[
        "args0-use one of: CPU2006, CPU2017",
        "args1-runspec --action=setup --tune=base --size=train 900.sum",
        "args2-has 1 commands",
        "args3-not the options of a SPEC row",
        "args4-SPEC_CPU2017 is not set",
    ],
)
def test_what_is_missing_is_named(installation, tmp_path, monkeypatch, args, said):
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))  # no remembered installation
    monkeypatch.delenv("SPEC_CPU2017", raising=False)
    with pytest.raises(TesseraError) as raised:
        prepare(row(*args), "paper", tmp_path / "run")
    assert said in str(raised.value)


@pytest.mark.parametrize("name", [name for name in workloads.workload_names() if name.startswith("spec")])
def test_committed_rows_name_their_suite_and_say_what_is_absent(name, tmp_path, monkeypatch):
    for suite in SUITES.values():
        monkeypatch.delenv(suite.variable, raising=False)
    found = workloads.load_workload(name)
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    for label in found.sizes:
        with pytest.raises(TesseraError, match=rf"SPEC_{re.escape(found.size(label).args[1])}\b") as caught:
            prepare(found, label, tmp_path / "run")
        assert caught.value.code == "spec-not-supplied"


def test_what_is_not_supplied_is_missing_until_it_is(installation, tmp_path, monkeypatch):
    assert workloads.missing(row(), "paper") == ""
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    monkeypatch.delenv("SPEC_CPU2006")
    said = workloads.missing(row(), "paper")
    assert said.startswith("SPEC CPU2006: ") and "SPEC_CPU2006" in said
    assert "SPEC_CPU2006=DIR" in said
    monkeypatch.setenv("SPEC_CPU2006", str(installation))
    shutil.rmtree(installation / RUN)
    assert "has no run_base_ref_" in workloads.missing(row(), "paper")
    kernel = Workload("w", "prog", "", "", row().sizes, kind="kernel")
    assert workloads.missing(kernel, "paper") == ""  # it needs nothing of the user


def test_the_licensed_rows_of_both_tables_are_there():
    rows = {
        row
        for name in workloads.workload_names()
        if name.startswith("spec")
        for row in workloads.load_workload(name).rows.values()
    }
    assert {"spec06/mcf", "spec06/omnetpp", "spec17/omnetpp_s", "spec17/xalancbmk_s"} <= rows
    assert {f"spec_cpu2006/{b}" for b in ("429.mcf", "436.cactusADM", "471.omnetpp")} <= rows
    assert {f"spec_cpu2017/{b}" for b in ("620.omnetpp_s", "623.xalancbmk_s", "657.xz_s")} <= rows


def test_a_root_is_remembered(installation, tmp_path, monkeypatch):
    monkeypatch.delenv("SPEC_CPU2006")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "checkout"))
    wrong = CliRunner().invoke(spec_command, ["--root", str(tmp_path)])
    assert all(f"benchspec/{name}" in wrong.exception.found for name in ("CPU2006 ", "CPU"))
    done = CliRunner().invoke(spec_command, ["--root", str(installation)])
    assert done.output.startswith("CPU2006 at ")
    assert prepare(row(), "paper", tmp_path / "run").argv[1:] == ("numbers.in",)


def test_redirections_of_cpu2017_are_no_arguments(tmp_path):
    (tmp_path / "prog").touch()
    (tmp_path / "speccmds.cmd").write_text(
        "-E OMP_NUM_THREADS 4\n-r\n-N C\n-o a.out -e a.err ./prog -v t5.xml 'x y' > a.out 2>> a.err\n"
        "-E MODE fast\n-o b.out -e b.err ./prog two\n"
    )
    first, second = read_commands(tmp_path / "speccmds.cmd")
    assert first.args == ("-v", "t5.xml", "x y") and first.stdout == "a.out"
    assert first.environment == {"OMP_NUM_THREADS": "4"}
    assert second.environment == {"OMP_NUM_THREADS": "4", "MODE": "fast"}


def test_an_unknown_option_is_refused_with_its_line(tmp_path):
    (tmp_path / "speccmds.cmd").write_text("-r\n--strange prog\n")
    with pytest.raises(TesseraError, match="line 2: .*'--strange'"):
        read_commands(tmp_path / "speccmds.cmd")


@pytest.mark.parametrize(
    ("found", "difference"),
    [
        ("a 1.0\nb 2", None),
        ("a  1.000009\nb 2", None),  # spaces don't count; 9e-6 relative
        ("a 1.00002\nb 2", "line 1"),
        ("a 1.0\nb 3", "line 2"),
        ("a 1.0\nc 2", "line 2"),
        ("a 1.0", "line 2: the end"),
        ("a 1.0\nb 2\nc", "line 3"),
        ("a 1.0 x\nb 2", "line 1"),
    ],
)
def test_comparison(found, difference):
    said = first_difference("a 1.0\nb 2", found)
    assert said is None if difference is None else said.startswith(difference)
