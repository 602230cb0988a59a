"""`tessera models`: fit, predict, explain, list and collect runtime models."""

from __future__ import annotations

import json

import click

from tessera.errors import TesseraError
from tessera.models import store
from tessera.models.base import explain as explanation
from tessera.models.collect import collect as collect_folders
from tessera.models.collect import write_collected
from tessera.models.crossval import FOLDS, SEED
from tessera.models.fitting import fit_all
from tessera.models.registry import MODELS
from tessera.models.samples import read_table


@click.group()
def models() -> None:
    """Fit runtime models and predict runtimes."""


@models.command("list")
def list_models() -> None:
    """List the models with their equations and sources."""
    for model in MODELS.values():
        click.echo(f"{model.name:9} {model.equation}  [{model.source}]")


@models.command()
@click.option("--samples", required=True, type=click.Path(), help="CSV of samples or cells.")
@click.option("--out", required=True, type=click.Path(), help="Folder for the tables and fit.json.")
@click.option("--model", "names", multiple=True, help="A model by name; repeat; default all.")
@click.option(
    "--folds",
    default=",".join(map(str, FOLDS)),
    show_default=True,
    help="K of the cross validation, comma-separated.",
)
@click.option("--seed", default=SEED, show_default=True, type=click.IntRange(0, 2**32 - 1))
def fit(samples: str, out: str, names: tuple[str, ...], folds: str, seed: int) -> None:
    """Fit models to samples; write coefficients, predictions, errors and cross validation."""
    table = read_table(samples)
    for note in table.notes:
        click.echo(f"tessera models fit: {note}", err=True)
    result = fit_all(table, _folds(folds), seed, names)
    for name, message in result.failures.items():
        click.echo(f"tessera models fit: {name} not fitted: {message}", err=True)
    result.write(out, samples)
    for row in result.errors[result.errors["protocol"] == "all"].itertuples():
        if not row.message:
            click.echo(f"{row.model:9} max {row.max_error:8.3%}  geomean {row.geomean_error:8.3%}")


@models.command()
@click.option("--fit", "folder", required=True, type=click.Path(), help="Folder of a fit.")
@click.option("--model", "name", required=True, help="A fitted model.")
@click.option("--stlb-hits", required=True, type=float, help="H, translations.")
@click.option("--stlb-misses", required=True, type=float, help="M, translations (page walks).")
@click.option("--walk-cycles", required=True, type=float, help="C, cycles.")
@click.option("--json", "as_json", is_flag=True, help="Also say whether this is an extrapolation.")
def predict(
    folder: str, name: str, stlb_hits: float, stlb_misses: float, walk_cycles: float, as_json: bool
) -> None:
    """Print the predicted runtime in cycles."""
    fitted, point = store.read(folder), {"H": stlb_hits, "M": stlb_misses, "C": walk_cycles}
    runtime = float(fitted.predict(name, **point))
    if not as_json:
        click.echo(repr(runtime))
        return
    outside = fitted.outside(**point)
    answer = {
        "model": name,
        "predicted_runtime_cycles": runtime,
        "stlb_hits": stlb_hits,
        "stlb_misses": stlb_misses,
        "walk_cycles": walk_cycles,
        "inside_fitted_range": not outside,
        "outside": outside,
    }
    click.echo(json.dumps(answer))


@models.command()
@click.option("--fit", "folder", required=True, type=click.Path(), help="Folder of a fit.")
@click.option("--model", "names", multiple=True, help="A fitted model; repeat; default all.")
def explain(folder: str, names: tuple[str, ...]) -> None:
    """Print fitted models as equations in raw units."""
    fitted = store.read(folder)
    for name in names or fitted.coefficients:
        click.echo(explanation(name, fitted.of(name)))


@models.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="Folder for the joined tables.")
def collect(folders: tuple[str, ...], out: str) -> None:
    """Join the tables of fits; a folder ends in <workload>/<platform>."""
    write_collected(collect_folders(folders), out)


def _folds(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and int(part) >= 2 for part in parts):
        raise TesseraError(f"--folds {text}", "not a list of whole numbers >= 2", "try --folds 3,6,9")
    return tuple(int(part) for part in parts)
