"""The launcher's options as Python gives them: absent ones are absent, present ones are understood."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.measure.mosalloc import read_report
from tessera.measure.mosalloc.launcher import mosalloc_command

CHOICES = {
    "--hints": ("kernel", "pool"),
    "--stacks": ("kernel", "pool"),
    "--protections": ("guards", "soft", "exact"),
}


@pytest.fixture
def launcher(monkeypatch, tmp_path):
    program = tmp_path / "build" / "mosalloc" / "mosalloc-run"
    program.parent.mkdir(parents=True)
    program.write_text("")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))


def test_options_that_are_not_given_are_left_to_the_launcher(launcher, layout):
    path = layout()
    assert mosalloc_command(["ls"], path)[1:] == ["--layout", str(path), "--", "ls"]


def test_every_option_has_its_place(launcher, layout, tmp_path):
    argv = mosalloc_command(
        ["ls"],
        layout(),
        prefault=False,
        hints="pool",
        stacks="kernel",
        protections="exact",
        analyze=tmp_path / "a.json",
        interval_ms=5,
    )
    assert argv[3:] == [
        "--no-prefault",
        *("--hints", "pool", "--stacks", "kernel", "--protections", "exact"),
        *("--analyze", f"{tmp_path}/a.json", "--interval-ms", "5", "--", "ls"),
    ]


def usage(build) -> str:
    text = subprocess.run([build / "mosalloc-run", "--help"], capture_output=True, text=True).stdout
    if "--analyze" not in text:
        pytest.skip("this mosalloc-run is older than its options: ./run tessera dev build --test mosalloc")
    return text


@pytest.mark.toolchain
@pytest.mark.parametrize("option, value", [(o, v) for o, values in CHOICES.items() for v in values])
def test_the_launcher_takes_every_choice(build, layout, tmp_path, option, value):
    usage(build)
    report = tmp_path / "r.json"
    words = ["run", "--layout", layout(), "--report", report, option, value, "--"]
    code = "import threading; t = threading.Thread(target=print); t.start(); t.join()"
    done = CliRunner().invoke(mosalloc, [*map(str, words), sys.executable, "-c", code])
    assert done.exit_code == 0, done.output
    found = read_report(report)
    assert found.confirmed and found.calls["mmap"]["pool"] > 0
    assert found.outside is not None and found.file_pool is not None
    assert {pool.pool for pool in found.pools} == {"brk", "mmap"}


@pytest.mark.parametrize("option", CHOICES)
def test_other_choices_are_refused(option, layout):
    done = CliRunner().invoke(mosalloc, ["run", "--layout", str(layout()), option, "maybe", "--", "ls"])
    assert done.exit_code == 2 and "maybe" in done.output


@pytest.mark.toolchain
def test_docs_know_the_launchers_options(root, build):
    listed = set(re.findall(r"^  (--[a-z-]+)", usage(build), re.MULTILINE))
    pages = ("docs/howto/mosalloc.md", "docs/reference/commands.md")
    text = "".join((root / page).read_text() for page in pages)
    # `--library` is for tests of the launcher itself
    assert {option for option in listed if not re.search(rf"(`|/ ){option}\b", text)} <= {
        "--library",
        "--analyze",
        "--interval-ms",
    }
