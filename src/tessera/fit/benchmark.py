"""Measure the time of fitting and judging models: `python -m tessera.fit.benchmark [RESULTS]`.

All nine models fitted to every (workload, platform) pair, cross-validated with their intervals, under every
protocol and with anchors in training. Learning curves and adaptive orders are timed separately. RESULTS is a
results folder (`results/default`) with `cells/<workload>/<platform>.csv`; without one, 57 generated sets of
54 layouts. Each process loads the libraries first, which the last line counts too.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from tessera.core.results.tree import Tree
from tessera.fit.models.samples import Samples, Table, read_samples

SETS = 57
LIMIT_SECONDS = 60  #: for the models and protocols, with two processes
PARTS = ("fit and cross-validate", "protocols", "anchored", "learning curves", "adaptive orders")


def generated(seed: int) -> Table:
    """54 layouts of the paper's names: H, M, C that go together, a mildly curved R with 0.1% noise."""
    stream = np.random.RandomState(seed)
    names = [f"{kind}-{i}" for kind in ("growing", "random") for i in range(9)]
    names += [f"sliding-{percent}-{i}" for percent in (20, 40, 60, 80) for i in range(9)]
    misses = np.round(1e8 * stream.random_sample(54))
    walks = np.round(misses * (30 + 5 * stream.random_sample(54)))
    hits = np.round(4e7 * stream.random_sample(54))
    runtime = (5e9 + 0.6 * walks + 5e-11 * walks**2 + 3 * hits) * (1 + 1e-3 * stream.standard_normal(54))
    return Table(Samples(tuple(names), hits, misses, walks, np.round(runtime)), None)


def seconds(source: Path | int, extras: bool = True) -> list[float]:
    """Processor seconds of each of :data:`PARTS` for one set: a cells file, or a seed."""
    from tessera.fit.evaluation.adaptive import replay
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
        lambda: extras and replay(table.fitted, seeds=10),
    ]
    for step in steps:
        step()
        marks.append(time.process_time())
    return [later - earlier for earlier, later in zip(marks, marks[1:], strict=False)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tessera.fit.benchmark")
    parser.add_argument("results", nargs="?", type=Path, help="results folder; none: generated sets")
    parser.add_argument("--sets", type=int, default=SETS, help="how many pairs or generated sets")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-extras", action="store_true", help="no learning curves, no adaptive orders")
    given = parser.parse_args(arguments)
    sources: list = list(range(given.sets))
    if given.results:
        tree = Tree(given.results)
        sources = tree.found(tree.cells_of("*", "*"))
    if not sources:
        parser.error(f"{given.results} has no cells/<workload>/<platform>.csv")
    sources = sources[: given.sets]
    extras, begin = not given.no_extras, time.perf_counter()
    with ProcessPoolExecutor(given.processes) as pool:
        spent = np.array(list(pool.map(seconds, sources, [extras] * len(sources))))
    wall = time.perf_counter() - begin
    for part, total in zip(PARTS, spent.sum(axis=0), strict=True):
        if extras or part in PARTS[:3]:
            print(f"{part:24} {total:7.1f} s of processor time for {len(sources)} sets")
    print(f"{'together':24} {wall:7.1f} s of wall time with {given.processes} processes, loading included")
    if extras:
        return 0
    print(f"{'limit':24} {LIMIT_SECONDS:7.1f} s: {'kept' if wall < LIMIT_SECONDS else 'BROKEN'}")
    return int(wall >= LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
