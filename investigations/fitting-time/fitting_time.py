"""Measure the time of fitting and judging models.

All nine models fitted to every (workload, platform) pair, cross-validated with their intervals, under every
protocol and with anchors in training. Learning curves and adaptive orders are timed separately. RESULTS is a
results folder (`results/default`) with `cells/<workload>/<platform>.csv`; without one, 57 generated sets of
54 layouts. Each process loads the libraries first, which the last line counts too.
"""

from __future__ import annotations

import csv
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
import numpy as np

from tessera.core.results.tree import ResultsTree
from tessera.fit.models.samples import Samples, SamplesTable, read_samples

FROZEN = Path(__file__).with_name("times.csv")
SETS = 57
LIMIT_SECONDS = 60  #: for the models and protocols, with two processes
PARTS = ("fit and cross-validate", "protocols", "anchored", "learning curves", "adaptive orders")


def generated(seed: int) -> SamplesTable:
    """54 layouts of the paper's names: H, M, C that go together, a mildly curved R with 0.1% noise."""
    stream = np.random.RandomState(seed)
    names = [f"{kind}-{i}" for kind in ("growing", "random") for i in range(9)]
    names += [f"sliding-{percent}-{i}" for percent in (20, 40, 60, 80) for i in range(9)]
    misses = np.round(1e8 * stream.random_sample(54))
    walks = np.round(misses * (30 + 5 * stream.random_sample(54)))
    hits = np.round(4e7 * stream.random_sample(54))
    runtime = (5e9 + 0.6 * walks + 5e-11 * walks**2 + 3 * hits) * (1 + 1e-3 * stream.standard_normal(54))
    return SamplesTable(Samples(tuple(names), hits, misses, walks, np.round(runtime)), None)


def seconds(source: Path | int, extras: bool = True) -> list[float]:
    """Processor seconds of each of :data:`PARTS` for one set: a cells file, or a seed."""
    from tessera.fit.evaluation.adaptive import replay_orders
    from tessera.fit.evaluation.anchored import anchored
    from tessera.fit.evaluation.cross_validation import Fits
    from tessera.fit.evaluation.judgement import learning_curve
    from tessera.fit.evaluation.protocols import run_protocols
    from tessera.fit.fitting import fit_all

    table = read_samples(source) if isinstance(source, Path) else generated(source)
    fits, marks = Fits(table.fitted), [time.process_time()]
    steps = [
        lambda: fit_all(table, intervals=True, fits=fits),
        lambda: run_protocols(table, fits=fits),
        lambda: anchored(table, fits=fits),
        lambda: extras and learning_curve(table, fits=fits),
        lambda: extras and replay_orders(table.fitted, seeds=10),
    ]
    for step in steps:
        step()
        marks.append(time.process_time())
    return [later - earlier for earlier, later in zip(marks, marks[1:], strict=False)]


def findings(path: Path = FROZEN) -> list[str]:
    """Lines of README.md, from the frozen table."""
    with path.open(newline="") as stream:
        return [f"{r['part']}: {r['seconds']} s of {r['clock']} time" for r in csv.DictReader(stream)]


@click.command()
@click.argument("results", required=False, type=click.Path(path_type=Path))
@click.option("--sets", default=SETS, show_default=True, help="How many pairs or generated sets.")
@click.option("--processes", default=2, show_default=True, help="Processes.")
@click.option("--no-extras", is_flag=True, help="No learning curves, no adaptive orders.")
def command(results: Path | None, sets: int, processes: int, no_extras: bool) -> None:
    """Measure the time of fitting and judging models on the cells of RESULTS, or on generated sets."""
    sources: list = list(range(sets))
    if results:
        tree = ResultsTree(results)
        sources = tree.found(tree.cells_of("*", "*"))[:sets]
    if not sources:
        raise click.UsageError(f"{results} has no cells/<workload>/<platform>.csv")
    extras, begin = not no_extras, time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        spent = np.array(list(pool.map(seconds, sources, [extras] * len(sources))))
    wall = time.perf_counter() - begin
    for part, total in zip(PARTS, spent.sum(axis=0), strict=True):
        if extras or part in PARTS[:3]:
            click.echo(f"{part}: {total:.1f} s of processor time for {len(sources)} sets")
    click.echo(f"together: {wall:.1f} s of wall time with {processes} processes, loading included")
    if not extras:
        click.echo(f"limit: {LIMIT_SECONDS} s: {'kept' if wall < LIMIT_SECONDS else 'BROKEN'}")
        sys.exit(int(wall >= LIMIT_SECONDS))


if __name__ == "__main__":
    command()
