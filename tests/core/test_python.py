"""No start of Python executes files of the current folder, whoever put them there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.cli.plan import estimate
from tessera.core.processes import module_command
from tessera.machine.environment.preparation import MachineChanges, fixed
from tessera.measure.mosalloc import background

#: Modules that our programs import, and packages that they start.
PACKAGES = ("tessera", "pip", "snakemake")
HOSTILE = ("json.py", "select.py", "click.py", *(f"{name}/__init__.py" for name in PACKAGES))
#: A Python of its own, with a module: in a line of a shell script, and in words of Python.
SHELL = re.compile(r"python3?\"? (?!-P )(?:-\w+ )*-m ")
WORDS = re.compile(r"(?:sys\.executable|[\"'][\w/.]*python3?[\"']),\s*[\"']-m[\"']")


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """The current folder is hostile; gives the names of the files of it that were executed."""
    folder, mark = tmp_path / "shared", tmp_path / "mark"
    for name in HOSTILE:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'a').write(__file__ + '\\n')\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)

    def executed() -> list[str]:
        lines = mark.read_text().splitlines() if mark.exists() else []
        return [str(Path(line).relative_to(folder)) for line in lines]

    return executed


@pytest.mark.parametrize(
    ("module", "argument"),
    [("tessera.machine.environment.guardian", ""), ("tessera", "--help"), ("pip", "-V")],
)
def test_without_the_helper_the_folder_is_executed(marked, module, argument):
    """The files are hostile indeed, so that the other tests can fail."""
    subprocess.run([sys.executable, "-m", module, argument], input="", capture_output=True, text=True)
    assert marked() != []


@pytest.mark.parametrize(
    ("module", "argument", "status"),
    [
        ("tessera", "--help", 0),
        ("pip", "--version", 0),
        ("snakemake", "--version", 0),
        ("tessera.lab.allocator_proof.programs.worker", "--help", 0),
    ],
)
def test_modules_start_without_the_folder(marked, module, argument, status):
    done = subprocess.run(module_command(module, argument), capture_output=True, text=True)
    assert (done.returncode, marked()) == (status, []), done.stderr


def test_the_guardian_of_settings_starts_without_the_folder(marked, tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    with fixed(MachineChanges((), ())):
        pass
    assert marked() == []


def test_the_fragmenter_starts_without_the_folder(marked, monkeypatch):
    """Only its start: it ends at once, because its input is closed."""
    real, ended = subprocess.Popen, []

    def start(argv, **options):
        options["stdin"] = subprocess.DEVNULL
        ended.append(real([*argv[:-1], "not a number"], stderr=subprocess.PIPE, **options))
        return ended[0]

    monkeypatch.setattr(background.subprocess, "Popen", start)
    with pytest.raises(Exception), background.fragmented_memory(0.5):  # noqa: B017
        pass
    assert ended[0].returncode != 0 and marked() == []


def test_the_count_of_jobs_uses_the_helper():
    assert estimate.DRY_RUN[:4] == [sys.executable, "-P", "-m", "snakemake"]


def test_the_installed_command_starts_without_the_folder(marked):
    command = Path(sys.executable).with_name("tessera")
    if not command.exists():
        pytest.skip("there is no command tessera beside Python: ./run setup")
    done = subprocess.run([command, "--help"], capture_output=True)
    assert (done.returncode, marked()) == (0, [])


def test_the_doctor_starts_without_the_folder(marked, root):
    """``./run doctor`` stands in the checkout's folder, under the Python of the machine."""
    shutil.copy(root / "run", "run")
    os.rename("tessera", "other")
    for name in ("src", "bootstrap"):
        os.symlink(root / name, name)
    done = subprocess.run(["./run", "doctor", "--json"], capture_output=True, text=True)
    assert done.stdout.startswith("{") or done.stdout.startswith("["), done.stderr
    assert marked() == []


def starts(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [line for line in text.splitlines() if pattern.search(line) and not line.lstrip().startswith("#")]


def test_the_patterns_find_unsafe_starts():
    assert starts('"$venv/bin/python" -m pip install', SHELL) and starts("python3 -I -m json", SHELL)
    assert not starts('"$venv/bin/python" -P -m pip install', SHELL)
    assert starts('[sys.executable, "-m", "pip"]', WORDS) and starts("['python3', '-m', 'x']", WORDS)
    assert not starts('[python, "-P", "-m", module]', WORDS)


def test_only_the_helper_starts_modules(root):
    found = []
    for folder in ("src", "artifacts", "workflow", "examples"):
        for path in (root / folder).rglob("*.py"):
            found += [f"{path.relative_to(root)}: {line}" for line in starts(path.read_text(), WORDS)]
    assert found == []


def test_shell_scripts_start_modules_without_the_folder(root):
    files = [root / "run", *(root / "bootstrap").glob("*.sh"), *(root / "artifacts").rglob("*.sh")]
    files += [root / "Snakefile", *(root / "workflow").rglob("*.smk"), *(root / "docker").rglob("*")]
    found = []
    for path in files:
        if path.is_file():
            lines = starts(path.read_text(), SHELL)
            found += [f"{path.name}: {line}" for line in lines if "PYTHONSAFEPATH=1 " not in line]
    assert len(files) > 20 and found == []
