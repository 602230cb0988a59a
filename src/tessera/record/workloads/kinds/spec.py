"""``kind: spec``: a benchmark of the user's own SPEC CPU installation, run and checked as SPEC's tools would.

``executable`` is the benchmark (``429.mcf``). A size's ``args`` are ``--suite CPU2006``, ``--input ref``
(``test``, ``train``, ``refspeed``, ...) and ``--command N`` where a run has several (from 1). The run
folder's files are linked into the run's own folder, so nothing is written into the installation.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import build_dir, write_text
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import HOST, Finished, ProgramRun


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The chosen command of the benchmark's run folder."""
    owner = f"{workload.name}, size {size.label}"
    asked = _options(owner, size.args)
    suite = suite_of(asked["--suite"])
    source = run_folder_of(suite, workload.executable, asked["--input"])
    commands = read_commands(source / "speccmds.cmd")
    number = int(asked["--command"])
    if not 1 <= number <= len(commands):
        raise TesseraError(
            f"{owner}: --command {number}",
            f"{source} has {len(commands)} commands",
            f"give a number from 1 to {len(commands)}",
        )
    command = commands[number - 1]
    if command.stdin:
        raise TesseraError(
            f"{owner}: {command.program.name}",
            "the command reads standard input, which Tessera does not support",
            "choose another row",
        )
    root = root_of(suite)
    data = root / suite.benchmarks / workload.executable / "data" / asked["--input"] / "output"
    expected = sorted(path for path in data.glob("*") if path.is_file())
    _link(source, folder, {command.stdout, command.stderr} | {path.name for path in expected})
    return ProgramRun(
        argv=(str(command.program), *command.args),
        paths=(root,),
        environment=command.environment,
        folder=folder,
        image=HOST,
        threads=bool(workload.threads),
        verify=lambda done: _verified(workload.name, command, expected, len(commands), done),
    )


def missing(workload: Workload, size: Size) -> str:
    """Why there is no run folder: no installation is known, or it is not set up for this input."""
    asked = _options(f"{workload.name}, size {size.label}", size.args)
    suite = suite_of(asked["--suite"])
    try:
        run_folder_of(suite, workload.executable, asked["--input"])
    except TesseraError as error:
        return error.sentence
    return ""


def _options(owner: str, args: tuple[str, ...]) -> dict[str, str]:
    found = {"--command": "1"} | dict(zip(args[::2], args[1::2], strict=False))
    if set(found) != {"--suite", "--input", "--command"} or len(args) % 2 or not found["--command"].isdigit():
        raise TesseraError(
            f"{owner}: {' '.join(args)}",
            "a SPEC row needs --suite and --input, and can have --command",
            "write --suite S --input I [--command N]",
            code="spec-options",
        )
    return found


def _link(source: Path, folder: Path, outputs: set[str | None]) -> None:
    """Link the run folder's files into ``folder``, except the outputs, which the run writes."""
    for old in folder.iterdir():
        if old.is_symlink() or old.name in outputs:
            old.unlink()
    for path in source.iterdir():
        if path.name not in outputs and not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)


def _verified(name: str, command: Command, expected: list[Path], commands: int, done: Finished) -> dict:
    """Compare the command's outputs with SPEC's expected outputs, if the installation has them."""
    compared = 0
    for path in expected:
        if path.name == command.stdout:
            found = done.stdout
        elif (done.folder / path.name).exists():
            found = (done.folder / path.name).read_text(errors="replace")
        elif commands > 1:
            continue  # another command of the run writes it
        else:
            raise _wrong(name, f"the benchmark did not write {path.name}")
        if difference := first_difference(path.read_text(errors="replace"), found):
            raise _wrong(name, f"{path.name}, {difference}")
        compared += 1
    by = (
        f"{compared} expected outputs" if compared else "exit status: the installation has no expected output"
    )
    return {"workload": name, "verified": True, "verified_by": by}


def _wrong(name: str, found: str) -> TesseraError:
    remedy = "run the benchmark with SPEC's own tools; no trace is kept of a run with a wrong result"
    return TesseraError(f"result of {name}", found, remedy, exit_code=EXIT_FAILED)


# Find the user's SPEC CPU installation and the run folder of a benchmark in it.
#
# An installation is named by ``$SPEC_CPU2006`` or ``$SPEC_CPU2017``, or once by ``tessera workload spec
# --root DIR``, which remembers it in ``build/spec-roots.json``.


@dataclass(frozen=True)
class Suite:
    """One release of SPEC CPU: its name, its variable, and its own words."""

    name: str
    variable: str
    benchmarks: str  #: folder of the benchmarks below the root
    setup: str  #: command that makes the run folder


SUITES = {
    "CPU2006": Suite(
        "CPU2006", "SPEC_CPU2006", "benchspec/CPU2006", "runspec --action=setup --tune=base --size"
    ),
    "CPU2017": Suite(
        "CPU2017", "SPEC_CPU2017", "benchspec/CPU", "runcpu --action=runsetup --tune=base --size"
    ),
}


def suite_of(name: str) -> Suite:
    """The suite of this name."""
    if name not in SUITES:
        raise unknown_name("SPEC suite", name, list(SUITES))
    return SUITES[name]


def remember_root(root: Path) -> list[str]:
    """Remember an installation for this checkout; returns the suites found in it."""
    root = root.absolute()
    found = [each.name for each in SUITES.values() if (root / each.benchmarks).is_dir()]
    if not found:
        folders = " and no ".join(each.benchmarks for each in SUITES.values())
        raise TesseraError(
            f"SPEC installation {root}",
            f"the folder has no {folders}",
            "give the folder into which SPEC was installed",
        )
    roots = _remembered_root() | dict.fromkeys(found, str(root))
    _root_file().parent.mkdir(parents=True, exist_ok=True)
    write_text(_root_file(), json.dumps(roots, indent=1) + "\n")
    return found


def root_of(wanted: Suite) -> Path:
    """The folder of the suite's installation; raises with the command that sets it."""
    given = os.environ.get(wanted.variable) or _remembered_root().get(wanted.name)
    remedy = (
        f"SPEC is licensed and not part of this artifact: install it, then {wanted.variable}=DIR "
        "or ./run tessera workload spec --root DIR"
    )
    if not given:
        raise TesseraError(
            f"SPEC {wanted.name}",
            f"no installation is known, and {wanted.variable} is not set",
            remedy,
            code="spec-not-supplied",
        )
    root = Path(given)
    if not (root / wanted.benchmarks).is_dir():
        raise TesseraError(f"SPEC {wanted.name}", f"{root} has no {wanted.benchmarks}", remedy)
    return root


def run_folder_of(wanted: Suite, benchmark: str, input_size: str) -> Path:
    """The newest run folder of the base binary with this input, which SPEC's own tools have set up."""
    folder = root_of(wanted) / wanted.benchmarks / benchmark
    if not folder.is_dir():
        raise TesseraError(
            f"SPEC {wanted.name} {benchmark}", f"{folder} does not exist", "install the whole suite"
        )
    found = sorted(
        (folder / "run").glob(f"run_base_{input_size}_*/speccmds.cmd"), key=lambda p: p.stat().st_mtime
    )
    if not found:
        size = {"refspeed": "ref", "refrate": "ref"}.get(input_size, input_size)
        raise TesseraError(
            f"SPEC {wanted.name} {benchmark}, input {input_size}",
            f"{folder}/run has no run_base_{input_size}_* with a speccmds.cmd",
            f"build it and set it up with SPEC's tools: {wanted.setup}={size} {benchmark}",
        )
    return found[-1].parent


def _root_file() -> Path:
    return build_dir("spec-roots.json")


def _remembered_root() -> dict[str, str]:
    return json.loads(_root_file().read_text()) if _root_file().exists() else {}


# Read ``speccmds.cmd``, the list of a run's commands that SPEC's tools write and ``specinvoke`` executes.
#
# A line holds options and a command: ``-E name value`` a variable of those that follow, ``-C folder`` their
# working folder, ``-i``, ``-o``, ``-e`` the command's standard input, output and error. Since CPU2017 the
# redirection is repeated in shell's words behind the command.

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


# Compare an output with the expected one, as SPEC's ``specdiff`` does: words, and numbers with tolerances.
#
# SPEC sets tolerances per benchmark; here one pair covers the rows of this artifact, whose integer programs
# agree to the last digit and whose floating-point ones (omnetpp, cactusADM) are allowed 1e-5.

RELATIVE, ABSOLUTE = 1e-5, 1e-6


def first_difference(expected: str, found: str) -> str | None:
    """Where the texts differ (``line 3: 'a', expected 'b'``); None if they are the same."""
    pairs = zip_longest(expected.splitlines(), found.splitlines())
    for number, (theirs, ours) in enumerate(pairs, start=1):
        if theirs is None:
            return f"line {number}: {ours!r}, expected the end"
        if ours is None:
            return f"line {number}: the end, expected {theirs!r}"
        words = list(zip_longest(theirs.split(), ours.split(), fillvalue=""))
        if not all(_same_word(a, b) for a, b in words):
            return f"line {number}: {ours!r}, expected {theirs!r}"
    return None


def _same_word(expected: str, found: str) -> bool:
    if expected == found:
        return True
    try:
        a, b = float(expected), float(found)
    except ValueError:
        return False
    return abs(a - b) <= max(ABSOLUTE, RELATIVE * abs(a))
