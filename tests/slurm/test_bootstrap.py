"""``./run --slurm``: the plugin, and what is refused before a job is submitted. Slurm is played."""

from __future__ import annotations

import os
import subprocess

import pytest

SETUP = """
set -euo pipefail
state=$PWD/state venv=$PWD/venv
say() { printf 'run: %s\\n' "$*" >&2; }
fail() { printf 'run: %s: %s\\n  what to do: %s\\n' "$1" "$2" "$3" >&2; exit 2; }
tell_uv_what_pip_knows() { :; }
snakemake_options=(--cores all)
mkdir -p "$state"
"""
PRINT = 'printf "%s\\n" "${snakemake_options[@]}"'


@pytest.fixture
def login(root, tmp_path):
    """A machine with these commands, each with its exit status; returns the finished step."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    commands = tmp_path / "commands"
    commands.mkdir()

    def program(path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    program(tmp_path / "venv" / "bin" / "uv", f'echo "$@" >> {tmp_path}/uv.log')

    def step(verb: str, **statuses: int) -> subprocess.CompletedProcess[str]:
        for path in commands.iterdir():
            path.unlink()
        for name, status in statuses.items():
            program(commands / name, f"echo from {name} >&2; exit {status}")
        script = f'{SETUP}root="{root}" verb={verb}; . "{root}/bootstrap/slurm.sh"; ensure_slurm; {PRINT}'
        env = os.environ | {"PATH": f"{commands}:/usr/bin:/bin"}
        # a Slurm of this machine must not answer: every command that is not given fails to be found
        hidden = f"command() {{ [[ -x {commands}/$2 ]]; }}\n"
        return subprocess.run(
            ["bash", "-c", hidden + script], cwd=tmp_path, env=env, text=True, capture_output=True
        )

    return step


ALL = {"sbatch": 0, "squeue": 0, "srun": 0, "scancel": 0}


def test_the_setup_needs_no_cluster(login, tmp_path):
    done = login("setup")
    assert done.returncode == 0, done.stderr
    assert "requirements-slurm.lock" in (tmp_path / "uv.log").read_text()


def test_the_plugin_is_installed_once(login, tmp_path):
    for _ in range(2):
        assert login("setup").returncode == 0
    assert len((tmp_path / "uv.log").read_text().splitlines()) == 1


@pytest.mark.parametrize("absent", ALL)
def test_a_machine_that_cannot_submit_is_refused(login, absent):
    done = login("reproduce", **{name: 0 for name in ALL if name != absent})
    assert done.returncode == 2 and f"no command {absent}" in done.stderr


def test_a_controller_that_does_not_answer_is_refused(login):
    done = login("reproduce", **(ALL | {"squeue": 1}))
    assert done.returncode == 2 and "from squeue" in done.stderr and "sinfo" in done.stderr


def test_without_accounting_the_queue_is_asked_for_states(login):
    done = login("reproduce", **ALL, sacct=1)
    words = done.stdout.split()
    assert words[0] == "--workflow-profile" and words[1].endswith("/profiles/slurm")
    assert words[2:] == ["--slurm-no-account", "--slurm-status-command", "squeue"]
    assert login("reproduce", **ALL, sacct=0).stdout.split() == words[:2]
