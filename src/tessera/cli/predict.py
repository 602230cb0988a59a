"""`tessera predict`: the runtime of a design with its source and level, or why there is none."""

from __future__ import annotations

import json

import click

from tessera.cli import options as shared
from tessera.cli.options import PATH


class _Sections(click.Command):
    """Options under headings, in the order in which a user decides."""

    HEADINGS = {
        "What P is (one of)": ("results", "workload", "platform", "samples", "fit", "clock"),
        "What is asked (one of)": (
            "design", "counts", "point", "layout", "only",
        ),
        "What counts mean (needed with counts)": (
            "hits_are", "walk_cycles_are", "classes", "walkers", "hit_cycles", "miss_cycles",
        ),
        "Formulas of papers, instead of an answer": ("formula", "level", "budget", "mosaics", "repeats"),
    }  # fmt: skip

    def format_options(self, ctx, formatter) -> None:
        records = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        for heading, names in self.HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names])
        with formatter.section("Output"):
            formatter.write_dl([record for record in records.values() if record])


@click.command(cls=_Sections)
@shared.results(
    "Folder of a run: P is that of its study of transfer.  [default: results/default, with --workload]"
)
@shared.workload("Workload of the study.")
@shared.platform("Platform of the study; with counts, it states hit time and walkers.")
@shared.samples(
    "CSV of samples or cells of one workload and platform: R, H, M and C of P. With --results, the "
    "study has the simulator's clock S.",
    required=False,
)
@shared.fit
@click.option(
    "--clock",
    type=PATH,
    help="CSV layout,runtime_cycles: P by the simulator of --counts, whose runtime_cycles is then S'.",
)
@click.option(
    "--design",
    type=PATH,
    help="YAML file: name, changes of the platform, mapping or layout. It is simulated on the window of "
    "--results.",
)
@click.option(
    "--counts",
    type=PATH,
    help="CSV of any simulator: design,layout,stlb_hits,stlb_misses,walk_cycles, perhaps runtime_cycles. "
    "Without layout: growing-0 (4KB pages).",
)
@shared.point("Counts of one design, without a file.")
@shared.layout("Layout of --point.  [default: growing-0]")
@click.option("--only", help="Of --counts, only the design of this name.")
@click.option(
    "--hits-are",
    type=click.Choice(["latency", "accesses"]),
    help="H is the hits' cycles divided by the hit time of P (latency), or how many hits (accesses).",
)
@click.option(
    "--walk-cycles-are",
    type=click.Choice(["busy", "waited"]),
    help="C has the cycles of all walks (busy), or only of those that an access waits for (waited).",
)
@click.option(
    "--design-class",
    "classes",
    multiple=True,
    help="Class of the designs (docs/explain/transfer.md); may be repeated.",
)
@click.option("--walkers", type=int, help="Page walkers of the designs.  [default: those of the platform]")
@click.option("--hit-cycles", type=float, help="Hit time of P's STLB.  [default: that of the platform]")
@click.option(
    "--miss-cycles",
    type=float,
    default=0.0,
    show_default=True,
    help="Cycles that look-ups of misses take more than on P, in total.",
)
@click.option("--formula", metavar="MODEL", help="Print what a model says (models list). It is no answer.")
@click.option("--level", type=float, help="Confidence level of its interval, 0 to 1.  [default: 0.95]")
@click.option("--budget", type=PATH, help="CSV file to write its error budget to.")
@click.option("--mosaics", type=PATH, help="validation/mosaics.csv of a run: the simulator's part of it.")
@click.option("--repeats", type=PATH, help="CSV of repeated runs: the part of noise in it.")
@shared.cache("that of the results")
@shared.as_json("Print one JSON object per design.")
@shared.out("CSV file to write the table to.", required=False)
def predict(**options) -> None:
    """Predict the runtime of a new design in cycles, with an interval; or say why it cannot be told.

    P is the processor that you know, simulated or measured. The answer states its source (calibrated,
    bracket, engine or none) and its level, A to D. Exit status: 0 if every design has a runtime, 3 if one
    has none, 2 if the request is wrong. docs/explain/predict.md explains each refusal.

    \b
    Example 1, your design on the window of a run (after ./run reproduce):
      ./run tessera predict --design examples/designs/stlb-x4.yaml \\
          --workload gups-8gb --platform haswell-sim
    Example 2, counts of any simulator, and samples of P under mosaics:
      ./run tessera predict --samples cells.csv --counts counts.csv --design-class reach \\
          --hits-are latency --walk-cycles-are busy --platform haswell-sim
    """
    asked = _asked(options)
    if options["formula"] is not None:
        complete = _formula(options, asked)
    else:
        complete = _answers(options, asked)
    if not complete:
        from tessera.fit.predict.decision import EXIT_NO_ANSWER

        raise SystemExit(EXIT_NO_ANSWER)


def _asked(options: dict):
    """The counts of --point, a path, or None; refuses options that do not belong together."""
    from tessera.core.errors import TesseraError

    single = options["point"] is not None
    if sum((single, options["counts"] is not None, options["design"] is not None)) != 1:
        given = "more than one design is given" if single or options["design"] else "no design is given"
        raise TesseraError(
            "tessera predict: the design", given,
            "give --design FILE.yaml, --counts FILE.csv, or --point H,M,C",
            code="one-question",
        )  # fmt: skip
    if options["layout"] is not None and not single:
        raise TesseraError(
            f"tessera predict --layout {options['layout']}", "the design or the table names its layout",
            "write it there", code="layout-twice",
        )  # fmt: skip
    of_formula = [name for name in ("level", "budget", "mosaics", "repeats") if options[name] is not None]
    if of_formula and options["formula"] is None:
        raise TesseraError(
            f"tessera predict --{of_formula[0]}", "only formulas of papers have it",
            "leave it out, or give --formula MODEL", code="formula-option",
        )  # fmt: skip
    if not single:
        return options["counts"]
    from tessera.core.layouts.layout import ALL_4KB, canonical_name
    from tessera.fit.predict.counts import DesignPoint

    layout = ALL_4KB if options["layout"] is None else canonical_name(options["layout"])
    return DesignPoint("design", layout, *options["point"])


def _answers(options: dict, counts) -> bool:
    from tessera.core.results.table_io import write_table
    from tessera.core.results.transfer_tables import DESIGN_ANSWERS
    from tessera.core.results.tree import ResultsTree
    from tessera.lab.transfer.from_python import RESULTS, ask
    from tessera.simulate.progress import Ticker, parse_progress

    names = ("results", "workload", "platform", "samples", "fit", "clock", "hits_are", "walk_cycles_are")
    passed = {
        name: options[name] for name in (*names, "classes", "walkers", "hit_cycles", "miss_cycles", "only")
    }
    ticker = None
    if options["design"] is not None:
        ticker = Ticker(f"{options['design'].stem} on {options['platform']}")
    found = ask(
        options["design"], counts, **passed,
        cache=options["cache"] or ResultsTree(options["results"] or RESULTS).cache,
        progress=lambda line: ticker(line) if ticker and parse_progress(line) else None,
    )  # fmt: skip
    if ticker:
        ticker.close()
    for note in found.notes:
        click.echo(f"tessera predict: {note}", err=True)
    for decision in found.decisions:
        if options["as_json"]:
            click.echo(json.dumps(decision.as_dict() | {"notes": found.notes}, allow_nan=False))
            continue
        rows = sum(one.question.design == decision.question.design for one in found.decisions)
        click.echo(decision.sentence(with_layout=rows > 1))
        for line in decision.lines():
            click.echo(f"  {line}")
    if options["out"]:
        write_table(DESIGN_ANSWERS, found.table, options["out"])
    return found.complete


def _formula(options: dict, counts) -> bool:
    """Whether every value can be printed."""
    from tessera.core.errors import TesseraError
    from tessera.core.results.cell_tables import MODELS_OF_PAIR
    from tessera.core.results.table_io import write_table
    from tessera.fit.evaluation.intervals import LEVEL
    from tessera.fit.predict import formula
    from tessera.fit.predict.budget import error_budget

    if options["design"] is not None:
        raise TesseraError(
            "tessera predict --formula with --design", "a formula needs counts",
            "give --counts, from tessera simulate --set KEY=VALUE --out FILE", code="formula-of-design",
        )  # fmt: skip
    given = {"--design-class": options["classes"] or None, "--clock": options["clock"],
             "--layout": options["layout"], "--hits-are": options["hits_are"],
             "--walk-cycles-are": options["walk_cycles_are"], "--walkers": options["walkers"],
             "--hit-cycles": options["hit_cycles"],
             "--miss-cycles": options["miss_cycles"] or None}  # fmt: skip
    if names := [name for name, value in given.items() if value is not None]:
        raise TesseraError(
            f"tessera predict --formula with {names[0]}", "a formula does not use it",
            f"leave out {names[0]}", code="formula-option",
        )  # fmt: skip
    fitted = _fitted(options)
    points = formula.points_of(counts, options["only"])
    notes = [*fitted.table.notes, *points.notes]
    for note in notes:
        click.echo(f"tessera predict: {note}", err=True)
    values = formula.values_of(fitted, points, LEVEL if options["level"] is None else options["level"])
    for value in values.itertuples():
        if options["as_json"]:
            click.echo(json.dumps(formula.as_dict(value) | {"notes": notes}, allow_nan=False))
            continue
        click.echo(formula.sentence(value))
        if value.message:
            click.echo(f"  {value.message}")
    if options["out"]:
        write_table(MODELS_OF_PAIR["one_gb"], values, options["out"])
    if options["budget"]:
        parts = error_budget(fitted, points, mosaics=options["mosaics"], repeats=options["repeats"])
        printable = formula.printable_budget(parts, values)
        write_table(MODELS_OF_PAIR["budget"], printable, options["budget"])
        for row in printable.itertuples():
            share = f"{row.relative:8.3%}" if row.relative == row.relative else "       ?"
            click.echo(
                f"{row.design}: {row.part:9} {share}  {row.provenance or '-':10} {row.message}",
                err=options["as_json"],
            )
    return bool(values["predicted_runtime_cycles"].notna().all())


def _fitted(options: dict):
    """The formula, fitted to P from one source."""
    from tessera.core.errors import TesseraError
    from tessera.core.results.tree import ResultsTree
    from tessera.fit.predict import formula, prediction
    from tessera.lab.transfer.from_python import RESULTS, TransferTables

    sources = [name for name in ("samples", "fit") if options[name] is not None]
    if options["results"] is not None or (options["workload"] is not None and not sources):
        sources.append("results")
    if len(sources) != 1:
        raise TesseraError(
            "tessera predict --formula: P", f"{len(sources)} sources say what P is",
            "give one of --samples FILE, --fit FOLDER, or --results FOLDER with --workload and --platform",
            code="two-sources-of-p" if sources else "no-p",
        )  # fmt: skip
    if sources == ["fit"]:
        return formula.fitted_of_folder(options["fit"], options["formula"])
    if sources == ["samples"]:
        return prediction.fit_to(options["samples"], options["formula"])
    if options["workload"] is None or options["platform"] is None:
        raise TesseraError(
            "tessera predict --formula of results", "they have many workloads and platforms",
            "name one pair: --workload NAME --platform NAME", code="pair-unstated",
        )  # fmt: skip
    study = TransferTables(
        ResultsTree(options["results"] or RESULTS), options["workload"], options["platform"]
    )
    return prediction.fit_to(study.table, options["formula"])
