"""docs/measure.md: its commands run on a machine of files, its options are those of the commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli import machine
from tessera.cli.main import cli
from tessera.cli.measure.group import measure

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "measure.md").read_text()


def options(name):
    return {option for parameter in measure.commands[name].params for option in parameter.opts}


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
    part = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", part))
    assert len(named) > 2 and named <= options(command) | elsewhere


def test_every_option_of_the_measurement_is_explained_or_helps():
    part = PAGE.split("## Measure a machine")[1].split("\n## ")[0]
    assert {option for option in options("run") if option not in part} == set()


def test_the_commands_of_a_measurement_run_in_their_order(world, monkeypatch):
    """``./run measure`` is ``tessera measure run``; the layouts here are few, to be quick."""
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr(machine, "_root", lambda: world.machine)
    part = PAGE.split("## Measure a machine")[1].split("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", part, re.DOTALL)
    done = []
    for line in block.splitlines():
        words = [word for word in shlex.split(line)[1:] if word not in ("--reserve", "tessera")]
        if words[0] == "measure":
            words = ["measure", "run", *words[1:], "--layouts", "core", "--workloads", "alpha"]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception}"
        done.append(words[0])
    assert done == ["environment", "measure", "bundle"]
