"""``tessera pagetables``: where the page tables of a process in the guest lie and point to."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option, say
from tessera.core.errors import TesseraError


@click.group()
def pagetables() -> None:
    """Show on which sockets page tables lie (Mitosis, Figures 3 and 4)."""


@pagetables.command()
@accept_series_option
@click.option("--nodes", default=4, show_default=True, help="Sockets of the guest.")
@click.option("--memory-mb", default=2048, show_default=True, help="Memory in MB (2^20 bytes).")
@click.option(
    "--replicas",
    default="none",
    show_default=True,
    help="Nodes with replicas: none, all or a list such as 0-1.",
)
@click.option(
    "--interleave", is_flag=True, help="Take data pages from all nodes in turn, not by first touch."
)
@click.option(
    "--after", default=5, show_default=True, help="Seconds between the program's start and the dump."
)
@click.option("--workload", default="", help="Workload name in the table. [default: the program's name]")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for placement.csv and logs."
)
@click.option("--timeout", default=600, show_default=True, help="Seconds until the guest is stopped.")
@click.argument("command", nargs=-1, required=True)
def dump(
    accept_series, nodes, memory_mb, replicas, interleave, after, workload, out, timeout, command
) -> None:
    """Run a program in the guest and dump its page tables, as the kernel and as the memory show them.

    Example: ./run tessera pagetables dump --replicas all --out /tmp/ft -- firsttouch 64 one 30
    """
    from tessera.core.results.kernel_tables import PLACEMENT
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.placement_experiments import PlacementRun, observe_placement
    from tessera.lab.kernel.qemu import Machine

    program = image.program("checked", say, accept_series=accept_series)
    what = PlacementRun(workload or Path(command[0]).name, tuple(command), replicas, interleave, after)
    machine = Machine(nodes=nodes, cpus=nodes, memory_mb=memory_mb)
    table, differences = observe_placement(image.ready(say), program, what, out, machine, timeout)
    write_table(PLACEMENT, table, out / PLACEMENT.file)
    click.echo(f"{out / PLACEMENT.file}: {len(table)} rows")
    for difference in differences:
        click.echo(f"DIFFERENCE: {difference}", err=True)
    sys.exit(1 if differences else 0)


@pagetables.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--observer", default="home", show_default=True, help="Whose tree: home, or a socket's number.")
def show(table: Path, observer: str) -> None:
    """Print a placement table as in Figure 3, and the share of remote leaves as in Figure 4.

    TABLE is a placement.csv, or a text read from <debugfs>/pgtable_replication/dump on any patched kernel.
    """
    from tessera.core.results.kernel_tables import PLACEMENT
    from tessera.core.results.table_io import read_file
    from tessera.lab.kernel import page_tables

    try:
        text = table.read_text()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "the file is not text"
        remedy = "make one with: tessera pagetables dump"
        raise TesseraError(f"placement table {table}", found, remedy) from error
    if text.startswith(("root", "tree")):
        groups = {("", ""): page_tables.placement_of_dump(text)}
    else:
        frame = read_file(PLACEMENT, table, f"placement table {table}")
        groups = dict(list(frame.groupby(["workload", "config"], sort=False)))
    for (workload, config), rows in groups.items():
        seen = observer if observer in set(rows.observer) else "home"
        click.echo(f"{workload} {config}: tables of {seen}".strip())
        click.echo(page_tables.figure3(rows, seen), nl=False)
        shares = page_tables.remote_leaf_share(rows, sorted(set(rows.socket)))
        listed = ", ".join(f"socket {socket} {share:.0%}" for socket, share in shares.items())
        click.echo(f"remote leaf entries seen from: {listed}\n")
