"""Read ``speccmds.cmd``, the list of a run's commands that SPEC's tools write and ``specinvoke`` executes.

A line holds options and a command: ``-E name value`` a variable of those that follow, ``-C folder`` their
working folder, ``-i``, ``-o``, ``-e`` the command's standard input, output and error. Since CPU2017 the
redirection is repeated in shell's words behind the command.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: Options of specinvoke and how many words follow each; those of copies and binding are of no use here.
_WORDS = {"-E": 2, "-C": 1, "-i": 1, "-o": 1, "-e": 1, "-N": 1, "-b": 1, "-r": 0, "-k": 0}
_SHELL = {">", ">>", "2>", "2>>", "<"}


@dataclass(frozen=True)
class Command:
    """One start of the benchmark: program (absolute), arguments, and the names of its redirected files."""

    program: Path
    args: tuple[str, ...]
    environment: dict[str, str]
    stdin: str | None
    stdout: str | None
    stderr: str | None


def read_commands(path: Path) -> list[Command]:
    """The commands of a file, in order. The program is looked up from the file's folder, as SPEC writes it.

    Raises:
        TesseraError: an option that is not known here, or a program that does not exist.
    """
    commands = []
    environment: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = shlex.split(line)
        options: dict[str, str] = {}
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option not in _WORDS or len(words) < _WORDS[option]:
                raise TesseraError(
                    f"{path}, line {number}",
                    f"the option '{option}' is not supported",
                    "report this line in an issue",
                )
            values = [words.pop(0) for _ in range(_WORDS[option])]
            if option == "-E":
                environment[values[0]] = values[1]
            elif values:
                options[option] = values[0]
        if not words:
            continue
        program = (path.parent / words[0]).resolve()
        if not program.exists():
            raise TesseraError(
                f"{path}, line {number}", f"{program} does not exist", "build the benchmark again"
            )
        args = tuple(_without_redirections(words[1:]))
        stdin, stdout, stderr = (options.get(name) for name in ("-i", "-o", "-e"))
        commands.append(Command(program, args, dict(environment), stdin, stdout, stderr))
    return commands


def _without_redirections(words: list[str]) -> list[str]:
    for place, word in enumerate(words):
        if word in _SHELL:
            return words[:place]
    return words
