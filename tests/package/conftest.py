"""A small git checkout with results, made for each test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tessera.core.results import cell_tables
from tessera.core.results.table_io import frame_of

_ROWS = [
    {"workload": "gups", "runtime_cycles": 100}
    | dict.fromkeys(("runtime_provenance", "tlb_provenance"), "simulated"),
    {"workload": "gups", "runtime_ns": 7, "runtime_provenance": "measured", "tlb_provenance": "simulated"},
]
CELLS = frame_of(cell_tables.CELLS, _ROWS).to_csv(index=False)


def git(root: Path, *words: str) -> str:
    settings = ["-c", "user.name=A B", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def fill(root: Path, files: dict[str, str | bytes]) -> None:
    for name, body in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout in a folder whose name is of this machine alone."""
    root = tmp_path / "tessera-checkout"
    fill(
        root,
        {
            "run": "#!/bin/sh\necho run\n",
            "README.md": "# Sample\n",
            "reference-results/table1.csv": "value,provenance\n1,published\n",
            ".gitignore": "/results/\n",
            ".zenodo.json": "{}\n",
        },
    )
    (root / "run").chmod(0o755)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first", "--date", "2026-01-02T03:04:05Z")
    monkeypatch.setenv("TESSERA_ROOT", str(root))
    return root


@pytest.fixture
def results(checkout):
    folder = checkout / "results" / "sample"
    fill(
        folder,
        {
            "cells.csv": CELLS,
            "models/errors.csv": "model,max_error\nbasu,0.5\n",
            "figures/table8.csv": "provenance,value\nsimulated,1\npublished,2\n",
            "figures/table8.svg": "<svg/>\n",
            "layouts/gups/a.csv": "type,pageSize\nmmap,-1\n",
            "benchmarks/cells.tsv": "s\n1\n",
            "report/index.html": "<html></html>\n",
            "traces/gups/trace.tst": bytes(5000),
            "traces/gups/info.json": '{"status": "ok"}\n',
            "cache/gups/cell.json": "{}",
            "logs/cells.log": "started\n",
            "cells.csv.tmp": "half",
            "traces/gups/.trace.tst.beef-1.0123.tmp/settings": "of a recording that was killed",
        },
    )
    return folder
