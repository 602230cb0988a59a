"""``--try LAYOUTS --predict LAYOUT``: samples are what the fake machine counts, and a line is predicted."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.units import MB, PAGE_2MB
from tessera.fit.predict.decision import cycles_text

from .test_command import command
from .world import engine_cells

MOSAICS = list("abcdefg")
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "measure.md").read_text()
POOLS = {"brk": 2 * MB, "mmap": 32 * MB}


@pytest.fixture
def mosaics(world):
    """Seven layouts, and an engine whose R is 3e8 + 1.5 C exactly."""
    cells = engine_cells(world.folder / "engine.csv", ("program",))
    cells |= {("program", name): cells["program", f"growing-{n}"] for n, name in enumerate(MOSAICS, start=1)}
    for cell in {id(cell): cell for cell in cells.values()}.values():
        cell["runtime_cycles"] = 300_000_000 + cell["walk_cycles"] * 3 // 2
    with (world.folder / "engine.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["workload", "layout", *next(iter(cells.values()))])
        writer.writeheader()
        writer.writerows({"workload": w, "layout": name, **cell} for (w, name), cell in cells.items())
    for at, name in enumerate(MOSAICS, start=1):
        window = Window("mmap", 0, 2 * at * MB, PAGE_2MB)
        write_layout(Layout(name, POOLS, (window,)), world.folder / f"{name}.csv")
    return world, {name: cells["program", name] for name in MOSAICS}


def asked(names):
    return ",".join(f"{name}.csv" for name in names)


def test_a_line_is_predicted_within_its_interval(mosaics):
    """The page's command. poly1 of six and the anchors is the line itself; 8 errors allow a level of 8/9."""
    world, cells = mosaics
    (line,) = re.findall(r"^\./run .*--predict.*$", PAGE, re.M)
    words = shlex.split(line.replace("PROGRAM", "true"))
    at = words.index("measure") + 1
    done = command(world, "--model", "poly1", *words[at:])
    assert done.returncode == 0, done.stderr
    found = re.search(
        r"^g: (\S+) cycles by poly1 \(formula of a paper, not an answer\), 0.8889 interval "
        r"(\S+) to (\S+) by .*, from 8 layouts$", done.stdout, re.M,
    )  # fmt: skip
    wanted = cells["g"]["runtime_cycles"]
    assert float(found[1]) == pytest.approx(wanted, rel=5e-3)
    assert float(found[2]) <= float(found[1]) <= float(found[3])
    assert f"g: counted {cycles_text(wanted)} cycles" in done.stdout
    assert world.lines("starts").count("program/growing-8") == 3  # the anchor, once a round


def test_a_program_of_the_user_runs_as_its_user_would_start_it(mosaics, monkeypatch):
    """In the caller's folder, with the caller's tunables of glibc; it prints no result of a kernel."""
    world, _ = mosaics
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1")
    words = ("--try", asked(MOSAICS[:6]), "--predict", "g.csv", "--pairs", "1", "--", "true", "-x")
    done = command(world, *words)
    assert done.returncode == 0, done.stderr
    started = [json.loads(line) for line in world.lines("programs")]
    assert len(started) == 1 + 9  # the first run shows the memory; then seven layouts and two anchors
    for one in started:
        assert one["program"] == ["env", "-C", str(world.folder), "true", "-x"]
        assert one["tunables"] == "glibc.malloc.check=1"


def test_no_round_is_a_wrong_request(mosaics):
    world, _ = mosaics
    words = ("--try", asked(MOSAICS[:6]), "--predict", "g.csv", "--pairs", "0", "--", "true")
    done = command(world, *words)
    assert done.returncode == 2 and "--pairs" in done.stderr and "Traceback" not in done.stderr
    assert world.lines("starts") == []


@pytest.mark.parametrize(
    ("names", "predict", "words"),
    [
        (MOSAICS[:5], "g.csv", "5 layouts"),
        (MOSAICS, "g.csv", "in --try, too"),
        ([*MOSAICS[:6], "thp"], "g.csv", "no layout file"),
    ],
)
def test_what_is_no_model(mosaics, names, predict, words):
    world, _ = mosaics
    done = command(world, "--try", asked(names), "--predict", predict, "--", "true")
    assert done.returncode == 2 and words in done.stderr and world.lines("starts") == []
