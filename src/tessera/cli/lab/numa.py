"""``tessera lab numa``: where page tables lie and what it costs (Mitosis, ASPLOS 2020)."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import click

from tessera.cli.lab import guest

PATH = click.Path(path_type=Path)
_OUT = click.option("--out", type=PATH, help="CSV file for all rows.")
_sockets = click.IntRange(1, 64)
_split = click.option(
    "--split", "how", default="one", show_default=True, help="Who touches: one, blocks or pages."
)


def _of_cell(command):
    """Options of commands that compute with a simulated cell."""
    for option in (
        click.option(
            "--remote-load-cycles", type=click.FloatRange(min=0, min_open=True),
            help="Latency of a remote load, cycles.  [default: 580 for haswell-4s-sim; required for others]",
        ),
        click.option("--layout", default="4kb", show_default=True, help="Layout of the cell."),
        click.option("--platform", required=True, help="Platform of the cell."),
        click.option("--workload", required=True, help="Workload of the cell."),
        click.option("--cells", "cells_file", type=PATH, required=True, help="cells.csv of a run."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.group()
def numa() -> None:
    """Compute what remote page tables cost; map pages and page tables in a guest (docs/explain/numa.md).

    Simulated placements, and checks of the archived measurements of Mitosis, are studies: tessera lab list.

    Example: ./run tessera lab numa machine
    """


@numa.command()
def machine() -> None:
    """Print the published machine and the seven placements of Table 2, in cycles of one walker load.

    Example: ./run tessera lab numa machine
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
@_of_cell
@click.option(
    "--mitosis",
    "names",
    multiple=True,
    help="Configuration of Table 2, +M allowed; repeatable.  [default: all]",
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

    Example: ./run tessera lab numa predict --cells notebooks/data/cells.csv --workload gups-8gb
    --platform haswell-sim --mitosis RP-LD --remote-load-cycles 500 --hog-lines 140
    """
    from tessera.lab.numa.placement_costs import placement_named, placements, published_machine
    from tessera.lab.numa.predicted_costs import memory_of, nearly_no_effect, predict_placements, walks_of

    chosen = [placement_named(name) for name in names] or list(placements().values())
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
@_of_cell
@click.option("--policy", help="Where tables lie by first touches: first-touch, interleave or auto.")
@click.option("--touches", type=PATH, help="First touches of a trace (tessera trace touches), for --policy.")
@click.option("--pages", type=click.IntRange(1), help="In their place: so many 4KB pages, in their order.")
@_split
@click.option("--sockets", type=_sockets, default=4, show_default=True, help="For --policy, --map.")
@click.option("--placement", type=PATH, help="placement.csv of a guest with our kernel, with --run.")
@click.option("--run", "guest_run", nargs=2, metavar="PROGRAM CONFIG", help="Its program and configuration.")
@click.option("--map", "map_file", type=PATH, help="A map of pages and page tables (tessera lab numa map).")
@click.option("--figure-4", "figure4", metavar="WORKLOAD", help="The archived shares of Mitosis Figure 4.")
@click.option(
    "--from",
    "source",
    type=PATH,
    help="Folder of unpacked reference data.  [default: what tessera dev reference fetch downloads]",
)
@_OUT
def sockets(
    cells_file, workload, platform, layout, policy, touches, pages, how, sockets, placement, guest_run,
    map_file, figure4, source, remote_load_cycles, out,
) -> None:  # fmt: skip
    """Compute walk cycles of threads on several sockets that share one set of page tables.

    The remote shares of the sockets come from a policy, a guest with our kernel, a map, or the archive.
    Their sum is the number of sockets minus 1. The ratio is what replicas of the page tables save.

    Example: ./run tessera lab numa sockets --cells notebooks/data/cells.csv --workload gups-8gb
    --platform haswell-sim --remote-load-cycles 500 --policy first-touch --pages 2097152 --split blocks
    """
    from tessera.core.errors import TesseraError, unknown_name
    from tessera.lab.numa import predicted_costs
    from tessera.lab.numa.archive import read_archive
    from tessera.lab.numa.map_rules import POLICIES, SPLITS, remote_leaf_shares, split_touches, touched_pages
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
        shares = remote_leaf_shares(split_touches(touched_pages(touches, pages), sockets, how), policy)
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


# Where pages and page tables lie, in a guest with our kernel and by rule.

MOST_NAMED = 5  #: differences that `compare` prints
_CONFIG = click.option(
    "--mitosis",
    "rule",
    required=True,
    help="Configuration of Table 2 without a hog (LP-LD, LP-RD, RP-LD, RP-RD), or a policy (first-touch, "
    "interleave). A configuration may have T in front (huge pages) and +M behind it (tables that moved).",
)


@numa.group("map")
def numa_map() -> None:
    """Map the nodes of pages and page tables at the offsets of a trace (docs/explain/numa.md, Maps).

    Example: ./run tessera lab numa map --help
    """


@numa_map.command()
@guest.accept_series
@click.option("--workload", "name", required=True, help="Workload, a program of artifacts/workloads.")
@click.option("--size", "label", default="tiny", show_default=True, help="Its size; the guest has 1 GB.")
@_CONFIG
@click.option("--out", type=PATH, required=True, help="Map to write (CSV).")
@click.option("--begin", type=PATH, help="Map to write, of the moment before the program's own code.")
@click.option("--logs", type=PATH, help="Folder for the guest's files.  [default: none is kept]")
@guest.timeout(900)
def capture(accept_series, name, label, rule, out, begin, logs, timeout) -> None:
    """Run a workload under libmosalloc in the guest, and write the map at the end of its region of interest.

    The guest has two nodes, and the program runs on node 0. The kernel's own dump and a walk through the
    guest's memory must agree.

    \b
    Example (after: tessera dev build mosalloc workloads):
      ./run tessera lab numa map capture --workload mitosis-gups --mitosis RP-LD --out /tmp/rp-ld.csv
    """
    import tempfile

    from tessera.core.files import check_target
    from tessera.lab.numa.guest_map import ready_guest
    from tessera.lab.numa.map_rules import guest_rule
    from tessera.lab.numa.placement_map import write_map

    guest_rule(rule)  # before anything is built
    check_target(out)
    with tempfile.TemporaryDirectory(prefix="tessera-map-") as temporary:
        inputs = Path(temporary) / "inputs"
        ready = ready_guest(
            name, label, inputs, guest.say, accept_series=accept_series, timeout_seconds=timeout
        )
        done = ready.map(rule, logs or Path(temporary) / "logs")
    if begin:
        write_map(done.begin, begin)
    write_map(done.map, out)
    _print_map(done.map)
    click.echo(f"{done.zero_pages} pages were only read and have no row -> {out}")
    for difference in done.differences:
        click.echo(f"DIFFERENCE: {difference}", err=True)
    sys.exit(1 if done.differences else 0)


@numa_map.command()
@click.option("--touches", type=PATH, required=True, help="First touches of a trace (tessera trace touches).")
@_CONFIG
@click.option("--sockets", type=_sockets, default=2, show_default=True, help="For a policy.")
@_split
@click.option("--begin", type=PATH, help="Map of the moment when the trace begins; its pages come first.")
@click.option("--trace", "trace", type=PATH, help="The trace; needed with huge pages (T).")
@click.option("--as-far-as", "captured", type=PATH, help="Only touches up to the last page of this map.")
@click.option("--out", type=PATH, required=True, help="Map to write (CSV).")
def expect(touches, rule, sockets, how, begin, trace, captured, out) -> None:
    """Write the map that a configuration or a policy gives for the first touches of a trace.

    A trace of the whole program begins after its libraries, and ends behind the region of interest. So a map
    captured at its begin and one captured at its end are given, too.

    \b
    Example (after: tessera trace touches):
      ./run tessera lab numa map expect --touches /tmp/touches.csv --mitosis RP-LD --out /tmp/expected.csv
    """
    from tessera.cli.output import say_trace_notes
    from tessera.core.errors import unknown_name
    from tessera.core.mapping.paging import read_touches
    from tessera.lab.numa.map_rules import SPLITS, Reach, expected_map, touches_as_far_as, touches_behind
    from tessera.lab.numa.placement_map import read_map, write_map
    from tessera.record import traces

    if how not in SPLITS:
        raise unknown_name("split", how, list(SPLITS))
    order = read_touches(touches)
    order = touches_behind(read_map(begin), order) if begin else order
    chosen = touches_as_far_as(order, read_map(captured)) if captured else order
    reach = Reach.of(read_map(begin), traces.trace_info(trace)) if begin and trace else None
    found = expected_map(chosen, rule, sockets, how, reach)
    write_map(found, out)
    _print_map(found)
    click.echo(f"first {len(chosen.page)} of {len(order.page)} touches -> {out}")
    say_trace_notes(trace)


@numa_map.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
def compare(first: Path, second: Path) -> None:
    """Compare two maps, page by page and table by table. The exit status is 1 if they differ.

    Tables of levels 3 and 4 are left out, because they also hold memory outside the pools.

    Example: ./run tessera lab numa map compare /tmp/rp-ld.csv /tmp/expected.csv
    """
    from tessera.core.tables import frame_rows, print_table
    from tessera.lab.numa.placement_map import compare_maps, count_differences, named_differences, read_map

    table = compare_maps(read_map(first), read_map(second))
    print_table(**frame_rows(table, digits=0))
    found = count_differences(table)
    for _, _, line in islice(named_differences(read_map(first), read_map(second)), MOST_NAMED):
        click.echo(f"DIFFERENCE: {line}", err=True)
    click.echo("EQUAL" if not found else f"DIFFERENT: {found} pages and tables")
    sys.exit(1 if found else 0)


def _print_map(found) -> None:
    """Pages and tables of each level by node."""
    import numpy as np

    from tessera.core.tables import print_table
    from tessera.lab.numa.placement_map import DATA, KINDS, TABLE

    rows = []
    for kind in (DATA, TABLE):
        for level in found.levels(kind):
            _, nodes = found.units(kind, level)
            counts = np.bincount(nodes, minlength=found.nodes).tolist()
            rows.append((KINDS[kind], str(level), *map(str, counts)))
    heads = ["kind", "level", *(f"node {node}" for node in range(found.nodes))]
    print_table(heads, rows, right=tuple(range(1, len(heads))))
