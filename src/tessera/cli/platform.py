"""``tessera platform``: show, check and detect platforms."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup


@click.group(cls=OldNamesGroup)
def platform() -> None:
    """Show, check and detect platforms.

    A platform is a YAML file of config/platforms that describes the simulated TLBs, caches and memory.

    Example: ./run tessera platform show haswell-sim --assumed
    """


@platform.command()
@click.argument("name", required=False)
@click.option(
    "--assumed", is_flag=True, help="Show only assumed values (no document gives them), with the reason."
)
def show(name: str | None, assumed: bool) -> None:
    """Print every value of a platform with its unit and source. NAME is a platform or a YAML file.

    Without NAME: list the platforms, and the simulator's components that a platform file can name.

    A key that is missing in the file is shown with its default value, marked `(default)`.

    Example: ./run tessera platform show haswell-sim --assumed
    """
    if name is None:
        _list()
        return
    from tessera.core import platforms
    from tessera.core.platforms import all_keys, own_key
    from tessera.core.tables import print_table

    found = platforms.load_platform(name)
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


def _list() -> None:
    from tessera.core import platforms
    from tessera.core.tables import print_table
    from tessera.simulate.platform_files import components_text

    rows = []
    for name in platforms.platform_names():
        found = platforms.load_platform(name)
        assumed = sum(v.assumed for v in found.values.values())
        rows.append((name, f"{found.description} ({assumed} of {len(found.values)} values assumed)"))
    print_table((), rows, whole=(0,))
    click.echo(components_text(), nl=False)


@platform.command()
@click.argument("files", nargs=-1, required=True, metavar="NAME|FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check whether the simulator accepts platforms; report what is wrong.

    Checks keys, types, bounds and sources, then the simulator's rules between keys and the names of
    components. Exit status 2 if a platform is rejected.

    Example: ./run tessera platform check config/platforms/haswell-sim.yaml
    """
    from tessera.core.errors import TesseraError
    from tessera.simulate.platform_files import check_platform

    refused: TesseraError | None = None
    for file in files:
        try:
            found, remarks = check_platform(file)
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
@options.out("YAML file to write.")
def detect(out: Path) -> None:
    """Write a platform file that describes this machine.

    TLB and cache sizes come from CPUID, if it reports them. Documented values of the core come from
    config/platforms/hosts, if its model is listed. All other values keep the source `assumed`.

    Example: ./run tessera platform detect --out /tmp/host.yaml
    """
    from tessera.simulate.platform_files import detect_platform

    found = detect_platform(out)
    core = f"core generation {found.generation}" if found.generation else "core generation not listed"
    click.echo(f"{out}: {found.from_cpuid} values from CPUID, {core}")
    click.echo(f"  keys with default values (tessera platform show): {', '.join(found.defaulted)}")
    for value in found.impossible:
        click.echo(f"  CPUID reports {value}, outside the bounds of the key: the assumed value stays")
