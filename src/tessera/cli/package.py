"""``tessera package``: our own upload, made and verified."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(invoke_without_command=True)
@click.option("--results", type=click.Path(path_type=Path), help="Results to pack, like results/default.")
@click.option("--out", type=click.Path(path_type=Path), help="The .zip to write.")
@click.option("--traces", is_flag=True, help="Pack recorded traces too (their size is always shown).")
@click.option("--allow-dirty", is_flag=True, help="Pack the last commit although files differ from it.")
@click.pass_context
def package(
    ctx: click.Context, results: Path | None, out: Path | None, traces: bool, allow_dirty: bool
) -> None:
    """Make our own upload: code, results, manifest and checksums in one zip.

    Example: tessera package --results results/default --out tessera.zip
    """
    if ctx.invoked_subcommand is not None:
        return
    if results is None or out is None:
        raise click.UsageError("name what to pack and where: --results results/default --out tessera.zip")
    from tessera.package import make, verify

    done = make(results, out, traces=traces, allow_dirty=allow_dirty)
    held = verify(done.path)
    click.echo(f"{done.path}: {_mb(done.size_bytes)}, {held['files']} files, {_mb(held['bytes'])} unpacked")
    click.echo(f"SHA-256 {done.sha256}")
    state = "packed" if traces else "left out, --traces packs them"
    click.echo(f"traces: {_mb(done.traces_bytes)}, {state}")
    click.echo(
        f"names and paths of this machine taken out of results: {done.scrubbed} (manifest.csv says where)"
    )
    for word in done.left_in:
        click.echo(f"note: '{word}' is a name of this machine and a word of the code: results keep it")
    about = done.about
    if about["uncommitted_changes_left_out"]:
        click.echo(f"note: uncommitted changes are not in it; it holds commit {about['commit'][:12]}")
    if about["results_commit"] != about["commit"]:
        made_by = about["results_commit"][:12] if about["results_commit"] else "an unknown commit"
        click.echo(f"note: the results were made by {made_by}, the code is {about['commit'][:12]}")
    click.echo(
        "metadata of the deposit: .zenodo.json in it; upload both by hand, after: tessera package verify"
    )


@package.command()
@click.argument("file", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Read a package again: all there, nothing else, every checksum right.

    Example: tessera package verify tessera.zip
    """
    from tessera.package import verify as check

    held = check(file)
    click.echo(f"{file}: {held['files']} files, {_mb(held['bytes'])} unpacked, every SHA-256 as listed")


def _mb(count: int) -> str:
    return f"{count / (1 << 20):.1f} MB"
