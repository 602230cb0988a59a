"""``tessera workload``: list, show and run workloads."""

from __future__ import annotations

import json

import click

from tessera.cli.workload_more import add, spec


@click.group()
def workload() -> None:
    """List, show, run and add workloads.

    Example: ./run tessera workload run gups --size tiny
    """


workload.add_command(add)
workload.add_command(spec)


@workload.command("list")
def list_workloads() -> None:
    """List the workloads with their descriptions and sizes.

    Example: ./run tessera workload list
    """
    from tessera.core.tables import print_table
    from tessera.record import workloads

    listed = []
    for name in workloads.names():
        found = workloads.load(name)
        rows = ", ".join(f"{table} {row}" for table, row in found.rows.items())
        notes = [rows, f"stands in for {found.stand_in_for}" if found.stand_in_for else ""]
        about = "; ".join(note for note in notes if note)
        sizes = ", ".join(found.sizes)
        listed.append((name, f"{found.description}{f' [{about}]' if about else ''} (sizes: {sizes})"))
    print_table((), listed, whole=(0,))


@workload.command()
@click.argument("name")
@click.option("--platform", help="Also compare each size with the TLB reach and L3 of this platform.")
def show(name: str, platform: str | None) -> None:
    """Print source, arguments and memory (in MB of 2^20 bytes) of every size.

    Example: ./run tessera workload show gups --platform haswell-sim
    """
    from tessera import platforms
    from tessera.record import workloads

    found = workloads.load(name)
    target = platforms.load(platform) if platform else None
    click.echo(f"{found.name}: {found.description}\n  source: {found.source}\n  kind: {found.kind}")
    for table, row in found.rows.items():
        click.echo(f"  row of {table}: {row}")
    if found.stand_in_for:
        click.echo(f"  stands in for: {found.stand_in_for}")
    if found.threads:
        click.echo(f"  threads: {found.threads}")
    for label, size in found.sizes.items():
        click.echo(f"  {label}: {found.executable} {' '.join(size.args)}")
        pools = f"heap pool {_mb(size.heap_pool)}, anonymous pool {_mb(size.anon_pool)}"
        click.echo(f"    footprint {_mb(size.footprint)}, {pools}")
        if size.prepared:
            click.echo(f"    loads {size.prepared.file}, {_mb(size.prepared.bytes)} on disk")
        if target:
            ratios = workloads.regime(found, label, target)
            reach = f"{ratios.footprint_per_4kb_reach:.3g} (4KB), {ratios.footprint_per_2mb_reach:.3g} (2MB)"
            leaf = f"{ratios.leaf_entries_per_l3:.2g}"
            click.echo(f"    on {target.name}: footprint / TLB reach {reach}; leaf entries / L3 {leaf}")


@workload.command()
@click.argument("name")
@click.option("--size", required=True, help="Size, as in: tessera workload show NAME.")
def run(name: str, size: str) -> None:
    """Run a workload in its image, without a layout; print its result as a JSON line.

    Example: ./run tessera workload run gups --size tiny
    """
    from tessera.core.paths import build_dir
    from tessera.record import workloads
    from tessera.record.workloads.execute import execute

    folder = build_dir("runs") / name / size
    found = workloads.load(name)
    made = workloads.prepare(found, size, folder, _prepared(found.size(size)))
    _, result = execute(made, folder)
    click.echo(json.dumps(result))


@workload.command()
@click.argument("name")
@click.option("--size", required=True, help="Size, as in: tessera workload show NAME.")
def prepare(name: str, size: str) -> None:
    """Build the prepared file that a size loads, in build/prepared, and print its path.

    `tessera workload run` builds it, too. It stays until you remove it.

    Example: ./run tessera workload prepare graph500-2gb --size published
    """
    from tessera.core.errors import TesseraError
    from tessera.record import workloads

    path = _prepared(workloads.load(name).size(size))
    if path is None:
        raise TesseraError(
            f"prepared file of {name} ({size})",
            "this size loads none; the program makes its input itself",
            f"run it as it is: tessera workload run {name} --size {size}",
        )
    click.echo(path)


@workload.command()
@click.argument("name")
@click.option("--size", required=True, help="Size, as in: tessera workload show NAME.")
def count(name: str, size: str) -> None:
    """Count the data accesses and the instructions of the region of interest, as JSON.

    The program runs under QEMU as it is recorded. The first number is `region_accesses` of the size in
    config/workloads/NAME.yaml.

    Example: ./run tessera workload count gups --size tiny
    """
    from tessera.core.paths import build_dir
    from tessera.record import workloads

    asked = workloads.load(name)
    file = _prepared(asked.size(size))
    found = workloads.count_region(asked, size, build_dir("runs") / name / size, file)
    click.echo(json.dumps({"accesses": found.accesses, "instructions": found.instructions}))


def _prepared(size):
    """The size's prepared file in build/prepared, built if need be; None if it loads none."""
    from tessera.core.paths import build_dir
    from tessera.record.workloads import prepared

    if size.prepared is None:
        return None
    path = build_dir("prepared") / size.prepared.file
    prepared.ensure(size.prepared, path)
    return path


def _mb(count: int) -> str:
    """Bytes as megabytes of 2^20, rounded."""
    return f"{count / (1 << 20):.0f} MB"
