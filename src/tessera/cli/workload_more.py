"""``tessera workload add`` and ``tessera workload spec``: programs that Tessera does not include."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import TesseraError

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})
@click.argument("name")
@click.option(
    "--scripts", type=_PATH, help="Folder of a Mosmodel benchmark (pre_run.sh, run.sh, post_run.sh)."
)
@click.option(
    "--target", help="With --scripts: the program that run.sh starts, if the folder does not name it."
)
@click.option("--size", default="default", show_default=True, help="Name of this input.")
@click.option("--threads", is_flag=True, help="The program starts threads.")
@click.option("--force", is_flag=True, help="Replace a size that was added before.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def add(name, scripts, target, size, threads, force, program) -> None:
    """Add PROGRAM, with its arguments after `--`, as the workload NAME; run it once to measure its memory.

    Example: ./run tessera workload add sorting -- /usr/bin/sort --parallel=1 numbers.txt
    """
    from tessera.measure.add_workload import add_program, add_scripts

    if bool(scripts) == bool(program):
        given = "both a program and --scripts" if scripts else "neither a program nor --scripts"
        raise TesseraError(f"workload add {name}", given, "give one: -- PROGRAM ARGS, or --scripts DIR")
    if target and not scripts:
        raise TesseraError(
            f"workload add {name} --target",
            "--target needs --scripts",
            "leave out --target: PROGRAM is the target",
        )
    if scripts:
        path = add_scripts(name, scripts, target, size, threads=threads, force=force)
    else:
        path = add_program(name, program, size, threads=threads, force=force)
    click.echo(f"wrote {path}\n  run it: tessera workload run {name} --size {size}")
    click.echo(f"  in the matrix: add '{name}' to workloads in a configuration (config/default.yaml)")


@click.command()
@click.option("--root", required=True, type=_PATH, help="SPEC's folder (the one with benchspec in it).")
def spec(root: Path) -> None:
    """Store the folder where SPEC CPU is installed, for the workloads that need it.

    Example: ./run tessera workload spec --root /opt/cpu2017
    """
    from tessera.record.workloads.spec.install import remember

    click.echo(f"{', '.join(remember(root))} at {root.absolute()}")
