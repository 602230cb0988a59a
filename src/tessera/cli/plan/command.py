"""``tessera plan``: what a configuration costs, before it runs."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli import options
from tessera.core.units import GB

HOUR, DAY = 3600, 86400


@click.command()
@options.config("default", default="default")
@click.option("--nodes", type=click.IntRange(1), default=1, help="Machines that share the work.  [1]")
@click.option("--cores", type=click.IntRange(1), help="Cores of each.  [of this one]")
@click.option("--memory", type=click.FloatRange(1), help="Memory of each, in GB (2^30).  [of this one]")
@click.option("--check", "results", type=click.Path(path_type=Path), help="Compare with this finished run.")
def plan(
    configuration: str, nodes: int, cores: int | None, memory: float | None, results: Path | None
) -> None:
    """Print jobs, core hours, memory, disk and days of a configuration, from a cost model.

    Nothing runs. The model's numbers were measured on one machine (docs/results/cluster-tests.md). --check
    compares them with a run of yours, and exits with 1 if the sums differ by more than 30%.

    Example: ./run tessera plan --config paper --nodes 10 --cores 16 --memory 64
    """
    if results is not None:
        raise SystemExit(_check(configuration, results))
    from tessera.cli.plan import estimate
    from tessera.machine.limits import UsableMemory, total_memory, usable_processors

    cores = usable_processors() if cores is None else cores
    each = total_memory() if memory is None else UsableMemory(int(memory * GB))
    done = estimate.estimate_reproduction(configuration, estimate.Machines(nodes, cores, each.bytes))
    click.echo("rule,jobs,core_hours,memory_gb")
    for line in sorted(done.lines, key=lambda line: -line.seconds):
        if line.seconds >= 0.001 * done.seconds:
            needs = f"{line.memory / GB:.1f}" if line.memory else ""
            click.echo(f"{line.rule},{line.jobs},{line.seconds / HOUR:.2f},{needs}")
    click.echo(f"jobs: {done.jobs}")
    click.echo(f"core hours: {done.seconds / HOUR:.1f}")
    click.echo(f"disk: {done.disk / GB:.0f} GB at most, if every file is there at once")
    where = f"{nodes} x {cores} cores, {each.bytes / GB:.0f} GB each"
    if each.limit:
        click.echo(f"memory of each: {each.limit}; --memory gives another")
    click.echo(f"days on {where}: at least {done.elapsed_seconds / DAY:.2f}")
    for row in done.too_large:
        click.echo(f"{row.name} will be left out: it needs {row.memory / GB:.1f} GB of memory")


def _check(configuration: str, results: Path) -> int:
    """Print the model beside a run; the exit status."""
    from tessera.cli.plan import estimate
    from tessera.core.results.tree import ResultsTree

    config, _ = estimate.read_configuration(configuration)
    found = estimate.compare_with_run(config, estimate.timeline_seconds(ResultsTree(results).timeline))
    click.echo("rule,jobs,measured_s,estimated_s")
    for one in found:
        click.echo(f"{one.rule},{one.jobs},{one.measured:.0f},{one.estimated:.0f}")
    share = estimate.relative_difference(found)
    click.echo(f"sum of the model: {share:+.0%} of the run's; allowed: {estimate.TOLERANCE:.0%} either way")
    return 0 if abs(share) <= estimate.TOLERANCE else 1
