"""``tessera measure import``: logs of ``perf stat`` become a cells file with provenance `measured`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED

PATH = click.Path(path_type=Path)


@click.command("import")
@click.argument("logs", nargs=-1, type=PATH)
@click.option("--class", "class_name", required=True, metavar="NAME",
              help="Class of the processor, as in: tessera counters list.")  # fmt: skip
@click.option("--workload", required=True, help="Name of the workload in the cells file.")
@click.option("--platform", help="Name of the machine; it begins with the class.  [default: CLASS-imported]")
@click.option("--out", type=PATH, required=True, help="Cells file to write: .csv or .parquet.")
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

    `tessera counters show CLASS` prints the commands that record them. LOGS are files LAYOUT.PASS.perf or
    LAYOUT.PASS.REPEAT.perf, or folders of them. Logs of one layout and repeat are passes of one run. 4kb and
    2mb are names of layouts, too. Counts that perf scaled (multiplexing) are rejected, not corrected.

    \b
    Example:
      ./run tessera measure import --class broadwell --workload gups --out /tmp/cells.csv /tmp/logs
      ./run tessera models fit --samples /tmp/cells.csv --out /tmp/fit
    """
    from tessera.core.errors import TesseraError
    from tessera.core.files import check_target
    from tessera.counters.classes import named
    from tessera.measure.imported.files import from_names, from_table, notes
    from tessera.measure.imported.logs import Request, import_logs
    from tessera.results import cells
    from tessera.results.status import is_ok

    found = named(class_name)
    platform = platform or f"{found.name}-imported"
    if platform != found.name and not platform.startswith(f"{found.name}-"):
        raise TesseraError(
            f"--platform {platform}",
            f"it does not begin with the class {found.name}",
            f"{found.name}-{platform}",
        )
    if bool(logs) == (table is not None):
        raise click.UsageError("give either LOGS or --table")
    cells.check_format(out)
    files = from_table(table) if table else from_names(logs)
    inputs = {log.path.resolve() for log in files} | ({table.resolve()} if table else set())
    for target in filter(None, (out, counts_out)):
        if check_target(target) in inputs:
            raise TesseraError(f"write {target}", "it is an input", "name another file")
    if counts_out and counts_out.resolve() == out.resolve():
        raise TesseraError(f"--counts-out {counts_out}", "it is the file of --out", "name another file")
    done = import_logs(
        files, Request(workload, platform, found, mode, ignore, sum_parts, keep_repeats, keep_going)
    )
    cells.write_cells(done.rows, out)
    if counts_out:
        _write_counts(done.totals, counts_out)
    for note in [*notes(files), *done.notes]:
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
