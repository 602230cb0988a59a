"""``tessera simulate``: H, M, C (and R) of a trace under every layout, on one or more platforms."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.results.outcomes import is_ok
from tessera.simulate.progress import Ticker

FILE = click.Path(path_type=Path)


@click.command()
@click.option("--trace", type=FILE, help="Trace file (.tst).")
@click.option(
    "--platform",
    "platform_names",
    multiple=True,
    metavar="NAME",
    help="Platform name or YAML file (see --list); may be repeated, or comma-separated.",
)
@click.option(
    "--layouts",
    "layout_words",
    multiple=True,
    metavar="PATH",
    help="Folder of layout CSVs, a file, or a quoted pattern; may be repeated.",
)
@click.option(
    "--mappings",
    "mapping_words",
    multiple=True,
    metavar="PATH",
    help="Mappings in the place of layouts: a folder, a file, or a quoted pattern; may be repeated.",
)
@click.option(
    "--os",
    "log_words",
    multiple=True,
    metavar="PATH",
    help="Logs of an imitated operating system in the place of layouts (tessera os); may be repeated.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a value of every platform, for example mmu.design=anchor; may be repeated.",
)
@click.option(
    "--each",
    "choices",
    multiple=True,
    metavar="KEY=V1,V2,...",
    help="Simulate each of these values, with a column for the key: mmu.design=thp,anchor; may be repeated.",
)
@click.option("--out", type=FILE, help="Cells file to write: .csv or .parquet.")
@click.option(
    "--engine",
    default="timing",
    show_default=True,
    help="partial: H, M, C; timing: also R; reference: as timing, by slow and simple code.",
)
@click.option(
    "--intervals",
    type=click.IntRange(1),
    metavar="N",
    help="Compute C and R from N evenly spaced units of the trace.  [default: 20]",
)
@click.option(
    "--warmup",
    type=click.IntRange(0),
    metavar="N",
    help="Accesses before each unit that warm the caches.  [default: 2500000]",
)
@click.option(
    "--timed",
    type=click.IntRange(1),
    metavar="N",
    help="Instructions counted in each unit.  [default: 1000000]",
)
@click.option(
    "--sampling",
    metavar="PLAN",
    help="All three: units=20,warmup_accesses=2500000,timed_instructions=1000000; or full: no sampling; or "
    "tlbs: H and M only.",
)
@click.option(
    "--interval-file",
    type=FILE,
    help="CSV of units: start_access,warmup_accesses,timed_instructions,weight.",
)
@click.option("--interval-out", type=FILE, help="CSV file for the counts of each unit, not scaled.")
@click.option(
    "--designs-out", type=FILE, help="CSV file for the counts of the structures of the platform's design."
)
@click.option("--faults-out", type=FILE, help="CSV file for the faults of the logs of --os, a row a fault.")
@click.option(
    "--weave",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --os: folder of recorded page faults, whose kernel work runs in the program's stream.",
)
@click.option("--kernel-out", type=FILE, help="With --weave: CSV file for the counts of the kernel's work.")
@click.option(
    "--fault-times-out",
    type=FILE,
    help="With --weave: CSV file for the latency of each fault in a timed part, in cycles.",
)
@click.option(
    "--check-tables",
    is_flag=True,
    help="With --weave and --sampling full: fail where a walk reads a page-table entry that no woven store "
    "has written.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads of the simulator; they don't change results.",
)
@click.option("--workload", help="Name in the cells file.  [default: file or folder name of the trace]")
@click.option(
    "--cache", type=FILE, help="Folder of finished cells.  [default: .cache in the folder of --out]"
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List engines, platforms and the components that a platform file can name.",
)
def simulate(trace, platform_names, layout_words, mapping_words, log_words, changes, choices, out, engine,
             intervals, warmup, timed, sampling, interval_file, interval_out, designs_out, faults_out,
             weave, kernel_out, fault_times_out, check_tables, threads, workload, cache,
             listing) -> None:  # fmt: skip
    """Simulate a trace under many layouts, mappings or scenarios.

    Writes H (STLB hits), M (STLB misses), C (walk cycles) and R (runtime in cycles) of each cell. H and M are
    exact. C and R are estimates from samples, with a 95% half-width; --sampling full makes them exact.

    The cache keeps finished cells: the same command continues after an interruption. If the simulator rejects
    a layout, its row is `failed` with the reason, the others continue, and the exit status is 1.

    \b
    Examples (trace and layouts: tessera trace record --help, tessera layouts generate --help):
      ./run tessera simulate --trace /tmp/gups.tst --platform haswell-sim --layouts /tmp/layouts \\
          --out /tmp/cells.csv --sampling full
      ./run tessera simulate --trace /tmp/gups.tst --platform haswell-sim,broadwell-sim \\
          --layouts '/tmp/layouts/growing-*.csv' --engine partial --threads 2 --out /tmp/two.parquet
      ./run tessera simulate --trace /tmp/gups.tst --platform park-haswell --mappings /tmp/demand.csv \\
          --set mmu.design=anchor --set design.anchor.distance_pages=16 --engine partial \\
          --designs-out /tmp/designs.csv --out /tmp/anchor.csv
      ./run tessera simulate --trace /tmp/gups.tst --platform park-haswell --mappings /tmp/demand.csv \\
          --each mmu.design=thp,anchor,cluster-2mb,rmm --sampling tlbs --out /tmp/designs.csv
      ./run tessera simulate --trace /tmp/os/gups.tst --platform haswell-sim --os /tmp/os/thp-always.oslog \\
          --set memory.allocator=mapped --sampling full --faults-out /tmp/os/faults.csv \\
          --out /tmp/os/cells.csv
      ./run tessera simulate --trace /tmp/os/gups.tst --platform haswell-sim --os /tmp/os/thp-always.oslog \\
          --set memory.allocator=mapped --sampling full --weave artifacts/kernel-stream/recording \\
          --kernel-out /tmp/os/kernel.csv --fault-times-out /tmp/os/times.csv --out /tmp/os/woven.csv
    """
    from tessera.core.results import outcomes, table_io
    from tessera.core.scenarios import check_name
    from tessera.record.traces import info as trace_info
    from tessera.record.traces import outside_note
    from tessera.simulate.inputs import LAYOUT, LOG, MAPPING, find_inputs
    from tessera.simulate.operating_system import write_faults
    from tessera.simulate.outputs import check_outputs, write_parts, write_variants_table
    from tessera.simulate.sampling import ENGINES, plan_of
    from tessera.simulate.simulator import DESIGN_COLUMNS, FAULT_TIME_COLUMNS, KERNEL_COLUMNS, UNIT_COLUMNS

    if listing:
        from tessera.simulate.platform_files import listing_text

        click.echo(listing_text(), nl=False)
        return
    asked = [
        (kind, words)
        for kind, words in ((LAYOUT, layout_words), (MAPPING, mapping_words), (LOG, log_words))
        if words
    ]
    if len(asked) > 1:
        options = " and ".join(kind.option for kind, _ in asked)
        raise TesseraError(options, "each takes the place of the others", "keep one", code="pages-conflict")
    kind, pages = asked[0] if asked else (LAYOUT, ())
    choice = "--layouts, --mappings or --os"
    needed = {"--trace": trace, "--platform": platform_names, choice: pages, "--out": out}
    if missing := [name for name, value in needed.items() if not value]:
        raise click.UsageError(f"missing {', '.join(missing)}")
    if engine not in ENGINES:
        raise unknown_name("engine", engine, tuple(ENGINES))
    table_io.check_cell_format(out)
    plan = plan_of(sampling, intervals, warmup, timed, interval_file)
    if faults_out and kind != LOG:
        raise TesseraError(
            "--faults-out", "only logs of an operating system have faults", "give them with --os"
        )
    only_woven = {
        "--kernel-out": kernel_out, "--fault-times-out": fault_times_out, "--check-tables": check_tables
    }  # fmt: skip
    templates = _templates(weave, [name for name, given in only_woven.items() if given], kind)
    found = trace_info(trace)
    layouts = find_inputs(pages, kind)
    if kind == LOG:
        for path in layouts:
            check_name(path.stem)
    kept = cache or out.parent / ".cache"
    named = [Path(name) for word in platform_names for name in word.split(",")]
    inputs = [trace, *layouts, *named, *([interval_file] if interval_file else [])]
    outputs = {
        "--out": out,
        "--interval-out": interval_out,
        "--designs-out": designs_out,
        "--faults-out": faults_out,
        "--kernel-out": kernel_out,
        "--fault-times-out": fault_times_out,
    }
    check_outputs(outputs, inputs, kept)
    label = workload or _label(trace)
    units: list[dict] | None = [] if interval_out else None
    structures: list[dict] | None = [] if designs_out else None
    kernel: list[dict] | None = [] if kernel_out else None
    times: list[dict] | None = [] if fault_times_out else None
    platforms, variants = _platforms(platform_names, changes, choices)
    keys = list(variants[0].values) if variants else []
    rows = _simulate_all(
        trace, platforms, variants, layouts, label, kept,
        engine=engine, sampling=plan, threads=threads, units=units, structures=structures, kind=kind,
        weave=templates, check_tables=check_tables, kernel=kernel, fault_times=times,
    )  # fmt: skip
    for row in rows:
        made = [*changes, *(f"{key}={row[key]}" for key in keys)]
        if made and (is_ok(row) or not row["message"]):
            row["message"] = outcomes.joined_notes(row["message"], f"set: {', '.join(made)}")
    write_variants_table(rows, keys, out) if keys else table_io.write_cells(rows, out)
    if units is not None:
        write_parts(units, UNIT_COLUMNS, interval_out, keys)
    if structures is not None:
        write_parts(structures, DESIGN_COLUMNS, designs_out, keys)
    if kernel is not None:
        write_parts(kernel, KERNEL_COLUMNS, kernel_out, keys)
    if times is not None:
        write_parts(times, FAULT_TIME_COLUMNS, fault_times_out, keys)
    if faults_out:
        write_faults(layouts, faults_out)
    failed = [row for row in rows if not is_ok(row)]
    click.echo(f"{len(rows) - len(failed)} cells ok, {len(failed)} failed -> {out}")
    outside = "" if kind == LOG else outside_note(found)
    for note in filter(None, (outcomes.note_sentence(outcomes.thread_note(found)), outside)):
        click.echo(f"note: {note}", err=True)
    for row in failed:
        where = ", ".join([row["platform"], *(f"{key}={row[key]}" for key in keys), row["layout"]])
        click.echo(f"failed: {where}: {row['message']}", err=True)
    if failed:
        sys.exit(EXIT_FAILED)


def _templates(recording: Path | None, only_woven: list[str], kind) -> bytes | None:
    """The templates of --weave as the simulator reads them; None: the option is not given.

    ``only_woven``: options that need it.
    """
    from tessera.lab.faults.weave import file_of
    from tessera.simulate.inputs import LOG

    if recording is None:
        if only_woven:
            raise TesseraError(
                only_woven[0], "without --weave there is no kernel work", "give --weave RECORDING"
            )
        return None
    if kind != LOG:
        raise TesseraError("--weave", "only logs have page faults", "give them with --os")
    return file_of(recording)


def _label(trace: Path) -> str:
    path = trace.absolute()
    return path.parent.name if path.stem == "trace" else path.stem


def _platforms(names: tuple[str, ...], changes: tuple[str, ...], choices: tuple[str, ...]):
    """The platforms with the changes, in the given order, and the variants that each of them has."""
    from tessera.core import platforms
    from tessera.core.platforms import parse_changes, set_values
    from tessera.simulate.outputs import variants_of

    values = parse_changes(changes, "--set")
    found = [set_values(platforms.load(name), values) for word in names for name in word.split(",")]
    once = {platform.name for platform in found}
    if len(once) < len(found):
        raise TesseraError(f"--platform {','.join(names)}", "a platform is named twice", "name it once")
    return found, variants_of(choices, values) if choices else []


def _simulate_all(trace, chosen, variants, layouts, label, cache, *, units, structures, kernel, fault_times,
                  **options):  # fmt: skip
    """Rows of all platforms. Variants of all of them run together, and their rows have the keys of these."""
    from tessera.core.platforms import set_values
    from tessera.simulate.outputs import EACH_OPTION
    from tessera.simulate.runner import CellCache, simulate_all

    runs = [(platform.name, [(platform, {})]) for platform in chosen]
    if variants:
        members = [(set_values(p, v.values, EACH_OPTION), dict(v.values)) for p in chosen for v in variants]
        runs = [(f"{len(members)} variants", members)]
    rows: list[dict] = []
    targets = {"units": units, "structures": structures, "kernel": kernel, "fault_times": fault_times}
    for name, members in runs:
        parts: dict[str, list[list[dict]]] = {part: [] for part, to in targets.items() if to is not None}
        ticker = Ticker(f"{label} on {name}")
        try:
            tables = simulate_all(
                trace, [platform for platform, _ in members], layouts, workload=label, cache=CellCache(cache),
                progress=ticker, **parts, **options,
            )  # fmt: skip
        finally:
            ticker.close()
        for target, found in ((rows, tables), *((targets[part], lists) for part, lists in parts.items())):
            for (_, values), lines in zip(members, found, strict=True):
                target += [line | values for line in lines]
    return rows
