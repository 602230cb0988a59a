"""``tessera platform``: list, show, check and detect platforms."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def platform() -> None:
    """List, show, check and detect platforms."""


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
@click.option("--assumed", is_flag=True, help="Only the values that no document gives, with the reason.")
def show(name: str, assumed: bool) -> None:
    """Every value of a platform with its unit and source. NAME is a platform or a YAML file.

    A key that the file leaves out is there with its default, marked `(default)`.
    """
    from tessera import platforms
    from tessera.core.tables import print_table
    from tessera.platforms.keys import all_keys, own_key

    found = platforms.load(name)
    rows = {key: v for key, v in sorted(found.values.items()) if v.assumed or not assumed}
    keys = all_keys()
    cells = []
    for key, value in rows.items():
        unit = (keys.get(key) or own_key(key)).unit.replace("name", "")
        mark = " (default)" if value.defaulted else ""
        cells.append((key, str(value.value), unit, value.source + mark))
    print_table((), cells, right=(1,), whole=(0, 1, 2))
    if assumed:
        click.echo(f"{len(rows)} of {len(found.values)} values assumed")


@platform.command()
@click.argument("files", nargs=-1, required=True, metavar="NAME|FILE...")
def check(files: tuple[str, ...]) -> None:
    """Say whether the simulator would accept these platforms, and if not, what is wrong.

    Keys, bounds, types and sources first, then the simulator's rules between keys and the names of
    components. Exit status 2 when one is refused.
    """
    from tessera.core.errors import TesseraError
    from tessera.platforms.check import check_platform as run

    refused: TesseraError | None = None
    for file in files:
        try:
            found, remarks = run(file)
        except TesseraError as error:
            click.echo(f"{file}: refused: {error}", err=True)
            refused = error
        else:
            values = found.values.values()
            assumed, defaults = sum(v.assumed for v in values), sum(v.defaulted for v in values)
            click.echo(
                f"{file}: accepted, {len(values)} values, {assumed} of them assumed, {defaults} defaults"
            )
            for remark in remarks:
                click.echo(f"  {remark}")
    if refused:
        raise SystemExit(refused.exit_code)


@platform.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="YAML file to write.")
def detect(out: Path) -> None:
    """Describe this machine as a simulated platform.

    TLB and cache sizes come from CPUID where it reports them, documented values of the core from
    config/platforms/hosts where its model is listed; every other value keeps its `assumed` source.
    """
    from tessera.platforms.detect import detect as run

    found = run(out)
    core = f"core generation {found.generation}" if found.generation else "core generation not listed"
    click.echo(f"{out}: {found.from_cpuid} values from CPUID, {core}")
    click.echo(f"  left to their defaults (tessera platform show): {', '.join(found.defaulted)}")
    for value in found.impossible:
        click.echo(f"  CPUID reports {value}, which is outside the key's bounds: left assumed")
