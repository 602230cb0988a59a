"""`tessera models`: fit, explain, list and collect; `models_judge.py` has the other commands."""

from __future__ import annotations

import json

import click

from tessera.cli.models_judge import adaptive, protocols, versions
from tessera.cli.predict import models_predict
from tessera.core.errors import TesseraError
from tessera.core.tables import print_table
from tessera.fit.models import store
from tessera.fit.models.base import explain as explanation
from tessera.fit.models.collect import collect as collect_folders
from tessera.fit.models.collect import write_collected
from tessera.fit.models.crossval import FOLDS, SEED
from tessera.fit.models.fitting import check_one_in_ten, fit_all
from tessera.fit.models.registry import EVERY, MODELS
from tessera.fit.models.samples import read_table


@click.group()
def models() -> None:
    """Fit runtime models of P, explain and test them.

    Example: ./run tessera models list
    """


models.add_command(protocols)
models.add_command(adaptive)
models.add_command(versions)
models.add_command(models_predict, "predict")


@models.command("list")
def list_models() -> None:
    """List the models with their equations and sources.

    Example: ./run tessera models list
    """
    notes = {name: "" if name in MODELS else " (by name only)" for name in EVERY}
    print_table(
        (), [(m.name, m.equation, f"[{m.source}]{notes[m.name]}") for m in EVERY.values()], whole=(0,)
    )


@models.command()
@click.option(
    "--samples",
    required=True,
    type=click.Path(),
    help="CSV of samples or cells of one workload and platform.",
)
@click.option("--out", required=True, type=click.Path(), help="Folder for the tables and fit.json.")
@click.option(
    "--model", "names", multiple=True, help="Model name, or `every`; may be repeated.  [default: the paper's]"
)
@click.option(
    "--folds",
    default=",".join(map(str, FOLDS)),
    show_default=True,
    help="Numbers of folds K of the cross validation, comma-separated.",
)
@click.option(
    "--seed", default=SEED, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Seed of folds."
)
@click.option(
    "--one-in-ten",
    type=click.Choice(["flag", "refuse"]),
    default="flag",
    show_default=True,
    help="What to do with a model that has fewer than ten samples per coefficient.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["together", "apart"]),
    default="together",
    show_default=True,
    help="Cross validation: samples of equal (H, M, C) share a fold, or each row is a sample of its own.",
)
@click.option(
    "--measured-walk-cycles-4kb",
    type=float,
    help="C under 4KB pages on a real machine, in cycles; for alam-scaled.",
)
@click.option(
    "--simulated-walk-cycles-4kb",
    type=float,
    help="C under 4KB pages in the simulator, in cycles; for alam-scaled.",
)
def fit(
    samples: str,
    out: str,
    names: tuple[str, ...],
    folds: str,
    seed: int,
    one_in_ten: str,
    duplicates: str,
    measured_walk_cycles_4kb: float | None,
    simulated_walk_cycles_4kb: float | None,
) -> None:
    """Fit models to samples; write coefficients, predictions, errors, cross validation and intervals.

    Prints the maximum and the geometric mean of the relative error of each model.

    \b
    Example (the cells: tessera simulate --help):
      ./run tessera models fit --samples /tmp/cells.csv --out /tmp/fit
    """
    table = read_table(samples)
    for note in table.notes:
        click.echo(f"tessera models fit: {note}", err=True)
    scale = {
        "measured_walk_cycles_4kb": measured_walk_cycles_4kb,
        "simulated_walk_cycles_4kb": simulated_walk_cycles_4kb,
    }
    result = fit_all(
        table,
        _folds(folds),
        seed,
        names,
        parameters={"alam-scaled": scale},
        intervals=True,
        one_in_ten=one_in_ten,
        duplicates=duplicates,
    )
    for name, message in result.failures.items():
        click.echo(f"tessera models fit: {name} not fitted: {message}", err=True)
    for name, model in result.models.items():
        warning = check_one_in_ten(model, result.samples, "flag")
        if warning:
            click.echo(f"tessera models fit: {name} {warning}", err=True)
    result.write(out, samples)
    for row in result.errors[result.errors["protocol"] == "all"].itertuples():
        if not row.message:
            click.echo(f"{row.model:12} max {row.max_error:8.3%}  geomean {row.geomean_error:8.3%}")
    click.echo(f"effective n  {result.effective_n} distinct (H, M, C) rows of {result.samples} layouts")


@models.command()
@click.option("--fit", "folder", required=True, type=click.Path(), help="Folder that `models fit` wrote.")
@click.option(
    "--model", "names", multiple=True, help="Name of a fitted model; may be repeated.  [default: all]"
)
@click.option(
    "--stlb-hits", type=float, help="H of a point: also print the cost of one more H, M and C there."
)
@click.option("--stlb-misses", type=float, help="M of the point.")
@click.option("--walk-cycles", type=float, help="C of the point.")
@click.option("--json", "as_json", is_flag=True, help="Print the costs at the point as JSON lines.")
def explain(
    folder: str,
    names: tuple[str, ...],
    stlb_hits: float | None,
    stlb_misses: float | None,
    walk_cycles: float | None,
    as_json: bool,
) -> None:
    """Print fitted models as equations; at a point, also print the cost of one more H, M or C in cycles.

    Example (after: tessera models fit): ./run tessera models explain --fit /tmp/fit --model mosmodel
    """
    fitted, point = store.read_fit(folder), (stlb_hits, stlb_misses, walk_cycles)
    here = None not in point
    if not here and (as_json or any(value is not None for value in point)):
        raise TesseraError(
            "explain at a point",
            "it needs all of H, M and C",
            "give --stlb-hits, --stlb-misses and --walk-cycles",
        )
    for name in names or fitted.models:
        model = fitted.model(name)
        costs = model.explain(*point) if here else None
        if as_json:
            click.echo(json.dumps(costs.as_dict()))
            continue
        click.echo(explanation(name, fitted.of(name)) if fitted.of(name) else f"{name}: {model.equation}")
        if costs:
            click.echo(str(costs))


@models.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="Folder for the joined tables.")
def collect(folders: tuple[str, ...], out: str) -> None:
    """Join the tables of several fits; the path of each folder ends in <workload>/<platform>.

    Example: ./run tessera models collect --out /tmp/models results/smoke/models/gups/sandybridge-sim
    """
    write_collected(collect_folders(folders), out)


def _folds(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and int(part) >= 2 for part in parts):
        raise TesseraError(
            f"--folds {text}", "the folds must be whole numbers >= 2, separated by commas", "--folds 3,6,9"
        )
    return tuple(int(part) for part in parts)
