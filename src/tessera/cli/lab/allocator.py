"""``tessera lab allocator``: proves the library by its tests, and measures what it costs."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.options import PATH
from tessera.core.errors import EXIT_FAILED


@click.group()
def allocator() -> None:
    """Prove the allocator by its tests; measure what it costs.

    Example: ./run tessera lab allocator bench --quick
    """


# ``tessera lab allocator proof``: runs all tests of the library and prints a table of each.


@allocator.command()
@click.option("--quick", is_flag=True, help="Small inputs: takes minutes.")
@click.option("--operations", type=click.IntRange(1),
              help="Random calls per number of threads, and of all lives.  "
                   "[default: 10000000, --quick: 200000]")  # fmt: skip
@click.option(
    "--cases", metavar="REGEX", help="Run only matching tests of the case table, as ctest -R.  [default: all]"
)
@click.option("--only", "names", multiple=True, metavar="SECTION",
              help="cases, differential, libraries, lives, threads, stacks, programs, benchmark; "
                   "repeatable.  [all]")  # fmt: skip
@options.out("Folder for the results (JSON and CSV).  [default: build/mosalloc/proof]", required=False)
def proof(
    quick: bool, operations: int | None, cases: str | None, names: tuple[str, ...], out: Path | None
) -> None:
    """Run all tests of the library and print a table of each.

    Sections: test cases, differential test, libraries (other versions of glibc), random lives (forks,
    programs, pins, stacks and signals between random calls; at least 200,000 operations a layout),
    threads (a program that checks its own pages), stacks (in memory of the program; 1,000 runs, 50 with
    --quick), well-known programs, benchmark. If a section fails, the next ones still run. Exit status 1
    if a test failed or none passed. Skipped tests are listed with what they need. Uses free huge pages;
    with TESSERA_RESERVE=1 reserves them for the runs.

    \b
    Example:
      ./run --reserve tessera lab allocator proof
    """
    from tessera.core.checks import status_summary
    from tessera.core.files import build_dir
    from tessera.lab.allocator_proof.suite.proof import (
        chosen_sections,
        outcome_text,
        proof_header,
        proof_passed,
        remove_old_results,
        run_sections,
        write_outcome,
    )
    from tessera.lab.allocator_proof.suite.section import ProofSettings

    sections = chosen_sections(names)
    folder = (out or build_dir("mosalloc") / "proof").absolute()
    remove_old_results(folder, [section.name for section in sections])
    subject = proof_header(build_dir("mosalloc") / "libmosalloc.so")
    click.echo(f"{subject}\n")
    settings = ProofSettings(
        folder=folder,
        say=lambda text: click.echo(f"proof: {text}", err=True),
        quick=quick,
        operations=operations or (200_000 if quick else 10_000_000),
        cases=cases,
    )
    outcomes = []
    for number, outcome in enumerate(run_sections(sections, settings), start=1):
        outcomes.append(outcome)
        write_outcome(outcome, folder, library=subject)
        click.echo(outcome_text(number, outcome))
    statuses = [check.status for outcome in outcomes for check in outcome.findings.checks]
    click.echo(f"in all: {status_summary(statuses)}")
    click.echo(f"results -> {folder}", err=True)
    if not proof_passed(outcomes):
        sys.exit(EXIT_FAILED)


# ``tessera lab allocator programs``: well-known programs under several layouts.


@allocator.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--layout", "layouts", multiple=True, help="Layout: 4kb, 2mb or mixed; may be repeated.  [default: all]"
)
@options.out("CSV file to write the table to.", required=False)
@click.option("--launcher", type=PATH, help="mosalloc-run to test.  [default: build/mosalloc/mosalloc-run]")
@click.option("--list", "only_list", is_flag=True, help="List the programs; run none.")
def programs(
    names: tuple[str, ...], layouts: tuple[str, ...], out: Path | None, launcher: Path | None, only_list: bool
) -> None:
    """Run well-known programs under layouts: the NAMEs given, or all.

    A run passes if the program's own check passes, its answer equals that of a run without the library, and
    its pages have the requested sizes. The programs come from an image that is built at first use (1 to 3
    min); with TESSERA_ENGINE=none from this machine. Exit status 1 if a run fails.

    \b
    Example:
      ./run --reserve tessera lab allocator programs redis sqlite3 --layout mixed
    """
    from tessera.core.checks import FAIL, exit_status
    from tessera.core.errors import unknown_name
    from tessera.core.files import check_target
    from tessera.core.tables import print_table
    from tessera.lab.allocator_proof.programs.registry import PROGRAMS, program_named
    from tessera.lab.allocator_proof.programs.session import (
        MOSAIC_NAMES,
        Session,
        failure_details,
        outcome_line,
        outcomes_table,
        write_outcomes,
    )
    from tessera.machine.container.engine import NONE, container_engine_name
    from tessera.machine.container.images import ensure_programs_image

    if only_list:
        print_table((), [(row.name, row.what) for row in PROGRAMS.values()])
        return
    chosen = [program_named(name) for name in dict.fromkeys(names)] or list(PROGRAMS.values())
    for layout in layouts:
        if layout not in MOSAIC_NAMES:
            raise unknown_name("layout", layout, MOSAIC_NAMES)
    if out is not None:
        check_target(out)
    if container_engine_name() != NONE:
        ensure_programs_image(lambda text: click.echo(f"tessera lab allocator programs: {text}", err=True))
    started = time.monotonic()
    session = Session(launcher=None if launcher is None else launcher.absolute())
    outcomes = []
    for outcome in session.run(chosen, layouts or MOSAIC_NAMES):
        outcomes.append(outcome)
        click.echo(
            failure_details(outcome) if outcome.verdict == FAIL else outcome_line(outcome),
            err=True,
        )
    click.echo(outcomes_table(outcomes))
    for note in session.notes:
        click.echo(f"note: {note}")
    click.echo(f"{time.monotonic() - started:.0f} s in all")
    if out is not None:
        write_outcomes(outcomes, out)
    sys.exit(exit_status(outcome.verdict for outcome in outcomes))


# ``tessera lab allocator bench``: the overhead of the library, row by row, with bounds.


@allocator.command()
@click.option("--quick", is_flag=True, help="Few short runs: takes seconds, gives wide intervals.")
@options.pairs("Pairs of runs per row.  [default: 15, with --quick 3]")
@click.option("--row", "names", multiple=True, help="Row to measure; may be repeated.  [default: all]")
@options.out("File to write the table to (.json or .csv).", required=False)
def bench(quick: bool, pairs: int | None, names: tuple[str, ...], out: Path | None) -> None:
    """Compare programs with and without the library, both on 4KB pages.

    Measures each row in pairs of runs in random order. The table has the median of the pairs with its 95%
    interval, and the lowest value of each side. Exit status 1 if a row exceeds its bound.

    Example: ./run tessera lab allocator bench --quick
    """
    from tessera.core.checks import exit_status
    from tessera.core.errors import unknown_name
    from tessera.core.files import check_target
    from tessera.lab.allocator_proof.bench import ROWS, Bench, format_table, write_results

    known = {row.name: row for row in ROWS}
    for name in names:
        if name not in known:
            raise unknown_name("row", name, list(known))
    chosen = [known[name] for name in names] or list(ROWS)
    if out is not None:
        check_target(out)
    results = []
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as folder:
        bench_run = Bench(Path(folder), pairs=pairs or (3 if quick else 15), quick=quick)
        for result in bench_run.results(chosen):
            results.append(result)
            click.echo(f"{result.row}: {result.verdict}", err=True)
    click.echo(format_table(results))
    if out is not None:
        write_results(results, out)
        click.echo(f"table -> {out}", err=True)
    sys.exit(exit_status(result.verdict for result in results))


# ``tessera lab allocator overhead``: memory and time of whole programs with and without the library.


@allocator.command()
@options.out("CSV to write: workload,allocator,pair,memory_bytes,cpu_ns,provenance.")
@options.pairs("Pairs of runs per program.", 15)
@click.option("--seconds", type=click.FloatRange(0), default=50, show_default=True,
              help="Start no round of pairs after so many seconds; the first always runs.")  # fmt: skip
@options.seed("the order within the pairs")
def overhead(out: Path, pairs: int, seconds: float, seed: int) -> None:
    """Compare gups and graph500 under the library with plain glibc, both on 4KB pages (OPERA Table 4).

    Measures peak resident memory and processor time of the whole program, in pairs in random order.

    \b
    Example:
      ./run tessera lab allocator overhead --out results/default/host/allocator.csv
    """
    from tessera.core.files import check_target
    from tessera.core.results.machine_tables import ALLOCATOR
    from tessera.core.results.table_io import write_table
    from tessera.core.tables import print_table
    from tessera.lab.allocator_proof.overhead import measure_overheads, overheads

    check_target(out)
    with tempfile.TemporaryDirectory(prefix="tessera-overhead-") as folder:
        table = measure_overheads(Path(folder), pairs=pairs, seconds=seconds, seed=seed)
    write_table(ALLOCATOR, table, out)
    units = {"memory_bytes": (1 << 20, "MB"), "cpu_ns": (1e9, "s")}
    rows = []
    for row in overheads(table).itertuples():
        scale, unit = units[row.quantity]
        sides = (f"{row.glibc / scale:.3f} {unit}", f"{row.mosalloc / scale:.3f} {unit}")
        known = row.low == row.low and row.low is not None
        interval = f"{row.low:+.1%} to {row.high:+.1%}" if known else f"too few pairs ({row.pairs})"
        rows.append((row.workload, row.quantity, *sides, f"{row.overhead:+.1%}", interval))
    heads = ("workload", "quantity", "glibc", "mosalloc", "overhead", "95% interval")
    print_table(heads, rows, right=(2, 3, 4))
    click.echo(f"measured on this machine, {table['pair'].nunique()} pairs per program -> {out}", err=True)
