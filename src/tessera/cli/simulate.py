"""``tessera simulate``: H, M, C (and R) of a trace under every layout, on one or more platforms."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.results.outcomes import is_ok
from tessera.simulate.progress import Ticker

#: TABLE of --write -> what it has, and the option without which there is none.
TABLES = {
    "units": ("the counts of each unit, not scaled", ""),
    "designs": ("the counts of the structures of the platform's design", ""),
    "dram-rows": ("what loads found in the row buffers of memory: their row open, none, another", ""),
    "faults": ("the faults of the logs, a row a fault", "--os"),
    "kernel": ("the counts of the kernel's work", "--weave"),
    "fault-times": ("the latency of each fault in a timed part, in cycles", "--weave"),
}


def _help_of_tables() -> str:
    return "; ".join(
        f"{name}: {what}{f' (with {need})' if need else ''}" for name, (what, need) in TABLES.items()
    )


@click.command()
@options.trace()
@options.platform("Name or YAML file; may be repeated, or comma-separated.", multiple=True, metavar="NAME")
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
    help="Logs of an imitated operating system in the place of layouts (tessera lab os); may be repeated.",
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
@options.out("Cells file to write: .csv or .parquet.", required=False)
@click.option(
    "--engine",
    default="timing",
    show_default=True,
    help="partial: H, M, C; timing: also R; reference: as timing, by slow and simple code.",
)
@options.sampling(
    "Which part has C and R: units=20,warmup_accesses=2500000,timed_instructions=1000000 (any of them; the "
    "default); full: no sampling; tlbs: H and M only; or a CSV file of units: "
    "start_access,warmup_accesses,timed_instructions,weight."
)
@click.option(
    "--write",
    "tables",
    multiple=True,
    metavar="TABLE=FILE",
    help=f"Write another CSV file; may be repeated. TABLE is one of {_help_of_tables()}.",
)
@click.option(
    "--weave",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --os: folder of recorded page faults, whose kernel work runs in the program's stream.",
)
@click.option(
    "--check-tables",
    is_flag=True,
    help="With --weave and --sampling full: fail where a walk reads a page-table entry that no woven store "
    "has written.",
)
@options.jobs
@options.workload("Name in the cells file.  [default: file or folder name of the trace]")
@options.cache(".cache in the folder of --out")
def simulate(trace, platform, layout_words, mapping_words, log_words, changes, choices, out, engine, sampling,
             tables, weave, check_tables, jobs, workload, cache) -> None:  # fmt: skip
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
          --layouts '/tmp/layouts/growing-*.csv' --engine partial --jobs 2 --out /tmp/two.parquet
      ./run tessera simulate --trace /tmp/gups.tst --platform park-haswell --mappings /tmp/demand.csv \\
          --set mmu.design=anchor --set design.anchor.distance_pages=16 --engine partial \\
          --write designs=/tmp/designs.csv --out /tmp/anchor.csv
      ./run tessera simulate --trace /tmp/gups.tst --platform park-haswell --mappings /tmp/demand.csv \\
          --each mmu.design=thp,anchor,cluster-2mb,rmm --sampling tlbs --out /tmp/designs.csv
      ./run tessera simulate --trace /tmp/os/gups.tst --platform haswell-sim --os /tmp/os/thp-always.oslog \\
          --set memory.allocator=mapped --sampling full --write faults=/tmp/os/faults.csv \\
          --out /tmp/os/cells.csv
      ./run tessera simulate --trace /tmp/os/gups.tst --platform haswell-sim --os /tmp/os/thp-always.oslog \\
          --set memory.allocator=mapped --sampling full --weave artifacts/kernel-stream/recording \\
          --write kernel=/tmp/os/kernel.csv --write fault-times=/tmp/os/times.csv --out /tmp/os/woven.csv
    """
    from tessera.core.results import outcomes, table_io
    from tessera.core.scenarios import check_name
    from tessera.record.traces import outside_note
    from tessera.record.traces import trace_info as trace_info
    from tessera.simulate.inputs import LAYOUT, LOG, MAPPING, find_inputs
    from tessera.simulate.operating_system import write_faults
    from tessera.simulate.outputs import check_outputs, write_parts, write_variants_table
    from tessera.simulate.sampling import ENGINES, plan_of
    from tessera.simulate.simulator import (
        DESIGN_COLUMNS,
        DRAM_ROW_COLUMNS,
        FAULT_TIME_COLUMNS,
        KERNEL_COLUMNS,
        UNIT_COLUMNS,
    )

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
    needed = {"--trace": trace, "--platform": platform, choice: pages, "--out": out}
    if missing := [name for name, value in needed.items() if not value]:
        raise click.UsageError(f"missing {', '.join(missing)}")
    if engine not in ENGINES:
        raise unknown_name("engine", engine, tuple(ENGINES))
    table_io.check_cell_format(out)
    plan = plan_of(sampling)
    files = _files(tables)
    if "faults" in files and kind != LOG:
        raise TesseraError(
            "--write faults", "only logs of an operating system have faults", "give them with --os"
        )
    for name in ("fault-times", "dram-rows"):
        if name in files and (engine == "partial" or plan.argument() == "tlbs"):
            what = "the engine partial" if engine == "partial" else "--sampling tlbs"
            remedy = "use --engine timing, with another plan than tlbs"
            raise TesseraError(f"--write {name}", f"{what} has no times", remedy)
    only_woven = [f"--write {name}" for name in files if TABLES[name][1] == "--weave"]
    templates = _templates(weave, only_woven + ["--check-tables"] * check_tables, kind)
    found = trace_info(trace)
    layouts = find_inputs(pages, kind)
    if kind == LOG:
        for path in layouts:
            check_name(path.stem)
    kept = cache or out.parent / ".cache"
    inputs = [
        trace,
        *layouts,
        *(Path(name) for name in [*",".join(platform).split(","), *([sampling] if sampling else [])]),
    ]
    check_outputs({"--out": out, **{f"--write {name}": path for name, path in files.items()}}, inputs, kept)
    label = workload or _label(trace)
    columns = {
        "units": UNIT_COLUMNS, "designs": DESIGN_COLUMNS, "kernel": KERNEL_COLUMNS,
        "fault-times": FAULT_TIME_COLUMNS, "dram-rows": DRAM_ROW_COLUMNS,
    }  # fmt: skip
    parts: dict[str, list[dict]] = {name: [] for name in files if name in columns}
    platforms, variants = _platforms(platform, changes, choices)
    keys = list(variants[0].values) if variants else []
    rows = _simulate_all(
        trace, platforms, variants, layouts, label, kept,
        engine=engine, sampling=plan, threads=jobs, kind=kind, weave=templates, check_tables=check_tables,
        units=parts.get("units"), structures=parts.get("designs"), kernel=parts.get("kernel"),
        fault_times=parts.get("fault-times"), dram_rows=parts.get("dram-rows"),
    )  # fmt: skip
    for row in rows:
        made = [*changes, *(f"{key}={row[key]}" for key in keys)]
        if made and (is_ok(row) or not row["message"]):
            row["message"] = outcomes.joined_notes(row["message"], f"set: {', '.join(made)}")
    write_variants_table(rows, keys, out) if keys else table_io.write_cells(rows, out)
    for name, lines in parts.items():
        write_parts(lines, columns[name], files[name], keys)
    if "faults" in files:
        write_faults(layouts, files["faults"])
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


def _files(texts: tuple[str, ...]) -> dict[str, Path]:
    """The file of each table of ``--write TABLE=FILE``."""
    found: dict[str, Path] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if name not in TABLES:
            raise unknown_name("table of --write", name, tuple(TABLES))
        if not path or name in found:
            wrong = "it names no file" if not path else f"{name} is given twice"
            raise TesseraError(f"--write {text}", wrong, f"--write {name}=FILE.csv")
        found[name] = Path(path)
    return found


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
    found = [set_values(platforms.load_platform(name), values) for word in names for name in word.split(",")]
    once = {platform.name for platform in found}
    if len(once) < len(found):
        raise TesseraError(f"--platform {','.join(names)}", "a platform is named twice", "name it once")
    return found, variants_of(choices, values) if choices else []


def _simulate_all(trace, chosen, variants, layouts, label, cache, *, units, structures, kernel, fault_times,
                  dram_rows, **options):  # fmt: skip
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
    targets["dram_rows"] = dram_rows
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
