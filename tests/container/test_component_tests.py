"""What the terminal gets of ctest: failures with their messages, and ctest's own summary."""

from __future__ import annotations

import pytest

from tessera.container import component_tests
from tessera.container.component_tests import condensed, summary

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
    assert summary("x") == line


def test_no_log_is_no_success(monkeypatch, tmp_path):
    monkeypatch.setattr(component_tests, "build_dir", lambda component: tmp_path)
    assert summary("x") == "x: ctest did not finish"
