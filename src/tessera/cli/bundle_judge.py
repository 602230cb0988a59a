"""``tessera bundle judge``: what bundles say about the findings of the papers."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("sources", metavar="BUNDLE...", nargs=-1, type=PATH, required=True)
@click.option("--out", type=PATH, required=True, help="Folder for cells, models and claims; it must be new.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the folds.")
@click.option("--orders", type=click.IntRange(min=1), default=10, show_default=True,
              help="Random orders of layouts, for claims about adaptive orders.")  # fmt: skip
def judge(sources: tuple[Path, ...], out: Path, seed: int, orders: int) -> None:
    """Fit models to the cells of bundles and judge the findings of the papers by machine.

    A finding is REPRODUCED if it holds on every machine of its class, else it DEVIATES. A bundle that covers
    a part of a finding's workloads decides it only where more workloads can't change the result. Machines of
    other classes have a table of their own, claims_elsewhere.csv. Bundles that fail a check or are barred
    are rejected. Several bundles of one machine must be merged first.

    Example: ./run tessera bundle judge bundles/* --out /tmp/judged
    """
    from tessera.bundles.verify import fails, verify
    from tessera.core.errors import EXIT_FAILED, TesseraError

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TesseraError(f"--out {out}", "it exists and is not empty", "name a new folder")
    bundles = []
    for source in sources:
        done = verify(source)
        if not done.passed:
            raise fails(str(source), done)
        if done.bars:
            raise TesseraError(
                f"judge claims with {source}",
                "; ".join(done.bars),
                "measure again without these conditions; docs/bundles.md explains them",
                exit_code=EXIT_FAILED,
                code="bundle-barred",
            )
        bundles.append(done.bundle)
    judged = run(bundles, out, seed=seed, orders=orders)
    _print(judged)


def run(bundles, out: Path, *, seed: int, orders: int, rehearsals: bool = False):
    """Write the folder; returns :class:`tessera.judge.machines.Judged`."""
    from tessera.judge import machines
    from tessera.pipeline.measured_fits import write_fitted
    from tessera.results.schema.shown import CLAIMS, ELSEWHERE
    from tessera.results.tree import Tree
    from tessera.results.write import write

    tree = Tree(out)
    write_fitted(bundles, tree, seed=seed, orders=orders, rehearsals=rehearsals, say=_say)
    judged = machines.evaluate(out)
    write(CLAIMS, judged.claims, tree.claims)
    write(ELSEWHERE, judged.elsewhere, tree.claims_elsewhere)
    return judged


def _say(text: str) -> None:
    click.echo(text, err=True)


def _print(judged) -> None:
    from tessera.core.tables import print_table
    from tessera.judge.claims.verdicts import DEVIATES, REPRODUCED, UNDECIDED

    table = judged.claims
    decided = table["verdict"].isin((REPRODUCED, DEVIATES, UNDECIDED)) & (table["provenance"] == "measured")
    table = table[(table["kind"] == "finding") & decided]
    rows = [(r.verdict, r.id, r.obtained, r.published, r.reason) for r in table.itertuples()]
    if rows:
        print_table(("verdict", "finding", "obtained", "published", "reason"), rows, whole=(0, 1))
    else:
        click.echo("No finding is decided by these bundles.")
    rows = [tuple(row) for row in judged.elsewhere.itertuples(index=False)]
    if rows:
        click.echo("\non processors of other classes:")
        print_table(tuple(judged.elsewhere.columns), rows, whole=(0, 1))
