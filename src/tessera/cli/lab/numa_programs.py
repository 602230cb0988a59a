"""``tessera numa program``, ``map`` and ``fragmented``: page tables of programs, simulated or in a guest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option, say
from tessera.cli.output import Log, close, say_trace_notes
from tessera.simulate.sampling import PLAN

# ``tessera numa program``: a recorded program under placements of page tables; options of simulations.

PATH = click.Path(path_type=Path)


def simulation(command: Callable) -> Callable:
    """Options of each simulation of placements: platform, engine, jobs, cache."""
    for option in (
        click.option("--cache", type=PATH, help="Folder of finished cells.  [default: none]"),
        click.option(
            "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads of the simulator."
        ),
        click.option(
            "--engine",
            type=click.Choice(["timing", "partial", "reference"]),
            default="timing",
            show_default=True,
            help="partial: walk cycles only.",
        ),
        click.option(
            "--platform", default="haswell-4s-sim", show_default=True, help="Platform name or YAML file."
        ),
    ):
        command = option(command)
    return command


def show_ratios(table, out: Path) -> None:
    """Print the ratios of a table of placements, and how its rows ended."""
    from tessera.core.tables import frame_rows, print_table

    shown = [
        "page_size", "configuration", "hog_lines", "walk_ratio", "runtime_ratio", "runtime_ratio_ci95",
    ]  # fmt: skip
    print_table(**frame_rows(table[shown], digits=3))
    close(table, out)


@click.command()
@click.option("--info", type=PATH, required=True, help="info.json of a recording.")
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
@click.option(
    "--scale",
    type=click.FloatRange(min=1),
    default=1,
    show_default=True,
    help="L3, STLB and walk caches are so many times smaller: published footprint over recorded footprint.",
)
@click.option("--sampling", default=PLAN, show_default=True, help="Sampling plan, or full.")
@simulation
def program(
    info: Path,
    out: Path,
    scale: float,
    platform: str,
    sampling: str,
    engine: str,
    jobs: int,
    cache: Path | None,
) -> None:
    """Simulate a recorded program under the placements of Mitosis Table 2, on a scaled machine.

    With 1/14 of a published footprint, page tables fit in the caches of the whole machine. The scaled machine
    has 1/14 of its L3, STLB and walk caches. All pages are 4KB pages, then 2MB pages.

    Example, after ./run smoke:
    ./run tessera numa program --info results/smoke/traces/gups-1gb/info.json --scale 14
    --out /tmp/program.csv
    """
    from tessera.lab.numa.program_study import Program, program_study

    asked = Program(info, platform, scale, sampling, cache, out, engine, jobs)
    table = program_study(asked, Log(f"placements of {info.parent.name}"))
    show_ratios(table, out)
    say_trace_notes(info)


# ``tessera numa map``: where pages and page tables lie, in a guest with our kernel and by rule.

MOST_NAMED = 5  #: differences that `compare` prints
_CONFIG = click.option(
    "--config",
    "rule",
    required=True,
    help="Configuration of Table 2 without a hog (LP-LD, LP-RD, RP-LD, RP-RD), or a policy (first-touch, "
    "interleave). A configuration may have T in front (huge pages) and +M behind it (tables that moved).",
)


@click.group("map")
def numa_map() -> None:
    """Map the nodes of pages and page tables at the offsets of a trace (docs/numa.md, Maps).

    Example: ./run tessera numa map --help
    """


@numa_map.command()
@accept_series_option
@click.option("--workload", "name", required=True, help="Workload, a program of artifacts/workloads.")
@click.option("--size", "label", default="tiny", show_default=True, help="Its size; the guest has 1 GB.")
@_CONFIG
@click.option("--out", type=PATH, required=True, help="Map to write (CSV).")
@click.option("--begin", type=PATH, help="Map to write, of the moment before the program's own code.")
@click.option("--logs", type=PATH, help="Folder for the guest's files.  [default: none is kept]")
@click.option("--timeout", default=900, show_default=True, help="Seconds until the guest is stopped.")
def capture(accept_series, name, label, rule, out, begin, logs, timeout) -> None:
    """Run a workload under libmosalloc in the guest, and write the map at the end of its region of interest.

    The guest has two nodes, and the program runs on node 0. The kernel's own dump and a walk through the
    guest's memory must agree.

    \b
    Example (after: tessera build mosalloc workloads):
      ./run tessera numa map capture --workload mitosis-gups --config RP-LD --out /tmp/rp-ld.csv
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
        guest = ready_guest(name, label, inputs, say, accept_series=accept_series, timeout_seconds=timeout)
        done = guest.map(rule, logs or Path(temporary) / "logs")
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
@click.option("--sockets", type=click.IntRange(1, 64), default=2, show_default=True, help="For a policy.")
@click.option("--split", "how", default="one", show_default=True, help="Who touches: one, blocks or pages.")
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
      ./run tessera numa map expect --touches /tmp/touches.csv --config RP-LD --out /tmp/expected.csv
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
    reach = Reach.of(read_map(begin), traces.info(trace)) if begin and trace else None
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

    Example: ./run tessera numa map compare /tmp/rp-ld.csv /tmp/expected.csv
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


@numa_map.command()
@accept_series_option
@click.option("--workload", "name", default="mitosis-gups", show_default=True, help="Workload in the guest.")
@click.option("--size", "label", default="tiny", show_default=True, help="Its size; the guest has 1 GB.")
@click.option("--out", type=PATH, required=True, help="Folder for maps.csv and the maps.")
def study(accept_series, name, label, out) -> None:
    """Capture a map under each rule, and compare it with the rule's. The exit status is 1 if one differs.

    \b
    Example (after: tessera build mosalloc tracer workloads):
      ./run tessera numa map study --out /tmp/maps
    """
    import tempfile

    from tessera.core.results.outcomes import other_rows
    from tessera.core.tables import frame_rows, print_table
    from tessera.lab.numa.guest_map import ready_guest
    from tessera.lab.numa.guest_map_study import DIFFERENT, maps_study

    with tempfile.TemporaryDirectory(prefix="tessera-map-") as temporary:
        guest = ready_guest(name, label, Path(temporary), say, accept_series=accept_series)
        table = maps_study(guest, out, say)
    shown = table.drop(columns=["workload", "size", "provenance"]).astype(object)
    print_table(**frame_rows(shown.where(shown.notna(), ""), digits=0))
    wrong = len(other_rows(table)) or int(table[list(DIFFERENT)].to_numpy().sum())
    sys.exit(1 if wrong else 0)


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


# ``tessera numa fragmented``: 2MB pages of a program in fragmented memory (Mitosis Figure 11).


@click.command()
@accept_series_option
@click.option("--workload", "name", default="mitosis-gups", show_default=True, help="Workload in the guest.")
@click.option("--size", "label", default="guest", show_default=True, help="Its size; the guest has 1 GB.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder for fragmented.csv and logs."
)
def fragmented(accept_series, name, label, out) -> None:
    """Fragment the memory of the data's node, run a program with huge pages on, and count its 2MB pages.

    The first run is a control without fragmentation. The others have an unusable index of order 9 above 0.9,
    without and with compaction by page faults. The exit status is 1 if a run failed.

    \b
    Example (after: tessera build mosalloc workloads):
      ./run tessera numa fragmented --out /tmp/fragmented
    """
    import tempfile

    from tessera.core.results.outcomes import other_rows
    from tessera.core.tables import frame_rows, print_table
    from tessera.lab.numa.fragmented_memory import fragmented_study
    from tessera.lab.numa.guest_map import ready_guest

    with tempfile.TemporaryDirectory(prefix="tessera-fragmented-") as temporary:
        guest = ready_guest(name, label, Path(temporary), say, accept_series=accept_series)
        table = fragmented_study(guest, out, say)
    shown = table.drop(columns=["workload", "size", "provenance"]).astype(object)
    print_table(**frame_rows(shown.where(shown.notna(), ""), digits=3))
    sys.exit(1 if len(other_rows(table)) else 0)
