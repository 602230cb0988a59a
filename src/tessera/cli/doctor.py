"""``tessera doctor``: the same rows inside the environment."""

from __future__ import annotations

import sys

import click

from tessera.machine.doctor.examine import as_json, as_table, examine, exit_status


@click.command()
@click.option("--json", "as_json_", is_flag=True, help="For programs: name, status, found, remedy per row.")
def doctor(as_json_: bool) -> None:
    """Report what this machine can do; change nothing.

    PASS is present; SKIP is absent and optional: the row says what is left out or how to get it; FAIL stops
    the main job. Exit status 1 if there is a FAIL. Example: tessera doctor --json
    """
    rows = examine()
    click.echo(as_json(rows) if as_json_ else as_table(rows))
    sys.exit(exit_status(rows))
