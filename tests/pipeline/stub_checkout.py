"""A copy of the checkout with a stub as `tessera`: it only makes the outputs of the step it is asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tessera.core.files import repo_root

STUB = Path(__file__).with_name("stub_tessera.py")
WARM = Path(__file__).with_name("warm_snakemake.py")
#: All that rules read; copies, so that an edit of the checkout meanwhile changes nothing.
COPIED = (
    "Snakefile", "artifacts", "config", "datasets", "docker", "notebooks", "profiles", "reference-results",
    "report", "requirements.in", "requirements.lock", "src", "workflow",
)  # fmt: skip


class Checkout:
    """``snakemake`` and ``steps`` run targets of a configuration with the stub.

    ``warm``: start Snakemake in a fork of a process that has imported it (warm_snakemake.py); if false,
    execute the command as a user does, for tests that measure it.
    """

    warm = True

    def __init__(self, folder: Path, configuration: str = "default", of: Path | None = None):
        """Copy ``of``, by default the checkout that the tests are in."""
        self.folder, self.log, self.configuration = folder, folder / "steps.log", configuration
        folder.mkdir(exist_ok=True)
        for name in COPIED:
            source = (of or repo_root()) / name
            if source.is_dir():  # fetched data stay where they are
                ignored = ("__pycache__", "cache") if name == "datasets" else ("__pycache__",)
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*ignored))
            else:
                shutil.copy2(source, folder / name)
        command = folder / "bin" / "tessera"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {STUB} "$@"\n')
        command.chmod(0o755)

    @property
    def results(self) -> Path:
        return self.folder / "results" / self.configuration

    def run(self, *words: str, **env: str) -> tuple[int, str]:
        """Exit status and output of a run in a process group of its own."""
        path = f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        given = {
            "PATH": path,
            "PYTHONPATH": f"{self.folder}/bin:{self.folder}/src",
            "STUB_LOG": str(self.log),
            "TESSERA_ROOT": str(self.folder),
        }
        given |= {"TESSERA_ENGINE": "docker", "TESSERA_RESERVE": "0", "TESSERA_RETRY": "0"}
        words = ("--configfile", f"config/{self.configuration}.yaml", "--cores", "2", *words)
        start = _warm if self.warm else _cold
        return start(words, os.environ | given | env, self.folder)

    def snakemake(self, *words: str, status: int = 0, **env: str) -> str:
        """What a run says that must end with this status."""
        found, said = self.run(*words, **env)
        assert found == status, said[-3000:]
        return said

    def steps(self, *words: str, **env: str) -> list[str]:
        """The steps that a run starts, as command lines without `tessera`."""
        self.log.unlink(missing_ok=True)
        self.snakemake(*words, **env)
        return self.log.read_text().splitlines() if self.log.exists() else []


def kinds(steps: list[str]) -> set[str]:
    """The steps' commands, as `dev step cells` or `report render`."""
    words = [line.split() for line in steps]
    return {" ".join(line[: 3 if line[0] in ("dev", "lab") else 2]) for line in words}


def _cold(words: tuple[str, ...], env: Mapping[str, str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["snakemake", *words], cwd=folder, env=env, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def _warm(words: tuple[str, ...], env: Mapping[str, str], folder: Path) -> tuple[int, str]:
    output = folder / "output.txt"
    request = {"words": words, "env": dict(env), "folder": str(folder), "output": str(output)}
    server = _server()
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, f"{WARM.name} ended with status {server.wait()}; its error is above"
    return int(answer), output.read_text()


@cache
def _server() -> subprocess.Popen:
    """The process that forks; it ends when this one closes its standard input."""
    return subprocess.Popen(
        [sys.executable, WARM], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
