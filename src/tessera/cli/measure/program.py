"""``tessera measure -- PROGRAM``: TLB misses of a program, gains of larger pages, and a model of it."""

from __future__ import annotations

import math
import signal
from pathlib import Path

import click
from click.core import ParameterSource

from tessera.cli import options
from tessera.cli.lazy import ProgramCommand
from tessera.cli.options import PATH

# ``tessera measure -- PROGRAM``: TLB misses of a program, and gains of larger pages.


@click.command("program", cls=ProgramCommand)
@click.option("--try", "tries", metavar="PAGES,...", default="",
              help="Compare with 4KB pages: thp, hugetlb, or layout files.")  # fmt: skip
@options.pairs("Runs of each kind of pages with --try; an interval needs 2.", 10)
@click.option("--predict", type=PATH, metavar="LAYOUT",
              help="Fit a model to the 6 or more layouts of --try; predict R of this one.")  # fmt: skip
@click.option("--model", default="mosmodel", show_default=True, help="Model of --predict.")
@click.option(
    "--regions", is_flag=True, help="Also sample TLB misses; print the memory that has most of them."
)
@options.mode
@options.server
@options.results("Results whose slopes are shown beside C.  [default: results/default]")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def program_(
    tries, pairs, predict, model, regions, mode, load, ready_port, stop_signal, results, program
) -> None:
    """Measure PROGRAM: walks and TLB misses with this machine's counters, and gains of larger pages.

    Without counters, the output has clock time and numbers of the kernel, and says so. One run bounds no
    gain: --try runs PROGRAM under other pages, in pairs, and prints gains with 95% intervals. No bundle is
    written; `tessera measure run` (`./run measure`) writes one, of workloads under layouts.

    \b
    Examples:
      ./run tessera measure -- build/workloads/gups --size 256MB --reads 8000000
      ./run tessera measure --try thp,hot.csv -- build/workloads/gups --size 256MB --reads 8000000
      ./run tessera measure --regions -- build/workloads/gups --size 256MB --reads 8000000
      ./run tessera measure --try hot.csv --ready-port 7000 --load 'redis-benchmark -p 7000 -t get' \\
          -- redis-server --port 7000 --save ''
    """
    from tessera.core.tables import print_table
    from tessera.measure.counted.host import machine_root
    from tessera.measure.program import gains, hot_regions, walk_counts
    from tessera.measure.program.single_run import run_watched
    from tessera.measure.suggest.server_load import Load

    if not load and (named := _given("ready_port", "stop_signal")):
        raise click.UsageError(f"{named} is for a server: it needs --load CMD")
    if regions and (tries or predict is not None):
        raise click.UsageError("--regions is for one run under 4KB pages: leave out --try and --predict")
    server = Load(load, ready_port, signal.Signals[f"SIG{stop_signal}"]) if load else None
    say = _say
    names = [name.strip() for name in tries.split(",") if name.strip()]
    if predict is not None:
        predicted(program, names, predict, model, server=server, mode=mode, rounds=pairs, say=say)
        return
    chosen = [gains.variant(name) for name in names]
    if chosen:
        found = gains.compare_variants(program, chosen, load=server, pairs=pairs, say=say)
        print_table(gains.GAIN_HEADS, list(gains.gain_rows(found)), whole=(0, 1, 2))
        return
    if regions:
        hot_regions.require_samples()
    root = machine_root()
    reason = "a server is not counted" if server else walk_counts.why_no_counters(root)
    seen = run_watched(program, load=server)
    print_table((), list(gains.usage_rows(seen)), whole=(0,))
    if reason:
        click.echo(
            f"no TLB misses: {reason}. Clock time says nothing about them; --try shows what pages gain."
        )
    else:
        _print_counts(program, mode, results)
    if regions:
        _print_regions(hot_regions.sampled(program, load=server))


def _print_counts(program, mode: str, results: Path | None) -> None:
    """Numbers of this machine's counters, and slopes of other programs beside C."""
    from tessera.core.files import repo_root
    from tessera.core.tables import print_table
    from tessera.measure.counted.host import this_host
    from tessera.measure.program import model_data, walk_counts

    where = this_host()
    found, done = walk_counts.count_walks(program, where, mode=mode, say=_say)
    if where.rehearsal:
        click.echo("a rehearsal: these numbers are not of this machine", err=True)
    click.echo(f"class {found.name}, the whole program, mode {mode}:")
    print_table((), walk_counts.count_lines(found, done), whole=(0,))
    if found.sides("C"):
        for one in model_data.known_slopes(results or repo_root() / "results" / "default"):
            click.echo(f"cycles of R that a cycle of C cost in other programs: {one}")
    click.echo("one run bounds no gain: --try thp shows it; --regions finds the memory that has the misses")


def _print_regions(profile) -> None:
    """The hot regions, and how the misses were sampled."""
    from tessera.core.tables import print_table
    from tessera.measure.program import hot_regions
    from tessera.measure.suggest.proposal import profile_lines

    for line in profile_lines(profile):
        click.echo(line)
    found = hot_regions.hot_regions(profile)
    click.echo(f"regions that hold {hot_regions.SHARE:.0%} of the pools' misses:")
    print_table(hot_regions.HEADS, list(hot_regions.region_rows(found, profile)), whole=(0, 1, 2, 3))
    click.echo("tessera mosalloc suggest makes a layout of them; --try LAYOUT measures its gain")


def _given(*names: str) -> str:
    """The first of these options that the user gave; empty if none."""
    context = click.get_current_context()
    asked = [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    return f"--{asked[0].replace('_', '-')}" if asked else ""


def _say(text: str) -> None:
    click.echo(text, err=True)


# ``tessera measure --try LAYOUTS --predict LAYOUT``: a model of a program, and what it says of a layout.


def predicted(program, names, asked: Path, model: str, *, server, mode: str, rounds: int, say) -> None:
    """Count the program under the layouts, fit the model to all but ``asked``, and print its prediction.

    Raises:
        TesseraError: fewer than 6 layouts, another word than a layout file, a server, no counters; as
            :func:`tessera.measure.program.model_data.mosaic_samples`.
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.fit.evaluation.intervals import LEVEL
    from tessera.fit.predict import formula, prediction
    from tessera.fit.predict.decision import EXIT_NO_ANSWER, cycles_text
    from tessera.fit.predict.prediction import read_design
    from tessera.machine.counters.event_table import of_cpu
    from tessera.measure.counted import host
    from tessera.measure.counted.host import this_host
    from tessera.measure.program import model_data, walk_counts

    where, files = this_host(), [Path(name) for name in names]
    if wrong := [name for name in names if not Path(name).is_file()]:
        raise TesseraError(
            f"--predict with --try {wrong[0]}", "it is no layout file", "a model is fitted to mosaics only"
        )
    if len(set(files)) < model_data.LEAST_LAYOUTS:
        raise TesseraError(
            f"--predict {asked}",
            f"--try has {len(set(files))} layouts; a model needs {model_data.LEAST_LAYOUTS} and the anchors",
            "add layouts to --try; tessera layouts generate makes some",
        )
    if asked.resolve() in {path.resolve() for path in files}:
        raise TesseraError(f"--predict {asked}", "it is in --try, too", "leave it out there")
    reason = "a server is not counted" if server else walk_counts.why_no_counters(where.root)
    if reason:
        raise TesseraError(
            f"--predict {asked}",
            f"models need H, M and C: {reason}",
            "use --try alone",
            exit_code=EXIT_FAILED,
        )
    found = of_cpu(host.cpu(where.root))[0]
    table = model_data.mosaic_samples(
        program, [*files, asked], found, where, mode=mode, rounds=rounds, say=say
    )
    own = table.iloc[[-1]]
    fitted = prediction.fit_to(table.iloc[:-1], model)
    tested = len(fitted.calibration.residuals)
    level = min(LEVEL, tested / (tested + 1))  # the highest that so many layouts allow
    (row,) = formula.values_of(fitted, read_design(own), level).itertuples()
    if where.rehearsal:
        click.echo("a rehearsal: these numbers are not of this machine", err=True)
    click.echo(f"{formula.sentence(row)}, from {len(fitted.table.fitted)} layouts")
    counted = float(own.runtime_cycles.iloc[0])
    click.echo(f"{row.design}: counted {cycles_text(counted)} cycles, which the model has not seen")
    if row.message:
        click.echo(row.message)
    if math.isnan(row.predicted_runtime_cycles):
        raise SystemExit(EXIT_NO_ANSWER)
