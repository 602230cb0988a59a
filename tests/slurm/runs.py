"""Runs of Snakemake through a test's Slurm cluster, with ``profiles/slurm`` and short waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
#: The profile waits 10 s before it asks for the state of jobs; a cluster of one user may be asked at once.
SHORT = (
    "--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1",
    "--latency-wait", "5",
)  # fmt: skip
#: A cluster without accounts and without a data base of jobs, as Debian's packages make one.
PLAIN = ("--slurm-no-account", "--slurm-status-command", "squeue")


def options(memory_mb: int | None = None) -> list[str]:
    """Options of a run with the profile."""
    words = ["--workflow-profile", str(ROOT / "profiles" / "slurm"), *PLAIN, *SHORT]
    return words if memory_mb is None else [*words, "--set-resources", f"work:mem_mb={memory_mb} * attempt"]


class Workflow:
    """A Snakefile in ``folder``, run on ``cluster``."""

    def __init__(self, folder: Path, cluster: Cluster):
        self.folder, self.cluster = folder, cluster
        path = f"{cluster.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = os.environ | cluster.env | {"PATH": path}

    def write(self, text: str) -> None:
        (self.folder / "Snakefile").write_text(text)

    def run(self, *words: str, seconds: float = 900) -> subprocess.CompletedProcess:
        """A run until it ends; both streams in ``stdout``."""
        return subprocess.run(
            ["snakemake", *words], cwd=self.folder, env=self.env, text=True, timeout=seconds,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen]:
        """A run that works in the background; it is interrupted, as by Ctrl-C, if it has not ended."""
        with (self.folder / "started.log").open("w") as log:
            process = subprocess.Popen(
                ["snakemake", *words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(60)

    def lines(self, name: str) -> list[str]:
        """Lines of a file of the folder; none if there is no such file."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def said(self) -> str:
        """What the run of :meth:`started` has printed."""
        return (self.folder / "started.log").read_text()


def wait_until(ready: Callable[[], bool], what: str, seconds: float = 600) -> None:
    """Return when ``ready`` is true; fails after ``seconds``."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"not after {seconds} s: {what}"
        time.sleep(0.2)
