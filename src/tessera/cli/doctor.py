"""``tessera doctor``: the rows of ``./run doctor``, inside the environment."""

from __future__ import annotations

import sys

import click

from tessera.machine.doctor.examine import as_json, as_table, examine, exit_status


@click.command()
@click.option(
    "--json", "as_json_", is_flag=True, help="Print JSON: name, status, found and remedy of each row."
)
def doctor(as_json_: bool) -> None:
    """Report what this machine can do; change nothing.

    PASS: present. SKIP: missing but optional; the row says what is left out, or how to install it. FAIL:
    missing, and the main job can't run. Exit status 1 if a row is FAIL.

    Example: ./run tessera doctor --json
    """
    rows = examine()
    click.echo(as_json(rows) if as_json_ else as_table(rows))
    sys.exit(exit_status(rows))
