"""One smoke run serves all end-to-end tests; they only read it."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """A finished `./run smoke`: exit status, what it printed (both streams), seconds, results folder."""

    status: int
    output: str
    seconds: float
    results: Path


def run_sh(*words: str, timeout: int = 900, **env: str) -> subprocess.CompletedProcess:
    """`./run ...` in the checkout, both streams in ``stdout``, no terminal."""
    return subprocess.run(
        ["./run", "--yes", *words],
        cwd=ROOT,
        env=os.environ | env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )


@pytest.fixture(scope="session")
def smoke() -> Run:
    """`./run smoke`, with --reserve when this test run was allowed to reserve huge pages."""
    reserve = ["--reserve"] if os.environ.get("TESSERA_RESERVE") == "1" else []
    start = time.monotonic()
    done = run_sh(*reserve, "smoke")
    return Run(done.returncode, done.stdout, time.monotonic() - start, ROOT / "results" / "smoke")
