"""docs/measure.md: its commands run, its tables are those of the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.files import repo_root
from tessera.machine.counters.event import STATUSES
from tessera.machine.counters.event_table import class_named, classes

from .builders import RUN, write

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "measure.md").read_text()
PERF = PAGE.split("## Events and logs of perf")[1]


def table(heading: str, column: str) -> list[list[str]]:
    """Rows of the table below a heading, whose first column has this name."""
    part = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    rows = part.split(f"| {column} |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def run(command: str):
    words = shlex.split(command)
    assert words[:2] == ["./run", "tessera"]
    done = CliRunner().invoke(cli, words[2:])
    assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception}"
    return done.output


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(9):
        scale = {event: value - number * value // 20 for event, value in RUN.items()}
        write(Path(f"logs/growing-{number}.data.perf"), scale | {"instructions:u": 6_000_000_000})
    for name, number in (("17", 0), ("18", 8)):
        Path(f"run-{name}.txt").write_text(Path(f"logs/growing-{number}.data.perf").read_text())
    Path("runs.csv").write_text("file,layout,repeat\nrun-17.txt,4kb,0\nrun-18.txt,2mb,0\n")
    lines = "".join(re.findall(r"```sh\n(.*?)```", PERF, re.DOTALL)).splitlines()
    assert len(lines) == 7
    text = "tests/counters/logs/ibs/written-6.12-zen3.txt"  # the page names it from the checkout
    Path(text).parent.mkdir(parents=True)
    Path(text).write_text((repo_root() / text).read_text())
    for line in lines:
        run(line)
    assert Path("fit/errors.csv").exists() and Path("counts.csv").exists() and Path("cells2.csv").exists()


def test_the_printed_passes_are_those_of_the_command():
    (block,) = re.findall(r"```console\n\$ (.*?)\n(.*?)\.\.\.\n```", PERF, re.DOTALL)
    assert run(block[0]).startswith(block[1])


def test_the_table_of_c():
    rows = table("What C means", "class")
    assert [row[0] for row in rows] == list(classes())
    for name, walkers, event, meaning in rows:
        found = class_named(name)
        assert walkers == str(found.walkers or "-"), name
        counted = [e.name for e in found.of_quantity("C loads")]
        assert event.strip("`") == (counted[0] if counted else "not counted"), name
        bound = re.match(r"C <= (\d )?R", meaning)
        assert bool(bound) == (found.walkers is not None), name
        assert not bound or int(bound[1] or 1) == found.walkers, name


def test_the_table_of_statuses():
    assert [row[0].strip("`") for row in table("The class of your processor", "status")] == list(STATUSES)
