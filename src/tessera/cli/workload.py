"""``tessera workload``: show, run and add workloads, and fetch their input data."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup, ProgramCommand
from tessera.cli.options import PATH
from tessera.core.errors import TesseraError
from tessera.core.progress import amount, download_progress


@click.group(cls=OldNamesGroup)
def workload() -> None:
    """Show, run and add workloads; their input data.

    Example: ./run tessera workload run gups --size tiny
    """


@workload.command()
@click.argument("name", required=False)
@options.platform("Also compare each size with the TLB reach and L3 of this platform.")
def show(name: str | None, platform: str | None) -> None:
    """Print source, arguments and memory (in MB of 2^20 bytes) of every size. Without NAME: list all.

    Example: ./run tessera workload show gups --platform haswell-sim
    """
    from tessera.core import platforms
    from tessera.record import workloads

    if name is None:
        _list()
        return
    found = workloads.load_workload(name)
    target = platforms.load_platform(platform) if platform else None
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


def _list() -> None:
    """The workloads with their descriptions and sizes."""
    from tessera.core.tables import print_table
    from tessera.record import workloads

    listed = []
    for name in workloads.workload_names():
        found = workloads.load_workload(name)
        rows = ", ".join(f"{table} {row}" for table, row in found.rows.items())
        notes = [rows, f"stands in for {found.stand_in_for}" if found.stand_in_for else ""]
        about = "; ".join(note for note in notes if note)
        sizes = ", ".join(found.sizes)
        listed.append((name, f"{found.description}{f' [{about}]' if about else ''} (sizes: {sizes})"))
    print_table((), listed, whole=(0,))


@workload.command()
@click.argument("name")
@options.size
def run(name: str, size: str) -> None:
    """Run a workload in its image, without a layout; print its result as a JSON line.

    Example: ./run tessera workload run gups --size tiny
    """
    from tessera.core.files import build_dir
    from tessera.record import workloads
    from tessera.record.workloads.execution import execute

    folder = build_dir("runs") / name / size
    found = workloads.load_workload(name)
    made = workloads.prepare(found, size, folder, _prepared(found.size(size)))
    _, result = execute(made, folder)
    click.echo(json.dumps(result))


@workload.command()
@click.argument("name")
@options.size
def prepare(name: str, size: str) -> None:
    """Build the prepared file that a size loads, in build/prepared, and print its path.

    `tessera workload run` builds it, too. It stays until you remove it.

    Example: ./run tessera workload prepare graph500-2gb --size published
    """
    from tessera.core.errors import TesseraError
    from tessera.record import workloads

    path = _prepared(workloads.load_workload(name).size(size))
    if path is None:
        raise TesseraError(
            f"prepared file of {name} ({size})",
            "this size loads none; the program makes its input itself",
            f"run it as it is: tessera workload run {name} --size {size}",
        )
    click.echo(path)


@workload.command()
@click.argument("name")
@options.size
def count(name: str, size: str) -> None:
    """Count the data accesses and the instructions of the region of interest, as JSON.

    The program runs under QEMU as it is recorded. The first number is `region_accesses` of the size in
    config/workloads/NAME.yaml.

    Example: ./run tessera workload count gups --size tiny
    """
    from tessera.core.files import build_dir
    from tessera.record import workloads

    asked = workloads.load_workload(name)
    file = _prepared(asked.size(size))
    found = workloads.count_region(asked, size, build_dir("runs") / name / size, file)
    click.echo(json.dumps({"accesses": found.accesses, "instructions": found.instructions}))


def _prepared(size):
    """The size's prepared file in build/prepared, built if need be; None if it loads none."""
    from tessera.core.files import build_dir
    from tessera.record.workloads import prepared

    if size.prepared is None:
        return None
    path = build_dir("prepared") / size.prepared.file
    prepared.ensure(size.prepared, path)
    return path


def _mb(count: int) -> str:
    """Bytes as megabytes of 2^20, rounded."""
    return f"{count / (1 << 20):.0f} MB"


# ``tessera workload add`` and ``tessera workload spec``: programs that Tessera does not include.


@workload.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": True})
@click.argument("name")
@click.option(
    "--scripts", type=PATH, help="Folder of a Mosmodel benchmark (pre_run.sh, run.sh, post_run.sh)."
)
@options.target
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


@workload.command()
@click.option("--root", required=True, type=PATH, help="SPEC's folder (the one with benchspec in it).")
def spec(root: Path) -> None:
    """Store the folder where SPEC CPU is installed, for the workloads that need it.

    Example: ./run tessera workload spec --root /opt/cpu2017
    """
    from tessera.record.workloads.kinds.spec import remember_root

    click.echo(f"{', '.join(remember_root(root))} at {root.absolute()}")


# ``tessera workload data``: published inputs. Only the size `paper` of some workloads needs them; `default`
# uses synthetic inputs of the same shape.


@workload.group(cls=OldNamesGroup)
def data() -> None:
    """Show, download and verify published input data.

    Only the size `paper` of some workloads needs them; `tessera workload show NAME` says which.

    Example: ./run tessera workload data show
    """


@data.command("show")
def show_data() -> None:
    """Show all datasets: URL, licence, size, SHA-256, and whether each is on this machine.

    Example: ./run tessera workload data show
    """
    from tessera.record import datasets as inputs

    for name in inputs.dataset_names():
        dataset = inputs.load_dataset(name)
        now = inputs.state(dataset)
        here = f"{now.state}, {amount(now.size_bytes)}" if now.size_bytes else now.state
        size = amount(dataset.size_bytes) if dataset.size_bytes is not None else "not published"
        click.echo(f"{name} ({dataset.version}): {here}\n  {dataset.url}\n  licence: {dataset.licence}")
        click.echo(f"  size: {size}; SHA-256: {dataset.sha256 or 'not published'}")


@data.command()
@click.argument("names", nargs=-1, required=True)
def fetch(names: tuple[str, ...]) -> None:
    """Download datasets by name; continue interrupted downloads.

    Example: ./run tessera workload data fetch gap-road
    """
    from tessera.record import datasets as inputs

    for dataset in [inputs.load_dataset(name) for name in names]:  # check all names before the first download
        with download_progress() as show:
            record = inputs.fetch_dataset(dataset, progress=partial(show, dataset.name))
        click.echo(
            f"{dataset.name}: {record['bytes']} bytes, SHA-256 {record['sha256']}, {record['verdict']}"
        )


@data.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Compare the SHA-256 of downloaded files with the listed one (default: all downloaded datasets).

    Exit status 1 if a file differs.

    Example: ./run tessera workload data verify gap-road
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.record import datasets as inputs

    chosen = list(names) or [
        n for n in inputs.dataset_names() if inputs.state(inputs.load_dataset(n)).state == "present"
    ]
    if not chosen:
        click.echo("no dataset was downloaded; to list them: ./run tessera workload data show")
    failed = False
    for dataset in [inputs.load_dataset(name) for name in chosen]:
        try:
            click.echo(f"{dataset.name}: {inputs.verify_dataset(dataset)}")
        except TesseraError as error:
            failed = True
            click.echo(f"tessera: {error}", err=True)
    if failed:
        sys.exit(EXIT_FAILED)
