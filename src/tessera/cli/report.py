"""``tessera report``: write the report, check the claims, draw figures."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.tree import ResultsTree

_RESULTS = options.results("Results folder, e.g. results/default.", required=True)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise TesseraError(f"results {folder}", "no such folder", "run: ./run reproduce")
    return folder


@click.group()
def report() -> None:
    """Write the report, check the claims, and draw figures.

    Example: ./run tessera report render --results results/default
    """


@report.command()
@_RESULTS
@options.out("Report folder.  [default: <results>/report]", required=False)
@click.option("--claims", type=click.Path(path_type=Path), help="Claims file.  [default: config/claims.yaml]")
@options.reference
@options.config("the one that the results name")
def render(results: Path, out: Path | None, claims, reference, configuration) -> None:
    """Write claims.csv, figures, provenance and the HTML report, then print the claims.

    Example: ./run tessera report render --results results/smoke
    """
    from tessera.report import claims_table, site, verdicts

    config = None if configuration is None else options.configuration_path(configuration)
    facts = site.render_report(_existing(results), out, claims, reference, config)
    if len(facts.claims):
        claims_table.print_claims(facts.claims)
        click.echo(f"\n{verdicts.verdict_lines(facts.claims)}")
    else:
        click.echo(f"no claims judged: {facts.claims_reason}")
    for name, why in verdicts.objections(facts.claims).items():
        click.echo(f"verdict of {name} is not allowed: {why}", err=True)
    drawn = sum(figure.ok for figure in facts.figures)
    click.echo(f"{drawn} figures drawn, {len(facts.figures) - drawn} not (reasons: page Missing)")
    if facts.pdf_problem:
        click.echo(f"no report.pdf: {facts.pdf_problem}", err=True)
    click.echo(f"report: {out / 'index.html' if out else ResultsTree(results).report}")


@report.command()
@_RESULTS
def check(results: Path) -> None:
    """Print what failed, claims that fail unexpectedly, and a summary; exit status 1 if anything failed.

    Unexpected is a claim that does not hold and has no explanation in config/claims.yaml. A table that has
    changed since the report read it is a failure, too.

    Example: ./run tessera report check --results results/default
    """
    from tessera.report import claims_table, exit_status, last_lines, verdicts
    from tessera.report.claims import unexplained

    found = exit_status.problems(_existing(results))
    found += [f"table {name}: it is not as the report read it" for name in last_lines.changed_tables(results)]
    table = claims_table.read_claims(results)
    unexpected = table[table["id"].isin(unexplained(table))]
    if len(unexpected):
        claims_table.print_claims(unexpected)
    click.echo(
        f"{len(unexpected)} of {len(table)} claims fail unexpectedly; "
        f"all are in {ResultsTree(results).claims}"
    )
    click.echo(verdicts.verdict_lines(table))
    click.echo(f"report: {ResultsTree(results).report}")
    for problem in found:
        click.echo(f"FAILED {problem}", err=True)
    sys.exit(EXIT_FAILED if found else 0)


@report.command("last-lines")
@_RESULTS
def print_last_lines(results: Path) -> None:
    """Print the last lines of `./run smoke` and `./run reproduce` again; exit status 1 if one says FAILED.

    They say how many steps ran, which checks hold, what was not shown, what is missing, and where to look.

    Example: ./run tessera report last-lines --results results/smoke
    """
    from tessera.report import last_lines

    lines = last_lines.last_lines(_existing(results))
    click.echo(last_lines.text_of(lines))
    sys.exit(0 if all(line.ok for line in lines) else EXIT_FAILED)


@report.command("proof-read")
@options.reference
def proof_read(reference: Path | None) -> None:
    """Check numbers that papers print against each other and against algebra; no results are needed.

    Prints the claims of config/proof-reading.yaml; exit status 1 if a required one does not hold.

    Example: ./run tessera report proof-read
    """
    from tessera.core.files import repo_root
    from tessera.report import claims_table, verdicts
    from tessera.report.claims import failing_claims, judged_claims
    from tessera.report.claims.load import PROOF_READING, claims_path

    found = judged_claims(repo_root() / "results", claims_path().with_name(PROOF_READING), reference)
    claims_table.print_claims(claims_table.tidy_claims(found))
    click.echo(f"\n{verdicts.score_line(verdicts.PROOF_READING, found)}")
    failing = failing_claims(found)
    for row in failing:
        click.echo(f"FAILED {row['id']}: {row['verdict']}: {row['reason']}", err=True)
    sys.exit(EXIT_FAILED if failing else 0)


@report.command()
@_RESULTS
@click.option("--only", multiple=True, help="Figure name; may be repeated.  [default: all]")
@options.reference
@options.out("Folder to write.  [default: <results>/figures]", required=False)
def figures(results: Path, only: tuple[str, ...], reference: Path | None, out: Path | None) -> None:
    """Draw figures; write each as an SVG and a CSV with its numbers.

    Example: ./run tessera report figures --results results/default --only fig2 --only table6
    """
    from tessera.core.files import repo_root
    from tessera.report.figures.render import write_figures as draw

    reference = reference or repo_root() / "reference-results"
    out = out or ResultsTree(results).figures
    drawn = draw(_existing(results), reference, out, list(only) or None)
    for figure in drawn:
        click.echo(
            f"{figure.stem}: " + (f"{figure.rows} rows" if figure.ok else f"not drawn, {figure.reason}")
        )
    if only and not any(figure.ok for figure in drawn):
        sys.exit(EXIT_FAILED)
