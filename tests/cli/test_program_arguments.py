"""Commands that run a program: unknown options before it are refused, words behind its name are its own."""

import click
import pytest
from click.testing import CliRunner

from tessera.cli.lazy import ProgramCommand
from tessera.cli.main import cli

#: Arguments of commands that take a program and its words; other repeated arguments are names or files.
PROGRAMS = {"program", "command"}


def commands(group: click.Group = cli, words: tuple[str, ...] = ()):
    """All commands below a group, with their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def program_of(command: click.Command):
    return next((p for p in command.params if isinstance(p, click.Argument) and p.name in PROGRAMS), None)


FOUND = {words: command for words, command in commands() if program_of(command)}
#: Words that stand before options: the workload's name.
FIRST = {("workload", "add"): ["sorting"]}
by_words = pytest.mark.parametrize("words", FOUND, ids=" ".join)


def long_options(command: click.Command) -> list[str]:
    found = [name for p in command.params if isinstance(p, click.Option) for name in p.opts]
    return [name for name in found if name.startswith("--")]


def refusal(words, *arguments: str) -> str:
    """What is said on the error stream of a command that is refused; its body never runs."""
    command = FOUND[words]
    body, command.callback = command.callback, lambda **_: pytest.fail("the command ran")
    try:
        done = CliRunner().invoke(cli, [*words, *FIRST.get(words, []), *arguments])
    finally:
        command.callback = body
    assert done.exit_code == 2, done.output
    return done.stderr


def parsed(words, *arguments: str) -> dict:
    """Parameters that the command gets, without the values that are missing."""
    command = FOUND[words]
    for one in command.params:
        one.required = False
    with command.make_context(words[-1], [*FIRST.get(words, []), *arguments]) as context:
        return context.params


@pytest.fixture(autouse=True)
def keep_required():
    before = [(one, one.required) for command in FOUND.values() for one in command.params]
    yield
    for one, required in before:
        one.required = required


def test_commands_that_run_a_program_are_found_and_are_of_one_class():
    assert {("trace", "record"), ("mosalloc", "run"), ("measure", "program"), ("workload", "add")} <= set(
        FOUND
    )
    assert [
        " ".join(words) for words, command in FOUND.items() if not isinstance(command, ProgramCommand)
    ] == []


@by_words
def test_an_unknown_option_is_not_the_program(words):
    said = refusal(words, "--no-such-option", "5", "--", "true")
    assert f"{' '.join(words)} has no option --no-such-option" in said
    assert "Put -- before a program" in said


@by_words
def test_a_misspelt_option_names_the_nearest(words):
    name = max(long_options(FOUND[words]), key=len)
    wrong = name[:-2] + name[-1]
    assert wrong not in long_options(FOUND[words])
    said = " ".join(refusal(words, f"{wrong}=5", "--", "true").split())
    assert f"has no option {wrong}." in said and name in said.partition("The nearest: ")[2]


@by_words
def test_an_unknown_short_option_is_refused(words):
    assert "has no option -Z" in refusal(words, "-Z", "true")


@by_words
def test_options_of_the_program_are_its_own(words):
    given = ("true", "--no-such-option", *long_options(FOUND[words])[:1], "-Z", "--", "--last")
    assert parsed(words, "--", *given)[program_of(FOUND[words]).name] == given


def test_the_program_needs_no_dashes_before_it():
    given = ("true", "--size", "64MB", "--roi", "whole")
    assert parsed(("trace", "record"), "--roi", "markers", *given) | {
        "program": given,
        "roi": "markers",
    } == parsed(("trace", "record"), "--roi", "markers", "--", *given)


def test_the_short_form_of_measure_refuses_them_too():
    done = CliRunner().invoke(cli, ["measure", "--pear", "3", "--", "true"])
    assert done.exit_code == 2 and "has no option --pear. The nearest: --pairs" in done.stderr
