"""``tessera doctor``, ``tessera measure environment``: what a machine can do, what measurements need."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import ProgramCommand
from tessera.core.terminal import unescaped

# ``tessera doctor``: the rows of ``./run doctor``, inside the environment.


@click.command()
@options.as_json("Print JSON: name, status, found and remedy of each row.")
def doctor(as_json: bool) -> None:
    """Report what this machine can do; change nothing.

    PASS: present. SKIP: missing but optional; the row says what is left out, or how to install it. FAIL:
    missing, and the main job can't run. Exit status 1 if a row is FAIL.

    Example: ./run tessera doctor --json
    """
    from tessera.machine.doctor import examine as doctor_

    rows = doctor_.examine_machine()
    click.echo(doctor_.as_json(rows) if as_json else doctor_.as_table(rows))
    sys.exit(doctor_.doctor_exit_status(rows))


# ``tessera measure environment``: the conditions of a measurement; with --fix, set while a command runs.

_COLOURS = {"ok": "green", "differs": "red", "unknown": "yellow"}


@click.command(cls=ProgramCommand)
@click.option("--fix", is_flag=True, help="Set what can be undone, as root; undo it at the end. See below.")
@click.option("--no-turbo", is_flag=True, help="With --fix: turn turbo off, too (MICRO'20 had it on).")
@click.option(
    "--free-memory", is_flag=True,
    help="With --fix: drop caches and compact memory if 2MB pages are missing. Cannot be undone.",
)  # fmt: skip
@options.mode
@click.option("--pages-2mb", type=click.IntRange(0), default=0, help="2MB pages of the largest layout.")
@click.option("--pages-1gb", type=click.IntRange(0), default=0, help="1GB pages of the largest layout.")
@click.option("--node", type=click.IntRange(0), help="NUMA node of program and pages.  [default: any]")
@options.out("Write the table as CSV (environment.csv).", required=False)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def environment(
    fix: bool,
    no_turbo: bool,
    free_memory: bool,
    mode: str,
    pages_2mb: int,
    pages_1gb: int,
    node: int | None,
    out: Path | None,
    command: tuple[str, ...],
) -> None:
    """Examine what a measurement with hardware counters needs of this machine. Without --fix: change nothing.

    \b
    Levels of conditions:
      stop   if it is not met, no run starts
      bars   if it is not met, the measurement decides no claim
      noted  recorded only
    Statuses: ok, differs, unknown (it cannot be read; then it is not met).

    With --fix, a guardian process sets what a command can set and undo, such as SMT, THP, the governor and
    the NMI watchdog. With COMMAND (after `--`), the settings hold while it runs, and its exit status is
    returned. Without COMMAND they hold until Ctrl-C. The guardian undoes them even after `kill -9`. If it is
    killed as well, the next `./run` undoes them.

    Steps that cannot be undone are only named, unless you agree: --free-memory, or the answer to a question.
    Boot options are yours to set. Some conditions show in runs only, for example page faults: `./run measure`
    checks those.

    Exit status: 1 if a condition of level stop is not met (COMMAND is not started), else 0 or COMMAND's.

    \b
    Example:
      ./run tessera measure environment --out environment.csv
      ./run tessera measure environment --fix -- ./run tessera measure counters check
    """
    from tessera.core.errors import TesseraError
    from tessera.core.files import check_target
    from tessera.machine.environment import Needs

    if not fix and (command or no_turbo or free_memory):
        raise TesseraError(
            "a COMMAND, --no-turbo or --free-memory",
            "they need --fix",
            "tessera measure environment --fix -- COMMAND",
        )
    if out is not None:
        check_target(out)
    needs = Needs(mode, pages_2mb, pages_1gb, node)
    sys.exit(_fixed(needs, no_turbo, free_memory, out, command) if fix else _shown(needs, out))


def _shown(needs, out: Path | None) -> int:
    """Print and write the table; 1 if no run may start."""
    from tessera.core.files import write_text
    from tessera.machine.environment import as_csv, barring, examine_conditions, stopping

    rows = examine_conditions(_root(), needs)
    for row in rows:
        _print_row(row)
    stops, bars = stopping(rows), barring(rows)
    click.echo("")
    click.echo(f"no run starts because of: {_listed(stops)}")
    click.echo(f"no claim is decided because of: {_listed(bars)}")
    if out is not None:
        write_text(out, as_csv(rows))
    return int(bool(stops))


def _root() -> Path:
    """The machine; tests replace it."""
    return Path("/")


def _print_row(row) -> None:
    status = click.style(f"{row.status:<7}", fg=_COLOURS[row.status])
    click.echo(status, nl=False, file=unescaped(sys.stdout))
    click.echo(f"  {row.level:<5}  {row.check:<14}  {row.found}")
    if row.remedy:
        click.echo(f"{'':32}wanted: {row.wanted}")
        click.echo(f"{'':32}-> {row.remedy}")


def _listed(rows) -> str:
    return ", ".join(row.check for row in rows) or "nothing"


def _fixed(needs, no_turbo: bool, agreed: bool, out: Path | None, command: tuple[str, ...]) -> int:
    from tessera.machine.environment import fixed, plan_changes

    planned = plan_changes(_root(), needs, no_turbo=no_turbo)
    _free_memory(planned, agreed)
    for line in planned.lines() or ["nothing to set"]:
        click.echo(f"fix: {line}", err=True)
    with fixed(planned) as guardian:
        click.echo(f"fix: process {guardian.pid} undoes this at the end\n", err=True)
        status = _shown(needs, out)
        if command:
            if status:
                click.echo(f"tessera: '{command[0]}' is not started: see level stop above", err=True)
                return status
            status = _run_command(command)
        else:
            _wait()
        guardian.check()
    return status


def _free_memory(planned, agreed: bool) -> None:
    """Drop caches and compact memory if pages are missing, and only with consent."""
    from tessera.machine.environment import free_memory
    from tessera.machine.environment.pages import IRREVERSIBLE

    if all(row.check != "2mb-pages" or row.status != "differs" for row in planned.left):
        return
    steps = "; ".join(f"{effect} (/{name})" for effect, name, _ in IRREVERSIBLE)
    question = f"2MB pages are missing. These steps cannot be undone: {steps}. Do them?"
    if agreed or (sys.stdin.isatty() and click.confirm(question, default=False, err=True)):
        free_memory(_root())
        click.echo(f"done: {steps}", err=True)
    else:
        click.echo(f"not done, because it cannot be undone: {steps}. To agree: --free-memory", err=True)


def _run_command(command: tuple[str, ...]) -> int:
    """Run the command; its exit status, 128 + number for a signal."""
    import subprocess

    from tessera.core.errors import TesseraError

    try:
        status = subprocess.run(command).returncode
    except OSError as error:
        raise TesseraError(
            f"COMMAND '{command[0]}'", error.strerror or str(error), "name a program"
        ) from None
    return status if status >= 0 else 128 - status


def _wait() -> None:
    """Until Ctrl-C; SIGTERM and SIGHUP raise."""
    import signal

    try:
        click.echo("\nthe settings hold until Ctrl-C", err=True)
        signal.pause()
    except KeyboardInterrupt:
        click.echo("", err=True)
