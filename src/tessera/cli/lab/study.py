"""``tessera study``: sampling, mechanisms, assumed values, memory scenarios, walk cost.

The commands about new designs are in :mod:`tessera.cli.lab.study_designs`.
"""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lab.study_designs import designs, probes, transfer
from tessera.cli.output import PLAN, Log, close, names_of, say_trace_notes
from tessera.core.results.outcomes import is_ok

PATH = click.Path(path_type=Path)
CHEAP_PLAN = "units=10,warmup_accesses=500000,timed_instructions=500000"


def _common(command):
    """Options of every study."""
    options = (
        click.option("--info", type=PATH, required=True, help="info.json of a trace or window."),
        click.option("--manifest", type=PATH, required=True, help="manifest.csv of the layouts."),
        click.option("--platform", required=True, help="Platform name or YAML file."),
        click.option(
            "--cache",
            type=PATH,
            help="Folder of finished simulations.  [default: .cache in the folder of --out]",
        ),
        click.option("--out", type=PATH, required=True, help="CSV file to write."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _job(info: Path, manifest: Path, platform: str, names: str, cache: Path | None, out: Path):
    from tessera.lab.studies.entry_points import Job

    return Job(
        info,
        manifest,
        platform,
        names_of(names),
        cache or out.parent / ".cache",
        out,
        Log(f"{info.parent.name} on {Path(platform).stem}"),
    )


@click.group()
def study() -> None:
    """Study the simulator: sampling, ablations, a sweep, designs, the cost of a walk.

    Studies simulate a window: a part of a trace, written as a trace. The cache keeps finished simulations, so
    the same command continues after an interruption. See docs/studies.md.

    \b
    Example, after ./run smoke:
      ./run tessera study window --info results/smoke/traces/gups/info.json --accesses 1000000 \\
          --out /tmp/window/info.json
    """


study.add_command(designs)
study.add_command(probes)
study.add_command(transfer)


@study.command()
@click.option("--info", type=PATH, required=True, help="info.json of a trace.")
@click.option(
    "--accesses", type=click.IntRange(min=1), required=True, help="Length of the window in accesses."
)
@click.option("--out", type=PATH, required=True, help="info.json to write; trace.tst goes to its folder.")
def window(info: Path, accesses: int, out: Path) -> None:
    """Cut a window out of the middle of a trace.

    If the trace has no more than --accesses, the window is the whole trace.

    \b
    Example, after ./run smoke:
      ./run tessera study window --info results/smoke/traces/gups/info.json --accesses 1000000 \\
          --out /tmp/window/info.json
    """
    from tessera.lab.studies.windows import make_window

    made = make_window(info, accesses, out)
    if not is_ok(made):
        click.echo(f"failed: {made['message']}", err=True)
    else:
        click.echo(f"{made['workload']}: {made['accesses']} accesses from {made['window_start_access']} on")


@study.command()
@_common
@click.option("--layouts", "names", default="growing-0,growing-4,growing-8,sliding-40-4", show_default=True,
              help="Layouts, comma-separated.")  # fmt: skip
@click.option(
    "--plan",
    "plans",
    multiple=True,
    default=(PLAN,),
    show_default=True,
    help="Sampling plan; may be repeated.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of projection and clustering.")
def sampling(info, manifest, platform, cache, out, names, plans, seed) -> None:
    """Compare sampling methods (systematic, blind, clustered) with the full simulation of a window.

    Every method may simulate as many units and timed instructions as the first plan. Reports errors of
    totals, and errors of differences between layouts, relative to the gain from 4KB to 2MB pages in the full
    simulation. intervals.csv, in the folder of --out, has every interval of the full simulation.

    \b
    Example, after ./run smoke:
      ./run tessera study sampling --platform sandybridge-sim --out /tmp/study/errors.csv \\
        --info results/smoke/studies/windows/gups-1500000/info.json \\
        --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
        --layouts growing-0,growing-4,growing-8 \\
        --plan units=4,warmup_accesses=100000,timed_instructions=200000
    """
    from tessera.lab.studies.entry_points import sampling_study

    job = _job(info, manifest, platform, names, cache, out)
    close(sampling_study(job, plans, seed), out)
    say_trace_notes(info)


@study.command()
@_common
@click.option("--layouts", "names", default="", help="Layouts, comma-separated.  [default: all but 1gb]")
@click.option("--sampling", "plan", default=CHEAP_PLAN, show_default=True, help="Sampling plan.")
@click.option("--only", multiple=True, help="Name of an ablation; may be repeated.  [default: all]")
def ablations(info, manifest, platform, cache, out, names, plan, only) -> None:
    """Switch off one mechanism at a time; report slope and curvature of runtime over walk cycles.

    docs/studies.md lists the ablations. The baseline is always simulated, too. cells.csv, in the folder of
    --out, has every cell.

    \b
    Example, after ./run smoke:
      ./run tessera study ablations --platform sandybridge-sim --out /tmp/study/shapes.csv \\
        --info results/smoke/studies/windows/gups-1500000/info.json \\
        --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv
    """
    from tessera.lab.studies.entry_points import ablation_study
    from tessera.lab.studies.variations import named_ablation

    named_ablation(only)
    close(ablation_study(_job(info, manifest, platform, names, cache, out), plan, only), out)
    say_trace_notes(info)


@study.command()
@_common
@click.option("--layouts", "names", default="", help="Layouts, comma-separated.  [default: all but 1gb]")
@click.option("--sampling", "plan", default=CHEAP_PLAN, show_default=True, help="Sampling plan.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of points to simulate in parallel.",
)
@click.option(
    "--only",
    multiple=True,
    help="Vary only keys with this prefix; may be repeated.  [default: all assumed keys]",
)
def sweep(info, manifest, platform, cache, out, names, plan, jobs, only) -> None:
    """Vary each assumed value of a platform; report which conclusions still hold.

    Halves and doubles numbers, flips switches, exchanges policies. If the simulator rejects a point, its row
    has the reason.

    \b
    Example, after ./run smoke:
      ./run tessera study sweep --platform sandybridge-sim --only memory --out /tmp/study/sweep.csv \\
        --info results/smoke/studies/windows/gups-1500000/info.json \\
        --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv
    """
    from tessera.lab.studies.entry_points import sweep_study

    job = _job(info, manifest, platform, names, cache, out)
    close(sweep_study(job, plan, jobs, only), out)
    say_trace_notes(info)


@study.command("walk-cost")
@click.option("--lower", type=PATH, required=True, help="Results of the run where a walk begins at once.")
@click.option("--upper", type=PATH, required=True, help="Results of config/walk-cost.yaml.")
@click.option("--out", type=PATH, required=True, help="CSV file to write: verdicts at both ends.")
def walk_cost(lower, upper, out) -> None:
    """Compare the verdicts of two runs: walks that cost 0 and 22 cycles before their first load.

    Both runs need a report, and the same good cells. Claims whose verdict differs depend on the walk's cost.

    \b
    Example, after ./run reproduce and ./run reproduce --configfile config/walk-cost.yaml:
      ./run tessera study walk-cost --lower results/default --upper results/walk-cost --out /tmp/verdicts.csv
    """
    from tessera.lab.walk_cost import compare

    rows = compare(lower, upper, out)
    for row in rows:
        if row.differs:
            click.echo(
                f"{row.id}: {row.verdict_lower} at the lower end, {row.verdict_upper} at the upper end"
            )
    click.echo(f"{len(rows)} claims -> {out}; {sum(row.differs for row in rows)} depend on the walk's cost")


# ``tessera study recording``: a workload from its first instruction, for the study of scenarios.


@study.command()
@click.option("--workload", required=True, help="Workload, as in: tessera workload list.")
@click.option("--size", default="tiny", show_default=True, help="Size of the workload.")
@click.option(
    "--max-accesses",
    type=click.IntRange(min=1),
    help="Accesses after which to stop recording.  [default: the whole program]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="info.json to write; trace.tst goes to its folder.",
)
def recording(workload, size, max_accesses, out) -> None:
    """Record a workload from its first instruction, with its calls to memory management.

    The study of scenarios needs such a recording. Those of `tessera pipeline record` begin at the region of
    interest, when most memory is mapped.

    \b
    Example (after: tessera build mosalloc tracer workloads):
      ./run tessera study recording --workload graph500 --size tiny --out /tmp/graph500/info.json
    """
    from tessera.lab.studies.scenario_recording import record_whole

    info = record_whole(workload, size, max_accesses, out)
    if not is_ok(info):
        click.echo(f"{info['status']}: {workload}: {info['message']}", err=True)
    else:
        click.echo(f"{workload}: {info['accesses'] / 1e6:.1f} M accesses recorded", err=True)


# ``tessera study scenarios``: a program under several states of a machine's memory.

SCENARIOS = "thp-always,thp-no-zero-page,thp-never,thp-fragmented"


@study.command()
@click.option(
    "--trace", type=PATH, required=True, help="Trace with events (.tst), or info.json of `study recording`."
)
@click.option("--platform", default="haswell-sim", show_default=True, help="Platform name or YAML file.")
@click.option(
    "--scenarios",
    "names",
    default=SCENARIOS,
    show_default=True,
    help="Scenarios or YAML files, comma-separated (tessera os list).",
)
@click.option(
    "--sampling",
    default="units=10,warmup_accesses=300000,timed_instructions=300000",
    show_default=True,
    help="Sampling plan, or full; see tessera simulate --help.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of the simulator."
)
@click.option("--cache", type=PATH, help="Folder of finished simulations.  [default: .cache in --out]")
@click.option("--out", type=PATH, required=True, help="Folder for the tables.")
def scenarios(trace, platform, names, sampling, threads, cache, out) -> None:
    """Show what an imitation of Linux 6.12 does to a program in several states of a machine's memory.

    Writes cells.csv (H, M, C, R, faults, beside layouts of all 4KB and all 2MB pages), sizes.csv (page sizes
    over time), faults.csv, chunks.csv, areas.csv and counters.csv. A scenario that ends early is a row with
    the reason. docs/os.md describes scenarios.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera study scenarios --trace tests/traces/examples/phases.tst --sampling full \\
          --scenarios thp-always,thp-never --out /tmp/scenarios-study
    """
    from tessera.lab.studies.scenarios import Job, scenarios_study
    from tessera.simulate.sampling import parse_sampling

    job = Job(
        trace, platform, names_of(names), cache or out / ".cache", out, parse_sampling(sampling), threads,
        Log(f"scenarios on {Path(platform).stem}"),
    )  # fmt: skip
    table = scenarios_study(job)
    _print_scenarios(table)
    close(table, out)
    say_trace_notes(trace)


def _print_scenarios(table) -> None:
    """What each scenario decided, and what followed."""
    from tessera.core.tables import print_table

    rows = [
        (
            row.name, _count_text(row.faults), _count_text(row.major_faults),
            _count_text(row.most_2mb_bytes, 1 << 20),
            _count_text(row.stlb_misses), _count_text(row.walk_cycles), _count_text(row.runtime_cycles),
        )
        for row in table.itertuples()
        if is_ok(row.status)
    ]  # fmt: skip
    print_table(["pages by", "faults", "major", "MB in 2MB pages", "M", "C", "R"], rows, right=range(1, 7))


def _count_text(value, unit: int = 1) -> str:
    from pandas import isna

    return "" if isna(value) else f"{value / unit:,.0f}"
