"""``tessera workload``: list, show and run workloads."""

from __future__ import annotations

import sys

import click


@click.group()
def workload() -> None:
    """List and run workloads."""


@workload.command("list")
def list_workloads() -> None:
    """Name, description and sizes of each workload."""
    from tessera import workloads

    for name in workloads.names():
        found = workloads.load(name)
        click.echo(f"{name:10} {found.description} (sizes: {', '.join(found.sizes)})")


@workload.command()
@click.argument("name")
@click.option("--platform", help="Also say how large each size is for this platform.")
def show(name: str, platform: str | None) -> None:
    """Source, arguments and memory of every size."""
    from tessera import platforms, workloads

    found = workloads.load(name)
    target = platforms.load(platform) if platform else None
    click.echo(f"{found.name}: {found.description}\n  source: {found.source}")
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
    """Run a workload in the toolchain, under ordinary pages; its JSON line goes to stdout."""
    from tessera import workloads
    from tessera.container import toolchain

    done = toolchain().run(workloads.load(name).command(size), check=False)
    sys.exit(done.returncode)


def _mb(count: int) -> str:
    """Bytes as megabytes of 2^20, rounded."""
    return f"{count / (1 << 20):.0f} MB"
