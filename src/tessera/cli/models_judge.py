"""`tessera models protocols`, `adaptive` and `versions`: judge models, and choose the next layout to run."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.fit.models.crossval import SEED
from tessera.fit.models.samples import Samples, read_table
from tessera.layouts.names import ALL_1GB
from tessera.results.write import write


@click.command()
@click.option(
    "--samples",
    required=True,
    type=click.Path(),
    help="CSV of samples or cells of one workload and platform.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the tables.")
@click.option("--model", "names", multiple=True, help="Model name, or `every`.  [default: the paper's]")
@click.option(
    "--protocol", "protocols", multiple=True, help="Protocol name; may be repeated.  [default: all]"
)
@click.option(
    "--manifest",
    type=click.Path(),
    help="manifest.csv of the layouts; its column duplicate_of marks equal layouts.",
)
@click.option(
    "--draws", default=20, show_default=True, help="Random sets per size of the learning curve; 0: no curve."
)
@click.option(
    "--seed", default=SEED, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Seed of folds."
)
@click.option(
    "--one-in-ten",
    type=click.Choice(["flag", "refuse"]),
    default="flag",
    show_default=True,
    help="What to do with a fit that has fewer than ten samples per coefficient.",
)
def protocols(samples, out, names, protocols, manifest, draws, seed, one_in_ten) -> None:
    """Judge models under every protocol of cross validation; write protocols.csv and learning_curve.csv.

    \b
    Example (the cells: tessera simulate --help):
      ./run tessera models protocols --samples /tmp/cells.csv --out /tmp/fit
    """
    from tessera.fit.models.groups import read_duplicates
    from tessera.fit.models.protocols import write_judgement

    table = read_table(samples)
    for note in table.notes:
        click.echo(f"tessera models protocols: {note}", err=True)
    duplicates = read_duplicates(manifest) if manifest else None
    judged = write_judgement(
        table, out, names, protocols, seed=seed, draws=draws, duplicate_of=duplicates, one_in_ten=one_in_ten
    )
    headline = judged[(judged["protocol"] == "kfold") & (judged["setting"] == "6")]
    for row in headline[headline["max_error"].notna()].itertuples():
        click.echo(f"{row.model:12} 6 folds: max {row.max_error:8.3%}  geomean {row.geomean_error:8.3%}")
    of = f"{table.fitted.effective_n} distinct (H, M, C) rows of {len(table.fitted)} layouts"
    click.echo(f"effective n  {of}")


@click.command()
@click.option("--samples", required=True, type=click.Path(), help="CSV of the layouts that were run.")
@click.option("--pool", type=click.Path(), help="CSV of candidates with H, M, C: print the next to run.")
@click.option("--count", default=5, show_default=True, help="Number of candidates to print, with --pool.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for the tables of the replay, without --pool."
)
@click.option("--model", default="mosmodel", show_default=True, help="Model that the replay judges.")
@click.option("--seeds", default=30, show_default=True, help="Number of random orders to compare with.")
def adaptive(samples, pool, count, out, model, seeds) -> None:
    """Choose the layouts on which the models disagree most.

    With --pool: prints the candidates to run next. Without: replays this choice on layouts that all ran, and
    compares it with random orders; writes adaptive_curve.csv and adaptive.csv.

    Example: ./run tessera models adaptive --samples /tmp/cells.csv --out /tmp/fit --seeds 2
    """
    table = read_table(samples)
    for note in table.notes:
        click.echo(f"tessera models adaptive: {note}", err=True)
    if pool:
        _suggest(table.fitted, pool, count)
        return
    if out is None or seeds < 1:
        raise TesseraError(
            "replay of layouts",
            "it needs --out, and --seeds of 1 or more",
            "give --out FOLDER and --seeds 30",
        )
    from tessera.fit.adaptive import replay, summary
    from tessera.fit.adaptive.replay import CURVE, SUMMARY

    curve = replay(table.fitted, model, seeds)
    counted = summary(curve)
    write(CURVE, curve, out / CURVE.file)
    write(SUMMARY, counted, out / SUMMARY.file)
    for row in counted.itertuples():
        click.echo(
            f"{row.order:9} within {1 + row.slack:.1f} x {row.target_error:.3%}: reached with"
            f" {row.reached_median:g}, held from {row.held_median:g} of {row.total_layouts} layouts"
        )


@click.command()
@click.argument("samples", nargs=-1, required=True, type=click.Path())
@click.option(
    "--version",
    "versions",
    multiple=True,
    help="scikit-learn version; may be repeated.  [default: three versions]",
)
def versions(samples, versions) -> None:
    """Fit Mosmodel to CSVs of samples under several scikit-learn versions; exit status 1 if a fit differs.

    Makes a temporary environment for each version, so it needs the Python package index.

    Example: ./run tessera models versions results/default/cells/gups-16gb/haswell-sim.csv
    """
    from tessera.fit.models.versions import TOLERANCE, VERSIONS, compare

    named = versions or VERSIONS
    found = compare(samples, named)
    for each in found:
        terms = " + ".join(next(iter(each.terms.values())))
        verdict = f"equal to {each.difference:.1e}" if each.equal else f"DIFFERENT: {each.terms}"
        click.echo(f"{each.samples}: {verdict}: {terms}")
    same = sum(each.equal for each in found)
    click.echo(f"{same} of {len(found)} equal within {TOLERANCE:g} under scikit-learn {', '.join(named)}")
    if same < len(found):
        raise SystemExit(EXIT_FAILED)


def _suggest(known: Samples, pool: str, count: int) -> None:
    from tessera.fit.adaptive import next_layouts
    from tessera.fit.predict.design import read_design
    from tessera.layouts.model import canonical_name

    design = read_design(pool)
    for note in design.notes:
        click.echo(f"tessera models adaptive: {note}", err=True)
    names = [canonical_name(name) for name in design.names]
    if ALL_1GB in names:
        click.echo(f"tessera models adaptive: left out {ALL_1GB}: it only tests models", err=True)
    rows = [i for i, name in enumerate(names) if name not in known.layouts and name != ALL_1GB]
    # the runtimes of candidates are unknown and never read
    candidates = Samples(tuple(names), design.H, design.M, design.C, design.C * float("nan")).subset(rows)
    for choice in next_layouts(known, candidates)[:count]:
        click.echo(f"{choice.layout:16} disagreement {choice.disagreement:8.3%} of the mean runtime")
