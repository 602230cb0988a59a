"""``tessera dev package``: make and verify the zip that is uploaded to an archive."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(invoke_without_command=True)
@click.option(
    "--results", type=click.Path(path_type=Path), help="Results folder to pack, e.g. results/default."
)
@click.option("--out", type=click.Path(path_type=Path), help="Zip file to write.")
@click.option("--traces", is_flag=True, help="Also pack recorded traces. Their size is printed in any case.")
@click.option(
    "--allow-dirty", is_flag=True, help="Pack the last commit even if the checkout has uncommitted changes."
)
@click.option(
    "--offline", is_flag=True, help="Also pack wheels, images and the kernel's source, for ./run --offline."
)
@click.option(
    "--without",
    multiple=True,
    metavar="PART",
    help="With --offline, leave out a part: wheels, images or kernel. Repeatable.",
)
@click.pass_context
def package(
    ctx: click.Context,
    results: Path | None,
    out: Path | None,
    traces: bool,
    allow_dirty: bool,
    offline: bool,
    without: tuple[str, ...],
) -> None:
    """Pack code, results, manifest and checksums in one zip, for an archive such as Zenodo.

    Beside it, FILE-report.zip has the rendered report alone: unzip it and open index.html.

    The code is that of the last commit. Names and paths of this machine are removed from the results. The
    bundles of real machines that took part keep their bytes, so that they can be verified.

    Example: ./run tessera dev package --results results/default --out tessera.zip
    """
    if ctx.invoked_subcommand is not None:
        return
    if results is None or out is None:
        raise click.UsageError(
            "missing --results or --out; example: "
            "tessera dev package --results results/default --out tessera.zip"
        )
    if without and not offline:
        raise click.UsageError("--without names a part of an offline package; add --offline")
    from tessera.report.package import make, verify_package

    done = make(results, out, traces=traces, allow_dirty=allow_dirty, without=without if offline else None)
    held = verify_package(done.path)
    click.echo(f"{done.path}: {_mb(done.size_bytes)}, {held['files']} files, {_mb(held['bytes'])} unpacked")
    click.echo(f"SHA-256 {done.sha256}")
    if done.report:
        click.echo(f"{done.report}: {_mb(done.report.stat().st_size)}, the report alone, as a release asset")
    state = "packed" if traces else "left out; to pack them: --traces"
    click.echo(f"traces: {_mb(done.traces_bytes)}, {state}")
    for part, size in done.offline_bytes.items():
        click.echo(f"offline/{part}: {_mb(size)}")
    if done.offline_bytes:
        click.echo("on a machine without a network: unzip it, then ./run --offline smoke")
    click.echo(
        f"names and paths of this machine removed from results: {done.scrubbed} (listed in manifest.csv)"
    )
    for word in done.left_in:
        click.echo(
            f"note: '{word}' is a name of this machine, but the code uses this word, too: results keep it"
        )
    about = done.about
    if about["uncommitted_changes_left_out"]:
        click.echo(f"note: uncommitted changes are left out; the zip holds commit {about['commit'][:12]}")
    if about["results_commit"] != about["commit"]:
        made_by = about["results_commit"][:12] if about["results_commit"] else "unknown"
        click.echo(f"note: the results are of commit {made_by}, the code is of commit {about['commit'][:12]}")
    if about["bundles"]:
        click.echo(
            f"note: the results have the bundles {', '.join(about['bundles'])}, with every text in them."
            " Their owners must agree to the upload; tessera measure bundle show prints the texts"
        )
    click.echo(
        f"next: tessera dev package verify {done.path}; then upload the zip, with .zenodo.json as metadata"
    )


@package.command()
@click.argument("file", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Check that a package holds exactly the listed files, each with the listed SHA-256.

    Example: ./run tessera dev package verify tessera.zip
    """
    from tessera.report.package import verify_package as check

    held = check(file)
    click.echo(f"{file}: {held['files']} files, {_mb(held['bytes'])} unpacked, every SHA-256 as listed")


def _mb(count: int) -> str:
    return f"{count / (1 << 20):.1f} MB"
