"""Every command of the first command line still exists, or ends in one line that names the new one."""

import csv
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tessera.cli.dev.steps import STEPS
from tessera.cli.main import cli
from tessera.lab.catalogue import STUDIES

ROOT = Path(__file__).resolve().parents[2]
#: All 163 commands before they were put in five parts; a group and its commands.
OLD = """
build
bundle: add, fetch, judge, list, merge, show, verify
counters: check, list, show
datasets: fetch, list, verify
doctor
energy: cells
environment
faults: measure, show, stream record, stream show, stream templates
host: run
kernel: balancing, bisect, boot, build, outcomes, placement, prove, selftests-mm, stress-ng, table4, table5,
    table6, test
layouts: check, generate
mapping: capture, capture-matrix, compose, generate, show
measure: import, program, run, walk-estimate
models: adaptive, collect, explain, fit, list, predict, protocols, versions
mosalloc: analyze, bench, check, overhead, programs, proof, reserve, run, suggest
notebooks: archive, list, refresh, run
numa: arithmetic, bars, defects, fragmented, gups, judge, machine, map capture, map compare, map expect, map
    study, placements, predict, program, sockets
oracle: compare, record
os: list, run, show
package: verify
pagetables: dump, show
pipeline: adaptive, attempt, cells, concat, drop, fit, host, layouts, machines, one-gb, prepare, record,
    retry, select, unlock
plan
platform: check, detect, list, show
predict
predict-design
reference: compare, fetch, list, verify
report: check, figures, render
simulate
study: ablations, designs, probes, recording, sampling, scenarios, sweep, transfer, walk-cost, window,
    xml-grid
threads: fit, measure, predict, sweep
trace: count, events, export, import, info, record, switch, touches, verify
validate: chase, clock, clock-measure, closed-forms, engines, explain, invariants, mosaics
virtuoso: costs, judge, program
workload: add, count, list, prepare, run, show, spec
"""


def old_commands():
    """Their words, as they were typed."""
    for line in re.sub(r"\n +", " ", OLD).strip().splitlines():
        group, _, names = line.partition(": ")
        yield from (f"{group} {name}" for name in names.split(", ")) if names else (group,)


OLD_COMMANDS = tuple(old_commands())


def command(words):
    """The command that the first of these words name; None if a group has none of the name."""
    found = cli
    for word in words:
        if not isinstance(found, click.Group):
            return found
        found = found.get_command(click.Context(found), word)
    return found


def test_the_list_is_whole():
    assert len(OLD_COMMANDS) == len(set(OLD_COMMANDS)) == 163


@pytest.mark.parametrize("old", OLD_COMMANDS)
def test_an_old_command_exists_or_says_the_new_one(old):
    with (ROOT / "docs" / "moved.csv").open(newline="") as stream:
        moved = {row["old"]: row["new"] for row in csv.DictReader(stream) if row["kind"] == "command"}
    if isinstance(command(old.split()), click.Command) and not isinstance(command(old.split()), click.Group):
        return
    done = CliRunner().invoke(cli, [*old.split(), "--some", "thing"])
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1, done.output
    said, named = re.fullmatch(r"tessera: '(.*)' is gone: use tessera (.*)\n", done.stderr).groups()
    assert old.startswith(said)
    words = named.split()
    assert isinstance(command(words), click.Command), named
    catalogue = {("lab", "run"): STUDIES, ("dev", "step"): STEPS}.get(tuple(words[:2]))
    assert catalogue is None or words[2] in catalogue
    new = moved[f"tessera {old}"]
    is_file = not new.startswith("tessera ") and (ROOT / new).is_file()  # an investigation
    assert is_file or f"tessera {named} ".startswith(f"{new} "), f"docs/moved.csv: {new}"
