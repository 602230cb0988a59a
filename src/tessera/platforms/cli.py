"""``tessera platform``: list, show and detect platforms."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def platform() -> None:
    """List, show and detect platforms."""


@platform.command("list")
def list_platforms() -> None:
    """Name and description of each platform."""
    from tessera import platforms

    for name in platforms.names():
        found = platforms.load(name)
        assumed = sum(v.assumed for v in found.values.values())
        click.echo(f"{name:18} {found.description} ({assumed} of {len(found.values)} values assumed)")


@platform.command()
@click.argument("name")
def show(name: str) -> None:
    """Every value of a platform with its source."""
    from tessera import platforms

    found = platforms.load(name)
    width = max(map(len, found.values))
    for key, value in sorted(found.values.items()):
        click.echo(f"{key:{width}}  {value.value!s:>12}  {value.source}")


@platform.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="YAML file to write.")
def detect(out: Path) -> None:
    """Describe this machine as a simulated platform.

    TLB and cache sizes come from CPUID where it reports them; every other value keeps its
    `assumed` source.
    """
    from tessera.platforms.detect import detect as run

    count = run(out)
    click.echo(f"{out}: {count} values from CPUID")
