"""Programs that start another one: the layout is for that one, and nothing is confirmed for the wrong one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from tessera.measure.mosalloc import capture

pytestmark = pytest.mark.toolchain

STARTERS = {
    "env": ("env", "X=1"),
    "nice": ("nice",),
    "nohup": ("nohup",),
    "timeout": ("timeout", "60"),
    "taskset": ("taskset", "0x1"),
    "chrt": ("chrt", "--batch", "0"),
    "ionice": ("ionice", "-c3"),
    "setsid": ("setsid", "--wait"),
    "setsid in the background": ("setsid", "--fork"),
    "stdbuf": ("stdbuf", "-oL"),
    "time": ("/usr/bin/time",),
    "numactl": ("numactl", "--localalloc"),
    "prlimit": ("prlimit", "--core=0"),
    "setarch": ("setarch", "-R"),
    "three": ("env", "X=1", "nice", "timeout", "60"),
}
#: Prints whether it has the layout, and its children's.
PROGRAM = """
import subprocess, sys
code = "print(sum(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmSize')) > 800000)"
exec(code)
sys.stdout.flush()
x = bytearray(8 << 20)
subprocess.run([sys.executable, "-c", code])
subprocess.run(["sh", "-c", "true"])
"""


@pytest.mark.parametrize("name", STARTERS)
def test_the_started_program_gets_the_layout_alone(launch, layout, tmp_path, name):
    starter = STARTERS[name]
    if shutil.which(starter[0]) is None:
        pytest.skip(f"no {starter[0]} here")
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", *starter, sys.executable, "-c", PROGRAM)
    assert (done.returncode, done.stdout.split()) == (0, ["True", "False"]), done.stderr
    found = json.loads(report.read_text())
    assert found["verdict"] == "confirmed"
    assert sum(pool["used_bytes"] for pool in found["pools"]) > 8 << 20
    assert found["counters"]["other_programs"] >= 2


def test_the_status_is_the_starters(launch, layout):
    assert launch("--layout", layout(), "--", "timeout", "0.5", "sleep", "30").returncode == 124
    assert launch("--layout", layout(), "--", "nice", sys.executable, "-c", "exit(6)").returncode == 6


@pytest.mark.parametrize("option", [("-i",), ("-u", "LD_PRELOAD")], ids=["all", "one"])
def test_a_starter_that_drops_the_library_is_named(launch, layout, tmp_path, option):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", "env", *option, sys.executable, "-c", "")
    assert done.returncode == 2 and "LD_PRELOAD" in done.stderr
    assert json.loads(report.read_text())["verdict"] == "unchecked"


@pytest.mark.parametrize("shell", ["sh", "bash", "/bin/dash", "xargs", "make"])
def test_a_shell_needs_a_target(launch, layout, tmp_path, shell):
    done = launch("--layout", layout(), "--", shell, "-c", f"touch {tmp_path}/ran")
    assert done.returncode == 2 and "--target" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_shell_behind_a_starter_needs_a_target(launch, layout, tmp_path):
    done = launch("--layout", layout(), "--", "env", "X=1", "sh", "-c", f"touch {tmp_path}/ran")
    assert done.returncode == 2 and "--target" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_shell_may_be_the_target(launch, layout, tmp_path):
    report = tmp_path / "r.json"
    done = launch(
        "--layout", layout(), "--report", report, "--target", "sh", "--", "sh", "-c", "echo $((6 * 7))"
    )
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    assert json.loads(report.read_text())["verdict"] == "confirmed"


def test_a_program_that_only_starts_another_one_is_noted(launch, layout, build, tmp_path):
    source = tmp_path / "starts.c"
    source.write_text(
        "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
        "int main(int n, char** a) { if (fork() == 0) { execv(a[1], a + 1); _exit(9); }\n"
        "int s; wait(&s); return 0; }\n"
    )
    subprocess.run(["cc", "-o", tmp_path / "starts", source], check=True)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", tmp_path / "starts", build / "cases", "brk")
    assert done.returncode == 0 and f"--target {build}/cases" in done.stderr
    found = json.loads(report.read_text())
    assert (found["counters"]["other_programs"], found["other_program"]) == (1, f"{build}/cases")


def test_a_program_that_becomes_another_one_is_named(launch, layout, build, tmp_path):
    report = tmp_path / "r.json"
    code = f"import os; os.execv('{build}/cases', ['cases', 'brk'])"
    done = launch("--layout", layout(), "--report", report, "--", sys.executable, "-c", code)
    found = json.loads(report.read_text())
    assert (done.returncode, found["verdict"]) == (1, "unchecked")
    assert f"{build}/cases" in found["reason"] and f"--target {build}/cases" in done.stderr


def test_both_lists_are_the_same(root):
    header = (root / "artifacts/mosalloc/include/mosalloc/starters.h").read_text()
    for table, names in (("kMosallocStarters", capture.STARTERS), ("kMosallocShells", capture.SHELLS)):
        body = re.search(rf"{table}\[\] = {{(.*?)}};", header, re.DOTALL)[1]
        assert tuple(re.findall(r'"(\w+)"', body)) == names
