"""Each command that README.md or a page of docs/ has a reader type is a command, with options that it has.

That they run is tested beside what they need: tests/end_to_end/test_readme.py names the folders.
"""

import re
import shlex

import click
import pytest

from tessera.cli.main import cli
from tessera.cli.measure.group import ProgramByDefault

from .pages import PAGES, typed

#: before a command's own words
BEFORE = r"^(?:sudo )?(?:\./run (?:--reserve |--engine \w+ )?)?tessera "


def commands(page):
    lines = typed(page, languages=("sh", "console"))
    return [re.sub(BEFORE, "", line) for line in lines if re.match(BEFORE, line)]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_they_exist(page):
    for line in commands(page):
        command, words = cli, shlex.split(line, comments=True)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(click.Context(command), words[0])
            assert found is not None, line
            command, words = found, words[1:]
        if isinstance(command, ProgramByDefault) and words != ["--help"]:
            command = command.get_command(click.Context(command), "program")  # measure -- PROGRAM
        own = words[: words.index("--")] if "--" in words else words
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
        assert {word.split("=")[0] for word in own if word.startswith("--")} <= known, line
