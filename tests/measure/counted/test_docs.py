"""docs/howto/measure.md: its commands run on a machine of files, its options are those of the commands."""

from __future__ import annotations

import re

import click
import pytest

from tessera.cli import machine
from tessera.cli.measure.group import measure
from tests.docs import pages


def options(name):
    command = measure.get_command(click.Context(measure), name)
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize(
    ("heading", "command", "elsewhere"),
    [
        ("Measure a machine", "run", {"--reserve"}),
        (
            "Measure one program",
            "program",
            {"--reserve", "--method", "--size", "--reads", "--port", "--save", "--pidfile"},
        ),
    ],
)
def test_options_of_the_page_exist(heading, command, elsewhere):
    part = pages.text("measure.md", heading)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", part))
    assert len(named) > 2 and named <= options(command) | elsewhere


def test_every_option_of_the_measurement_is_explained_or_helps():
    part = pages.text("measure.md", "Measure a machine")
    assert {option for option in options("run") if option not in part} == set()


def test_the_commands_of_a_measurement_run_in_their_order(world, monkeypatch):
    """``./run measure`` is ``tessera measure run``; the layouts here are few, to be quick."""
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr(machine, "_root", lambda: world.machine)
    lines = pages.typed("measure.md", "Measure a machine")
    run = "tessera measure run --layouts core --workloads alpha"
    for line in lines:
        pages.invoke(line.replace("--reserve measure", run))
    assert [line.split()[2:4] for line in lines[::2]] == [["measure", "environment"], ["measure", "bundle"]]
