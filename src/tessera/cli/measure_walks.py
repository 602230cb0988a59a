"""``tessera measure walk-estimate``: walk cycles of AMD processors, estimated from IBS samples."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.layouts.names import ALL_4KB

PATH = click.Path(path_type=Path)


@click.command("walk-estimate")
@click.option("--ibs", "dump", type=PATH, required=True, metavar="FILE",
              help="Text of `perf report -D` with IBS op samples.")  # fmt: skip
@click.option("--misses", type=int, metavar="M", help="STLB misses of the same program, counted.")
@click.option("--cells", type=PATH, metavar="FILE", help="Cells file that has M, in the place of --misses.")
@click.option("--layout", default=ALL_4KB, show_default=True, help="With --cells: the sampled layout.")
@click.option("--workload", metavar="NAME", help="With --cells: the sampled workload, if there are several.")
@click.option("--platform", metavar="NAME", help="With --cells: the machine, if there are several.")
@click.option("--mode", type=click.Choice(("u", "uk")), default="u", show_default=True,
              help="Mode in which M was counted: user, or user and kernel.")  # fmt: skip
@click.option("--pid", type=click.IntRange(0), help="Process of the samples.  [default: all]")
@click.option("--out", type=PATH, metavar="FILE", help="Write the estimate as a CSV file with one row.")
def walk_estimate(dump, misses, cells, layout, workload, platform, mode, pid, out) -> None:
    """Estimate walk cycles where no event counts them: M times the mean TlbRefillLat of IBS samples.

    For AMD Zen, which does not count C. The estimate has a name of its own, walk_cycles_ibs_estimate, and
    provenance `estimated`. It is never C: no cell has it, no model is fitted to it, no claim reads it. Its
    95% interval is that of the sampled mean. docs/measure.md says how to record the samples.

    \b
    Example:
      ./run tessera measure walk-estimate --misses 1250000 \\
        --ibs tests/counters/logs/ibs/written-6.12-zen3.txt
    """
    from tessera.core.files import check_target, write_text
    from tessera.core.tables import print_table
    from tessera.counters import walk_estimate as walks
    from tessera.counters.perf.ibs import read_ibs
    from tessera.measure.imported.misses import misses_of

    if (misses is None) == (cells is None):
        raise click.UsageError("give either --misses M or --cells FILE")
    if out is not None and check_target(out) in {path.resolve() for path in (dump, cells) if path}:
        raise click.UsageError(f"--out {out} is an input")
    if cells is not None:
        misses = misses_of(cells, layout=layout, workload=workload, platform=platform)
    found = walks.estimate(read_ibs(dump), misses, mode=mode, pid=pid, owner=str(dump))
    total, refill = found.cycles, found.refill
    print_table((), [
        (walks.NAME, f"{total.value:.4g} +- {total.half_width:.2g} cycles ({walks.PROVENANCE})"),
        ("M", f"{misses:,}"),
        ("mean TlbRefillLat", f"{refill.value:.4g} +- {refill.half_width:.2g} cycles"),
        ("samples", f"{refill.count:,} with an L2 TLB miss, of {found.ops:,} operations"),
    ], whole=(0,))  # fmt: skip
    if found.empty:
        click.echo(f"note: {found.empty} samples with an L2 TLB miss have TlbRefillLat 0; they are left out")
    if found.longest:
        click.echo(
            f"note: {found.longest} refills took {walks.LONGEST} cycles or more, so the estimate is too low"
        )
    if out is not None:
        write_text(out, walks.as_csv(found, mode))
        click.echo(f"-> {out}")
