"""Every known trap has a named case, and every case of the traps folder a trap."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from .traps.catalogue import FAILURE, ROWS, TRAP

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def ctest_names(build: Path) -> set[str]:
    """What ``ctest`` would run in the build folder."""
    try:
        done = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no ctest on this machine; apt install cmake")
    names = set(re.findall(r"^ *Test +#\d+: (\S+)", done.stdout, re.MULTILINE))
    assert len(names) > 100, done.stdout + done.stderr
    return names


def pytest_names(path: Path) -> set[str]:
    """Test functions of one file, read without running it."""
    nodes = ast.parse(path.read_text()).body
    return {
        node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def exists(test: str) -> bool:
    file, _, function = test.partition("::")
    return (HERE / file).is_file() and function in pytest_names(HERE / file)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tests_of_python_exist(row):
    assert row.tests
    assert [test for test in row.tests if "::" in test and not exists(test)] == []


@pytest.mark.toolchain
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tests_of_the_component_exist(row, ctest_names):
    named = [test for test in row.tests if "::" not in test]
    assert [test for test in named if test not in ctest_names] == []


def test_a_name_that_nobody_runs_is_found(ctest_names):
    assert not exists("test_launcher.py::test_nothing") and not exists("no_such_file.py::test_x")
    assert exists("test_launcher.py::test_help_teaches")
    assert "4kb.no_such_case" not in ctest_names and "4kb.fork" in ctest_names


def test_every_case_of_the_traps_folder_has_its_row():
    named = {test for row in ROWS for test in row.tests}
    found = {
        f"traps/{path.name}::{name}" for path in HERE.glob("traps/test_*.py") for name in pytest_names(path)
    }
    assert found - named == set()


def test_every_behaviour_of_the_component_has_its_row(ctest_names):
    """A new case in cases.c needs a line here, or says below that it is no known trap."""
    beyond = {"madvise", "wipe_on_fork", "locked", "dlopen"}  # the kernel's own semantics, nobody's failure
    cases = {name.removeprefix("4kb.") for name in ctest_names if name.startswith("4kb.")}
    named = {test.partition(".")[2] for row in ROWS for test in row.tests if "::" not in test}
    assert cases - named == beyond


def test_names_are_unique_and_both_kinds_are_there():
    assert [name for name, count in Counter(row.name for row in ROWS).items() if count > 1] == []
    assert {row.kind for row in ROWS} == {TRAP, FAILURE}
    assert all(row.sentence.endswith(".") for row in ROWS)
