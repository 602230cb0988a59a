"""Random layouts get the same verdict, rule and line from Python, the allocator and the simulator."""

from __future__ import annotations

import csv
import random
import re
import struct
import subprocess
from collections import Counter

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import built
from tessera.core.layouts.layout import read_layout
from tessera.core.layouts.layout_format import RULES, LayoutRefused
from tessera.machine.container import RunOptions, toolchain

from .mutations import layout_file

SEED, COUNT = 20, 400
#: A rule of the grammar in a message. What depends on a trace or on free huge pages has no such code.
VERDICT = re.compile(r"line (\d+), column \w+: .*\[(layout/[a-z0-9-]+)\]", re.DOTALL)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("random-layouts")
    rng = random.Random(SEED)
    paths = [folder / f"random-{number}.csv" for number in range(COUNT)]
    for path in paths:
        path.write_bytes(layout_file(rng))
    return paths


@pytest.fixture(scope="module")
def expected(files):
    return {path.stem: python_verdict(path) for path in files}


def python_verdict(path):
    try:
        read_layout(path)
    except LayoutRefused as refusal:
        return refusal.rule, refusal.line
    return None


def verdict(message: str):
    found = VERDICT.search(message)
    return (found.group(2), int(found.group(1))) if found else None


def test_the_files_break_most_rules_and_many_break_none(expected):
    seen = Counter(found[0] if found else "accepted" for found in expected.values())
    assert COUNT / 4 < seen["accepted"] < COUNT * 3 / 4, seen
    assert len(set(seen) & set(RULES)) >= 13, seen


def component(name: str, program: str):
    try:
        return built(name, program)
    except TesseraError as missing:
        pytest.skip(str(missing))


@pytest.mark.toolchain
def test_the_allocator_agrees(files, expected):
    """A program that starts, or lacks huge pages or address space, had a good layout."""
    run = component("mosalloc", "mosalloc-run")
    for path in files:
        argv = [run, "--layout", path, "--", "true"]
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=60)
        assert verdict(done.stderr) == expected[path.stem], (path.read_bytes(), done.stderr)


@pytest.mark.toolchain
def test_the_simulator_agrees(files, expected):
    simulator, tracer = component("simulator", "tessera-sim"), component("tracer", "tessera-trace")
    folder = files[0].parent
    base = 1 << 38
    loads = struct.Struct("<QBB2B4B2Q4Q")  # ChampSim's record
    records = (loads.pack(1 << 22, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, base + 64 * i, 0, 0, 0) for i in range(100))
    (folder / "in.champsim").write_bytes(b"".join(records))
    (folder / "flat").write_text(platforms.load_platform("haswell-sim").flat())
    (folder / "list").write_text("".join(f"{path}\n" for path in files))
    source, trace = folder / "in.champsim", folder / "t.tst"
    run(folder, tracer, "import-champsim", source, trace, "--mmap-pool", f"{base}:{base + (1 << 36)}")
    options = {"trace": trace, "platform": folder / "flat", "layouts": folder / "list", "engine": "partial"}
    argv = [word for key, value in options.items() for word in (f"--{key}", value)]
    found = {row["layout"]: row for row in csv.DictReader(run(folder, simulator, "run", *argv).splitlines())}
    assert set(found) == set(expected)
    for path in files:
        row = found[path.stem]
        assert verdict(row["message"]) == expected[path.stem], (path.read_bytes(), row["message"])


def run(folder, *argv) -> str:
    options = RunOptions(writes=(folder,))
    done = toolchain().run([str(word) for word in argv], capture=True, check=False, options=options)
    assert done.returncode == 0, done.stderr
    return done.stdout
