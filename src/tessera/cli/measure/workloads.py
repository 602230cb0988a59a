"""``tessera measure run`` and ``clock``: workloads under layouts on this machine, counted or timed."""

from __future__ import annotations

import click

from tessera.cli import options
from tessera.cli.options import PATH
from tessera.core.results.outcomes import is_ok

# ``tessera measure run`` (``./run measure``): workloads under layouts, counted, as a bundle.


@click.command()
@options.out("Folder of the bundle; repeat the command to go on.")
@click.option(
    "--workloads", metavar="W,...", default="", help="Workloads.  [default: all that can be counted]"
)
@click.option("--size", default="default", show_default=True, help="Size, as in: tessera workload show NAME.")
@click.option("--layouts", type=click.Choice(("full", "core")), default="full", show_default=True,
              help="full: 54 layouts and 1gb (MICRO'20); core: growing and 1gb.")  # fmt: skip
@options.mode
@click.option("--minutes", type=float, metavar="N",
              help="Choose workloads and layouts that fit into N minutes.  [default: all]")  # fmt: skip
@click.option("--rounds", type=int, metavar="N",
              help="Most rounds; of others, `measure bundle verify` fails.  [default: 20]")  # fmt: skip
@click.option("--counter", type=click.Choice(("launcher", "perf")), default="launcher", show_default=True,
              help="What opens the events; perf where only perf may.")  # fmt: skip
@click.option("--region", type=click.Choice(("roi", "program", "whole")),
              help="What is counted; a bundle of another region than roi fails `measure bundle verify`.  "
              "[default: roi; with perf: whole]")  # fmt: skip
@click.option("--also", metavar="PASS,...", default="", help="Optional passes: by-size, caches, code.")
@options.processor_class("Class of the cores, on a processor with two types.", default="")
@options.results("Results with simulated misses.  [default: results/default]")
@options.seed("the order and of random layouts")
@click.option("--fix", is_flag=True, help="Set what disturbs, and restore it at the end, also after kill -9.")
def run(
    out,
    workloads,
    size,
    layouts,
    mode,
    minutes,
    rounds,
    counter,
    region,
    also,
    class_name,
    results,
    seed,
    fix,
) -> None:
    """Measure workloads under mosaics of pages with this machine's counters, and write a bundle.

    First each workload runs once, for the time that everything takes. Then rounds follow: in each one, every
    layout runs once for each pass of events, in a random order. They end when the 95% half-width of each
    difference to 4KB pages is 0.5%, after 5 to 20 rounds. Huge pages must be free; with ./run --reserve
    measure they are reserved and released.

    Sliding windows follow TLB misses that are sampled on this processor, else simulated ones. The bundle can
    be checked by anyone: tessera measure bundle verify. With other rounds or another region than the
    protocol's, it fails the check `protocol`, so it can't be added, merged or judged. Exit status: 1 if this
    machine can't count, or if a layout has no numbers.

    \b
    Example:
      ./run --reserve measure --workloads gups --size tiny --layouts core --out /tmp/bundle
    """
    from tessera.core.files import repo_root
    from tessera.core.tables import print_table
    from tessera.machine.environment import barring
    from tessera.measure.bundles.head_checks import current_protocol
    from tessera.measure.counted.bundle_rounds import SUMMARY_HEADS, summary_rows
    from tessera.measure.counted.campaign import measure_bundle
    from tessera.measure.counted.request import MeasurementOptions
    from tessera.measure.rounds import StoppingRule

    known = current_protocol()
    least, most = known.rounds
    most = most if rounds is None else rounds
    request = MeasurementOptions(
        out=out,
        workloads=_names(workloads),
        size=size,
        layouts=layouts,
        mode=mode,
        region=region or ("roi" if counter == "launcher" else "whole"),
        minutes=minutes,
        rule=StoppingRule(known.half_width, min(least, most), most),
        seed=seed,
        also=_names(also),
        results=results or repo_root() / "results" / "default",
        class_name=class_name,
        counter=counter,
    )

    def say(text: str) -> None:
        click.echo(text, err=True)

    bundle = measure_bundle(request, fix=fix, say=say)
    print_table(SUMMARY_HEADS, list(summary_rows(bundle)), whole=(0, 1, 2, 4, 5, 6))
    for one in barring(bundle.environment):
        click.echo(
            f"bars claims: {one.check}: wanted {one.wanted}, found {one.found}; {one.remedy}", err=True
        )
    if bundle.about.rehearsal:
        click.echo("a rehearsal: these numbers are simulated, and the bundle says so", err=True)
    if bundle.about.protocol == known.name:
        next_step = f"check it: tessera measure bundle verify {out}"
    else:
        next_step = (
            f"its rounds or region are not those of protocol {known.name}: it fails the check `protocol` of "
            "measure bundle verify, and can't be added, merged or judged"
        )
    click.echo(f"{len(bundle.runs)} runs -> {out}; {next_step}")
    if not all(one.good for one in bundle.runs):
        raise SystemExit(1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


# ``tessera measure clock``: runs on this machine under real layouts, timed.


@click.command()
@options.workload("Workload, as in: tessera workload show.", required=True)
@options.size
@click.option("--layouts", "folder", type=PATH, required=True, help="Folder of layout files (*.csv).")
@options.out("Cells file to write (CSV). comparison.csv and runs.csv go to its folder.")
@click.option(
    "--simulated", type=PATH, help="Simulated cells of host-sim: adds H, M, C and simulated differences."
)
@click.option("--half-width", type=float, default=0.005, show_default=True,
              help="Largest 95% half-width of each difference to 4KB pages, as a fraction.")  # fmt: skip
@click.option(
    "--min-repeats",
    type=int,
    default=5,
    show_default=True,
    help="Fewest rounds; a round runs each layout once.",
)
@click.option("--max-repeats", type=int, default=20, show_default=True, help="Most rounds.")
@click.option(
    "--max-minutes", type=float, help="Start no round after this many minutes.  [default: no limit]"
)
@options.seed("the order of the layouts in each round")
def clock(
    workload, size, folder, out, simulated, half_width, min_repeats, max_repeats, max_minutes, seed
) -> None:
    """Time a workload under each layout, in interleaved rounds, until the differences are precise.

    Times are in nanoseconds. Needs reserved 2MB pages. Without them, every cell is `skipped`, its message has
    the command that reserves them, and the exit status is 0. runs.csv keeps finished runs: the same command
    continues after an interruption.

    \b
    Example, after ./run smoke:
      ./run --reserve tessera measure clock --workload gups --size tiny --out /tmp/host/cells.csv \\
          --layouts results/smoke/host/layouts --max-repeats 5
    """
    from tessera.core.layouts.layout import layout_files
    from tessera.core.tables import print_table
    from tessera.measure.hybrid_cells import Experiment, run_host
    from tessera.measure.rounds import StoppingRule

    rule = StoppingRule(half_width, min_repeats, max_repeats, max_minutes)
    request = Experiment(workload, size, tuple(layout_files(folder)), out, simulated, rule, seed)
    cells = run_host(request, progress=lambda text: click.echo(text, err=True))
    rows = []
    for row in cells.itertuples():
        shown = f"{row.runtime_ns / 1e9:.4f} s, {row.message}" if is_ok(row.status) else row.message
        rows.append((row.layout, row.status, shown))
    print_table((), rows, whole=(0, 1))
