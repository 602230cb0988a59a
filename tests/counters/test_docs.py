"""Pages on counters: their commands run, their tables are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.files import repo_root
from tessera.machine.counters.event import STATUSES
from tessera.machine.counters.event_table import class_named, counter_classes
from tests.docs import pages

from .builders import RUN, write

#: words of commands that count, here or elsewhere: tests/measure, tests/bundles
ELSEWHERE = ("environment", "--reserve", "bundle", "--ready-port", "counters check")


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(9):
        scale = {event: value - number * value // 20 for event, value in RUN.items()}
        write(Path(f"logs/growing-{number}.data.perf"), scale | {"instructions:u": 6_000_000_000})
    for name, number in (("17", 0), ("18", 8)):
        Path(f"run-{name}.txt").write_text(Path(f"logs/growing-{number}.data.perf").read_text())
    Path("runs.csv").write_text("file,layout,repeat\nrun-17.txt,4kb,0\nrun-18.txt,2mb,0\n")
    text = "tests/counters/logs/ibs/written-6.12-zen3.txt"  # the page names it from the checkout
    Path(text).parent.mkdir(parents=True)
    Path(text).write_text((repo_root() / text).read_text())
    assert pages.invoke_all("measure.md", but=ELSEWHERE) == 4
    assert pages.invoke_all("counters.md") == 3
    assert Path("fit/errors.csv").exists() and Path("counts.csv").exists() and Path("cells2.csv").exists()


def test_the_printed_passes_are_those_of_the_command():
    (block,) = (
        block for block in pages.blocks("measure.md", "console") if "tessera measure counters" in block
    )
    command, printed = block.removeprefix("$ ").removesuffix("...\n").split("\n", 1)
    assert pages.invoke(command).startswith(printed)


def test_the_table_of_c():
    head = "| class | processors | walkers | event of loads | C | caveat |"
    rows = pages.table("codes.md", head)
    assert [row[0] for row in rows] == list(counter_classes())
    for name, _, walkers, event, meaning, _ in rows:
        found = class_named(name)
        assert walkers == str(found.walkers or "-"), name
        counted = [e.name for e in found.of_quantity("C loads")]
        assert event == (counted[0] if counted else "not counted"), name
        bound = re.match(r"C <= (\d )?R", meaning)
        assert bool(bound) == (found.walkers is not None), name
        assert not bound or int(bound[1] or 1) == found.walkers, name


def test_the_table_of_statuses():
    rows = pages.table("codes.md", "| status | meaning |")
    assert [row[0] for row in rows] == list(STATUSES)
