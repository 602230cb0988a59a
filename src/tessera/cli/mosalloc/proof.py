"""``tessera mosalloc proof``: runs all tests of the library and prints a table of each."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED


@click.command()
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
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Folder for the results (JSON and CSV).  [default: build/mosalloc/proof]")  # fmt: skip
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
      ./run --reserve tessera mosalloc proof
    """
    from tessera.allocator_proof.suite import output
    from tessera.allocator_proof.suite.model import ProofRequest, summary
    from tessera.allocator_proof.suite.registry import chosen
    from tessera.allocator_proof.suite.runner import run_sections
    from tessera.core.paths import build_dir

    sections = chosen(names)
    folder = (out or build_dir("mosalloc") / "proof").absolute()
    output.remove_old(folder, [section.name for section in sections])
    subject = output.header(build_dir("mosalloc") / "libmosalloc.so")
    click.echo(f"{subject}\n")
    request = ProofRequest(
        folder=folder,
        say=lambda text: click.echo(f"proof: {text}", err=True),
        quick=quick,
        operations=operations or (200_000 if quick else 10_000_000),
        cases=cases,
    )
    outcomes = []
    for number, outcome in enumerate(run_sections(sections, request), start=1):
        outcomes.append(outcome)
        output.write(outcome, folder, library=subject)
        click.echo(output.as_text(number, outcome))
    checks = [check for outcome in outcomes for check in outcome.findings.checks]
    click.echo(f"in all: {summary(checks)}")
    click.echo(f"results -> {folder}", err=True)
    if not output.passed(outcomes):
        sys.exit(EXIT_FAILED)
