"""``tessera workload``: list, show and run workloads."""

from __future__ import annotations

import json

import click

from tessera.cli.workload_more import add, spec


@click.group()
def workload() -> None:
    """List and run workloads."""


workload.add_command(add)
workload.add_command(spec)


@workload.command("list")
def list_workloads() -> None:
    """Name, description and sizes of each workload."""
    from tessera.record import workloads

    for name in workloads.names():
        found = workloads.load(name)
        rows = ", ".join(f"{table} {row}" for table, row in found.rows.items())
        notes = [rows, f"stands in for {found.stand_in_for}" if found.stand_in_for else ""]
        about = "; ".join(note for note in notes if note)
        sizes = ", ".join(found.sizes)
        click.echo(f"{name:20} {found.description}{f' [{about}]' if about else ''} (sizes: {sizes})")


@workload.command()
@click.argument("name")
@click.option("--platform", help="Also say how large each size is for this platform.")
def show(name: str, platform: str | None) -> None:
    """Source, arguments and memory of every size."""
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
        if target:
            ratios = workloads.regime(found, label, target)
            reach = f"{ratios.footprint_per_4kb_reach:.3g} (4KB), {ratios.footprint_per_2mb_reach:.3g} (2MB)"
            leaf = f"{ratios.leaf_entries_per_l3:.2g}"
            click.echo(f"    on {target.name}: footprint / TLB reach {reach}; leaf entries / L3 {leaf}")


@workload.command()
@click.argument("name")
@click.option("--size", required=True, help="A size of the workload, see `tessera workload show`.")
def run(name: str, size: str) -> None:
    """Run a workload in its image, under ordinary pages; its result goes to stdout as a JSON line."""
    from tessera.core.paths import build_dir
    from tessera.record import workloads
    from tessera.record.workloads.execute import execute

    folder = build_dir("runs") / name / size
    prepared = workloads.prepare(workloads.load(name), size, folder)
    _, result = execute(prepared, folder)
    click.echo(json.dumps(result))


def _mb(count: int) -> str:
    """Bytes as megabytes of 2^20, rounded."""
    return f"{count / (1 << 20):.0f} MB"
