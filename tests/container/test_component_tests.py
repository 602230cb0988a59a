"""What the terminal gets of ctest: failures with their messages, and ctest's own summary."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tessera.cli.dev import build as cli
from tessera.core.errors import TesseraError
from tessera.machine.container import component_tests
from tessera.machine.container.component_tests import condensed, ctest_summary

LOG = """[OUTPUT]
Internal ctest changing into directory: /checkout/build/x
Test project /checkout/build/x
      Start  1: Good.One
 1/3 Test  #1: Good.One .........   Passed    0.01 sec
      Start  2: Bad.Two
 2/3 Test  #2: Bad.Two ..........***Failed    0.01 sec
x.cpp:7: expected 3, found 4

      Start  3: 1gb.three
 3/3 Test  #3: 1gb.three ........***Skipped   0.01 sec
SKIP: 1 pages of 1048576KB needed, 0 free

67% tests passed, 1 tests failed out of 3

The following tests did not run:
\t  3 - 1gb.three (Skipped)
"""


def test_failures_and_summary_remain():
    assert condensed(LOG).splitlines() == [
        "2/3 Test  #2: Bad.Two ..........***Failed    0.01 sec",
        "x.cpp:7: expected 3, found 4",
        "",
        "67% tests passed, 1 tests failed out of 3",
        "",
        "The following tests did not run:",
        "\t  3 - 1gb.three (Skipped)",
    ]


@pytest.mark.parametrize(
    "log, line",
    [(LOG, "x: 67% tests passed, 1 tests failed out of 3"), ("", "x: ctest did not finish")],
)
def test_summary_line(monkeypatch, tmp_path, log, line):
    (tmp_path / "ctest.log").write_text(log)
    monkeypatch.setattr(component_tests, "build_dir", lambda component: tmp_path)
    assert ctest_summary("x") == line


def test_no_log_is_no_success(monkeypatch, tmp_path):
    monkeypatch.setattr(component_tests, "build_dir", lambda component: tmp_path)
    assert ctest_summary("x") == "x: ctest did not finish"


@pytest.fixture
def components(monkeypatch):
    """``tessera dev build`` where the simulator does not compile and workloads has a test that fails."""
    tested = []

    def build(component, say, *, tests):
        if component == "simulator":
            raise TesseraError("cmake --build build/simulator", "it ended with status 1", "see above")

    def run_tests(component):
        tested.append(component)
        return int(component == "workloads"), ""

    monkeypatch.setattr(cli, "ensure_images", lambda say: "tag")
    monkeypatch.setattr(cli.builder, "build_component", build)
    monkeypatch.setattr(cli.component_tests, "run_tests", run_tests)
    monkeypatch.setattr(cli.component_tests, "ctest_summary", lambda component: f"{component}: some tests")
    return tested


def test_a_component_that_is_not_built_stops_no_other_ones_tests(components):
    done = CliRunner().invoke(cli.build, ["--test"])
    assert components == ["mosalloc", "tracer", "workloads", "imitation"]
    assert "== ctest: simulator: not built\n" in done.output and "== ctest: tracer: some tests" in done.output
    assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 1
    assert done.exception.found == "not built: simulator; tests failed in: workloads"
    assert done.exception.remedy.endswith("./run tessera dev build --test simulator workloads")


def test_a_build_alone_names_what_was_not_built(components):
    done = CliRunner().invoke(cli.build, ["simulator", "tracer"])
    assert components == [] and done.exception.found == "not built: simulator"
    assert CliRunner().invoke(cli.build, ["tracer"]).exit_code == 0
