"""Launchers with counters, events files, and programs whose counts are known."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tessera.core.files import build_dir, repo_root

PROGRAMS = Path(__file__).parent / "programs"
#: Where the linker puts the watched variable of programs/regions.c.
WATCHED = 0x10000000

FAULTS = "faults\t1\t0x2\t0x0\t0x0\tuk\n"
WRITES = f"writes\t5\t0x0\t{WATCHED:#x}\t0x4\tu\t2\n"


@dataclass(frozen=True)
class Counted:
    """A finished run: its status, what it said, the rows of its counts in their order (none: no file)."""

    status: int
    errors: str
    rows: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def value(self, event: str) -> int:
        return self.rows[event][0]


@pytest.fixture(scope="session")
def launchers() -> Path:
    """Folder with tessera-count, mosalloc-run and their libraries."""
    folder = build_dir("mosalloc")
    if not (folder / "tessera-count").exists():
        pytest.skip(f"{folder / 'tessera-count'} is not built; ./run tessera dev build mosalloc")
    return folder


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """``compiled("regions", *flags)``: the program, compiled with the markers of the workloads."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, *flags: str) -> Path:
        if shutil.which("cc") is None:
            pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
        out = folder / "-".join(
            [name, *(flag for flag in flags if "=" not in flag)]
        )  # env takes = for a variable
        if not out.exists():
            include = repo_root() / "artifacts/workloads/common"
            argv = ["cc", "-O1", "-pthread", f"-I{include}", *flags, "-o", out, PROGRAMS / f"{name}.c"]
            subprocess.run(argv, check=True)
        return out

    return build


@pytest.fixture(scope="session")
def regions(compiled) -> Path:
    return compiled("regions", "-no-pie", f"-Wl,--section-start=.watched={WATCHED:#x}")


@pytest.fixture
def events(tmp_path):
    """Writes an events file."""

    def write(*lines: str) -> Path:
        path = tmp_path / "events.tsv"
        path.write_text("".join(lines))
        return path

    return write


def read_counts(path: Path) -> dict[str, tuple[int, int, int]]:
    if not path.is_file():
        return {}
    with path.open(newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["event", "value", "enabled_ns", "running_ns"]
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


@pytest.fixture
def count(launchers, tmp_path):
    """``count(events, program, ..., region="roi")`` with tessera-count; ``layout`` makes it mosalloc-run."""

    def run(asked, *program, region=None, layout=None, out=None, options=(), **kwargs) -> Counted:
        counts = out or tmp_path / "counts.csv"
        if layout is None:
            argv = [launchers / "tessera-count", "--events", asked, "--counts", counts]
            argv += ["--region", region] if region else []
        else:
            argv = [launchers / "mosalloc-run", "--layout", layout, "--count", asked, "--counts", counts]
            argv += ["--count-region", region] if region else []
        done = subprocess.run(
            [*map(str, argv), *map(str, options), "--", *map(str, program)],
            capture_output=True, text=True, timeout=60, **kwargs,
        )  # fmt: skip
        leftovers = (
            [p for p in counts.parent.iterdir() if p.name.endswith(".part")] if counts.parent.is_dir() else []
        )
        assert not leftovers
        return Counted(done.returncode, done.stderr, read_counts(counts))

    return run


@pytest.fixture
def layout(tmp_path):
    """4KB pages only, so that no huge page is needed."""
    path = tmp_path / "layout.csv"
    path.write_text("type,pageSize,startOffset,endOffset\nbrk,-1,0,64MB\nmmap,-1,0,64MB\n")
    return path


@pytest.fixture
def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root, to run as another user")
