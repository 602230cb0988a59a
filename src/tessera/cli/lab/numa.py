"""``tessera numa``: where page tables lie and what it costs (Mitosis, ASPLOS 2020)."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lab.numa_programs import fragmented, numa_map, program, show_ratios, simulation
from tessera.cli.output import Log

PATH = click.Path(path_type=Path)
_SOURCE = click.option(
    "--from",
    "source",
    type=PATH,
    help="Folder of unpacked reference data.  [default: the record that tessera reference fetch downloads]",
)
_OUT = click.option("--out", type=PATH, help="CSV file for all rows.")


@click.group()
def numa() -> None:
    """Compute what remote page tables cost, and check the archived measurements of Mitosis (docs/numa.md).

    Example: ./run tessera numa machine
    """


numa.add_command(program)
numa.add_command(numa_map)
numa.add_command(fragmented)


@numa.command()
def machine() -> None:
    """Print the published machine and the seven placements of Table 2, in cycles of one walker load.

    Example: ./run tessera numa machine
    """
    from tessera.core.tables import print_table
    from tessera.lab.numa.placement_costs import (
        HOG_SWEEP,
        LoadCosts,
        hog_lines,
        placements,
        published_machine,
        wait_cycles,
    )

    found = published_machine()
    lines, rate = hog_lines(found), found.local_cycles_per_line
    print_table(
        ["quantity", "value", "unit"],
        [
            ("sockets", f"{found.sockets}", ""),
            ("local load", f"{found.local_load_cycles}", "cycles"),
            ("remote load", f"{found.remote_load_cycles}", "cycles"),
            ("line from local memory", f"{rate}", "cycles"),
            ("line from remote memory", f"{found.remote_cycles_per_line}", "cycles"),
            ("outstanding lines of the hog (assumed)", f"{lines}", "lines"),
        ],
        right=(1,),
    )
    costs = LoadCosts(found.local_load_cycles, found.remote_load_cycles, wait_cycles(lines, rate))
    rows = [
        (
            *(one.name, one.program, one.tables, one.data, one.hog or "-"),
            f"{costs.walker_load_cycles(one):.0f}",
            f"{costs.data_load_cycles(one):.0f}",
        )
        for one in placements().values()
    ]
    heads = ["configuration", "program", "tables", "data", "hog", "walker load, cycles", "data load, cycles"]
    print_table(heads, rows, right=(5, 6))
    waits = ", ".join(f"{wait_cycles(factor * lines, rate):.0f} ({why})" for factor, why in HOG_SWEEP.items())
    click.echo(f"wait behind the hog, cycles: {waits}")


@numa.command()
@_SOURCE
@click.option(
    "--figure", type=click.Choice(["6", "9a", "9b", "10a", "10b", "11"]), help="Print one figure only."
)
@_OUT
def bars(source: Path | None, figure: str | None, out: Path | None) -> None:
    """Print the bars of Figures 6, 9, 10 and 11 as quotients of archived cycles.

    Example: ./run tessera numa bars --help
    """
    from tessera.lab.numa.archive import archived_bars, read_archive

    rows = archived_bars(read_archive(source))
    _show(rows[rows["figure"] == figure] if figure else rows, out)


@numa.command()
@_SOURCE
@click.option(
    "--part", help="One part only: additive, unchanged, waits, bounds, table6, coverage or printed."
)
@_OUT
def arithmetic(source: Path | None, part: str | None, out: Path | None) -> None:
    """Check the archived numbers against algebra: CONSISTENT or CONTRADICTED.

    Example: ./run tessera numa arithmetic --help
    """
    from tessera.core.errors import unknown_name
    from tessera.lab.numa.archive import read_archive
    from tessera.lab.numa.arithmetic import CONSISTENT, CONTRADICTED, PARTS
    from tessera.lab.numa.arithmetic import arithmetic as checks

    if part and part not in PARTS:
        raise unknown_name("part", part, list(PARTS))
    rows = checks(read_archive(source), [part] if part else list(PARTS))
    _show(rows, out)
    counts = [f"{(rows['verdict'] == word).sum()} {word}" for word in (CONSISTENT, CONTRADICTED)]
    click.echo(f"{', '.join(counts)}, {(rows['verdict'] == '').sum()} listed without a verdict")


@numa.command()
@_SOURCE
@_OUT
def defects(source: Path | None, out: Path | None) -> None:
    """List suspicious places of the archive, with the rule that found each.

    Example: ./run tessera numa defects --help
    """
    from tessera.lab.numa.archive import read_archive
    from tessera.lab.numa.defects import RULES
    from tessera.lab.numa.defects import defects as found

    rows = found(read_archive(source))
    _show(rows, out)
    for rule in RULES:
        click.echo(f"{rule.__name__}: {(rows['rule'] == rule.__name__).sum()} findings")


@numa.command()
@click.option("--cells", "cells_file", type=PATH, required=True, help="cells.csv of a run.")
@click.option("--workload", required=True, help="Workload of the cell.")
@click.option("--platform", required=True, help="Platform of the cell.")
@click.option("--layout", default="4kb", show_default=True, help="Layout of the cell.")
@click.option(
    "--config",
    "names",
    multiple=True,
    help="Configuration of Table 2, +M allowed; repeatable.  [default: all]",
)
@click.option(
    "--remote-load-cycles",
    type=click.FloatRange(min=0, min_open=True),
    help="Latency of a remote load, cycles.  [default: 580 for haswell-4s-sim; required for others]",
)
@click.option(
    "--hog-lines",
    type=click.FloatRange(min=0),
    help="Outstanding lines of the hog.  [default: 140 for haswell-4s-sim; required for others]",
)
@_OUT
def predict(
    cells_file: Path,
    workload: str,
    platform: str,
    layout: str,
    names: tuple[str, ...],
    remote_load_cycles: float | None,
    hog_lines: float | None,
    out: Path | None,
) -> None:
    """Predict walk cycles of a simulated cell if its page tables lay on another socket.

    The cell is taken as LP-LD: everything local. A configuration with +M is what migration or replication
    gives. Only walk cycles (C) are predicted, not runtime.

    Example: ./run tessera numa predict --cells notebooks/data/cells.csv --workload gups-8gb
    --platform haswell-sim --config RP-LD --remote-load-cycles 500 --hog-lines 140
    """
    from tessera.lab.numa.placement_costs import placement, placements, published_machine
    from tessera.lab.numa.predicted_costs import memory_of, nearly_no_effect, predict_placements, walks_of

    chosen = [placement(name) for name in names] or list(placements().values())
    memory = memory_of(platform, published_machine(), remote_load_cycles, hog_lines)
    walks = walks_of(cells_file, workload, platform, layout)
    click.echo(
        f"{workload}, {platform}, {layout}: C = {walks.cycles:.0f} cycles, n = {walks.loads:.0f} walker "
        f"loads from memory, {walks.loads_a_walk:.4f} a walk; local load {memory.local_cycles} cycles, "
        f"remote load {memory.remote_cycles:g} cycles"
    )
    if nearly_no_effect(walks, memory):
        click.echo(
            "note: n is near 0. The caches hold the page tables of this footprint, so remote tables change "
            "C by less than 5%. A larger footprint can behave differently."
        )
    _show(predict_placements(walks, memory, chosen), out)


@numa.command()
@click.option("--out", type=PATH, required=True, help="Trace file to write (.tst).")
@click.option("--gb", type=int, default=64, show_default=True, help="Size of the table, GB; a power of two.")
@click.option(
    "--updates", type=int, default=2_000_000, show_default=True, help="Updates: a load and a store each."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Begin of HPCC's stream, as of gups.")
@click.option("--layouts", type=PATH, help="Folder for 4kb.csv and 2mb.csv, layouts of the whole table.")
def gups(out: Path, gb: int, updates: int, seed: int, layouts: Path | None) -> None:
    """Write a trace of HPCC's random updates of a table that this machine has no memory for.

    The stream is computed, so a table of 64 GB takes no memory. The trace has the updates only. The same
    options give the same trace.

    Example (after: tessera build tracer):
    ./run tessera numa gups --gb 1 --updates 100000 --out /tmp/updates.tst --layouts /tmp/updates
    """
    from tessera.lab.numa.gups import Gups, write_layouts, write_trace

    asked = Gups(gb, updates, seed)
    trace = write_trace(asked, out)
    click.echo(f"{asked.updates} updates of {asked.gb} GB, {2 * asked.updates} accesses -> {trace}")
    for path in write_layouts(asked, layouts) if layouts else []:
        click.echo(f"layout {path}")


@numa.command()
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
@click.option("--gb", type=int, default=64, show_default=True, help="Size of the table, GB; a power of two.")
@click.option("--updates", type=int, default=2_000_000, show_default=True, help="Updates of the trace.")
@click.option("--seed", type=int, default=1, show_default=True, help="Begin of HPCC's stream.")
@simulation
def placements(
    out: Path, platform: str, gb: int, updates: int, seed: int, engine: str, jobs: int, cache: Path | None
) -> None:
    """Simulate HPCC's updates under the placements of Mitosis Table 2: walk cycles and runtime.

    Page tables and data lie on the program's socket or on another one; a hog may use up the bandwidth of the
    other. All pages are 4KB pages, then 2MB pages. The number of the hog's lines is assumed, and varied.

    Example (after: tessera build tracer simulator):
    ./run tessera numa placements --gb 1 --updates 100000 --out /tmp/placements.csv
    """
    from tessera.lab.numa.gups import Gups
    from tessera.lab.numa.placement_study import PlacementsStudy, placements_study

    study = PlacementsStudy(Gups(gb, updates, seed), platform, cache, out, engine, jobs)
    table = placements_study(study, Log("placements"))
    show_ratios(table, out)


@numa.command()
@click.option(
    "--programs", "files", type=PATH, multiple=True, required=True, help="CSV file of numa program."
)
@_SOURCE
@_OUT
def judge(files: tuple[Path, ...], source: Path | None, out: Path | None) -> None:
    """Compare simulated programs with the archived bars of Mitosis Figures 6 and 10.

    A gain (ratio minus 1) holds if it is within half of the published gain and its interval excludes 0.
    Published bars below 1.05, and rows with 2MB pages, are listed without a verdict.

    Example: ./run tessera numa judge --help
    """
    import pandas as pd

    from tessera.core.results.kernel_tables import PROGRAMS
    from tessera.core.results.table_io import read_file
    from tessera.lab.numa.archive import read_archive
    from tessera.lab.numa.mitosis_figures import FAILS, HOLDS, judge_bars

    rows = judge_bars(pd.concat([read_file(PROGRAMS, path) for path in files]), read_archive(source).good)
    _show(rows, out)
    counts = [f"{(rows['verdict'] == word).sum()} {word}" for word in (HOLDS, FAILS)]
    click.echo(f"{', '.join(counts)}, {(rows['verdict'] == '').sum()} listed without a verdict")


@numa.command()
@click.option("--cells", "cells_file", type=PATH, required=True, help="cells.csv of a run.")
@click.option("--workload", required=True, help="Workload of the cell.")
@click.option("--platform", required=True, help="Platform of the cell.")
@click.option("--layout", default="4kb", show_default=True, help="Layout of the cell.")
@click.option("--policy", help="Where tables lie by first touches: first-touch, interleave or auto.")
@click.option("--touches", type=PATH, help="First touches of a trace (tessera trace touches), for --policy.")
@click.option("--pages", type=click.IntRange(1), help="In their place: so many 4KB pages, in their order.")
@click.option("--split", "how", default="one", show_default=True, help="Who touches: one, blocks or pages.")
@click.option(
    "--sockets", type=click.IntRange(1, 64), default=4, show_default=True, help="For --policy, --map."
)
@click.option("--placement", type=PATH, help="placement.csv of a guest with our kernel, with --run.")
@click.option("--run", "guest_run", nargs=2, metavar="PROGRAM CONFIG", help="Its program and configuration.")
@click.option("--map", "map_file", type=PATH, help="A map of pages and page tables (tessera numa map).")
@click.option("--figure-4", "figure4", metavar="WORKLOAD", help="The archived shares of Mitosis Figure 4.")
@_SOURCE
@click.option(
    "--remote-load-cycles",
    type=click.FloatRange(min=0, min_open=True),
    help="Latency of a remote load, cycles.  [default: 580 for haswell-4s-sim; required for others]",
)
@_OUT
def sockets(
    cells_file, workload, platform, layout, policy, touches, pages, how, sockets, placement, guest_run,
    map_file, figure4, source, remote_load_cycles, out,
) -> None:  # fmt: skip
    """Compute walk cycles of threads on several sockets that share one set of page tables.

    The remote shares of the sockets come from a policy, a guest with our kernel, a map, or the archive.
    Their sum is the number of sockets minus 1. The ratio is what replicas of the page tables save.

    Example: ./run tessera numa sockets --cells notebooks/data/cells.csv --workload gups-8gb
    --platform haswell-sim --remote-load-cycles 500 --policy first-touch --pages 2097152 --split blocks
    """
    from tessera.core.errors import TesseraError, unknown_name
    from tessera.lab.numa import predicted_costs
    from tessera.lab.numa.archive import read_archive
    from tessera.lab.numa.map_rules import POLICIES, SPLITS, pages_of, remote_shares, split_touches
    from tessera.lab.numa.placement_costs import published_machine
    from tessera.lab.numa.placement_map import read_map

    asked = {"--policy": policy, "--placement": placement, "--map": map_file, "--figure-4": figure4}
    given = [name for name, value in asked.items() if value]
    if len(given) != 1:
        found = f"{' and '.join(given) or 'none'} given"
        raise TesseraError(", ".join(asked), found, "give one of them", code="numa-shares-source")
    if policy:
        if policy not in POLICIES:
            raise unknown_name("policy", policy, list(POLICIES))
        if how not in SPLITS:
            raise unknown_name("split", how, list(SPLITS))
        shares = remote_shares(split_touches(pages_of(touches, pages), sockets, how), policy)
    elif placement:
        if not guest_run:
            raise click.UsageError("--placement needs --run PROGRAM CONFIG")
        shares = predicted_costs.measured_shares(placement, *guest_run)
    elif map_file:
        shares = predicted_costs.mapped_shares(read_map(map_file), sockets)
    else:
        shares = predicted_costs.published_shares(read_archive(source), figure4)
    hogs = 0 if remote_load_cycles else None
    memory = predicted_costs.memory_of(platform, published_machine(), remote_load_cycles, hogs)
    walks = predicted_costs.walks_of(cells_file, workload, platform, layout)
    _show(predicted_costs.socket_costs(shares, walks, memory), out)


def _show(rows, out: Path | None) -> None:
    """Print the rows, three decimals; write them to ``out`` with all digits."""
    from tessera.core.files import write_csv
    from tessera.core.tables import frame_rows, print_table

    if out:
        write_csv(rows, out)
    print_table(**frame_rows(rows.drop(columns="provenance", errors="ignore"), digits=3))
