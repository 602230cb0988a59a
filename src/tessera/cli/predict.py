"""`tessera predict`: turn simulator output into a runtime with an interval."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--samples",
    required=True,
    type=click.Path(),
    help="CSV of samples or cells of one workload and platform.",
)
@click.option(
    "--design",
    required=True,
    type=click.Path(),
    help="CSV with the columns stlb_hits,stlb_misses,walk_cycles.",
)
@click.option("--model", default="mosmodel", show_default=True, help="Model, as in: tessera models list.")
@click.option(
    "--level", default=0.95, show_default=True, help="Confidence level of the interval, between 0 and 1."
)
@click.option("--only", help="Predict only the design of this name.")
@click.option("--out", type=click.Path(path_type=Path), help="CSV file to write the table to.")
@click.option("--budget", type=click.Path(path_type=Path), help="CSV file to write the error budget to.")
@click.option(
    "--mosaics",
    type=click.Path(),
    help="validation/mosaics.csv of a run: the simulator's part of the budget.",
)
@click.option("--repeats", type=click.Path(), help="CSV of repeated runs: the part of noise in the budget.")
def predict(samples, design, model, level, only, out, budget, mosaics, repeats) -> None:
    """Predict the runtime of designs, in cycles, from the H, M and C of partial simulations.

    EXTRAPOLATED marks a design outside the range of the samples.

    Example: ./run tessera predict --samples /tmp/cells.csv --design /tmp/cells.csv --only growing-4
    """
    from tessera.fit.predict.budget import error_budget
    from tessera.fit.predict.design import read_design
    from tessera.fit.predict.prediction import fit_to, table_of
    from tessera.results.schema.models import OF_PAIR
    from tessera.results.write import write

    points = read_design(design, only)
    fitted = fit_to(samples, model)
    for note in [*fitted.table.notes, *points.notes]:
        click.echo(f"tessera predict: {note}", err=True)
    table = table_of(fitted, points, level, warn=False)  # the loop below prints the warnings
    for row in table.itertuples():
        ends = (
            f"{row.low_cycles:.6g} to {row.high_cycles:.6g}" if row.low_cycles == row.low_cycles else "none"
        )
        click.echo(
            f"{row.design}: {row.predicted_runtime_cycles:.6g} cycles, {level:.0%} interval {ends}"
            f" ({row.model}, {row.interval_method})" + ("" if row.inside_hull else " EXTRAPOLATED")
        )
        if row.message:
            click.echo(f"tessera predict: {row.design}: {row.message}", err=True)
    if out:
        write(OF_PAIR["one_gb"], table, out)
    if budget:
        parts = error_budget(fitted, points, mosaics=mosaics, repeats=repeats)
        write(OF_PAIR["budget"], parts, budget)
        for row in parts.itertuples():
            share = f"{row.relative:8.3%}" if row.relative == row.relative else "       ?"
            click.echo(f"{row.design}: {row.part:9} {share}  {row.provenance or '-':10} {row.message}")
