"""``tessera faults`` and ``tessera virtuoso``: what page faults cost, measured, recorded and simulated."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option
from tessera.cli.output import Log, close, names_of, say_trace_notes
from tessera.core.results.outcomes import is_ok
from tessera.lab.faults.kinds import KINDS

# ``tessera faults``: what page faults cost, on this machine and in a recorded Linux 6.12.

#: The recording that the tests and the page use.
RECORDING = "artifacts/kernel-stream/recording"
PATH = click.Path(path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def _say(text: str) -> None:
    click.echo(text, err=True)


@click.group()
def faults() -> None:
    """Measure what page faults cost on this machine; count what Linux does in them (docs/faults.md).

    Example: ./run tessera faults measure --out /tmp/faults
    """


@faults.command()
@click.option("--kind", "names", multiple=True, type=click.Choice([kind.name for kind in KINDS]),
              help="Kind of touch; may be repeated.  [default: all]")  # fmt: skip
@click.option("--size", default="128MB", show_default=True, help="Memory of a pass, a multiple of 2MB.")
@click.option(
    "--passes", default=8, show_default=True, type=click.IntRange(3, 1000), help="Passes of a kind."
)
@click.option("--warmup", default=2, show_default=True, type=click.IntRange(0, 100),
              help="First passes, which do not count.")  # fmt: skip
@click.option(
    "--processor", type=click.IntRange(0), help="Processor to use.  [default: the last allowed one]"
)
@click.option("--any-governor", is_flag=True, help="Accept any governor of the processor's frequency.")
@click.option("--series", "keep", type=_FOLDER, help="Folder for the latency of every touch, <kind>.csv.")
@click.option("--out", type=_FOLDER, required=True, help="Results folder; the tables go to its host/.")
def measure(
    names: tuple[str, ...],
    size: str,
    passes: int,
    warmup: int,
    processor: int | None,
    any_governor: bool,
    keep: Path | None,
    out: Path,
) -> None:
    """Measure the latency of first touches of memory, one by one, with the time-stamp counter.

    \b
    Kinds:
      write-4kb    store to a new anonymous 4KB page
      read-zero    load from a new anonymous page (zero page)
      read-file    load from a cached page of a file
      write-2mb    store to a new anonymous 2MB page
      touch-again  store to a mapped page: no fault, the floor of the method

    Passes run back to back. Touches over 1 ms have a cause outside: they are dropped and counted. A pass with
    more than 5% of them does not count. Prints quantiles (us), and combs: touches at regular distances that
    take longer. Exit status 1 if fewer than 2 passes of a kind count.

    Example: ./run tessera faults measure --size 16MB --passes 3 --warmup 1 --any-governor --out /tmp/faults
    """
    from tessera.core.errors import TesseraError
    from tessera.core.units import MB, parse_bytes
    from tessera.lab.faults.kinds import named
    from tessera.lab.faults.measured import LEAST_PASSES, Plan, processor_of, ready
    from tessera.lab.faults.measured import measure as run

    bytes_ = parse_bytes(size, owner="--size")
    if not bytes_ or bytes_ % (2 * MB):
        raise TesseraError(f"--size {size}", "it is no multiple of 2MB", "give for example --size 128MB")
    if passes - warmup < LEAST_PASSES:
        raise TesseraError(
            f"--passes {passes} --warmup {warmup}",
            f"{passes - warmup} passes would count, {LEAST_PASSES} are needed",
            "give more --passes",
        )
    plan = Plan(bytes_, passes, warmup, processor_of(processor))
    kinds = [named(name) for name in names] or list(KINDS)
    run(ready(_say), kinds, plan, out, _say, any_governor=any_governor, keep=keep)
    _show(out)


@faults.command()
@click.argument("results", type=_FOLDER)
def show(results: Path) -> None:
    """Print the tables that `measure` wrote below RESULTS: quantiles, combs, cosines.

    Example: ./run tessera faults show results/default
    """
    _show(results)


def _show(results: Path) -> None:
    from tessera.core.tables import print_table
    from tessera.lab.faults.show import cosine_lines, environment_line, latency_lines, measured_comb_lines

    click.echo(environment_line(results))
    for title, (heads, rows) in (
        ("latency (us) by share of touches, median over passes", latency_lines(results)),
        ("combs", measured_comb_lines(results)),
        ("cosines of passes: a constant gets one, too", cosine_lines(results)),
    ):
        click.echo(f"\n{title}")
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))


@faults.group()
def stream() -> None:
    """Page faults of Linux 6.12, recorded in a guest: instructions, loads and stores.

    Example: ./run tessera faults stream show
    """


@stream.command()
@accept_series_option
@click.option("--out", default=RECORDING, show_default=True, type=_FOLDER, help="Folder for the recording.")
def record(accept_series: bool, out: Path) -> None:
    """Record the faults of a program in the guest: the kernel of variant `oracle` in QEMU with a plugin.

    The kernel takes 10 to 20 min to build the first time, the run 1 to 3 min.

    Example: ./run tessera faults stream record --out /tmp/recording
    """
    from tessera.lab.faults.recorder import record as run

    _show_stream(run(out, _say, accept_series=accept_series), None)


@stream.command("show")
@click.option("--recording", "folder", default=RECORDING, show_default=True, type=_FOLDER,
              help="Folder that `record` wrote.")  # fmt: skip
@click.option("--kind", help="Print the lines by structure of this kind.  [default: counts of all kinds]")
def show_stream(folder: Path, kind: str | None) -> None:
    """Print instructions, loads, stores and lines of each kind of fault; with --kind, lines by structure.

    Example: ./run tessera faults stream show --kind write-4kb
    """
    from tessera.core.errors import unknown_name
    from tessera.lab.faults.recording import load_recording

    recording = load_recording(folder)
    if kind is not None and kind not in recording.chosen:
        raise unknown_name("kind of fault", kind, tuple(recording.chosen))
    _show_stream(recording, kind)


@stream.command()
@click.option("--recording", "folder", default=RECORDING, show_default=True, type=_FOLDER,
              help="Folder that `record` wrote.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="File for the templates.")  # fmt: skip
def templates(folder: Path, out: Path) -> None:
    """Write the file of templates that `tessera-sim run --weave` reads.

    Example: ./run tessera faults stream templates --out /tmp/templates.txt
    """
    from tessera.core.files import write_text
    from tessera.lab.faults.weave import file_of

    text = file_of(folder).decode()
    write_text(out, text)
    click.echo(f"{text.count(chr(10) + 'template ')} templates -> {out}")


def _show_stream(recording, kind: str | None) -> None:
    from tessera.core.tables import print_table
    from tessera.lab.faults.show import kind_lines, recorded_comb_lines, structure_lines

    if kind is not None:
        heads, rows = structure_lines(recording, kind)
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))
        return
    for heads, rows in (kind_lines(recording), recorded_comb_lines(recording)):
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))
        click.echo("")


# ``tessera virtuoso``: what page faults cost programs, as Virtuoso (ASPLOS 2025) shows it.

SCENARIOS = "thp-never,thp-no-zero-page"
_OPTIONS = (
    click.option("--trace", type=PATH, required=True,
                 help="Trace with events (.tst), or info.json of `study recording`."),
    click.option("--platform", default="haswell-sim", show_default=True, help="Platform name or YAML file."),
    click.option("--scenarios", "names", default=SCENARIOS, show_default=True,
                 help="Scenarios or YAML files, comma-separated."),
    click.option("--weave", "faults", default=RECORDING, show_default=True, type=_FOLDER,
                 help="Folder of recorded page faults."),
    click.option("--sampling", default="full", show_default=True,
                 help="Sampling plan; see tessera simulate."),
)  # fmt: skip


def _recorded_program(command):
    """Options of all commands that simulate a recorded program under scenarios."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


@click.group()
def virtuoso() -> None:
    """Compute figures of Virtuoso about page faults for recorded programs (docs/faults.md).

    Example: ./run tessera virtuoso program --help
    """


@virtuoso.command()
@_recorded_program
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of the simulator."
)
@click.option("--cache", type=PATH, help="Folder of finished simulations.  [default: .cache in --out]")
@click.option("--out", type=PATH, required=True, help="Folder for the tables.")
def program(trace, platform, names, faults, sampling, threads, cache, out) -> None:
    """Simulate a program with the kernel work of its page faults: parts of its runtime.

    Writes shares.csv (Figures 1 and 3), latency.csv (quantiles of the faults' latencies, Figure 2) and
    combs.csv. A scenario that ends early, or that has a fault without a template, is a row with the reason.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera virtuoso program --trace tests/traces/examples/phases.tst --out /tmp/virtuoso
    """
    from tessera.lab.faults.virtuoso import Job, program_study
    from tessera.simulate.sampling import parse_sampling

    job = Job(
        trace, platform, names_of(names), cache or out / ".cache", out, parse_sampling(sampling),
        threads, Log(f"faults on {Path(platform).stem}"), recording_of_faults=faults,
    )  # fmt: skip
    table = program_study(job)
    _print_parts(table)
    close(table, out)
    say_trace_notes(trace)


@virtuoso.command()
@_recorded_program
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True,
              help="Runs with and without the kernel's work, in alternation.")  # fmt: skip
@click.option("--out", type=PATH, required=True, help="Folder for the table.")
def costs(trace, platform, names, faults, sampling, repeats, out) -> None:
    """Measure time and memory of the simulator with and without the kernel work of page faults.

    Writes simulator.csv (Figures 11 and 12): processor seconds, bytes, and ratios. Other programs on the
    machine change the numbers; runs alternate, and the table has medians. Nothing comes from a cache.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera virtuoso costs --trace tests/traces/examples/phases.tst --out /tmp/virtuoso
    """
    from tessera.core.tables import print_table
    from tessera.lab.faults.virtuoso import Job, program_costs
    from tessera.simulate.sampling import parse_sampling

    job = Job(
        trace, platform, names_of(names), out / ".cache", out, parse_sampling(sampling),
        progress=Log(f"costs on {Path(platform).stem}"), recording_of_faults=faults,
    )  # fmt: skip
    table = program_costs(job, repeats)
    rows = [
        (
            row.scenario, f"{row.plain_seconds:.2f}", f"{row.woven_seconds:.2f}", f"{row.slowdown:.2f}",
            f"{row.instruction_ratio:.2f}", f"{row.time_per_instruction_ratio:.2f}",
            f"{row.access_ratio:.2f}", f"{row.time_per_access_ratio:.2f}", f"{row.memory_ratio:.2f}",
        )
        for row in table.itertuples()
    ]  # fmt: skip
    heads = [
        "scenario",
        "s",
        "s woven",
        "slowdown",
        "instr.",
        "time/instr.",
        "accesses",
        "time/access",
        "memory",
    ]
    print_table(heads, rows, right=range(1, len(heads)))
    click.echo(f"{len(table)} rows -> {out}")


@virtuoso.command()
@click.option("--tables", "folders", type=_FOLDER, multiple=True, required=True,
              help="Folder that `program` wrote; repeatable.")  # fmt: skip
@click.option("--out", type=PATH, help="CSV file for all rows.")
def judge(folders: tuple[Path, ...], out: Path | None) -> None:
    """Compare simulated programs with numbers that Virtuoso prints.

    Means agree within half of the printed value; bounds and directions are taken as printed. The scenario
    thp-no-zero-page decides.

    Example: ./run tessera virtuoso judge --help
    """
    import pandas as pd

    from tessera.core.files import write_csv
    from tessera.core.results.os_tables import FAULT_SHARES
    from tessera.core.results.table_io import read_file
    from tessera.core.tables import frame_rows, print_table
    from tessera.lab.faults.virtuoso_claims import judge_claims

    rows = judge_claims(
        pd.concat([read_file(FAULT_SHARES, folder / FAULT_SHARES.file) for folder in folders])
    )
    if out:
        write_csv(rows, out)
    print_table(**frame_rows(rows.drop(columns=["provenance", "statement"]), digits=3))


def _print_parts(table) -> None:
    """Parts of the runtime of each scenario."""
    from tessera.core.tables import print_table

    rows = [
        (
            row.scenario, f"{row.faults:,}", f"{row.runtime_cycles:,.0f}", f"{row.fault_share:.1%}",
            f"{row.translation_share:.1%}", f"{row.kernel_cycles / row.faults:,.0f}" if row.faults else "",
        )
        for row in table.itertuples()
        if is_ok(row.status)
    ]  # fmt: skip
    print_table(["scenario", "faults", "R", "in faults", "C of R", "cycles a fault"], rows, right=range(1, 6))
