"""``tessera models``: fit, show, collect and judge runtime models; choose the next layout to run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup
from tessera.cli.options import PATH
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.table_io import write_table
from tessera.core.tables import print_table
from tessera.fit import collected_fits, fit_folder
from tessera.fit.evaluation.cross_validation import FOLDS, SEED
from tessera.fit.fitting import fit_all
from tessera.fit.models.base import check_one_in_ten
from tessera.fit.models.base import equation as explanation
from tessera.fit.models.registry import EVERY, MODELS
from tessera.fit.models.samples import Samples, read_samples


@click.group(cls=OldNamesGroup)
def models() -> None:
    """Fit runtime models of P, show and test them.

    Example: ./run tessera models show
    """


@models.command()
@options.samples()
@options.out("Folder for the tables and fit.json.")
@options.models("Model name, or `every`; may be repeated.  [default: the paper's]")
@click.option(
    "--folds",
    default=",".join(map(str, FOLDS)),
    show_default=True,
    help="Numbers of folds K of the cross validation, comma-separated.",
)
@options.seed("the folds", SEED, 2**32 - 1)
@options.one_in_ten
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
    samples: Path,
    out: Path,
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
    table = read_samples(samples)
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
@options.fit
@options.models("Name of a model; may be repeated.  [default: all]")
@options.point("With --fit: also print the cost of one more H, M and C at this point, in cycles.")
@options.as_json("With --point: print the costs as JSON lines.")
def show(fit: Path | None, names: tuple[str, ...], point, as_json: bool) -> None:
    """Print the models with their equations and sources; with --fit, the fitted ones with numbers.

    \b
    Example (after: tessera models fit):
      ./run tessera models show
      ./run tessera models show --fit /tmp/fit --model mosmodel --point 12e6,34e6,1.2e9
    """
    if fit is None and point is not None:
        raise TesseraError("--point", "costs are those of fitted models", "give --fit FOLDER, too")
    if as_json and point is None:
        raise TesseraError("--json", "it prints costs at a point", "give --point H,M,C, too")
    if fit is None:
        chosen = {name: one for name, one in EVERY.items() if not names or name in names}
        if unknown := [name for name in names if name not in EVERY]:
            raise unknown_name("model", unknown[0], EVERY)
        notes = {name: "" if name in MODELS else " (by name only)" for name in chosen}
        rows = [(m.name, m.equation, f"[{m.source}]{notes[m.name]}") for m in chosen.values()]
        print_table((), rows, whole=(0,))
        return
    fitted = fit_folder.read_fit(fit)
    for name in names or fitted.models:
        model = fitted.model(name)
        costs = model.explain(*point) if point else None
        if as_json:
            click.echo(json.dumps(costs.as_dict()))
            continue
        click.echo(explanation(name, fitted.of(name)) if fitted.of(name) else f"{name}: {model.equation}")
        if costs:
            click.echo(str(costs))


@models.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@options.out("Folder for the joined tables.")
def collect(folders: tuple[str, ...], out: Path) -> None:
    """Join the tables of several fits; the path of each folder ends in <workload>/<platform>.

    Example: ./run tessera models collect --out /tmp/models results/smoke/models/gups/sandybridge-sim
    """
    collected_fits.write_collected(collected_fits.collect_fits(folders), out)


def _folds(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and int(part) >= 2 for part in parts):
        raise TesseraError(
            f"--folds {text}", "the folds must be whole numbers >= 2, separated by commas", "--folds 3,6,9"
        )
    return tuple(int(part) for part in parts)


# `tessera models protocols`, `adaptive` and `versions`: judge models, and choose the next layout to run.


@models.command()
@options.samples()
@options.out("Folder for the tables.")
@options.models("Model name, or `every`; may be repeated.  [default: the paper's]")
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
@options.seed("the folds", SEED, 2**32 - 1)
@options.one_in_ten
def protocols(samples, out, names, protocols, manifest, draws, seed, one_in_ten) -> None:
    """Judge models under every protocol of cross validation; write protocols.csv and learning_curve.csv.

    \b
    Example (the cells: tessera simulate --help):
      ./run tessera models protocols --samples /tmp/cells.csv --out /tmp/fit
    """
    from tessera.fit.evaluation.cross_validation import read_duplicates
    from tessera.fit.evaluation.judgement import write_judgement

    table = read_samples(samples)
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


@models.command()
@options.samples("CSV of the layouts that were run.")
@click.option("--candidates", type=PATH, help="CSV of candidates with H, M, C: print the next to run.")
@click.option("--most", default=5, show_default=True, help="Number of candidates to print.")
@options.out("Folder for the tables of the replay, without --candidates.", required=False)
@click.option("--model", default="mosmodel", show_default=True, help="Model that the replay judges.")
@click.option("--seeds", default=30, show_default=True, help="Number of random orders to compare with.")
def adaptive(samples, candidates, most, out, model, seeds) -> None:
    """Choose the layouts on which the models disagree most.

    With --candidates: prints those to run next. Without: replays this choice on layouts that all ran, and
    compares it with random orders; writes adaptive_curve.csv and adaptive.csv.

    Example: ./run tessera models adaptive --samples /tmp/cells.csv --out /tmp/fit --seeds 2
    """
    table = read_samples(samples)
    for note in table.notes:
        click.echo(f"tessera models adaptive: {note}", err=True)
    if candidates:
        _suggest(table.fitted, candidates, most)
        return
    if out is None or seeds < 1:
        raise TesseraError(
            "replay of layouts",
            "it needs --out, and --seeds of 1 or more",
            "give --out FOLDER and --seeds 30",
        )
    from tessera.fit.evaluation.adaptive import CURVE, SUMMARY, replay_orders, replay_summary

    curve = replay_orders(table.fitted, model, seeds)
    counted = replay_summary(curve)
    write_table(CURVE, curve, out / CURVE.file)
    write_table(SUMMARY, counted, out / SUMMARY.file)
    for row in counted.itertuples():
        click.echo(
            f"{row.order:9} within {1 + row.slack:.1f} x {row.target_error:.3%}: reached with"
            f" {row.reached_median:g}, held from {row.held_median:g} of {row.total_layouts} layouts"
        )


@models.command()
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
    from tessera.fit.sklearn_versions import TOLERANCE, VERSIONS, compare_versions

    named = versions or VERSIONS
    found = compare_versions(samples, named)
    for each in found:
        terms = " + ".join(next(iter(each.terms.values())))
        verdict = f"equal to {each.difference:.1e}" if each.equal else f"DIFFERENT: {each.terms}"
        click.echo(f"{each.samples}: {verdict}: {terms}")
    same = sum(each.equal for each in found)
    click.echo(f"{same} of {len(found)} equal within {TOLERANCE:g} under scikit-learn {', '.join(named)}")
    if same < len(found):
        raise SystemExit(EXIT_FAILED)


def _suggest(known: Samples, pool: Path, count: int) -> None:
    from tessera.core.layouts.layout import canonical_name
    from tessera.fit.evaluation.adaptive import next_layouts
    from tessera.fit.predict.prediction import read_design

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
