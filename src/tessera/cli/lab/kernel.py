"""``tessera lab kernel``: build and boot the kernel with replicated page tables; show page tables."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli.lab import guest
from tessera.cli.lab.guest import say
from tessera.cli.lazy import ProgramCommand
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.outcomes import is_ok
from tessera.lab.kernel.image import VARIANTS

_variant = click.option(
    "--variant",
    default="checked",
    show_default=True,
    type=click.Choice(list(VARIANTS)),
    help="Kernel configuration.",
)


@click.group()
def kernel() -> None:
    """Build and boot the kernel with replicated page tables; show on which sockets page tables lie.

    Its tests and tables are studies: tessera lab list.

    Example: ./run tessera lab kernel boot --run examples/kernel-hello.sh --out /tmp/guest
    """


@kernel.command()
@_variant
@guest.accept_series
@click.option("--jobs", type=click.IntRange(1), help="Compilers at a time (default: one for each core).")
def build(variant: str, accept_series: bool, jobs: int | None) -> None:
    """Build a kernel and the programs of the guest; print the folder of the kernel.

    Example: ./run tessera lab kernel build --variant measure
    """
    from tessera.lab.kernel import image

    folder = image.build_kernel(variant, say, accept_series=accept_series, jobs=jobs)
    image.build_guest(say)
    click.echo(folder)


@kernel.command()
@_variant
@guest.accept_series
@guest.nodes
@click.option("--cpus", type=int, help="Processors of the guest in total.  [default: one per node]")
@guest.memory_mb
@click.option(
    "--icount",
    is_flag=True,
    help="Count instructions: one processor runs at a time, and runs are repeatable.",
)
@click.option(
    "--run",
    "script",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Shell script to run in the guest; files that it writes to /out are copied to --out.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File to copy to /run in the guest; may be repeated.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the files of /out.")
@guest.timeout(300)
@click.option("--stress-ng", is_flag=True, help="Install stress-ng in /tests of the guest.")
def boot(
    variant, accept_series, nodes, cpus, memory_mb, icount, script, files, out, timeout, stress_ng
) -> None:
    """Boot a guest and run a script in it; return the exit status of the script.

    Example: ./run tessera lab kernel boot --nodes 4 --run examples/kernel-hello.sh --out /tmp/guest
    """
    from tessera.lab.kernel import image
    from tessera.lab.kernel.guest import run_in_guest
    from tessera.lab.kernel.qemu import EmulatedMachine

    machine = EmulatedMachine(nodes=nodes, cpus=cpus or nodes, memory_mb=memory_mb, icount=icount)
    program = image.guest_program(variant, say, accept_series=accept_series, stress_ng=stress_ng)
    more = {f"/run/{path.name}": path.read_bytes() for path in files}
    done = run_in_guest(
        image.kernel_tools(say),
        program,
        script.read_text(),
        out,
        machine=machine,
        files=more,
        timeout_seconds=timeout,
    )
    click.echo(done.text("stdout"), nl=False)
    click.echo(done.text("stderr"), nl=False, err=True)
    say(f"Linux {done.release}: status {done.status} after {done.seconds:.0f} s; files in {out}")
    sys.exit(done.status)


@kernel.command()
@click.argument("folder", type=click.Path(path_type=Path))
def outcomes(folder: Path) -> None:
    """Print the outcome of each kernel job in FOLDER; exit status 1 if one did not succeed.

    Example: ./run tessera lab kernel outcomes results/default/kernel
    """
    from tessera.core.results.outcomes import part_outcomes

    parts = part_outcomes(folder)
    if not parts:
        remedy = "name the kernel folder of a run, e.g. results/default/kernel; ./run reproduce makes it"
        raise TesseraError(
            f"outcomes of kernel jobs in {folder}", "the folder has none", remedy, exit_code=EXIT_FAILED
        )
    for name, outcome in parts.items():
        click.echo(f"{name}: {outcome['status']} after {outcome['seconds']:.0f} s")
        if outcome["message"]:
            click.echo(outcome["message"], err=True)
    sys.exit(0 if all(is_ok(outcome) for outcome in parts.values()) else 1)


@kernel.command("pagetables-dump", cls=ProgramCommand)
@guest.accept_series
@guest.nodes
@guest.memory_mb
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
@guest.timeout(600)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def pagetables_dump(
    accept_series, nodes, memory_mb, replicas, interleave, after, workload, out, timeout, command
) -> None:
    """Run a program in the guest and dump its page tables, as the kernel and as the memory show them.

    Example: ./run tessera lab kernel pagetables-dump --replicas all --out /tmp/ft -- firsttouch 64 one 30
    """
    from tessera.core.results.kernel_tables import PLACEMENT
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.placement_experiments import PlacementRun, observe_placement
    from tessera.lab.kernel.qemu import EmulatedMachine

    program = image.guest_program("checked", say, accept_series=accept_series)
    what = PlacementRun(workload or Path(command[0]).name, tuple(command), replicas, interleave, after)
    machine = EmulatedMachine(nodes=nodes, cpus=nodes, memory_mb=memory_mb)
    table, differences = observe_placement(image.kernel_tools(say), program, what, out, machine, timeout)
    write_table(PLACEMENT, table, out / PLACEMENT.file)
    click.echo(f"{out / PLACEMENT.file}: {len(table)} rows")
    for difference in differences:
        click.echo(f"DIFFERENCE: {difference}", err=True)
    sys.exit(1 if differences else 0)


@kernel.command("pagetables-show")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--observer", default="home", show_default=True, help="Whose tree: home, or a socket's number.")
def pagetables_show(table: Path, observer: str) -> None:
    """Print a placement table as in Figure 3 of Mitosis, and the share of remote leaves as in Figure 4.

    TABLE is a placement.csv, or a text read from <debugfs>/pgtable_replication/dump on any patched kernel.

    Example: ./run tessera lab kernel pagetables-show /tmp/ft/placement.csv
    """
    from tessera.core.results.kernel_tables import PLACEMENT
    from tessera.core.results.table_io import read_file
    from tessera.lab.kernel import page_tables

    try:
        text = table.read_text()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "the file is not text"
        remedy = "make one with: tessera lab kernel pagetables-dump"
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
