"""The selftests of page-table replicas: every table is run, names are unique, all of it compiles."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tessera.lab.kernel import patch_tests, source

FOLDER = source.kernel_folder() / "selftests"
TABLE = re.compile(r"^const struct selftest (\w+)\[\] = \{\n(.*?)^\};", re.S | re.M)


def tables() -> dict[str, list[str]]:
    """Table -> names of its cases."""
    found = [match for path in sorted(FOLDER.glob("*.c")) for match in TABLE.findall(path.read_text())]
    return {table: re.findall(r'^\t\{ "(.*?)"', body, re.M) for table, body in found}


def test_the_harness_runs_every_table():
    text = (FOLDER / "harness.c").read_text()
    listed = re.search(r"const struct selftest \*const tables\[\] = \{(.*?)\};", text, re.S).group(1)
    assert sorted(re.findall(r"\w+", listed)) == sorted(tables())


def test_a_name_stands_for_one_case():
    names = [name for cases in tables().values() for name in cases]
    assert len(names) == len(set(names)) > 40
    assert all("#" not in name for name in names)  # TAP's comments


def test_cases_that_a_study_names_exist():
    names = [name for cases in tables().values() for name in cases]
    asked = [
        name for refusal in patch_tests.REFUSALS for name in re.findall(r"selftest '(.*?)'", refusal[-1])
    ]
    assert asked and set(asked) <= set(names)


@pytest.fixture(scope="module")
def selftest(tmp_path_factory):
    """The program, compiled as the guest's."""
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    program = tmp_path_factory.mktemp("selftest") / "selftest"
    flags = ["-std=gnu11", "-O0", "-Wall", "-Werror", "-pthread"]
    done = subprocess.run(
        ["gcc", *flags, "-o", program, *sorted(FOLDER.glob("*.c"))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return program


def test_an_unknown_case_is_refused(selftest):
    done = subprocess.run([selftest, "no such case"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "1..0\n"
    assert "no such case" in done.stderr and "what to do" in done.stderr


def test_a_case_fails_on_a_kernel_without_replicas(selftest):
    done = subprocess.run([selftest, "set and get"], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(r"^not ok 1 - set and get", done.stdout, re.M) and "control.c" in done.stdout


def test_the_shell_can_read_the_script():
    assert subprocess.run(["sh", "-n", FOLDER / "policies.sh"]).returncode == 0
