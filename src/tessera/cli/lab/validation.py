"""``tessera validate``: check the simulator by other engines, formulas, this machine and invariants."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.results.tree import Tree

PATH = click.Path(path_type=Path)
_SEED = click.option("--seed", type=int, default=1, show_default=True, help="Seed of random choices.")
_AMOUNT = click.option(
    "--amount",
    type=click.Choice(["full", "quick"]),
    default="full",
    show_default=True,
    help="Number of cases.",
)
_PLATFORMS = click.option(
    "--platform",
    "names",
    multiple=True,
    help="Platform; may be repeated.  [default: all of config/platforms]",
)


def _say(text: str) -> None:
    click.echo(text, err=True)


@click.group()
def validate() -> None:
    """Validate the simulator; each command writes a table (docs/validation.md).

    Example: ./run tessera validate engines --amount quick --out /tmp/engines.csv
    """


@validate.command()
@_AMOUNT
@_PLATFORMS
@_SEED
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
def engines(amount: str, names: tuple[str, ...], seed: int, out: Path) -> None:
    """Compare the engines, and an LRU in Python, on random traces, layouts and platforms.

    Example: ./run tessera validate engines --amount quick --out engines.csv
    """
    from tessera.core import platforms
    from tessera.lab.validation.engines import AMOUNTS, compare_engines

    table = compare_engines(AMOUNTS[amount], list(names) or platforms.names(), seed, out, _say)
    click.echo(f"{table['cells'].sum()} cells compared, {table['differing'].sum()} differ")
    for row in table[(table["differing"] > 0) | (table["message"] != "")].itertuples():
        click.echo(f"{row.comparison}, {row.platform}: {row.first_difference or row.message}", err=True)


@validate.command("closed-forms")
@_PLATFORMS
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
def closed_forms(names: tuple[str, ...], out: Path) -> None:
    """Compare simulated counts with values from formulas.

    Example: ./run tessera validate closed-forms --platform haswell-sim --out closed_forms.csv
    """
    from tessera.core import platforms
    from tessera.lab.validation.closed_forms import compare_closed_forms

    table = compare_closed_forms([platforms.load(name) for name in names or platforms.names()], out, _say)
    click.echo(f"{len(table)} expected values, {(~table['holds']).sum()} do not hold")


@validate.command()
@click.option("--scale", default="full", show_default=True, help="full (minutes), or quick (seconds).")
@_SEED
@click.option(
    "--out", type=PATH, required=True, help="CSV file to write; chase_series.csv goes to its folder."
)
def chase(scale: str, seed: int, out: Path) -> None:
    """Measure pointer chases on this machine.

    Series in 2MB pages need reserved pages; without them they are skipped.

    Example: ./run --reserve tessera validate chase --scale quick --out chase.csv
    """
    from tessera.lab.chase.measured import measure_chases, scale_of

    table = measure_chases(scale_of(scale), seed, out, _say)
    click.echo(f"{len(table)} measurements -> {out}")


@validate.command()
@click.option(
    "--chase", "chase_path", type=PATH, required=True, help="Measurements of: tessera validate chase."
)
@click.option("--platform", type=PATH, required=True, help="This machine's platform file.")
@click.option("--scale", default="full", show_default=True, help="The --scale of the measurements.")
@_SEED
@click.option("--out", type=PATH, required=True, help="Folder for the tables.")
@click.option("--calibrated", type=PATH, required=True, help="Platform file to write.")
def explain(chase_path: Path, platform: Path, scale: str, seed: int, out: Path, calibrated: Path) -> None:
    """Find the steps of measured chases, simulate them, and calibrate this machine's platform file.

    \b
    Example, after ./run smoke:
      ./run tessera validate explain --chase results/smoke/validation/chase.csv --scale quick \\
        --platform results/smoke/platforms/host-sim.yaml --out /tmp/explain --calibrated /tmp/calibrated.yaml
    """
    from tessera.lab.chase.explain import explain as run
    from tessera.lab.chase.measured import scale_of

    run(chase_path, platform, scale_of(scale), seed, out, calibrated, _say)
    click.echo(f"calibrated platform -> {calibrated}")


@validate.command()
@click.option("--comparison", type=PATH, required=True, help="host/comparison.csv of a run.")
@click.option(
    "--simulated",
    type=PATH,
    multiple=True,
    required=True,
    help="Simulated cells of a platform; may be repeated.",
)
@click.option("--runs", type=PATH, required=True, help="host/runs.csv of a run.")
@click.option("--findings", type=PATH, required=True, help="Findings of: tessera validate explain.")
@click.option(
    "--out", type=PATH, required=True, help="CSV file to write; mosaics_summary.csv goes to its folder."
)
def mosaics(comparison: Path, simulated: tuple[Path, ...], runs: Path, findings: Path, out: Path) -> None:
    """Compare simulated differences between layouts with real runs under the same layouts.

    \b
    Example, after ./run --reserve smoke:
      ./run tessera validate mosaics --comparison results/smoke/host/comparison.csv \\
        --runs results/smoke/host/runs.csv --simulated results/smoke/host/simulated.csv \\
        --findings results/smoke/validation/findings.csv --out /tmp/mosaics.csv
    """
    from tessera.lab.validation.mosaics import judge_all

    _, table = judge_all(comparison, list(simulated), runs, findings, out)
    for row in table.itertuples():
        click.echo(f"{row.platform}, {row.quantity}: {row.value:.3g} {row.unit} {row.verdict}")


@validate.command()
@click.option("--results", type=PATH, required=True, help="Results folder, e.g. results/default.")
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
@click.option(
    "--change", "changes", multiple=True, metavar="KEY=VALUE",
    help="What the run's configuration changed on every platform (key `changes`); may be repeated.",
)  # fmt: skip
def invariants(results: Path, out: Path, changes: tuple[str, ...]) -> None:
    """Check the rules that every simulated cell of a run must satisfy.

    `tessera report check` fails if a cell breaks one.

    Example: ./run tessera validate invariants --results results/default --out /tmp/invariants.csv
    """
    from tessera.core.platforms import parse_changes
    from tessera.lab.validation.invariants import check_invariants

    tree = Tree(results)
    detected = {path.stem: path for path in tree.found(tree.platform("*"))}
    table = check_invariants(results, detected, out, parse_changes(changes))
    click.echo(
        f"{len(table)} invariants over {table['cells'].max()} cells, {(table['broken'] > 0).sum()} broken"
    )
    for row in table[table["broken"] > 0].itertuples():
        click.echo(f"{row.invariant}: {row.broken} cells break it; the first: {row.first_broken}", err=True)


_SCALE = click.option(
    "--scale",
    type=click.Choice(["default", "smoke"]),
    default="default",
    show_default=True,
    help="Number of marks.",
)


@validate.command()
@_SCALE
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
def clock_measure(scale: str, out: Path) -> None:
    """Measure the micro-benchmarks and programs of `tessera validate clock`. Run nothing else meanwhile.

    Example: ./run tessera validate clock-measure --scale smoke --out clock_measured.csv
    """
    from tessera.lab.clock.measured import measure, write_measured

    write_measured(measure(scale, _say), out)
    click.echo(f"measured -> {out}")


@validate.command()
@click.option(
    "--platform", type=PATH, required=True, help="This machine's platform, calibrated on the chases."
)
@_SCALE
@click.option("--measured", type=PATH, help="Table of clock-measure, same scale. Without it, measures first.")
@click.option("--out", type=PATH, required=True, help="Folder of the tables.")
@click.option("--calibrated", type=PATH, required=True, help="Platform file to write.")
def clock(platform: Path, scale: str, measured: Path | None, out: Path, calibrated: Path) -> None:
    """Compare micro-benchmarks and programs on this machine's clock with the simulated core.

    One half of the micro-benchmarks sets keys of the core; the other half and the programs judge. Without
    reserved pages, the rows with 2MB pages are skipped.

    Example: ./run tessera validate clock --platform host-sim.yaml --out clock --calibrated core.yaml
    """
    from tessera.lab.clock.measured import measure, read_measured
    from tessera.lab.clock.simulated import against_this_machine

    found = read_measured(measured) if measured else measure(scale, _say)
    against_this_machine(platform, calibrated, out, scale, found, _say)
    click.echo(f"tables -> {out}; platform -> {calibrated}")
