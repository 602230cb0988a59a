"""``tessera lab run``, ``list`` and ``show``: every study by its name and words KEY=VALUE."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from tessera.lab.catalogue import GROUPS, STUDIES, Entry

OUT = click.option(
    "--out", type=click.Path(path_type=Path), required=True,
    help="Folder of the tables; or the CSV file of the first one, beside which are the others.",
)  # fmt: skip


@click.command("run")
@click.argument("name")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
@OUT
def run_command(name: str, words: tuple[str, ...], out: Path) -> None:
    """Run the study NAME; `tessera lab show NAME` explains its keys.

    Tables go to --out. A failure of a recording or a simulation is a row with the reason. Finished
    simulations are kept (key cache), so the same command continues after an interruption.

    \b
    Example, after ./run smoke:
      ./run tessera lab run sampling platform=sandybridge-sim --out /tmp/study \\
        trace=results/smoke/studies/windows/gups-1500000/info.json \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
        layouts=growing-0,growing-8 plans=units=4,warmup_accesses=100000,timed_instructions=200000
    """
    run_named(STUDIES, "study", name, words, out)


def run_named(catalogue: Mapping[str, Entry], kind: str, name: str, words, out: Path) -> None:
    """Run a study or step; print what its rows say, and notes of its recordings."""
    from tessera.cli.output import Log
    from tessera.core.files import check_target
    from tessera.core.platforms import Platform
    from tessera.core.results.outcomes import STATUSES, note_sentence, other_rows
    from tessera.lab.study import Recording, Run, load, paths_of, read_words, run_study

    one = load(catalogue, name, kind)
    values = read_words(f"{kind} {name}", one, words, out)
    of = [v.workload for v in values.values() if isinstance(v, Recording)]
    of += [v.name for v in values.values() if isinstance(v, Platform)]
    log = Log(f"{name}: {' on '.join(of)}" if of else name)
    run = Run(out, log)
    for path in paths_of(one, run):
        check_target(path)  # before any work
    tables = run_study(one, run, values)
    log.ticker.close()
    written = list(zip(paths_of(one, run), tables, strict=False))
    for _, table in written:
        if "status" in table and not set(STATUSES).isdisjoint(table["status"]):  # answers have others
            for row in other_rows(table).drop_duplicates("message").itertuples():
                click.echo(f"{row.status}: {row.message}", err=True)
    if one.show:
        one.show(*tables)
    for path, table in written:
        click.echo(f"{len(table)} rows -> {path}")
    for value in values.values():
        if isinstance(value, Recording) and (note := note_sentence(value.note)):
            click.echo(f"note: {note}", err=True)
    for line in run.wrong:
        click.echo(f"wrong: {line}", err=True)
    if run.wrong:
        sys.exit(1)


@click.command("list")
def list_command() -> None:
    """List the studies.

    Example: ./run tessera lab list
    """
    print_list(GROUPS)


def print_list(groups: Mapping[str, Mapping[str, Entry]]) -> None:
    for heading, entries in groups.items():
        click.echo(f"{heading}:")
        formatter = click.HelpFormatter(width=110)
        with formatter.indentation():
            formatter.write_dl([(name, entry.about) for name, entry in entries.items()])
        click.echo(formatter.getvalue(), nl=False)


@click.command()
@click.argument("name")
def show(name: str) -> None:
    """Explain the study NAME: what it answers, its keys and its tables, with an example.

    Example: ./run tessera lab show sampling
    """
    show_named(STUDIES, "study", name)


def show_named(catalogue: Mapping[str, Entry], kind: str, name: str) -> None:
    from tessera.lab.study import Run, load, paths_of

    one = load(catalogue, name, kind)
    click.echo(one.text + "\n\nKeys:")
    formatter = click.HelpFormatter(width=110)
    with formatter.indentation():
        rows = []
        for parameter in one.parameters.values():
            default = default_text(parameter.default)
            shown = "" if not default else f"  [default: {default}]"
            needed = "  [required]" if parameter.required else ""
            rows.append((f"{parameter.name}={parameter.stands_for}", f"{parameter.about}{shown}{needed}"))
        formatter.write_dl(rows)
    click.echo(formatter.getvalue(), nl=False)
    if one.tables:
        click.echo("\nTables (docs/reference/tables.md):")
        for path, table in zip(paths_of(one, Run(Path())), one.tables, strict=True):
            click.echo(f"  {path.name}: {table.about}")


def default_text(value: object) -> str:
    """A default as it would be written after ``KEY=``; empty if there is none to show."""
    if value is inspect.Parameter.empty or value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return value.argument() if hasattr(value, "argument") else str(value)
