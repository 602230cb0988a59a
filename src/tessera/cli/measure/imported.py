"""``tessera measure import`` and ``walk-estimate``: cells from logs of ``perf stat`` and from IBS samples."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.options import PATH
from tessera.core.errors import EXIT_FAILED
from tessera.core.layouts.layout import ALL_4KB

# ``tessera measure import``: logs of ``perf stat`` become a cells file with provenance `measured`.


@click.command("import")
@click.argument("logs", nargs=-1, type=PATH)
@options.processor_class("Class of the processor, as in: tessera measure counters show.", required=True)
@options.workload("Name of the workload in the cells file.", required=True)
@options.platform("Name of the machine; it begins with the class.  [default: CLASS-imported]")
@options.out("Cells file to write: .csv or .parquet.")
@click.option("--table", type=PATH, help="CSV file,layout[,repeat] that names the logs, instead of LOGS.")
@click.option("--mode", type=click.Choice(("u", "uk")),
              help="Mode of events whose names do not show it: user, or user and kernel.")  # fmt: skip
@click.option("--ignore", multiple=True, metavar="EVENT", help="Event to leave out; may be repeated.")
@click.option("--sum-parts", is_flag=True, help="Add up CPUs, sockets or threads of -A, --per-... .")
@click.option("--keep-repeats", is_flag=True, help="Write a row for each repeat.  [default: their mean]")
@click.option(
    "--keep-going", is_flag=True, help="Write a failed row for a layout with a wrong log; status 1."
)
@click.option(
    "--counts-out", type=PATH, help="CSV file for every count, also those without a column in cells."
)
def import_(
    logs,
    class_name,
    workload,
    platform,
    out,
    table,
    mode,
    ignore,
    sum_parts,
    keep_repeats,
    keep_going,
    counts_out,
) -> None:
    """Import LOGS of `perf stat` as measured cells: R, H, M and C of each layout.

    `tessera measure counters show CLASS` prints the commands that record them. LOGS are files
    LAYOUT.PASS.perf or LAYOUT.PASS.REPEAT.perf, or folders of them. Logs of one layout and repeat are passes
    of one run. 4kb and
    2mb are names of layouts, too. Counts that perf scaled (multiplexing) are rejected, not corrected.

    \b
    Example:
      ./run tessera measure import --class broadwell --workload gups --out /tmp/cells.csv /tmp/logs
      ./run tessera models fit --samples /tmp/cells.csv --out /tmp/fit
    """
    from tessera.core.errors import TesseraError
    from tessera.core.files import check_target
    from tessera.core.results import table_io
    from tessera.core.results.outcomes import is_ok
    from tessera.machine.counters.event_table import class_named
    from tessera.measure.perf_log_import import (
        ImportOptions,
        import_logs,
        logs_from_names,
        logs_from_table,
        spelling_notes,
    )

    found = class_named(class_name)
    platform = platform or f"{found.name}-imported"
    if platform != found.name and not platform.startswith(f"{found.name}-"):
        raise TesseraError(
            f"--platform {platform}",
            f"it does not begin with the class {found.name}",
            f"{found.name}-{platform}",
        )
    if bool(logs) == (table is not None):
        raise click.UsageError("give either LOGS or --table")
    table_io.check_cell_format(out)
    files = logs_from_table(table) if table else logs_from_names(logs)
    inputs = {log.path.resolve() for log in files} | ({table.resolve()} if table else set())
    for target in filter(None, (out, counts_out)):
        if check_target(target) in inputs:
            raise TesseraError(f"write {target}", "it is an input", "name another file")
    if counts_out and counts_out.resolve() == out.resolve():
        raise TesseraError(f"--counts-out {counts_out}", "it is the file of --out", "name another file")
    done = import_logs(
        files, ImportOptions(workload, platform, found, mode, ignore, sum_parts, keep_repeats, keep_going)
    )
    table_io.write_cells(done.rows, out)
    if counts_out:
        _write_counts(done.totals, counts_out)
    for note in [*spelling_notes(files), *done.notes]:
        click.echo(f"tessera measure import: {note}", err=True)
    for error in done.failures:
        click.echo(f"tessera measure import: {error}", err=True)
    messages = [row["message"] for row in done.rows if is_ok(row)]
    good = len(messages)
    click.echo(f"{len(files)} logs: {good} cells ok, {len(done.rows) - good} failed -> {out}")
    if messages:
        click.echo(messages[0])
    if done.failures:
        sys.exit(EXIT_FAILED)


def _write_counts(totals, path: Path) -> None:
    """``file,layout,repeat,quantity,event,mode,value,running_ns,percent``."""
    import csv

    from tessera.core.files import writing

    with writing(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            ("file", "layout", "repeat", "quantity", "event", "mode", "value", "running_ns", "percent")
        )
        for log, total in totals:
            writer.writerow(
                (log.path.name, log.layout, log.repeat, total.quantity, total.text, total.named.mode,
                 f"{total.value:f}", total.running_ns, total.percent)
            )  # fmt: skip


# ``tessera measure walk-estimate``: walk cycles of AMD processors, estimated from IBS samples.


@click.command("walk-estimate")
@click.option("--ibs", "dump", type=PATH, required=True, metavar="FILE",
              help="Text of `perf report -D` with IBS op samples.")  # fmt: skip
@click.option("--misses", type=int, metavar="M", help="STLB misses of the same program, counted.")
@click.option("--cells", type=PATH, metavar="FILE", help="Cells file that has M, in the place of --misses.")
@options.layout("With --cells: the sampled layout.", default=ALL_4KB, show_default=True)
@options.workload("With --cells: the sampled workload, if there are several.")
@options.platform("With --cells: the machine, if there are several.")
@options.mode
@click.option("--pid", type=click.IntRange(0), help="Process of the samples.  [default: all]")
@options.out("Write the estimate as a CSV file with one row.", required=False)
def walk_estimate(dump, misses, cells, layout, workload, platform, mode, pid, out) -> None:
    """Estimate walk cycles where no event counts them: M times the mean TlbRefillLat of IBS samples.

    For AMD Zen, which does not count C. The estimate has a name of its own, walk_cycles_ibs_estimate, and
    provenance `estimated`. It is never C: no cell has it, no model is fitted to it, no claim reads it. Its
    95% interval is that of the sampled mean. docs/reference/counters.md says how to record the samples.

    \b
    Example:
      ./run tessera measure walk-estimate --misses 1250000 \\
        --ibs tests/counters/logs/ibs/written-6.12-zen3.txt
    """
    from tessera.core.files import check_target, write_text
    from tessera.core.tables import print_table
    from tessera.machine.perf import ibs
    from tessera.measure.perf_log_import import misses_of

    if (misses is None) == (cells is None):
        raise click.UsageError("give either --misses M or --cells FILE")
    if out is not None and check_target(out) in {path.resolve() for path in (dump, cells) if path}:
        raise click.UsageError(f"--out {out} is an input")
    if cells is not None:
        misses = misses_of(cells, layout=layout, workload=workload, platform=platform)
    found = ibs.estimate_walks(ibs.read_ibs(dump), misses, mode=mode, pid=pid, owner=str(dump))
    total, refill = found.cycles, found.refill
    print_table((), [
        (ibs.ESTIMATE_NAME, f"{total.value:.4g} +- {total.half_width:.2g} cycles ({ibs.PROVENANCE})"),
        ("M", f"{misses:,}"),
        ("mean TlbRefillLat", f"{refill.value:.4g} +- {refill.half_width:.2g} cycles"),
        ("samples", f"{refill.count:,} with an L2 TLB miss, of {found.ops:,} operations"),
    ], whole=(0,))  # fmt: skip
    if found.empty:
        click.echo(f"note: {found.empty} samples with an L2 TLB miss have TlbRefillLat 0; they are left out")
    if found.longest:
        click.echo(
            f"note: {found.longest} refills took {ibs.LONGEST_REFILL} cycles or more, "
            "so the estimate is too low"
        )
    if out is not None:
        write_text(out, ibs.estimate_csv(found, mode))
        click.echo(f"-> {out}")
